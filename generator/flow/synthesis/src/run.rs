//! Synthesis: a netlist, and what Yosys and OpenSTA say of it.

use std::collections::BTreeMap;
use std::process::Command;

use askama::Template;
use itertools::Itertools;
use pushmem_cache::Kept;
use pushmem_files::{Diagnostic, template};
use serde::{Deserialize, Serialize};

use crate::block::BlockKind;
use crate::job::{Design, Job, job, library_texts, made_by, write_libraries};
use crate::liberty::find_clock_gate;
use crate::path::{Paths, figure, section};
use crate::process::{execute, read, read_json, run_opensta, work_folder};
use crate::report::{Block, Power, SynthesisReport};
use crate::tools::Tools;

/// Yosys runs in Python.
const SYNTHESIZE: &str = include_str!("../../../../templates/synthesis/synthesize.py");

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
    pub report: SynthesisReport,
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
    let timing = template!(
        "timing.tcl",
        job: &'a Job<'a> = &job,
        netlist: &'static str = "netlist.v",
    )
    .render()
    .expect("templates write to memory");
    let power = template!(
        "power.tcl",
        job: &'a Job<'a> = &job,
        netlist: &'static str = "power.v",
    )
    .render()
    .expect("templates write to memory");
    let description = serde_json::to_string(&job).expect("names and numbers");
    let libraries = library_texts(design)?;
    if let Some(gate) = job.gate {
        find_clock_gate(gate, &design.library.name, &libraries[0])?;
    }
    let made_by = made_by(design, tools);
    let mut texts = vec![SYNTHESIZE, &timing, &power, &description];
    texts.extend(libraries.iter().chain(&made_by).map(String::as_str));
    texts.extend(files.iter().flat_map(|(path, text)| [path.as_str(), text.as_str()]));
    let kept = Kept::of("synthesis", &texts);
    if let Some(synthesis) = kept.result() {
        return Ok(synthesis);
    }

    let work = work_folder(files.iter().map(|(path, text)| (path.as_str(), text.as_str())).chain([
        ("job.json", description.as_str()),
        ("synthesize.py", SYNTHESIZE),
        ("timing.tcl", &timing),
        ("power.tcl", &power),
    ]))?;
    write_libraries(&job, &libraries, work.path())?;
    let mut yosys = Command::new(&tools.python);
    execute(yosys.args(["synthesize.py", "job.json"]).current_dir(work.path()), "Yosys", &mut step)?;
    step("timing");
    let timed = run_opensta("timing.tcl", work.path(), &tools.sta, &mut step)?;
    step("power");
    let powered = run_opensta("power.tcl", work.path(), &tools.sta, &mut step)?;
    let modules: Vec<Module> = read_json(&work.path().join("result.json"), "Yosys")?;
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
    let report = report(design, &modules, [&timed, &powered], tools.overcharge())?;
    let synthesis = Synthesis { report, netlist, numbered, instances, black_boxes, reference };
    kept.keep(&synthesis);
    Ok(synthesis)
}

/// Whether a text of Verilog has a module of that name.
fn has_module(text: &str, name: &str) -> bool {
    let mut modules = text.lines().filter_map(|line| line.strip_prefix("module ")?.split([' ', '(', ';']).next());
    modules.any(|module| module == name)
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

/// The figures of a design, with what OpenSTA printed of its timing and of its power.
fn report(
    design: &Design,
    modules: &[Module],
    [timed, powered]: [&str; 2],
    overcharge: Result<f64, &str>,
) -> Result<SynthesisReport, Diagnostic> {
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
    let power = overcharge.and_then(|overcharge| power(section(powered, "power").unwrap_or_default(), overcharge));
    Ok(SynthesisReport {
        design: design.package.top.clone(),
        library: design.library.name.clone(),
        optimize: design.optimize,
        clock_ps: design.timing.clock_period_ps,
        blocks: blocks.collect(),
        macro_area: modules.iter().map(|module| macro_area(module) * f64::from(module.instances)).sum(),
        timed_macros: design.package.technology.bindings().all(|binding| binding.liberty().is_some()),
        paths: Paths::of_report(timed, design.operations)?,
        power: power.ok(),
        power_unknown: power.err().map(str::to_owned),
    })
}

/// Reads what OpenSTA reports of power, or says why that is not known.
fn power(report: &str, overcharge: f64) -> Result<Power, &'static str> {
    let total = report.lines().find_map(|line| line.strip_prefix("Total")).unwrap_or_default();
    match total.split_whitespace().map(figure).collect_vec().as_slice() {
        [Some(internal), Some(switching), Some(leakage), ..] => Ok(Power {
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
        for unknown in ["Error: no power\n", "Total - 0.001 0.0005 0.0055\n", "Total 0.004 nan 0.0005 0.0055\n"] {
            assert_eq!(power(unknown, 2.0), Err("OpenSTA reports no total"));
        }
    }
}
