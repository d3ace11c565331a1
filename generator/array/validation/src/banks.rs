//! The comparison of the banks of a global buffer with the streams of a program.

use std::collections::BTreeMap;

use pushmem_bitstream::Configuration;
use pushmem_fabric::{ArraySpec, Direction, Place};
use pushmem_graph::{Accelerator, Stream};
use pushmem_nest::Program;

use crate::validate::{Invalid, Site};

/// Checks that the banks of an array's global buffer load and store the elements of the program's streams, each in its order: the words that a DMA
/// addresses are those of the elements in an image that lies in a half as in memory. No two images of a bank overlap, and no bank moves words for a
/// stream that there is not.
///
/// # Errors
/// The first difference.
pub(crate) fn check_banks(
    program: &Program,
    accelerator: &Accelerator,
    configuration: &Configuration,
    spec: &ArraySpec,
    site: &Site,
) -> Result<(), Invalid> {
    let Some(buffer) = &spec.global_buffer else { return Ok(()) };
    let words = 1_i64 << spec.bank_address_bits();
    let mut taken: BTreeMap<u32, Vec<(i64, i64)>> = BTreeMap::new();
    let directions = [
        (Direction::In, accelerator.inputs.as_raw_slice(), &site.inputs),
        (Direction::Out, accelerator.outputs.as_slice(), &site.outputs),
    ];
    for (direction, streams, places) in directions {
        for (stream, places) in streams.iter().zip(places) {
            for (lane, place) in stream.lanes.iter().zip(places) {
                let refuse = |fault: String| Invalid::Bank { stream: stream.name.clone(), fault };
                let bank = buffer.bank(place.column, direction);
                let transfer = bank.and_then(|bank| Some((bank, configuration.banks.get(&bank)?.transfer(direction)?)));
                let Some((bank, transfer)) = transfer else {
                    return Err(refuse(format!("no bank {}s it", direction.transfer())));
                };
                let sram = transfer.sram.as_ref().ok_or_else(|| refuse("its DMA has no addresses".to_owned()))?;
                let loops = &accelerator.counters[stream.counter].extent;
                let (found, expected) = (transfer.extent.iterations(), loops.iterations());
                if found != expected {
                    return Err(refuse(format!("bank {bank} moves {found} words, of {expected}")));
                }
                let first = sram.start - lane.element.start;
                let addresses = transfer.extent.values(sram).map(|address| address.rem_euclid(words));
                let elements = loops.values(&lane.element);
                if let Some(word) = addresses.zip(elements).position(|(address, element)| address != first + element) {
                    return Err(refuse(format!("word {word} that bank {bank} moves is another element")));
                }
                let end = first + elements_of(program, stream);
                let others = taken.entry(bank).or_default();
                if first < 0 || end > words {
                    return Err(refuse(format!("its image leaves the half of bank {bank}")));
                }
                if others.iter().any(|(other, other_end)| first < *other_end && *other < end) {
                    return Err(refuse(format!("its image overlaps another one in bank {bank}")));
                }
                others.push((first, end));
            }
        }
    }
    let known = |place: (u32, Direction)| {
        let all = site.streams().into_iter().chain(site.others.iter().copied());
        all.into_iter().any(|(Place { column, .. }, direction)| (column, direction) == place)
    };
    for (bank, configured) in &configuration.banks {
        for direction in Direction::ALL {
            let column = buffer.column(*bank, direction);
            if configured.transfer(direction).is_some() && !known((column, direction)) {
                let fault = format!("bank {bank} {}s words, and the program has no stream there", direction.transfer());
                return Err(Invalid::Bank { stream: format!("io_{column}_0"), fault });
            }
        }
    }
    Ok(())
}

/// Elements of the array of a stream.
fn elements_of(program: &Program, stream: &Stream) -> i64 {
    program.arrays[stream.array].shape.iter().product()
}
