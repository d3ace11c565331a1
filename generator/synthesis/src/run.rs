//! Running Yosys and OpenSTA.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use askama::Template;
use itertools::Itertools;
use pushmem_files::{Diagnostic, write_file};
use pushmem_packaging::{Design as Package, Timing, package};
use pushmem_rtl::{registers_module, tile_module};
use pushmem_simulation::{cache_folder, key};
use pushmem_technology::{Binding, ClockGate};
use pushmem_tile::TileSpec;
use serde::{Deserialize, Serialize};

use crate::liberty::{find_clock_gate, with_passing_clock};
use crate::path::{Paths, section};
use crate::report::{Block, Power, Report};
use crate::tools::{Library, Tools};

/// Yosys runs in Python.
const SYNTHESIZE: &str = include_str!("../../../templates/synthesis/synthesize.py");

/// What a module of a design is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// Iteration domains, schedules, address generators.
    Controllers,
    /// Aggregators.
    Aggregators,
    /// Transpose buffers.
    TransposeBuffers,
    /// SRAM: macros, and the logic around them.
    Sram,
    /// The self-test of the SRAM.
    SelfTest,
    /// A memory of registers.
    RegisterFile,
    /// Configuration registers.
    Registers,
    /// Datapaths of an accelerator.
    Kernels,
    /// Shift registers of an accelerator.
    ShiftRegisters,
    /// Loops, stream buffers and the control of runs of an accelerator.
    Streams,
    /// Everything else.
    Rest,
}

impl BlockKind {
    /// All kinds, in the order of reports.
    pub(crate) const ALL: [BlockKind; 11] = [
        BlockKind::Controllers,
        BlockKind::Aggregators,
        BlockKind::TransposeBuffers,
        BlockKind::Sram,
        BlockKind::SelfTest,
        BlockKind::RegisterFile,
        BlockKind::Registers,
        BlockKind::Kernels,
        BlockKind::ShiftRegisters,
        BlockKind::Streams,
        BlockKind::Rest,
    ];

    /// The kind of a module of a design, by its name.
    fn of(module: &str, design: &Package) -> Self {
        let of_a_tile = |named: fn(&TileSpec) -> String| design.tiles.iter().any(|spec| named(spec) == module);
        let is_memory = || design.technology.assemblies().iter().any(|assembly| assembly.memory.name == module);
        match module {
            "pushmem_loop_counter" | "pushmem_run_control" | "pushmem_stream_buffer" => BlockKind::Streams,
            "pushmem_shift_register" => BlockKind::ShiftRegisters,
            "pushmem_divider" => BlockKind::Kernels,
            // Around the memory of each tile.
            "pushmem_sram" => BlockKind::Sram,
            "pushmem_bist" => BlockKind::SelfTest,
            _ if module.starts_with("pushmem_aggregator") => BlockKind::Aggregators,
            _ if module.starts_with("pushmem_register_file") => BlockKind::RegisterFile,
            _ if module.starts_with("pushmem_transpose_buffer") => BlockKind::TransposeBuffers,
            _ if module.starts_with("pushmem_controller")
                || module.starts_with("pushmem_address_generator")
                || module == "pushmem_cycle_counter" =>
            {
                BlockKind::Controllers
            }
            _ if is_memory() => BlockKind::Sram,
            _ if of_a_tile(registers_module) => BlockKind::Registers,
            _ if of_a_tile(tile_module) => BlockKind::Rest,
            _ if module.strip_prefix(&design.top).is_some_and(|rest| rest.starts_with('_')) => BlockKind::Kernels,
            _ => BlockKind::Rest,
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            BlockKind::Controllers => "controllers",
            BlockKind::Aggregators => "aggregators",
            BlockKind::TransposeBuffers => "transpose buffers",
            BlockKind::Sram => "SRAM",
            BlockKind::SelfTest => "self-test",
            BlockKind::RegisterFile => "register file",
            BlockKind::Registers => "registers",
            BlockKind::Kernels => "kernels",
            BlockKind::ShiftRegisters => "shift registers",
            BlockKind::Streams => "streams",
            BlockKind::Rest => "rest",
        }
    }
}

/// What the mapping to cells goes for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimize {
    /// Small cells, as many as needed.
    #[default]
    Area,
    /// Buffers and larger cells where paths are long.
    Speed,
}

/// What is to be synthesized.
#[derive(Clone, Copy, Debug)]
pub struct Design<'a> {
    /// The design, as it is packaged.
    pub package: &'a Package<'a>,
    /// Its clock and delays.
    pub timing: &'a Timing,
    /// Cells.
    pub library: &'a Library,
    /// What the mapping goes for.
    pub optimize: Optimize,
}

/// What the scripts are told.
#[derive(Serialize)]
pub(crate) struct Job<'a> {
    pub(crate) name: &'a str,
    pub(crate) top: &'a str,
    files: Vec<String>,
    pub(crate) liberty: Vec<String>,
    /// The cell of clock gates.
    #[serde(skip)]
    pub(crate) gate: Option<&'a ClockGate>,
    optimize: Optimize,
    /// What is no cell: the macros.
    macros: Vec<String>,
    /// What has no inside: the macros, and the cell of clock gates.
    black_boxes: Vec<String>,
    blocks: Vec<String>,
}

#[derive(Template)]
#[template(path = "timing.tcl", escape = "none")]
struct TimingScript<'a> {
    job: &'a Job<'a>,
    netlist: &'static str,
}

/// The library for OpenSTA where there is a cell for clock gates.
const PASSING_LIBRARY: &str = "library.lib";

impl Job<'_> {
    /// The libraries that OpenSTA reads.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = &str> {
        let first = self.gate.map(|_| PASSING_LIBRARY);
        first.into_iter().chain(self.liberty.iter().map(String::as_str).skip(usize::from(self.gate.is_some())))
    }
}

/// A module of the netlist, without those below it.
#[derive(Deserialize)]
struct Module {
    module: String,
    instances: u32,
    flip_flops: u32,
    cells: u32,
    area: f64,
    macros: BTreeMap<String, u32>,
    /// Its name in the netlist.
    netlist: String,
    /// The blocks and black boxes in it: number, and name of the module in the netlist.
    inside: BTreeMap<String, String>,
}

/// A netlist and what was found about it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Synthesis {
    /// Area, speed and power.
    pub report: Report,
    /// Verilog for simulation, name and text of each file: the models of macros, the cells with a clock gate, and the netlist, whose
    /// top module has the name and ports of the design's.
    pub netlist: Vec<(String, String)>,
    /// The netlist again, with numbers for the names of all that is inside.
    pub numbered: String,
    /// The blocks by the path of their instance in it.
    pub instances: BTreeMap<String, BlockKind>,
    /// The names of the macros and of the cells of clock gates by the path of their instance in it.
    pub black_boxes: BTreeMap<String, String>,
    /// The blocks of the RTL before they were mapped, in the text form of Yosys.
    pub reference: String,
}

/// Synthesizes a design, or finds the result in the cache. `step` is told what is being done.
///
/// # Errors
/// When the library lacks the cell of clock gates, or a program fails, with what it said.
pub fn run(design: &Design, tools: &Tools, mut step: impl FnMut(&str)) -> Result<Synthesis, Diagnostic> {
    let made = design.package;
    let (job, files) = job(design);
    let script = TimingScript { job: &job, netlist: "netlist.v" }.render().expect("templates write to memory");
    let description = serde_json::to_string(&job).expect("names and numbers");
    let libraries = library_texts(&job)?;
    if let Some(gate) = job.gate {
        find_clock_gate(gate, &design.library.name, &libraries[0])?;
    }
    let made_by = made_by(design, tools);
    let mut texts = vec![SYNTHESIZE, &script, &description];
    texts.extend(libraries.iter().chain(&made_by).map(String::as_str));
    texts.extend(files.iter().flat_map(|(path, text)| [path.as_str(), text.as_str()]));
    let kept = kept("synthesis", &key(&texts));
    if let Some(synthesis) = fs::read_to_string(&kept).ok().and_then(|text| serde_json::from_str(&text).ok()) {
        return Ok(synthesis);
    }

    let work = tempfile::tempdir().map_err(|error| Diagnostic::new(format!("no temporary folder: {error}")))?;
    for (path, text) in files.iter().map(|(path, text)| (path.as_str(), text)).chain([
        ("job.json", &description),
        ("synthesize.py", &SYNTHESIZE.to_owned()),
        ("timing.tcl", &script),
    ]) {
        write_file(&work.path().join(path), text.as_bytes())?;
    }
    let mut yosys = Command::new(&tools.python);
    execute(yosys.args(["synthesize.py", "job.json"]).current_dir(work.path()), "Yosys", &mut step)?;
    step("timing");
    write_library(&job, &libraries, work.path())?;
    let timed = run_opensta("timing.tcl", work.path(), &tools.sta, &mut step)?;
    let text = read(&work.path().join("result.json"))?;
    let modules: Vec<Module> =
        serde_json::from_str(&text).map_err(|error| Diagnostic::new(format!("the result of Yosys: {error}")))?;
    let model = |name: &str| made.rtl.iter().find(|(path, _)| path.ends_with(&format!("/{name}.sv")));
    let model = |name: &str| model(name).map(|(_, text)| text.clone());
    let mut cells = read(&work.path().join("cells.v"))?;
    // The table of states that libraries have for a clock gate is no function that Yosys reads.
    if let Some(gate) = job.gate.filter(|gate| !has_module(&cells, &gate.cell)) {
        cells.push_str(&model(&gate.cell).unwrap_or_default());
    }
    let models = job.macros.iter().filter_map(|name| Some((format!("{name}.sv"), model(name)?)));
    let mut netlist = models.collect_vec();
    netlist.push(("cells.v".to_owned(), cells));
    netlist.push((format!("{}.v", job.top), read(&work.path().join("netlist.v"))?));
    let (instances, black_boxes) = instances(design, &modules);
    let numbered = read(&work.path().join("numbered.v"))?;
    let reference = read(&work.path().join("reference.il"))?;
    let report = report(design, &modules, &timed, tools.overcharge());
    let synthesis = Synthesis { report, netlist, numbered, instances, black_boxes, reference };
    // Without a cache it only takes longer.
    if let Ok(text) = serde_json::to_string(&synthesis) {
        let _ = write_file(&kept, text.as_bytes());
    }
    Ok(synthesis)
}

/// What the scripts are told of a design, and the files that they read.
pub(crate) fn job<'a>(design: &Design<'a>) -> (Job<'a>, Vec<(String, String)>) {
    let Design { package: made, timing, library, optimize } = *design;
    let mut files: Vec<(String, String)> = made.rtl.clone();
    files.extend(package(made, timing));
    let list = files.iter().find(|(path, _)| path == "filelist_synthesis.f").map_or("", |(_, text)| text);
    let sources = list.lines().map(str::to_owned).collect_vec();
    let mut liberty = vec![library.path.display().to_string()];
    liberty.extend(made.technology.bindings().filter_map(Binding::liberty).map(absolute));
    let modules = sources.iter().filter_map(|path| path.rsplit('/').next()?.strip_suffix(".sv"));
    let blocks = modules.filter(|module| BlockKind::of(module, made) != BlockKind::Rest).map(str::to_owned).collect();
    let job = Job {
        name: &made.name,
        top: &made.top,
        gate: made.technology.clock_gate(),
        files: sources,
        macros: made.technology.bindings().map(|binding| binding.name.clone()).collect(),
        black_boxes: made.technology.black_boxes().map(str::to_owned).collect(),
        blocks,
        optimize,
        liberty,
    };
    (job, files)
}

/// The texts of the libraries.
pub(crate) fn library_texts(job: &Job) -> Result<Vec<String>, Diagnostic> {
    job.liberty.iter().map(|file| read(Path::new(file))).collect()
}

/// What makes a result besides what is in files: what bindings say of macros, which the report has, the tools, what power is divided by,
/// and what reads what they say.
pub(crate) fn made_by(design: &Design, tools: &Tools) -> Vec<String> {
    let figures = design.package.technology.bindings().map(|binding| format!("{:?}", binding.figures));
    let overcharge = format!("{:?}", tools.overcharge());
    figures.chain([tools.versions.clone(), overcharge, env!("PUSHMEM_MADE_BY").to_owned()]).collect()
}

/// Whether a text of Verilog has a module of that name.
fn has_module(text: &str, name: &str) -> bool {
    let mut modules = text.lines().filter_map(|line| line.strip_prefix("module ")?.split([' ', '(', ';']).next());
    modules.any(|module| module == name)
}

/// Where a result is kept.
pub(crate) fn kept(what: &str, key: &str) -> PathBuf {
    cache_folder().join(what).join(key).with_extension("json")
}

/// The blocks and the black boxes of a netlist by the paths of their instances.
fn instances(design: &Design, modules: &[Module]) -> (BTreeMap<String, BlockKind>, BTreeMap<String, String>) {
    let (mut blocks, mut black_boxes) = (BTreeMap::new(), BTreeMap::new());
    let mut left = vec![(String::new(), design.package.top.as_str())];
    while let Some((path, name)) = left.pop() {
        let Some(module) = modules.iter().find(|module| module.netlist == name) else {
            black_boxes.insert(path, name.to_owned());
            continue;
        };
        let below = |number: &String| if path.is_empty() { number.clone() } else { format!("{path}/{number}") };
        left.extend(module.inside.iter().map(|(number, name)| (below(number), name.as_str())));
        blocks.insert(path, BlockKind::of(&module.module, design.package));
    }
    (blocks, black_boxes)
}

fn absolute(file: &str) -> String {
    std::path::absolute(file).map_or_else(|_| file.to_owned(), |path| path.display().to_string())
}

pub(crate) fn read(path: &Path) -> Result<String, Diagnostic> {
    let text = fs::read(path).map_err(|error| Diagnostic::new(format!("{}: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Writes the library that OpenSTA reads for a job with these texts of libraries, if there is one of its own.
pub(crate) fn write_library(job: &Job, libraries: &[String], folder: &Path) -> Result<(), Diagnostic> {
    let Some(gate) = job.gate else { return Ok(()) };
    write_file(&folder.join(PASSING_LIBRARY), with_passing_clock(gate, &libraries[0]).as_bytes())
}

/// Runs a script for OpenSTA in a folder and returns what it printed. Its last line is `SECTION end`: at an error, OpenSTA
/// stops and says that all is well.
pub(crate) fn run_opensta(
    script: &str,
    folder: &Path,
    sta: &Path,
    step: &mut impl FnMut(&str),
) -> Result<String, Diagnostic> {
    let mut sta = Command::new(sta);
    sta.args(["-no_splash", "-exit", script]).current_dir(folder);
    execute_to(&mut sta, "OpenSTA", |text| text.trim_end().ends_with("SECTION end"), step)
}

/// Runs a program and returns what it printed. A line `STEP …` is a step.
pub(crate) fn execute(command: &mut Command, name: &str, step: &mut impl FnMut(&str)) -> Result<String, Diagnostic> {
    execute_to(command, name, |_| true, step)
}

fn execute_to(
    command: &mut Command,
    name: &str,
    is_whole: impl Fn(&str) -> bool,
    step: &mut impl FnMut(&str),
) -> Result<String, Diagnostic> {
    let failed = |error: std::io::Error| Diagnostic::new(format!("{name} cannot be run: {error}"));
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let errors = child
        .stderr
        .take()
        .map(|errors| std::thread::spawn(move || std::io::read_to_string(errors).unwrap_or_default()));
    let mut text = String::new();
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        let line = line.map_err(failed)?;
        if let Some(what) = line.strip_prefix("STEP ") {
            step(what);
        }
        text.push_str(&line);
        text.push('\n');
    }
    let status = child.wait().map_err(failed)?;
    let errors = errors.and_then(|reader| reader.join().ok()).unwrap_or_default();
    if status.success() && is_whole(&text) {
        return Ok(text);
    }
    let said = text.lines().chain(errors.lines()).filter(|line| !line.trim().is_empty()).collect_vec();
    let last = said[said.len().saturating_sub(10)..].join("\n");
    Err(Diagnostic::new(format!("{name} failed; it said last:\n{last}")))
}

fn report(design: &Design, modules: &[Module], timed: &str, overcharge: Result<f64, &str>) -> Report {
    // A library file tells the area of a macro; a binding can, where there is none.
    let untimed = |name: &str| {
        design.package.technology.bindings().find(|binding| binding.name == name && binding.liberty().is_none())
    };
    let figure = |name: &str| untimed(name).and_then(|binding| binding.figures.area_um2).map_or(0.0, f64::from);
    let macro_area =
        |module: &Module| module.macros.iter().map(|(name, count)| figure(name) * f64::from(*count)).sum::<f64>();
    let blocks = BlockKind::ALL.into_iter().filter_map(|kind| {
        let members =
            modules.iter().filter(|module| BlockKind::of(&module.module, design.package) == kind).collect_vec();
        let sum = |figure: fn(&Module) -> u32| members.iter().map(|module| figure(module) * module.instances).sum();
        let block = Block {
            block: kind,
            instances: members.iter().map(|module| module.instances).sum(),
            cells: sum(|module| module.cells),
            flip_flops: sum(|module| module.flip_flops),
            macros: sum(|module| module.macros.values().sum()),
            area: members.iter().map(|module| (module.area + macro_area(module)) * f64::from(module.instances)).sum(),
        };
        (!members.is_empty()).then_some(block)
    });
    let power = overcharge.and_then(|overcharge| power(section(timed, "power"), overcharge));
    Report {
        design: design.package.top.clone(),
        library: design.library.name.clone(),
        optimize: design.optimize,
        clock_ps: design.timing.clock_period_ps,
        blocks: blocks.collect(),
        macro_area: modules.iter().map(|module| macro_area(module) * f64::from(module.instances)).sum(),
        timed_macros: design.package.technology.bindings().all(|binding| binding.liberty().is_some()),
        paths: Paths::of_report(timed),
        power: power.ok(),
        power_unknown: power.err().map(str::to_owned),
    }
}

/// Reads what OpenSTA reports of power, or says why that is not known.
fn power(report: &str, overcharge: f64) -> Result<Power, &'static str> {
    let total = report.lines().find(|line| line.starts_with("Total")).unwrap_or_default();
    let watts = total.split_whitespace().filter_map(|word| word.parse::<f64>().ok()).collect_vec();
    match watts.as_slice() {
        [internal, switching, leakage, ..] => Ok(Power {
            internal_mw: internal * 1000.0 / overcharge,
            switching_mw: switching * 1000.0,
            leakage_mw: leakage * 1000.0,
        }),
        _ => Err("OpenSTA reports no total"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_known_by_the_total() {
        let report = "Group Internal Switching Leakage Total\nTotal 0.004 0.001 0.0005 0.0055 100.0%\n";
        let Power { internal_mw, switching_mw, leakage_mw } = power(report, 2.0).unwrap();
        assert!((internal_mw - 2.0).abs() < 1e-9 && (switching_mw - 1.0).abs() < 1e-9, "{internal_mw} {switching_mw}");
        assert!((leakage_mw - 0.5).abs() < 1e-9, "{leakage_mw}");
        assert_eq!(power("Error: no power\n", 2.0), Err("OpenSTA reports no total"));
    }
}
