//! The hardware of an application as files: its SystemVerilog, its configuration, a C header, and a testbench.
//!
//! [`compose`] prints an [`Accelerator`] as a folder that someone else can use: `make` in it simulates the hardware
//! with Verilator and compares every word. [`Files::simulation_sources`] gives the same sources to those who build in
//! their own way. Hardware that varies by parameters alone is a module in `templates/accelerator/library`; the top
//! module is printed.

mod header;
mod instance;
mod loops;
mod modules;
mod names;
mod tables;
mod testbench;
mod text;
mod top;
mod window;

use itertools::Itertools;
use pushmem_configuration::{RegisterWrite, format_writes};
use pushmem_files::Diagnostic;
use pushmem_graph::{Accelerator, Beats, WORD_BITS};
use pushmem_nest::Program;
use pushmem_systemverilog::{FILE_LIST, VERYL_KEYWORDS, file_list, is_header, with_headers};
use pushmem_tile::{Reset, TileSpec};
use pushmem_waves::View;

use crate::names::Names;
use crate::window::Window;

pub use modules::LIBRARY;
pub use testbench::{format_beats, read_cycles};
pub use window::{register_writes, tile_bytes};

/// The files of an accelerator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// Name of the top module.
    pub top_module: String,
    /// The modules, used ones before their users: path and text of each.
    pub rtl: Vec<(String, String)>,
    /// The kinds of tiles among them.
    pub tiles: Vec<TileModule>,
    /// The testbench: path and text of the harness and of the headers that it includes.
    pub harness: Vec<(String, String)>,
    /// Waves for a viewer.
    pub waves: View,
    /// All other files: path and text of each.
    pub others: Vec<(String, String)>,
}

/// A kind of tile, which simulators can build once for all its instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileModule {
    /// Name of the module, and of its file without ending. It has no parameters.
    pub name: String,
    /// Names of the files that make it, without folders: those that it uses, its own, and those of checkers bound to it.
    pub files: Vec<String>,
}

/// Sources of a simulator: the name and text of each file, without folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulationSources {
    /// Name of the top module. The Verilated class is to be `Vtop`.
    pub top_module: String,
    /// SystemVerilog, used modules before their users.
    pub rtl: Vec<(String, String)>,
    /// The kinds of tiles among it.
    pub tiles: Vec<TileModule>,
    /// C++: `harness.cpp` and its headers.
    pub harness: Vec<(String, String)>,
}

impl TileModule {
    /// The files that a library of the tile stands for: its own, from its package to its checker. Others may use the rest, too.
    pub fn own_files(&self) -> &[String] {
        let package = format!("{}_pkg.sv", self.name.strip_suffix("_tile").unwrap_or(&self.name));
        let module = format!("{}.sv", self.name);
        let at = |name: &String| self.files.iter().position(|file| file == name);
        let own = at(&package).or(at(&module));
        &self.files[own.unwrap_or(self.files.len())..]
    }
}

impl Files {
    /// All files: the path, relative to the folder of the accelerator, and the text of each.
    pub fn all(&self) -> impl Iterator<Item = &(String, String)> {
        self.rtl.iter().chain(&self.harness).chain(&self.others)
    }

    /// The sources of a simulator; `wave` for one that writes waves, with those of [`Files::waves`]. The executable
    /// wants `--folder`, the folder that these files are written to; see the head of `harness.cpp` for its options.
    pub fn simulation_sources(&self, wave: bool) -> SimulationSources {
        let plain = |files: &[(String, String)]| {
            let name = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
            files.iter().map(|(path, text)| (name(path), text.clone())).collect_vec()
        };
        let mut harness = plain(&self.harness);
        if wave {
            for (_, text) in harness.iter_mut().filter(|(name, _)| name == "harness.cpp") {
                text.insert_str(0, "#define PUSHMEM_WAVE\n");
            }
        }
        let mut rtl = plain(&self.rtl);
        if wave {
            rtl.push(("waves.sv".to_owned(), self.waves.systemverilog()));
        }
        SimulationSources { top_module: self.top_module.clone(), rtl, tiles: self.tiles.clone(), harness }
    }
}

/// Prints an accelerator.
///
/// `tile_files` are the SystemVerilog files of its tiles: of each specification that is used those that make it, name and
/// text of each, used modules before their users. Files of one name must be the same. `inputs` and `expected` are the words
/// of a run of each input and output stream.
///
/// # Errors
/// When a tile does not suit, or two tiles need modules of one name: with advice. When a configuration does not fit, a schedule is none
/// that hardware could follow, or the words are not those of a run, which are faults of the caller: without.
pub fn compose(
    accelerator: &Accelerator,
    program: &Program,
    tile_files: &[Vec<(String, String)>],
    inputs: &[Beats],
    expected: &[Beats],
) -> Result<Files, Diagnostic> {
    if let Some(spec) = accelerator.specs_in_use().find(|spec| spec.word_bits < WORD_BITS) {
        let TileSpec { name, word_bits, .. } = spec;
        let message = format!("the words of the tile `{name}` have {word_bits} bits; an accelerator needs 16 or more");
        return Err(Diagnostic::new(message).with_help("choose a tile with words of at least 16 bits"));
    }
    let rom = (!accelerator.roms.is_empty()).then_some(accelerator.target.rom());
    let wanted = accelerator.target.memory().reset;
    if let Some(spec) = accelerator.specs_in_use().chain(rom).find(|spec| spec.reset != wanted) {
        return Err(other_reset(spec, wanted));
    }
    let window = Window::of(accelerator)?;
    let tiles = tile_modules(accelerator, tile_files);
    let tile_files = if accelerator.configured().is_empty() { Vec::new() } else { merged(tile_files)? };
    let taken = tile_files.iter().map(|(name, _)| name.trim_end_matches(".sv"));
    // Shells for buses, which are written in Veryl, name the top module.
    let taken = taken.chain(VERYL_KEYWORDS).map(str::to_owned);
    let mut modules = Names::with(taken.chain(modules::names()));
    let top_module = modules.claim(&accelerator.name, "accelerator");
    let kernels = modules::kernels(accelerator, program, &top_module, &mut modules);
    let tables = tables::modules(accelerator, program, &top_module, &mut modules);
    let top = top::print(accelerator, program, (&kernels, &tables), window, &top_module)?;

    let file = |name: &str| format!("{name}.sv");
    let mut rtl = tile_files;
    let library = modules::library(accelerator);
    rtl.extend(library.into_iter().map(|(name, text)| (file(&name), text)));
    rtl.extend(kernels.into_iter().map(|kernel| (file(&kernel.name), kernel.text)));
    rtl.extend(tables.into_iter().map(|table| (file(&table.name), table.text)));
    rtl.push((file(&top_module), accelerator.target.memory().reset.of_system_verilog(&top.text)));

    let run_cycles = top::run_cycles(accelerator);
    let writes = register_writes(accelerator)?;
    let number = writes.iter().map(Vec::len).sum();
    let ports = testbench::ports(accelerator, &top_module, &top.streams, run_cycles, number);
    let harness = vec![
        ("testbench/harness.cpp".to_owned(), testbench::HARNESS.to_owned()),
        ("testbench/ports.h".to_owned(), ports),
        ("testbench/streams.h".to_owned(), testbench::STREAMS.to_owned()),
    ];

    let rtl = with_headers(rtl).into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect_vec();
    let filelist = file_list(rtl.iter().map(|(path, _)| path.as_str()));
    let header = header::print(accelerator, &top_module, run_cycles, &writes, window.bytes());
    let mut others = vec![
        (FILE_LIST.to_owned(), filelist),
        ("Makefile".to_owned(), testbench::makefile(&top_module, &tiles)),
        (format!("{top_module}.h"), header),
    ];
    others.extend(testbench::waves(&top.waves));
    others.extend(testbench::PLATFORM.map(|(path, text)| (path.to_owned(), text.to_owned())));
    if !tiles.is_empty() {
        others.push(("testbench/tiles.vlt".to_owned(), testbench::tiles(&tiles)));
    }
    others.extend(configurations(accelerator, &writes));
    let streams = &top.streams;
    others.extend(testbench::beat_files(
        accelerator,
        accelerator.inputs.as_raw_slice(),
        &streams.inputs,
        inputs,
        ".hex",
    )?);
    let expected =
        testbench::beat_files(accelerator, &accelerator.outputs, &streams.outputs, expected, ".expected.hex")?;
    others.extend(expected);
    Ok(Files { top_module, rtl, tiles, harness, waves: top.waves, others })
}

/// The refusal of a tile that is reset otherwise than the memory tile, which decides for the accelerator.
pub fn other_reset(spec: &TileSpec, wanted: Reset) -> Diagnostic {
    let (reset, wanted) = (spec.reset.name(), wanted.name());
    Diagnostic::new(format!("the reset of the tile `{}` is {reset}, that of the accelerator {wanted}", spec.name))
        .with_help("an accelerator has one kind of reset: give all tiles the same")
}

/// The kinds of tiles that there are instances of.
fn tile_modules(accelerator: &Accelerator, tile_files: &[Vec<(String, String)>]) -> Vec<TileModule> {
    let rom = (!accelerator.roms.is_empty()).then_some(accelerator.target.rom());
    let module = |spec: &TileSpec| {
        let name = instance::tile_module(spec);
        let file = format!("{name}.sv");
        let files = tile_files.iter().find(|files| files.iter().any(|(name, _)| *name == file))?;
        Some(TileModule {
            name,
            files: files.iter().map(|(name, _)| name).filter(|name| !is_header(name)).cloned().collect(),
        })
    };
    accelerator.specs_in_use().chain(rom).filter_map(module).collect()
}

/// The files of several tiles, those that they share once.
fn merged(tile_files: &[Vec<(String, String)>]) -> Result<Vec<(String, String)>, Diagnostic> {
    let mut files: Vec<(String, String)> = Vec::new();
    for (name, text) in tile_files.iter().flatten() {
        match files.iter().find(|(other, _)| other == name) {
            None => files.push((name.clone(), text.clone())),
            Some((_, other)) if other == text => {}
            Some(_) => {
                let message = format!("two specifications need different files `{name}`");
                return Err(Diagnostic::new(message).with_help("give one of the specifications another `name`"));
            }
        }
    }
    Ok(files)
}

/// The configuration of each tile, and the register writes of all.
fn configurations(accelerator: &Accelerator, writes: &[Vec<RegisterWrite>]) -> Vec<(String, String)> {
    let tiles = accelerator.configured();
    if tiles.is_empty() {
        return Vec::new();
    }
    let yaml = tiles.iter().map(|tile| (format!("configuration/{}.yaml", tile.name), tile.configuration.to_yaml()));
    let names = tiles.iter().map(|tile| tile.name);
    let hex = names.zip(writes).map(|(name, writes)| format_writes(name, writes)).collect();
    yaml.chain([("configuration/writes.hex".to_owned(), hex)]).collect()
}
