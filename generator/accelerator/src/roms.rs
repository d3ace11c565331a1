//! Large tables: ROM tiles beside the kernels that look them up.
//!
//! A kernel may look up all its entries in every cycle, and a ROM reads one word in a cycle: so each look-up has a ROM of
//! its own, which fires in the cycles in which the stage's iterations have their addresses ready.

use std::fmt;

use itertools::Itertools;
use pushmem_configuration::{Affine, Configuration, ControllerConfiguration};
use pushmem_extraction::Extraction;
use pushmem_files::Diagnostic;
use pushmem_kernels::Fetch;
use pushmem_nest::{Program, Table};
use pushmem_schedule::Schedule;
use pushmem_tile::{TileSpec, timing};

use crate::accelerator::{Accelerator, Rom};

/// Adds the ROMs of all kernels.
///
/// # Errors
/// A table that the ROM cannot hold, or a stage whose loops it cannot follow.
pub(crate) fn add_roms(
    accelerator: &mut Accelerator,
    program: &Program,
    extraction: &Extraction,
    schedule: &Schedule,
) -> Result<(), Diagnostic> {
    let spec = &accelerator.rom_spec;
    let digest = spec.digest();
    let mut roms = Vec::new();
    for (number, kernel) in accelerator.kernels.iter().enumerate() {
        let fetches = accelerator.datapaths[kernel.datapath].datapath.fetches();
        for (place, fetch) in fetches.iter().enumerate() {
            let table = &program.tables[fetch.table];
            let refused = |message: String, help: &str| Err(program.diagnostic(table.span, message).with_help(help));
            if table.values.len() > spec.rows as usize {
                return refused(
                    format!("{} entries, but `{}` holds {} words", table.values.len(), spec.name, spec.rows),
                    "choose a ROM with more `rows`, or keep the table in logic",
                );
            }
            if table.element.bits() > spec.word_bits {
                return refused(
                    format!(
                        "entries of {} bits, but `{}` has words of {}",
                        table.element.bits(),
                        spec.name,
                        spec.word_bits
                    ),
                    "choose a ROM with wider words, or keep the table in logic",
                );
            }
            let (levels, start) = firings(accelerator, extraction, schedule, number, fetch);
            let levels = merged(&levels, extent_limit(spec));
            let controller = ControllerConfiguration {
                extent: levels.iter().map(|(extent, _)| *extent).collect(),
                cycle: Affine { start, stride: levels.iter().map(|(_, stride)| *stride).collect() },
                ..ControllerConfiguration::default()
            };
            let configuration = Configuration {
                tile: spec.name.clone(),
                spec_digest: Some(digest.clone()),
                controllers: [(controller_name(spec), controller)].into(),
                contents: contents(table, fetch, spec),
                ..Configuration::default()
            };
            if let Err(finding) = configuration.check(spec) {
                let message = format!("`{}` cannot be read as {} runs: {}", spec.name, kernel.name, finding.message);
                return refused(message, &finding.help.unwrap_or_default());
            }
            let wanted = format!("{}_{}_rom", kernel.name, table.name);
            let numbered = (1..).map(|number| format!("{wanted}_{number}"));
            let is_free = |name: &String| roms.iter().all(|rom: &Rom| rom.name != *name);
            let name = [wanted.clone()].into_iter().chain(numbered).find(is_free);
            roms.push(Rom {
                name: name.expect("numbers do not end"),
                table: fetch.table,
                kernel: number,
                fetch: place,
                configuration,
            });
        }
    }
    accelerator.roms = roms;
    Ok(())
}

/// The name of the controller of a ROM.
fn controller_name(spec: &TileSpec) -> String {
    spec.controllers()[0].name.clone()
}

/// The most iterations of a loop that its controller counts.
fn extent_limit(spec: &TileSpec) -> u64 {
    1 << spec.controllers()[0].extent_bits
}

/// When the addresses of a look-up are there: extent and stride of each loop that has several iterations, innermost first,
/// and the first cycle.
fn firings(
    accelerator: &Accelerator,
    extraction: &Extraction,
    schedule: &Schedule,
    kernel: usize,
    fetch: &Fetch,
) -> (Vec<(u64, i64)>, i64) {
    let stage = accelerator.kernels[kernel].stage;
    let (content, times) = (&extraction.pipeline.stages[stage], &schedule.stages[stage]);
    let loops = content.loops.iter().zip(&times.stride).filter(|(level, _)| level.extent > 1);
    let loops = loops.map(|(level, &stride)| (level.extent, stride)).collect();
    (loops, times.first(content) + fetch.stage as i64)
}

/// The same cycles with fewer loops: those that go on where the loop inside them ends become one, as far as counters reach.
fn merged(loops: &[(u64, i64)], limit: u64) -> Vec<(u64, i64)> {
    let mut merged: Vec<(u64, i64)> = Vec::new();
    for &(extent, stride) in loops {
        match merged.last_mut() {
            Some((inner, step)) if *step * *inner as i64 == stride && *inner * extent <= limit => *inner *= extent,
            _ => merged.push((extent, stride)),
        }
    }
    merged
}

/// What the ROM must hold: the table, and 0 at every other address that the kernel may give.
fn contents(table: &Table, fetch: &Fetch, spec: &TileSpec) -> Vec<u64> {
    let unsigned = table.element.unsigned();
    let words = (1_usize << fetch.address_bits).min(spec.rows as usize);
    let entries = table.values.iter().map(|&value| unsigned.wrap(value) as u64);
    entries.chain(std::iter::repeat(0)).take(words).collect()
}

/// A ROM that does not give a kernel what it looks up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RomError {
    /// Name of the kernel.
    pub kernel: String,
    /// The table.
    pub table: String,
    /// What is wrong.
    pub fault: RomFault,
}

/// What is wrong with a ROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RomFault {
    /// The look-up has none, or several.
    Count(usize),
    /// It holds another table, or has a word that is not the entry at its address.
    Contents,
    /// The kernel expects the word after another number of cycles.
    Latency {
        /// What the kernel expects.
        expected: u64,
        /// What the tile does.
        found: u64,
    },
    /// It reads in other cycles than those of the addresses.
    Cycles,
}

impl fmt::Display for RomError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RomError { kernel, table, fault } = self;
        write!(formatter, "the look-up of {table} in {kernel}: ")?;
        match fault {
            RomFault::Count(count) => write!(formatter, "it needs one ROM and has {count}"),
            RomFault::Contents => write!(formatter, "the ROM holds something else"),
            RomFault::Latency { expected, found } => {
                write!(
                    formatter,
                    "the word is expected {expected} cycles after the address, but comes {found} after it"
                )
            }
            RomFault::Cycles => write!(formatter, "the ROM reads in other cycles than those of the addresses"),
        }
    }
}

impl std::error::Error for RomError {}

/// Proves that every look-up of a kernel in a table beside it gets the entry that the program says, when the kernel expects
/// it: it has a ROM of its own that holds the table, reads in the cycles of its addresses and shows words in time.
///
/// # Errors
/// The first look-up that does not.
pub fn prove_roms(
    program: &Program,
    extraction: &Extraction,
    schedule: &Schedule,
    accelerator: &Accelerator,
) -> Result<(), RomError> {
    for (number, kernel) in accelerator.kernels.iter().enumerate() {
        for (place, fetch) in accelerator.datapaths[kernel.datapath].datapath.fetches().iter().enumerate() {
            let table = &program.tables[fetch.table];
            let fault = |fault| RomError { kernel: kernel.name.clone(), table: table.name.clone(), fault };
            let roms = accelerator.roms.iter().filter(|rom| (rom.kernel, rom.fetch) == (number, place)).collect_vec();
            let [rom] = roms.as_slice() else { return Err(fault(RomFault::Count(roms.len()))) };
            if rom.table != fetch.table || !holds(rom, table, fetch) {
                return Err(fault(RomFault::Contents));
            }
            let found = timing::sram_to_output(accelerator.rom_spec.sram_latency);
            if fetch.latency != found {
                return Err(fault(RomFault::Latency { expected: fetch.latency, found }));
            }
            let (levels, start) = firings(accelerator, extraction, schedule, number, fetch);
            let controllers = rom.configuration.controllers.values().collect_vec();
            let right = matches!(controllers.as_slice(), [reads] if reads.cycle.start == start && {
                let loops = reads.extent.iter().copied().zip(reads.cycle.stride.iter().copied()).collect_vec();
                merged(&loops, u64::MAX) == merged(&levels, u64::MAX)
            });
            if !right {
                return Err(fault(RomFault::Cycles));
            }
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
