//! The proof that look-ups in large tables get their entries.

use itertools::Itertools;
use pushmem_datapaths::Fetch;
use pushmem_nest::{Program, Table};
use pushmem_stages::Schedule;
use pushmem_stages::Staged;
use pushmem_tile::timing;

use crate::error::{PartError, require};
use pushmem_graph::{Accelerator, Rom};

/// Proves that every look-up of a kernel in a table beside it gets the entry that the program says, when the kernel expects
/// it: it has a ROM of its own that holds the table, reads in the cycles of its addresses and shows words in time.
///
/// # Errors
/// The first look-up that does not.
pub fn prove_roms(
    program: &Program,
    staged: Staged,
    schedule: &Schedule,
    accelerator: &Accelerator,
) -> Result<(), PartError> {
    for (number, kernel) in accelerator.kernels.iter_enumerated() {
        for (place, fetch) in accelerator.datapaths[kernel.datapath].datapath.fetches().iter().enumerate() {
            let table = &program.tables[fetch.table];
            let part = || format!("the look-up of {} in {}", table.name, kernel.name);
            let roms = accelerator.roms.iter().filter(|rom| (rom.kernel, rom.fetch) == (number, place)).collect_vec();
            let [rom] = roms.as_slice() else {
                return Err(PartError { part: part(), reason: format!("it needs one ROM and has {}", roms.len()) });
            };
            require(rom.table == fetch.table && holds(rom, table, fetch), part, "the ROM holds something else")?;
            let found = timing::sram_to_output(accelerator.target.rom().sram_latency);
            let (expected, after) = (fetch.latency, "cycles after the address");
            let late = format!("the word is expected {expected} {after}, but comes {found} after it");
            require(expected == found, part, &late)?;
            let (stage, times) = (&staged.pipeline.stages[kernel.stage], &schedule.stages[kernel.stage]);
            let addresses = stage.loops.iter().map(|level| level.extent).zip(times.stride.iter().copied());
            let first = stage.first_cycle(times) + fetch.stage as i64;
            let controllers = rom.configuration.controllers.values().collect_vec();
            let right = matches!(controllers.as_slice(), [reads] if reads.cycle.start == first && {
                let loops = reads.extent.iter().copied().zip(reads.cycle.stride.iter().copied());
                evenly(loops) == evenly(addresses)
            });
            require(right, part, "the ROM reads in other cycles than those of the addresses")?;
        }
    }
    Ok(())
}

/// Whether a ROM has the entries of a table from address 0 on, and every one of them can be addressed.
fn holds(rom: &Rom, table: &Table, fetch: &Fetch) -> bool {
    let words = &rom.configuration.contents;
    let entries = table.values.iter().zip(words);
    words.len() >= table.values.len()
        && table.values.len() <= 1 << fetch.address_bits
        && entries.into_iter().all(|(value, word)| table.element.wrap(*word as i64) == *value)
        && words[table.values.len()..].iter().all(|word| *word == 0)
}

/// The cycles of loops in any order, given by extent and stride, with as few loops as can be: one that goes on where another one ends
/// is one with it.
fn evenly(loops: impl Iterator<Item = (u64, i64)>) -> Vec<(u64, i64)> {
    let mut runs: Vec<(u64, i64)> = Vec::new();
    for (extent, stride) in loops.filter(|(extent, _)| *extent > 1).sorted_by_key(|(_, stride)| *stride) {
        match runs.last_mut() {
            Some((steps, step)) if i128::from(*step) * i128::from(*steps) == i128::from(stride) => *steps *= extent,
            _ => runs.push((extent, stride)),
        }
    }
    runs
}
