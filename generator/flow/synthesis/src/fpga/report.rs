//! The resources of a device that a design takes, and its speed.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic};
use serde::{Deserialize, Serialize};

use super::{Family, FpgaDesign};

/// A memory of a design.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Memory {
    pub(super) name: String,
    /// File and line.
    pub(super) at: String,
    pub(super) rows: u64,
    pub(super) width: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// Reads that show in the same cycle.
    pub(super) unclocked_reads: u64,
    /// Block RAMs that it is in.
    pub(super) blocks: u64,
    /// Cells that it became, by their types.
    pub(super) parts: BTreeMap<String, u64>,
}

/// A product of two variables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Product {
    pub(super) name: String,
    /// File and line.
    pub(super) at: String,
    /// Of both operands.
    pub(super) bits: [u32; 2],
    /// Whether it is in a multiplier.
    pub(super) mapped: bool,
}

/// Cells of the accelerator by their types.
pub(super) type Cells = BTreeMap<String, u64>;

/// The findings of Yosys in an accelerator.
#[derive(Deserialize)]
pub(super) struct Inferred {
    pub(super) memories: Vec<Memory>,
    pub(super) multipliers: Vec<Product>,
}

/// The result of nextpnr, without what is not read.
#[derive(Deserialize)]
pub(super) struct Routed {
    fmax: BTreeMap<String, Fmax>,
    critical_paths: Vec<CriticalPath>,
    utilization: BTreeMap<String, Capacity>,
}

#[derive(Deserialize)]
struct Fmax {
    achieved: f64,
}

#[derive(Deserialize)]
struct Capacity {
    available: u64,
}

#[derive(Deserialize)]
struct CriticalPath {
    from: String,
    to: String,
    path: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    delay: f64,
    from: Pin,
    to: Pin,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Pin {
    cell: String,
}

/// The work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    /// Cycles of a run.
    pub cycles: u64,
    /// Pixels of the first output.
    pub pixels: u64,
}

/// A part of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Utilization {
    /// Of the accelerator.
    pub used: u64,
    /// Of the device.
    pub available: u64,
}

/// The longest path from register to register.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FpgaPath {
    /// The cell that it leaves.
    pub from: String,
    /// The cell that it reaches.
    pub to: String,
    /// In LUTs, carry chains, memories and multipliers, in nanoseconds.
    pub logic_ns: f64,
    /// In wires.
    pub routing_ns: f64,
}

/// The resources of a device that a design takes, and its speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FpgaReport {
    /// The top module.
    pub design: String,
    /// The family of the device.
    pub family: Family,
    /// The device.
    pub device: String,
    /// Whether the configuration is constants, or there is none.
    pub constant_configuration: bool,
    /// LUTs of four inputs, those in carry chains and memories included.
    pub luts: Utilization,
    /// Flip-flops.
    pub flip_flops: Utilization,
    /// Block RAMs of 18 kbit.
    pub block_rams: Utilization,
    /// Multipliers of 18 x 18 bits; smaller ones count as one.
    pub multipliers: Utilization,
    /// After placement and routing.
    pub maximum_mhz: f64,
    /// The path that says so.
    pub path: Option<FpgaPath>,
    /// The work of a run.
    #[serde(flatten)]
    pub throughput: Throughput,
    /// Pixels a cycle, over a run.
    pub pixels_per_cycle: f64,
    /// Millions of pixels a second at the maximum frequency.
    pub megapixels_per_second: f64,
}

/// Types of cells, and the LUTs, flip-flops, block RAMs or multipliers that each is. Memory in LUTs of ECP5 takes six for 64 bits: four
/// that hold, and two whose inputs are those of its writes.
type Weights = &'static [(&'static str, u64)];

const LUTS: [Weights; 2] = [
    &[("LUT4", 1), ("CCU2C", 2), ("TRELLIS_DPR16X4", 6)],
    &[
        ("LUT1", 1),
        ("LUT2", 1),
        ("LUT3", 1),
        ("LUT4", 1),
        ("ALU", 1),
        ("RAM16SDP4", 4),
        ("RAM16SDP2", 2),
        ("RAM16SDP1", 1),
    ],
];
const FLIP_FLOPS: [&str; 2] = ["TRELLIS_FF", "DFF"];
const BLOCK_RAMS: [Weights; 2] = [
    &[("DP16KD", 1), ("PDPW16KD", 1)],
    &[("SP", 1), ("SPX9", 1), ("SDPB", 1), ("SDPX9B", 1), ("DPB", 1), ("DPX9B", 1), ("pROM", 1), ("pROMX9", 1)],
];
const MULTIPLIERS: [Weights; 2] = [&[("MULT18X18D", 1)], &[("MULT9X9", 1), ("MULT18X18", 1), ("MULT36X36", 4)]];
/// The names that nextpnr has for what a device has of each.
const AVAILABLE: [[&str; 4]; 2] =
    [["TRELLIS_COMB", "TRELLIS_FF", "DP16KD", "MULT18X18D"], ["LUT4", "DFF", "BSRAM", "MULT18X18"]];

impl FpgaReport {
    pub(super) fn of(design: &FpgaDesign, cells: &Cells, routed: &Routed) -> Result<Self, Diagnostic> {
        let family = design.family as usize;
        let [luts, flip_flops, block_rams, multipliers] = AVAILABLE[family];
        let available = |name: &str| routed.utilization.get(name).map_or(0, |found| found.available);
        let weighted = |weights: Weights, name: &str| {
            let count = |(kind, weight): &(&str, u64)| cells.get(*kind).map_or(0, |count| count * weight);
            Utilization { used: weights.iter().map(count).sum(), available: available(name) }
        };
        let registers = cells.iter().filter(|(kind, _)| kind.starts_with(FLIP_FLOPS[family]));
        let maximum = routed.fmax.values().map(|found| found.achieved).reduce(f64::min);
        let maximum_mhz = maximum.ok_or_else(|| {
            Diagnostic::new("nextpnr reports no frequency: no path is between registers").or_code(Code::Synthesis)
        })?;
        let pixels_per_cycle = design.throughput.pixels as f64 / design.throughput.cycles.max(1) as f64;
        Ok(FpgaReport {
            design: design.package.top.clone(),
            family: design.family,
            device: design.family.device().to_owned(),
            constant_configuration: !design.writes.is_empty() || design.package.tiles.is_empty(),
            luts: weighted(LUTS[family], luts),
            flip_flops: Utilization { used: registers.map(|(_, count)| count).sum(), available: available(flip_flops) },
            block_rams: weighted(BLOCK_RAMS[family], block_rams),
            multipliers: weighted(MULTIPLIERS[family], multipliers),
            maximum_mhz,
            path: routed.critical_paths.iter().find(|path| path.is_between_registers()).and_then(CriticalPath::ends),
            throughput: design.throughput,
            pixels_per_cycle,
            megapixels_per_second: maximum_mhz * pixels_per_cycle,
        })
    }
}

impl CriticalPath {
    /// Whether both ends have the clock.
    fn is_between_registers(&self) -> bool {
        self.from == self.to && self.from.starts_with("posedge")
    }

    fn ends(&self) -> Option<FpgaPath> {
        let sum = |is_routing: bool| {
            let segments = self.path.iter().filter(|segment| (segment.kind == "routing") == is_routing);
            segments.map(|segment| segment.delay).sum()
        };
        let name = |pin: &Pin| pin.cell.trim_start_matches("u_design.").to_owned();
        let (first, last) = (self.path.first()?, self.path.last()?);
        Some(FpgaPath { from: name(&first.from), to: name(&last.to), logic_ns: sum(false), routing_ns: sum(true) })
    }
}

impl Display for FpgaReport {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} on {}", self.design, self.device)?;
        let resources = [
            ("LUTs", &self.luts),
            ("flip-flops", &self.flip_flops),
            ("block RAMs", &self.block_rams),
            ("multipliers", &self.multipliers),
        ];
        for (name, Utilization { used, available }) in resources {
            let share = 100.0 * *used as f64 / (*available).max(1) as f64;
            writeln!(formatter, "{name:<18} {used:>7} of {available:>6} {share:>5.1} %")?;
        }
        let kept = if self.constant_configuration { "constants" } else { "registers" };
        writeln!(formatter, "{:<18} in {kept}", "configuration")?;
        writeln!(formatter, "{:<18} {:.1} MHz after routing", "frequency", self.maximum_mhz)?;
        if let Some(FpgaPath { from, to, logic_ns, routing_ns }) = &self.path {
            writeln!(formatter, "{:<18} {logic_ns:.1} ns in logic, {routing_ns:.1} ns in wires", "longest path")?;
            for (end, cell) in [("from", from), ("to", to)] {
                writeln!(formatter, "{:<18} {}", format!("  {end}"), shortened(cell))?;
            }
        }
        let Throughput { cycles, pixels } = self.throughput;
        writeln!(
            formatter,
            "{:<18} {:.3} a cycle: {pixels} in {cycles} cycles; {:.1} million a second",
            "pixels", self.pixels_per_cycle, self.megapixels_per_second
        )
    }
}

/// The longest name of a cell that fits a line.
const LONGEST_NAME: usize = 80;

/// The end of a name: its beginning says the least.
fn shortened(name: &str) -> String {
    let count = name.chars().count();
    let end = name.chars().skip(count.saturating_sub(LONGEST_NAME)).join("");
    if count > LONGEST_NAME { format!("…{end}") } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_between_registers_of_the_clock() {
        let path = r#"{"from": "posedge clk", "to": "posedge clk", "path": [
            {"type": "clk-to-q", "delay": 0.5, "from": {"cell": "u_design.a"}, "to": {"cell": "u_design.a"}},
            {"type": "routing", "delay": 1.5, "from": {"cell": "u_design.a"}, "to": {"cell": "u_design.b"}},
            {"type": "setup", "delay": 0.25, "from": {"cell": "u_design.b"}, "to": {"cell": "u_design.b"}}]}"#;
        let path: CriticalPath = serde_json::from_str(path).unwrap();
        assert!(path.is_between_registers());
        let expected = FpgaPath { from: "a".to_owned(), to: "b".to_owned(), logic_ns: 0.75, routing_ns: 1.5 };
        assert_eq!(path.ends(), Some(expected));
    }

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(shortened("u_sram.rows"), "u_sram.rows");
        let long = shortened(&format!("{}.end", "u_memory.".repeat(20)));
        assert!(long.ends_with(".end") && long.chars().count() == LONGEST_NAME + 1, "{long}");
    }
}
