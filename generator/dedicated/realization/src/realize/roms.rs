//! Large tables: ROM tiles beside the kernels that look them up.
//!
//! A kernel may look up all its entries in every cycle, and a ROM reads one word in a cycle: so each look-up has a ROM of
//! its own, which fires in the cycles in which the stage's iterations have their addresses ready.

use itertools::Itertools;
use pushmem_affine::{Affine, Domain};
use pushmem_configuration::{Configuration, ControllerConfiguration};
use pushmem_datapaths::Fetch;
use pushmem_extraction::Extraction;
use pushmem_files::{Diagnostic, free_name};
use pushmem_nest::{Program, Table};
use pushmem_tile::TileSpec;

use pushmem_graph::{Accelerator, ApplicationGraph, Counter, Rom};

/// Adds the ROMs of all kernels.
///
/// # Errors
/// A table that the ROM cannot hold, or a stage whose loops it cannot follow.
pub(crate) fn add_roms(
    accelerator: &mut Accelerator,
    program: &Program,
    extraction: &Extraction,
    graph: &ApplicationGraph,
) -> Result<(), Diagnostic> {
    let spec = accelerator.target.rom();
    let digest = spec.digest();
    let mut roms = Vec::new();
    for (number, kernel) in accelerator.kernels.iter_enumerated() {
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
            let Some((words, latency)) = results(graph, kernel.stage) else { continue };
            let (extent, cycle) = in_order(&words.extent, &firings(words, latency, fetch));
            let (extent, cycle) = cycle.coalesced(&extent, extent_limit(spec));
            let controller = ControllerConfiguration { extent, cycle, ..ControllerConfiguration::default() };
            let configuration = Configuration {
                tile: spec.name.clone(),
                spec_digest: Some(digest.clone()),
                controllers: [(controller_name(spec), controller)].into(),
                contents: contents(table, fetch, spec),
                ..Configuration::default()
            };
            if let Err(finding) = configuration.check(spec) {
                let reader = extraction.statement(program, kernel.stage);
                let message = format!("`{}` cannot be read as {reader} runs: {}", spec.name, finding.message);
                return refused(message, &finding.help.unwrap_or_default());
            }
            let wanted = format!("{}_{}_rom", kernel.name, table.name);
            roms.push(Rom {
                name: free_name(&wanted, 1, |name| roms.iter().all(|rom: &Rom| rom.name != *name)),
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

/// When the addresses of a look-up are there, over the loops of the results.
fn firings(words: &Counter, latency: u64, fetch: &Fetch) -> Affine {
    words.cycle.shifted(fetch.stage as i64 - latency as i64)
}

/// The same cycles with loops of small steps inside of those of large ones. A schedule may have exchanged the loops of the program; a look-up
/// asks for its cycles only.
fn in_order(domain: &Domain, cycles: &Affine) -> (Domain, Affine) {
    let loops = domain.iter().copied().zip(cycles.stride.iter().copied());
    let (extents, stride): (Vec<u64>, Vec<i64>) = loops.sorted_by_key(|(_, stride)| *stride).unzip();
    (extents.into(), Affine { start: cycles.start, stride })
}

/// The results of the kernel of a stage, and its latency.
fn results(graph: &ApplicationGraph, stage: usize) -> Option<(&Counter, u64)> {
    graph.kernels.iter().find_map(|kernel| {
        let result = graph.words[kernel.net()].result.as_ref().filter(|result| result.stage == stage)?;
        Some((&result.words, kernel.latency))
    })
}

/// Contents of the ROM: the table, and 0 at every other address that the kernel may give.
fn contents(table: &Table, fetch: &Fetch, spec: &TileSpec) -> Vec<u64> {
    let unsigned = table.element.unsigned();
    let words = (1_usize << fetch.address_bits).min(spec.rows as usize);
    let entries = table.values.iter().map(|&value| unsigned.wrap(value) as u64);
    entries.chain(std::iter::repeat(0)).take(words).collect()
}
