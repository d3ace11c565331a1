//! Power of a netlist that runs an application: Verilator says what switches, OpenSTA what that takes.

mod macros;

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::path::Path;

use askama::Template;
use itertools::Itertools;
use pushmem_cache::Kept;
use pushmem_files::{Diagnostic, template, write_file};
use pushmem_technology::{Binding, Technology};
use serde::{Deserialize, Serialize};

use crate::block::BlockKind;
use crate::job::{Design, Job, job, library_texts, made_by, write_libraries};
use crate::liberty::voltage;
use crate::path::{figure, section};
use crate::process::{run_opensta, work_folder};
use crate::run::Synthesis;
use crate::toggles::{self, Pulses, Toggles, Window};
use crate::tools::Tools;
use macros::{accesses, placed, uses};

/// The application that a netlist runs.
#[derive(Clone, Debug)]
pub struct Application<'a> {
    /// Its name.
    pub name: String,
    /// All that decides what is run, in any form: the same texts switch the same nets.
    pub texts: Vec<&'a str>,
    /// The cycles of its wave that count.
    pub window: Window,
}

/// Words that an application moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Taken from inputs.
    pub taken: u64,
    /// Given to outputs.
    pub given: u64,
}

/// Power of the modules of one kind, all instances together, in milliwatts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockPower {
    /// Their kind.
    pub block: BlockKind,
    /// Power of the clock inside flip-flops and its own gates, whether they change or not, in cycles in which it runs.
    pub clock_mw: f64,
    /// The rest of what happens inside cells.
    pub cells_mw: f64,
    /// Nets that switch, gated clocks among them, without the clock's own.
    pub nets_mw: f64,
    /// At rest.
    pub leakage_mw: f64,
    /// Accesses of memory macros; none without macros, or where their energy is not known.
    pub accesses_mw: Option<f64>,
}

/// The uses of the macros of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accesses {
    /// The macro.
    #[serde(rename = "macro")]
    pub name: String,
    /// Rows read, of each macro for itself.
    pub reads: u64,
    /// Rows written, likewise.
    pub writes: u64,
    /// Energy of all of them in femtojoules, if the binding says that of one.
    pub energy_fj: Option<u64>,
}

/// The power of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// The application.
    pub application: String,
    /// Cycles that were looked at.
    pub cycles: u64,
    /// Words that were moved in them.
    #[serde(flatten)]
    pub words: Words,
    /// Clock period in picoseconds.
    pub clock_ps: u32,
    /// By kind of block, in the order of reports.
    pub blocks: Vec<BlockPower>,
    /// The clock's own net: the pins it drives, without a clock tree and wires.
    pub clock_net_mw: f64,
    /// Memory macros.
    pub accesses: Vec<Accesses>,
}

/// The switching of a netlist, for its power.
#[derive(Default)]
struct Switching<'a> {
    /// Path of each block, and its cells, each with its activity and the share of clock pulses that it gets.
    blocks: Vec<(&'a str, String)>,
    /// Clock-gate cells: path of the block, name in it, and the shares of clock pulses that it gets and that it passes on.
    gates: Vec<(&'a str, &'a str, f64, f64)>,
    /// Macros whose power at rest is known: path of the block, and name in it.
    macros: Vec<(&'a str, &'a str)>,
}

impl BlockPower {
    /// Everything.
    pub fn total_mw(&self) -> f64 {
        self.clock_mw + self.cells_mw + self.nets_mw + self.leakage_mw + self.accesses_mw.unwrap_or(0.0)
    }
}

impl Activity {
    /// Power of everything, in milliwatts. Macros of which nothing is known count nothing.
    pub fn total_mw(&self) -> f64 {
        self.clock_net_mw + self.blocks.iter().map(BlockPower::total_mw).sum::<f64>()
    }

    /// Energy of the whole run in picojoules.
    pub fn energy_pj(&self) -> f64 {
        self.picojoules(self.total_mw())
    }

    /// The energy of a power over the run.
    pub fn picojoules(&self, milliwatts: f64) -> f64 {
        milliwatts * f64::from(self.clock_ps) * 1e-3 * self.cycles as f64
    }

    /// Gives the memory the power of the accesses of all macros, if the energy of each is known.
    fn charge_accesses(&mut self) {
        let energy = self.accesses.iter().map(|accesses| accesses.energy_fj).sum::<Option<u64>>();
        let Some(energy) = energy.filter(|_| !self.accesses.is_empty()) else { return };
        let power = self.milliwatts(energy);
        if let Some(memory) = self.blocks.iter_mut().find(|block| block.block == BlockKind::Sram) {
            memory.accesses_mw = Some(power);
        }
    }

    /// The power of an energy over the run.
    fn milliwatts(&self, femtojoules: u64) -> f64 {
        femtojoules as f64 / (f64::from(self.clock_ps) * self.cycles.max(1) as f64)
    }
}

/// Runs an application on the netlist of a design and says what power it takes, or finds that in the cache. `simulate` runs
/// SystemVerilog files, of which the last is that of the top module, and writes the wave. `step` is told what is being done.
///
/// # Errors
/// When the simulation or OpenSTA fails, with what it said, or OpenSTA does not tell the energy of cells.
pub fn measure(
    design: &Design,
    synthesis: &Synthesis,
    application: &Application,
    tools: &Tools,
    simulate: impl FnOnce(&[(String, String)], &Path) -> Result<Words, Diagnostic>,
    mut step: impl FnMut(&str),
) -> Result<Activity, Diagnostic> {
    let overcharge =
        tools.overcharge().map_err(|why| Diagnostic::new(format!("the power of cells is not known: {why}")))?;
    let inputs = Inputs::of(design)?;
    let volts = voltage(&design.library.name, &inputs.libraries[0])?;
    let kept = inputs.kept(design, synthesis, application, tools);
    if let Some(activity) = kept.result() {
        return Ok(activity);
    }

    let work = work_folder([])?;
    step("running the netlist");
    let wave = work.path().join("wave.fst");
    let words = simulate(&traced(synthesis, &inputs.job), &wave)?;
    step("counting what switches");
    let technology = design.package.technology;
    let black_boxes = || synthesis.black_boxes.iter().map(|(path, name)| (path.as_str(), name.as_str()));
    let macros = || black_boxes().filter_map(|(path, name)| Some((path, binding(technology, name)?)));
    let uses = macros().flat_map(|(path, binding)| uses(path, binding)).collect_vec();
    let watched = uses.iter().map(|used| used.access.clone()).collect_vec();
    let toggles = toggles::read(&wave, inputs.job.top, application.window, &watched)?;

    step("power");
    let at_rest = macros().filter(|(_, binding)| binding.liberty().is_some()).map(|(path, _)| placed(path));
    let switching = Switching {
        blocks: cells_of_blocks(synthesis, &toggles),
        gates: clock_gates(&inputs.job, synthesis, &toggles),
        macros: at_rest.collect(),
    };
    let said = inputs.power(switching, synthesis, work.path(), tools, &mut step)?;

    let mut activity = Activity {
        application: application.name.clone(),
        cycles: toggles.cycles,
        words,
        clock_ps: design.timing.clock_period_ps,
        blocks: blocks(&said, &synthesis.instances, overcharge)?,
        clock_net_mw: clock_net(&said, volts, design.timing.clock_period_ps)?,
        accesses: accesses(&uses, &toggles.accesses),
    };
    activity.charge_accesses();
    kept.keep(&activity);
    Ok(activity)
}

/// The inputs of OpenSTA that follow from the design.
struct Inputs<'a> {
    job: Job<'a>,
    /// The name and the text of the file of constraints.
    constraints: (String, String),
    libraries: Vec<String>,
}

impl<'a> Inputs<'a> {
    fn of(design: &Design<'a>) -> Result<Self, Diagnostic> {
        let (job, files) = job(design);
        let name = format!("{}.sdc", job.name);
        let constraints = files.into_iter().find(|(path, _)| *path == name).expect("a package has constraints");
        Ok(Self { job, constraints, libraries: library_texts(design)? })
    }

    /// The place of the result in the cache.
    fn kept(&self, design: &Design, synthesis: &Synthesis, application: &Application, tools: &Tools) -> Kept {
        let empty = self.script(Switching::default());
        let made_by = made_by(design, tools);
        let mut texts = vec![synthesis.numbered.as_str(), &self.constraints.1, &empty];
        texts.extend(self.libraries.iter().chain(&made_by).map(String::as_str));
        texts.extend(application.texts.iter().copied());
        let window = format!("{:?}", application.window);
        texts.extend([application.name.as_str(), &window]);
        Kept::of("activity", &texts)
    }

    /// The script of OpenSTA.
    fn script(&self, Switching { blocks, gates, macros }: Switching) -> String {
        let script = template!(
            "activity.tcl",
            job: &'a Job<'a> = &self.job,
            netlist: &'static str = NUMBERED,
            blocks: Vec<(&'a str, String)> = blocks,
            gates: Vec<(&'a str, &'a str, f64, f64)> = gates,
            macros: Vec<(&'a str, &'a str)> = macros,
        );
        script.render().expect("templates write to memory")
    }

    /// The answer of OpenSTA, which runs in the folder `work`.
    fn power(
        &self,
        switching: Switching,
        synthesis: &Synthesis,
        work: &Path,
        tools: &Tools,
        step: &mut impl FnMut(&str),
    ) -> Result<String, Diagnostic> {
        let script = self.script(switching);
        let (constraints, constraints_text) = &self.constraints;
        for (path, text) in
            [(NUMBERED, &synthesis.numbered), (constraints, constraints_text), ("activity.tcl", &script)]
        {
            write_file(&work.join(path), text.as_bytes())?;
        }
        write_libraries(&self.job, &self.libraries, work)?;
        run_opensta("activity.tcl", work, &tools.sta, step)
    }
}

/// The file of the netlist whose instances have numbers.
const NUMBERED: &str = "numbered.v";

/// The binding of a macro, by its name.
fn binding<'a>(technology: &'a Technology, name: &str) -> Option<&'a Binding> {
    technology.bindings().find(|binding| binding.name == name)
}

/// A number of events for each cycle.
fn per_cycle(events: f64, toggles: &Toggles) -> f64 {
    events / toggles.cycles.max(1) as f64
}

/// The clock pulses of the cell at this path.
fn pulses(toggles: &Toggles, path: &str) -> Pulses {
    toggles.pulses.get(path).copied().unwrap_or_default()
}

/// The path of each block with its cells, each cell with its changes and the clock pulses that it gets, for a cycle. Macros and
/// clock gates are counted for themselves, and the nets of a block are outputs of the cells in it.
fn cells_of_blocks<'a>(synthesis: &Synthesis, toggles: &'a Toggles) -> Vec<(&'a str, String)> {
    let is_cell = |path: &str| !synthesis.black_boxes.contains_key(path) && !synthesis.instances.contains_key(path);
    let mut of_block: BTreeMap<&str, String> = BTreeMap::new();
    for (path, changes) in toggles.cells.iter().filter(|(path, _)| is_cell(path)) {
        let (block, cell) = placed(path);
        let Pulses { taken, given } = pulses(toggles, path);
        let running = per_cycle(taken.max(given) as f64, toggles);
        let changes = per_cycle(*changes, toggles);
        of_block.entry(block).or_default().push_str(&format!("{cell} {changes:.6} {running:.6} "));
    }
    of_block.into_iter().collect()
}

/// The block and the name of each clock gate, with the clock pulses that it gets and gives, for a cycle.
fn clock_gates<'a>(job: &Job, synthesis: &'a Synthesis, toggles: &Toggles) -> Vec<(&'a str, &'a str, f64, f64)> {
    let Some(gate) = &job.gate else { return Vec::new() };
    let paths = synthesis.black_boxes.iter().filter(|(_, name)| **name == gate.cell).map(|(path, _)| path);
    let clock_gate = |path: &'a String| {
        let ((block, cell), Pulses { taken, given }) = (placed(path), pulses(toggles, path));
        (block, cell, per_cycle(taken as f64, toggles), per_cycle(given as f64, toggles))
    };
    paths.map(clock_gate).collect()
}

/// The netlist in numbers, the cells, and the models of macros. Waves show what is counted, as each signal takes time to
/// build: the outputs of cells, the inputs of flip-flops and latches, for their clocks, the pins of macros, and the ports of the top
/// module.
fn traced(synthesis: &Synthesis, job: &Job) -> Vec<(String, String)> {
    let mut files = synthesis.netlist.clone();
    let (name, _) = files.pop().expect("a netlist has a top module");
    for (_, text) in files.iter_mut().filter(|(name, _)| name == "cells.v") {
        let registers = registers(text);
        *text = with_tracing(text, |module, line| {
            let line = line.trim_start();
            line.starts_with("output ") || line.starts_with("input ") && registers.iter().any(|name| name == module)
        });
    }
    let is_net = |line: &str| ["  input ", "  output ", "  wire "].iter().any(|start| line.starts_with(start));
    let of_top = |module: &str| module.strip_prefix(job.top).is_some_and(|rest| rest.starts_with('('));
    let is_shown = |module: &str, line: &str| !is_net(line) || of_top(module) && !line.starts_with("  wire ");
    files.push((name, with_tracing(&synthesis.numbered, is_shown)));
    files
}

/// The modules of cells that hold something, by the rest of their first lines.
fn registers(cells: &str) -> Vec<String> {
    let (mut module, mut found) = ("", Vec::new());
    for line in cells.lines() {
        module = line.strip_prefix("module ").unwrap_or(module);
        if line.trim_start().starts_with("always") && found.last().is_none_or(|last| last != module) {
            found.push(module.to_owned());
        }
    }
    found
}

/// A text with signals and instances in waves where `is_shown` says so of a module and a line.
fn with_tracing(text: &str, is_shown: impl Fn(&str, &str) -> bool) -> String {
    let (mut module, mut shown, mut traced) = ("", true, String::new());
    for line in text.lines() {
        module = line.strip_prefix("module ").unwrap_or(module);
        if shown != is_shown(module, line) {
            shown = !shown;
            traced.push_str(if shown { "/* verilator tracing_on */\n" } else { "/* verilator tracing_off */\n" });
        }
        traced.push_str(line);
        traced.push('\n');
    }
    traced
}

/// The power of blocks from OpenSTA, by their kinds.
///
/// # Errors
/// When it is not four numbers of each.
fn blocks(said: &str, instances: &BTreeMap<String, BlockKind>, overcharge: f64) -> Result<Vec<BlockPower>, Diagnostic> {
    let mut sums: BTreeMap<BlockKind, [f64; 4]> = BTreeMap::new();
    for line in said.lines() {
        let Some((path, figures)) = line.strip_prefix("BLOCK {").and_then(|rest| rest.split_once("} ")) else {
            continue;
        };
        let watts: Option<Vec<f64>> = figures.split_whitespace().map(figure).collect();
        let watts: Option<[f64; 4]> = watts.and_then(|watts| watts.try_into().ok());
        let unknown = || Diagnostic::new(format!("OpenSTA does not say the power of a block, but: {line}"));
        let watts = watts.ok_or_else(unknown)?;
        let kind = instances.get(path).copied().unwrap_or(BlockKind::Rest);
        for (sum, watts) in sums.entry(kind).or_default().iter_mut().zip(watts) {
            *sum += watts * 1000.0;
        }
    }
    let power = |(block, [clock_mw, cells_mw, nets_mw, leakage_mw]): (BlockKind, [f64; 4])| BlockPower {
        block,
        clock_mw: clock_mw / overcharge,
        cells_mw: cells_mw / overcharge,
        nets_mw,
        leakage_mw,
        accesses_mw: None,
    };
    Ok(sums.into_iter().map(power).collect())
}

/// Power of the clock's net in milliwatts: it is charged once a cycle.
fn clock_net(said: &str, volts: f64, clock_ps: u32) -> Result<f64, Diagnostic> {
    let net = section(said, "clock").unwrap_or_default();
    let load = net.lines().find_map(|line| line.trim().strip_prefix("Total capacitance:"));
    let femtofarads = load.and_then(|text| {
        // Of rising and of falling edges, or from least to most.
        let values = text.split(|letter: char| letter.is_whitespace() || letter == '-');
        let values: Option<Vec<f64>> = values.filter(|word| !["", "r", "f"].contains(word)).map(figure).collect();
        values?.into_iter().reduce(f64::max)
    });
    let femtofarads = femtofarads.ok_or_else(|| Diagnostic::new("OpenSTA does not say the load of the clock"))?;
    Ok(femtofarads * volts * volts / f64::from(clock_ps))
}

impl Display for Activity {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let total = self.total_mw();
        writeln!(
            formatter,
            "power of `{}`, in mW at {} ps: {} cycles, {} words taken, {} given",
            self.application, self.clock_ps, self.cycles, self.words.taken, self.words.given
        )?;
        writeln!(
            formatter,
            "{:<18} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7}",
            "block", "clock", "cells", "nets", "accesses", "at rest", "total", "share"
        )?;
        let share = |power: f64| 100.0 * power / total.max(f64::MIN_POSITIVE);
        for block in &self.blocks {
            writeln!(
                formatter,
                "{:<18} {:>9.4} {:>9.4} {:>9.4} {:>9} {:>9.4} {:>9.4} {:>5.1} %",
                block.block.title(),
                block.clock_mw,
                block.cells_mw,
                block.nets_mw,
                block.accesses_mw.map_or_else(String::new, |power| format!("{power:.4}")),
                block.leakage_mw,
                block.total_mw(),
                share(block.total_mw())
            )?;
        }
        let net = self.clock_net_mw;
        writeln!(formatter, "{:<18} {net:>9.4} {net:>49.4} {:>5.1} %", "clock net", share(net))?;
        let sum = |figure: fn(&BlockPower) -> f64| self.blocks.iter().map(figure).sum::<f64>();
        writeln!(
            formatter,
            "{:<18} {:>9.4} {:>9.4} {:>9.4} {:>9.4} {:>9.4} {total:>9.4}",
            "total",
            net + sum(|block| block.clock_mw),
            sum(|block| block.cells_mw),
            sum(|block| block.nets_mw),
            sum(|block| block.accesses_mw.unwrap_or(0.0)),
            sum(|block| block.leakage_mw)
        )?;
        for Accesses { name, reads, writes, energy_fj } in &self.accesses {
            let energy = match energy_fj {
                Some(energy) => format!("{:.1} pJ in all", *energy as f64 / 1000.0),
                None => "their energy is not known, and not in the power".to_owned(),
            };
            writeln!(formatter, "{name}: {reads} rows read, {writes} written; {energy}")?;
        }
        let each = |words: u64| self.energy_pj() / words.max(1) as f64;
        writeln!(
            formatter,
            "energy             {:.1} pJ, {:.2} pJ for each word given, {:.2} pJ for each word taken or given",
            self.energy_pj(),
            each(self.words.given),
            each(self.words.taken + self.words.given)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_of_blocks_is_summed_by_their_kinds() {
        let instances = BTreeMap::from([("n1".to_owned(), BlockKind::Sram), ("n2".to_owned(), BlockKind::Sram)]);
        let said = "BLOCK {n1} 2e-3 4e-3 1e-3 0\nBLOCK {n2} 0 0 5e-4 1e-3\n";
        let found = blocks(said, &instances, 2.0).unwrap();
        let [BlockPower { block: BlockKind::Sram, clock_mw, cells_mw, nets_mw, leakage_mw, .. }] = found[..] else {
            panic!("{found:?}");
        };
        let expected = [1.0, 2.0, 1.5, 1.0];
        for (found, expected) in [clock_mw, cells_mw, nets_mw, leakage_mw].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    /// An unreadable power is not 0.
    #[test]
    fn power_that_is_told_otherwise_is_an_error() {
        for figures in ["nan 0 0 0", "0 0 - 0", "0 0 0", "0 0 0 0 0"] {
            let error = blocks(&format!("BLOCK {{n1}} {figures}\n"), &BTreeMap::new(), 2.0).unwrap_err();
            assert!(error.message().contains(figures), "{error}");
        }
        let clock =
            |load: &str| clock_net(&format!("SECTION clock\n Total capacitance: {load}\nSECTION end\n"), 1.0, 1000);
        for load in ["r 20.5 f 30.0", "20.5-30.0", "30"] {
            assert!((clock(load).unwrap() - 0.03).abs() < 1e-9, "{load}");
        }
        for load in ["", "nan", "r 20.5 f x", "20.5 fF"] {
            assert!(clock(load).is_err(), "{load}");
        }
    }
}
