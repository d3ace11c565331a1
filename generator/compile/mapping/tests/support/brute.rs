//! The cycle model on whole mapped buffers, with the buffer's meaning taken word by word: slow and simple.

use std::collections::BTreeMap;

use pushmem_buffers::{Port, UnifiedBuffer};
use pushmem_mapping::{MappedBuffer, Source};
use pushmem_model::{Inputs, Outputs, TileModel, ViolationKind};
use pushmem_tile::TileSpec;

fn each_iteration(port: &Port, mut visit: impl FnMut(&[u64])) {
    for number in 0..port.iterations() as u64 {
        visit(&port.iteration(number));
    }
}

/// A number for the word on the wire of port `port` in a cycle.
fn token(port: usize, cycle: u64) -> u64 {
    cycle * 16 + port as u64 + 1
}

/// The words expected on the read ports, by cycle and port; nothing for elements not yet written.
fn expectations(buffer: &UnifiedBuffer) -> BTreeMap<(u64, usize), Option<u64>> {
    let mut writes: BTreeMap<Vec<i128>, Vec<(u64, u64)>> = BTreeMap::new();
    for (number, port) in buffer.writes() {
        each_iteration(port, |index| {
            let cycle = port.cycle(index) as u64;
            writes.entry(port.element(index)).or_default().push((cycle, token(number, cycle)));
        });
    }
    let mut expected = BTreeMap::new();
    for (number, port) in buffer.reads() {
        each_iteration(port, |index| {
            let cycle = port.cycle(index) as u64;
            let before = writes.get(&port.element(index)).into_iter().flatten().filter(|(written, _)| *written < cycle);
            expected.insert((cycle, number), before.max().map(|(_, token)| *token));
        });
    }
    expected
}

/// Runs the model. Gives the first cycle in which anything is wrong.
pub fn first_fault(buffer: &UnifiedBuffer, mapped: &MappedBuffer, spec: &TileSpec) -> Option<u64> {
    let expected = expectations(buffer);
    let mut tiles: Vec<TileModel> = mapped
        .tiles
        .iter()
        .map(|mapped| {
            let mut tile = TileModel::new(spec);
            tile.configure(&mapped.configuration);
            tile.clock(&Inputs { flush: true, ..Inputs::default() });
            tile
        })
        .collect();
    let last = expected.keys().map(|(cycle, _)| *cycle).max().unwrap_or(0);
    let mut cycle = 0;
    while cycle <= last || tiles.iter().any(|tile| !tile.is_idle()) {
        let mut shown: Vec<Outputs> = Vec::new();
        let mut given: Vec<Inputs> = Vec::new();
        for (tile, mapped) in tiles.iter().zip(&mapped.tiles) {
            let mut inputs = Inputs::default();
            for (place, source) in inputs.data.iter_mut().zip(&mapped.inputs) {
                *place = match source {
                    Some(Source::Port(port)) => token(*port, cycle),
                    Some(Source::Output { tile, output }) => shown[*tile].data[*output].value,
                    None => 0,
                };
            }
            if let Some(from) = mapped.chain_from {
                inputs.chain = shown[from].data.map(|word| word.value);
            }
            shown.push(tile.outputs(&inputs));
            given.push(inputs);
        }
        for (outputs, mapped) in shown.iter().zip(&mapped.tiles) {
            for (output, port) in mapped.outputs.iter().enumerate() {
                let Some(port) = port else { continue };
                let right = match expected.get(&(cycle, *port)) {
                    None => !outputs.valid[output],
                    Some(word) => outputs.valid[output] && Some(outputs.data[output].value) == *word,
                };
                if !right {
                    return Some(cycle);
                }
            }
        }
        for (tile, inputs) in tiles.iter_mut().zip(&given) {
            tile.clock(inputs);
            let fatal = tile.take_violations().into_iter().any(|violation| match violation.kind {
                ViolationKind::PortConflict | ViolationKind::Overrun => true,
                // The output shows the word in a cycle in which none is expected.
                ViolationKind::UndefinedRead | ViolationKind::OutOfRange | ViolationKind::StaleRead => false,
            });
            if fatal {
                return Some(cycle);
            }
        }
        cycle += 1;
    }
    None
}
