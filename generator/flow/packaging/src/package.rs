//! All files of a package.

use askama::Template;
use itertools::Itertools;
use pushmem_files::{render, text};
use pushmem_rtl::{checker_module, configuration_outputs, registers_module};
use pushmem_systemverilog::{ModulePort, file_list, include_folders, is_header, ports_of};
use pushmem_technology::{Binding, Kit, Technology, Views};
use pushmem_tile::{Reset, TEST_ENABLE, TileSpec};
use serde_json::{Value, json};

use crate::macros;
use crate::registers::{AddressBlock, Component, python, system_rdl};
use crate::timing::Timing;

/// A tile, an accelerator or an array, as a chip flow sees it.
#[derive(Clone, Debug)]
pub struct Design<'a> {
    /// Name of the package.
    pub name: String,
    /// Name of the top module.
    pub top: String,
    /// A description in a few words.
    pub about: String,
    /// SystemVerilog files, used modules before their users: path and text of each.
    pub rtl: Vec<(String, String)>,
    /// The kinds of tiles in it, which say what is a tile, its registers or its assertions among the modules.
    pub tiles: Vec<&'a TileSpec>,
    /// Modules of processing elements.
    pub processing_elements: Vec<String>,
    /// Paths of a testbench for Verilator: C++ files, and headers that they include. None for a design without one.
    pub testbench: Vec<String>,
    /// The port of its clock.
    pub clock: &'a str,
    /// The port of its reset.
    pub reset_port: &'a str,
    /// How its flip-flops are reset.
    pub reset: Reset,
    /// The macros of the memories.
    pub technology: &'a Technology,
    /// Its registers, where they have byte addresses.
    pub blocks: Vec<AddressBlock>,
    /// Its interfaces in IP-XACT, with the address spaces of managers.
    pub interfaces: String,
    /// Memory maps in IP-XACT beside its registers: of an array its configuration, of a global buffer its rows.
    pub memory_map: String,
    /// The most hops of an array that a word passes between two registers.
    pub hop_limit: Option<u32>,
}

/// The ports of the clock and of the reset, of all designs but shells.
const CLOCK: &str = "clk_i";
const RESET: &str = "rst_ni";

/// The list of the files for synthesis.
pub const SYNTHESIS_LIST: &str = "filelist_synthesis.f";

/// The nets of the supplies, as all platforms of OpenROAD-flow-scripts name them.
const POWER_NET: &str = "VDD";
const GROUND_NET: &str = "VSS";

/// The instances of macros in a netlist: what a regular expression matches.
const MACRO_INSTANCES: &str = ".*u_macro";

/// Version of generated packages: that of the generator.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Files by what reads them: paths in order.
struct Sources {
    /// Models of macros, for simulation only.
    models: Vec<String>,
    /// The same macros as black boxes, for synthesis only.
    stubs: Vec<String>,
    /// Headers that the others include.
    headers: Vec<String>,
    /// The files for simulation and synthesis.
    rtl: Vec<String>,
    /// Assertions bound to tiles, for simulation only.
    checkers: Vec<String>,
}

/// The script by which Yosys reads a design for FuseSoC.
const SYNTHESIS: &str = "synthesis.tcl";

#[derive(Template)]
#[template(path = "constraints.sdc", escape = "none")]
struct Constraints<'a> {
    design: &'a Design<'a>,
    timing: &'a Timing,
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// Register files whose outputs have several cycles, as instances below the top module.
    register_files: Vec<String>,
    /// Output ports of register files with the registers that controllers use.
    configuration_outputs: Vec<String>,
    /// Whether some clocks stop.
    clock_gates: bool,
}

/// The files that tell tools of a design, whatever its memories are made of: path and text of each.
pub fn description(design: &Design, timing: &Timing) -> Vec<(String, String)> {
    let Parts { ports, sources, constraints } = Parts::of(design, timing);
    let name = &design.name;
    let (headers, harness) = design.testbench.iter().partition(|path| path.ends_with(".h"));
    let mut files = vec![
        (
            format!("{name}.core"),
            text!(
                "fusesoc.core",
                design: &'a Design<'a> = design,
                sources: &'a Sources = &sources,
                /// Headers of the testbench, and its other files.
                headers: Vec<&'a String> = headers,
                harness: Vec<&'a String> = harness,
            ),
        ),
        (
            SYNTHESIS.to_owned(),
            text!(
                "synthesis.tcl",
                design: &'a Design<'a> = design,
                sources: &'a Sources = &sources,
            ),
        ),
        (format!("{name}.sdc"), render(&constraints)),
        (format!("{name}.xml"), render(&Component { design, ports: &ports })),
    ];
    if !design.blocks.is_empty() {
        files.push((format!("{name}_registers.py"), python(design)));
        files.push(("registers.rdl".to_owned(), system_rdl(&design.top, &design.about, &design.blocks)));
    }
    files
}

/// The files of a package, without the RTL: path and text of each.
pub fn package(design: &Design, timing: &Timing) -> Vec<(String, String)> {
    let Parts { sources, constraints, .. } = Parts::of(design, timing);
    let name = &design.name;
    let listed = sources.headers.iter().chain(sources.synthesis()).map(String::as_str).collect_vec();
    let kit = design.technology.kit();
    // The timing constraints name pins of register files, which the flows would dissolve.
    let keeps_hierarchy = !constraints.register_files.is_empty();
    let powered = design.technology.bindings().filter(|binding| !binding.views.power.is_empty()).collect_vec();
    let supplies = format!("{name}_supplies.tcl");
    let mut files = description(design, timing);
    files.extend([
        (
            "Bender.yml".to_owned(),
            text!(
                "Bender.yml",
                design: &'a Design<'a> = design,
                sources: &'a Sources = &sources,
            ),
        ),
        (SYNTHESIS_LIST.to_owned(), file_list(listed)),
        (
            "config.mk".to_owned(),
            text!(
                "config.mk",
                design: &'a Design<'a> = design,
                files: Vec<&'a String> = sources.synthesis(),
                include_folders: Vec<&'a str> = sources.include_folders(),
                /// The platform of the macros' kit, or one that ships with the flow.
                platform: &'a str = kit.map_or("nangate45", |kit| &kit.openroad),
                /// The kit of the macros.
                kit: Option<&'a Kit> = kit,
                /// Files of the macros' libraries by the variable that names them.
                views: Vec<(&'static str, Vec<String>)> = views(design.technology),
                /// The file with the supplies of macros.
                supplies: Option<&'a str> = (!powered.is_empty()).then_some(supplies.as_str()),
                /// Whether modules stay as they are.
                keeps_hierarchy: bool = keeps_hierarchy,
            ),
        ),
        ("config.json".to_owned(), libre_lane(design, timing, &sources, keeps_hierarchy)),
    ]);
    if !powered.is_empty() {
        files.push((
            supplies,
            text!(
                "supplies.tcl",
                design: &'a Design<'a> = design,
                bindings: Vec<&'a Binding> = powered,
            ),
        ));
    }
    if design.technology.bindings().next().is_some() {
        files.push(("memories.conf".to_owned(), macros::list(design.technology)));
        files.push(("memories.json".to_owned(), macros::json(design.technology)));
    }
    let stubs = design.technology.stubs().into_iter();
    files.extend(stubs.map(|(file, text)| (format!("stubs/{file}"), text)));
    files
}

/// The parts of a design that several files are printed from.
struct Parts<'a> {
    ports: Vec<ModulePort>,
    sources: Sources,
    constraints: Constraints<'a>,
}

impl<'a> Parts<'a> {
    fn of(design: &'a Design<'a>, timing: &'a Timing) -> Self {
        let ports = design.module(&design.top).and_then(|text| ports_of(&design.top, text));
        let ports = ports.expect("the top module is among the files, with its ports on lines of their own");
        let constraints = Constraints::of(design, timing, &ports);
        Parts { ports, sources: Sources::of(design), constraints }
    }
}

impl<'a> Design<'a> {
    /// A design of these files that has nothing else.
    pub fn new(top: &str, about: String, rtl: Vec<(String, String)>, reset: Reset, technology: &'a Technology) -> Self {
        Design {
            name: top.to_owned(),
            top: top.to_owned(),
            about,
            rtl,
            tiles: Vec::new(),
            processing_elements: Vec::new(),
            testbench: Vec::new(),
            clock: CLOCK,
            reset_port: RESET,
            reset,
            technology,
            blocks: Vec::new(),
            interfaces: String::new(),
            memory_map: String::new(),
            hop_limit: None,
        }
    }

    /// The text of a module, which has a file of its name.
    fn module(&self, name: &str) -> Option<&str> {
        let file = format!("{name}.sv");
        self.rtl.iter().rev().find(|(path, _)| file_name(path) == file).map(|(_, text)| text.as_str())
    }

    /// The register files of tiles whose registers stay as they are from one flush to the next, as instances below a module: those of the module
    /// itself, and those of modules that it has one instance of.
    fn stable_register_files(&self, module: &str) -> Vec<String> {
        let Some(text) = self.module(module) else { return Vec::new() };
        let kind = |module: &str| self.tiles.iter().find(|spec| registers_module(spec) == module);
        let below = |(module, name): (&str, &str)| match kind(module) {
            // The active registers change at a flush, so that they are used in the next cycle.
            Some(spec) if spec.shadow_registers => Vec::new(),
            Some(_) => vec![name.to_owned()],
            None => self.stable_register_files(module).iter().map(|inner| format!("{name}/{inner}")).collect(),
        };
        instances(text).flat_map(below).collect()
    }
}

/// The instances of a module outside of generate blocks, as they were printed: module and name of each.
fn instances(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let outside = text.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
    let heads = outside.filter_map(|line| line.trim().strip_suffix('(')?.trim().split_once(' '));
    heads.map(|(module, name)| (module.trim(), name.trim()))
}

impl Sources {
    fn of(design: &Design) -> Self {
        let macros = design.technology.stubs().into_iter().map(|(file, _)| file).collect_vec();
        let checkers = design.tiles.iter().map(|spec| format!("{}.sv", checker_module(spec))).collect_vec();
        let mut sources = Sources {
            models: Vec::new(),
            stubs: macros.iter().map(|file| format!("stubs/{file}")).collect(),
            headers: Vec::new(),
            rtl: Vec::new(),
            checkers: Vec::new(),
        };
        for (path, _) in &design.rtl {
            let file = file_name(path);
            let list = if is_header(path) {
                &mut sources.headers
            } else if macros.iter().any(|name| name == file) {
                &mut sources.models
            } else if checkers.iter().any(|name| name == file) {
                &mut sources.checkers
            } else {
                &mut sources.rtl
            };
            list.push(path.clone());
        }
        sources
    }

    /// The folders of the headers.
    fn include_folders(&self) -> Vec<&str> {
        include_folders(self.headers.iter().map(String::as_str))
    }

    /// The files for synthesis, macros as black boxes.
    fn synthesis(&self) -> Vec<&String> {
        self.stubs.iter().chain(&self.rtl).collect()
    }
}

impl<'a> Constraints<'a> {
    fn of(design: &'a Design<'a>, timing: &'a Timing, ports: &[ModulePort]) -> Self {
        let bits = |port: &ModulePort| if port.bits == 1 { port.name.clone() } else { format!("{}[*]", port.name) };
        let chosen = |output: bool| ports.iter().filter(move |port| port.output == output).map(bits);
        // The clock, the reset, and the port that only tests change have constraints of their own.
        let untimed = [design.clock, design.reset_port, TEST_ENABLE];
        let inputs = chosen(false).filter(|name| !untimed.contains(&name.as_str())).collect();
        let early = timing.registers_are_early();
        let register_files = if early { design.stable_register_files(&design.top) } else { Vec::new() };
        Constraints {
            design,
            timing,
            inputs,
            outputs: chosen(true).collect(),
            register_files,
            configuration_outputs: design.tiles.iter().flat_map(|spec| configuration_outputs(spec)).unique().collect(),
            clock_gates: ports.iter().any(|port| port.name == TEST_ENABLE),
        }
    }
}

/// Files of the macros' libraries by the variable of OpenROAD-flow-scripts: those of a kit in its folder, others in that of the
/// package.
fn views(technology: &Technology) -> Vec<(&'static str, Vec<String>)> {
    let of = |view: fn(&Views) -> &Option<String>| {
        let views = technology.bindings().map(|binding| &binding.views);
        let folder = |views: &Views| if views.kit.is_some() { "$(MACRO_FOLDER)/" } else { "$(HERE)" };
        views.filter_map(|views| Some(format!("{}{}", folder(views), view(views).as_ref()?))).collect_vec()
    };
    let views = [
        ("ADDITIONAL_LEFS", of(|views| &views.lef)),
        ("ADDITIONAL_LIBS", of(|views| &views.liberty)),
        ("ADDITIONAL_GDS", of(|views| &views.gds)),
    ];
    views.into_iter().filter(|(_, files)| !files.is_empty()).collect()
}

fn libre_lane(design: &Design, timing: &Timing, sources: &Sources, keeps_hierarchy: bool) -> String {
    let here = |path: &str| Value::from(format!("dir::{path}"));
    let sdc = format!("dir::{}.sdc", design.name);
    let period = f64::from(timing.clock_period_ps) / 1000.0;
    let mut config = json!({
        "meta": {"version": 2, "flow": "Classic"},
        "DESIGN_NAME": design.top,
        "VERILOG_FILES": sources.synthesis().into_iter().map(|path| here(path)).collect_vec(),
        "VERILOG_INCLUDE_DIRS": sources.include_folders().into_iter().map(here).collect_vec(),
        "USE_SLANG": true,
        "CLOCK_PORT": design.clock,
        "CLOCK_PERIOD": period,
        "PNR_SDC_FILE": sdc,
        "SIGNOFF_SDC_FILE": sdc,
    });
    if keeps_hierarchy {
        // Both the reader and synthesis would dissolve it.
        config["SYNTH_HIERARCHY_MODE"] = "keep".into();
        config["SLANG_ARGUMENTS"] = json!(["--keep-hierarchy"]);
    }
    let macros = design.technology.bindings().filter(|binding| binding.views.lef.is_some()).collect_vec();
    if !macros.is_empty() {
        let views = macros.iter().map(|binding| (binding.name.clone(), libre_lane_views(&binding.views)));
        config["MACROS"] = Value::Object(views.collect());
    }
    if let Some(kit) = design.technology.kit() {
        config["PDK"] = kit.librelane.as_str().into();
    }
    let connections = macros.iter().flat_map(|binding| connections(&binding.views)).unique().collect_vec();
    if !connections.is_empty() {
        // The names of nets are the kit's otherwise.
        config["VDD_NETS"] = json!([POWER_NET]);
        config["GND_NETS"] = json!([GROUND_NET]);
        config["PDN_MACRO_CONNECTIONS"] = connections.into();
    }
    serde_json::to_string_pretty(&config).expect("names and numbers") + "\n"
}

/// The views of a macro, by the names that LibreLane has for them.
fn libre_lane_views(views: &Views) -> Value {
    let folder = if views.kit.is_some() { "pdk_dir" } else { "dir" };
    let files = |view: &Option<String>| view.iter().map(|path| format!("{folder}::{path}")).collect_vec();
    let corner = |(corner, path): (&String, &String)| (corner.clone(), json!([format!("{folder}::{path}")]));
    let lib = if views.corners.is_empty() {
        json!({"*": files(&views.liberty)})
    } else {
        Value::Object(views.corners.iter().map(corner).collect())
    };
    json!({"gds": files(&views.gds), "lef": files(&views.lef), "lib": lib})
}

/// Each supply pin of a macro and its net, as LibreLane wants them: in pairs, so that the shorter list repeats its last.
fn connections(views: &Views) -> Vec<String> {
    let pin = |pins: &[String], number: usize| pins.get(number).or(pins.last()).cloned().unwrap_or_default();
    let pair = |number| {
        let (power, ground) = (pin(&views.power, number), pin(&views.ground, number));
        format!("{MACRO_INSTANCES} {POWER_NET} {GROUND_NET} {power} {ground}")
    };
    (0..views.power.len().max(views.ground.len())).map(pair).collect()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
