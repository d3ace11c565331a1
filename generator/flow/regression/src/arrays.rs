//! The regression of arrays: random bitstreams on random arrays, in the RTL and in the model.
//!
//! A [`Bench`] runs [`Cycle`]s of an array in both, and compares all outputs and all registers of the network in each.
//! [`Lives::life`] takes a bitstream through loading, a run with random streams, stalls, flushes and accesses; the next is loaded in
//! the middle of that.

mod array;
mod bench;
mod bitstreams;
mod life;
mod probes;

use std::collections::BTreeSet;
use std::path::Path;

use pushmem_fabric::{ArraySpec, Folder};
use pushmem_files::{Diagnostic, Document};
use pushmem_resources::Graph;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::failure::Failure;
use crate::scenario::ScenarioCounts;

pub use array::random_array;
pub use bench::{Bench, Change, Cycle};
pub use bitstreams::{arbitrary_bitstream, isolated, routed_bitstream};
pub use life::{Lives, loading};
pub use probes::build_probed;

/// Reads the specification of an array. The blocks that it names are in the nearest folder around its own that has them: there, or in
/// `constraints`.
///
/// # Errors
/// A located message when it cannot be read, or is wrong.
pub(crate) fn read_array(path: &Path) -> Result<ArraySpec, Diagnostic> {
    let document = Document::read(path)?;
    let folders = path.canonicalize().unwrap_or_default();
    let mut folders = folders.ancestors().flat_map(|folder| [folder.to_owned(), folder.join("constraints")]);
    let blocks = folders.find(|folder| folder.join("pes").is_dir() && folder.join("tiles").is_dir());
    ArraySpec::from_document(&document, &Folder(blocks.unwrap_or_default()))
}

/// Runs so many random bitstreams one after the other on a built model: without any sense, and random routes.
///
/// # Errors
/// When RTL and model differ, with the number of the bitstream.
pub(crate) fn run_bitstreams(
    spec: &ArraySpec,
    executable: &Path,
    seed: u64,
    count: u32,
) -> Result<ScenarioCounts, Failure> {
    let graph = &Graph::of(spec);
    let mut bench = Bench::start(spec, graph, Some(executable))?;
    let mut lives = Lives { spec, graph, random: &mut ChaCha8Rng::seed_from_u64(seed) };
    for number in 0..count {
        let configuration = match number % 2 {
            0 => arbitrary_bitstream(spec, graph, lives.random),
            _ => routed_bitstream(spec, graph, lives.random).0,
        };
        let run = |bench: &mut Bench, cycles: &[Cycle]| {
            bench.run(cycles).map(drop).map_err(|failure| failure.at(format!("bitstream {number}")))
        };
        if number % 3 != 2 {
            let life = if number % 3 == 0 { Lives::life } else { Lives::common_life };
            run(&mut bench, &life(&mut lives, &configuration))?;
            continue;
        }
        // Some columns are loaded while the others run.
        let columns: BTreeSet<u32> = (0..spec.columns).filter(|_| lives.random.random()).collect();
        let configuration = isolated(graph, &configuration, &columns);
        run(&mut bench, &lives.life(&configuration))?;
        let next = arbitrary_bitstream(spec, graph, lives.random);
        let (cycles, together) = lives.reloading(&configuration, &next, &columns);
        run(&mut bench, &cycles)?;
        // Then these are stopped one by one: nothing takes anything from any of them.
        let alone = |all, column: &u32| isolated(graph, &all, &[*column].into());
        let together = columns.iter().fold(together, alone);
        run(&mut bench, &loading(spec, graph, &together))?;
        run(&mut bench, &lives.stopping(&together, &columns))?;
    }
    Ok(ScenarioCounts { configurations: count.into(), cycles: bench.clock() })
}
