//! The program that runs the RTL of an array.

use std::path::PathBuf;

use askama::Template;
use itertools::Itertools;
use pushmem_bitstream::Configuration;
use pushmem_fabric::ArraySpec;
use pushmem_files::{Diagnostic, template};
use pushmem_interconnect::{array_module, block_module, freeze, io_block_module, tile_module};
use pushmem_simulation::{LibrarySources, ModelSources, Verilator};
use pushmem_systemverilog::{File, is_header, needed};

/// The class that Verilator makes of the array.
const CLASS: &str = "Varray";

/// Which RTL of an array runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rtl {
    /// The array as it is: one program runs all bitstreams.
    Configured,
    /// The same tiles, with one bitstream as constants.
    Frozen,
}

/// Builds the program that runs an array, or finds it in the cache. `files` are those of [`pushmem_interconnect::generate`], named with `.sv`.
///
/// # Errors
/// When Verilator or the compiler fails.
pub fn build(
    verilator: &Verilator,
    spec: &ArraySpec,
    files: &[File],
    rtl: Rtl,
    configuration: &Configuration,
) -> Result<PathBuf, Diagnostic> {
    let text = template!(
        "testbench/harness.cpp",
        spec: &'a ArraySpec = spec,
        class: &'a str = CLASS,
    )
    .render()
    .expect("templates write to memory");
    let harness = [("harness.cpp".to_owned(), text)];
    let top = array_module(spec);
    let is_frozen = rtl == Rtl::Frozen;
    let frozen = is_frozen.then(|| freeze(spec, files, configuration));
    let files = frozen.as_deref().unwrap_or(files);
    let libraries = if is_frozen { Vec::new() } else { libraries(spec) };
    let parts = [vec![top.clone()], libraries].concat();
    // The files of each part, and those of them that no other part has.
    let needed = parts.iter().map(|part| needed(files, part, &parts)).collect_vec();
    let own = |place: usize| {
        let others = needed.iter().enumerate().filter(|(other, _)| *other != place);
        let others = others.flat_map(|(_, files)| files).collect_vec();
        needed[place].iter().filter(|file| !others.contains(file)).cloned().collect_vec()
    };
    let own = (0..parts.len()).map(own).collect_vec();
    let tiles = spec.kinds().map(|kind| tile_module(spec, kind)).filter(|tile| !parts.contains(tile)).collect_vec();
    let shared = needed
        .iter()
        .map(|files| tiles.iter().filter(|tile| files.contains(&format!("{tile}.sv"))).cloned().collect_vec());
    let shared = shared.collect_vec();
    // Blocks are made of tiles.
    let has = |part: &String, other: &String| {
        part != other && pushmem_systemverilog::needed(files, part, &[]).contains(&format!("{other}.sv"))
    };
    let uses =
        |part: &String| parts[1..].iter().filter(|other| *part != top && has(part, other)).cloned().collect_vec();
    let uses = parts.iter().map(uses).collect_vec();
    let libraries = (1..parts.len()).map(|place| LibrarySources {
        module: &parts[place],
        files: &needed[place],
        own_files: &own[place],
        is_clocked: is_clocked(spec),
        uses: &uses[place],
        shared: &shared[place],
    });
    let is_needed = |name: &String| is_header(name) || needed.iter().any(|files| files.contains(name));
    let of_program = files.iter().filter(|(name, _)| is_needed(name));
    verilator.build_model(ModelSources {
        top: &top,
        class: CLASS,
        rtl: &of_program.cloned().collect_vec(),
        libraries: libraries.collect(),
        harness: &harness,
        shared: &[],
        wave: false,
        flatten: is_frozen,
    })
}

/// Whether tiles show registers alone. With longer hops, words pass through them in a cycle.
fn is_clocked(spec: &ArraySpec) -> bool {
    spec.hop_limit == 1
}

/// The modules that are built once for all their instances, used ones before their users: blocks, and tiles where nothing but registers
/// connects them.
fn libraries(spec: &ArraySpec) -> Vec<String> {
    let tiles = spec.kinds().filter(|_| is_clocked(spec)).map(|kind| tile_module(spec, kind));
    tiles.chain([block_module(spec), io_block_module(spec)]).collect()
}
