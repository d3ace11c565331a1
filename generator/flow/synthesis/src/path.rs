//! Timing paths, in words.

use itertools::Itertools;
use pushmem_files::Diagnostic;
use serde::{Deserialize, Serialize};

/// A path from a register or an input to a register or an output. Macros with a library file are registers, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// Where it begins, in words.
    pub from: String,
    /// Where it ends, in words.
    pub to: String,
    /// Gates between.
    pub gates: usize,
    /// Delay in picoseconds: from the clock edge or the input to the end, with the time that the register there needs.
    pub delay_ps: f64,
    /// Clock cycles that it has for that: 1, or half of one between a register and a macro that works at the falling edge.
    pub cycles: f64,
    /// The instance and cell that takes longest, with its delay in picoseconds.
    pub slowest: Option<(String, f64)>,
}

/// The longest paths by their ends; none where there is no such path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paths {
    /// From register to register or clock gate: of all, the one with the longest [`Path::period_ps`].
    pub registers: Option<Path>,
    /// From an input to a register or clock gate.
    pub inputs: Option<Path>,
    /// From a register to an output.
    pub outputs: Option<Path>,
    /// From an input to an output.
    pub through: Option<Path>,
    /// Of a tile of an array: from a track that comes in to a register.
    pub tracks_in: Option<Path>,
    /// From a register to a track that goes out.
    pub tracks_out: Option<Path>,
    /// From a track that comes in past the register of one that goes out.
    pub tracks_through: Option<Path>,
    /// Of a tile with a processing element: the paths with each operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationPaths>,
}

/// The longest paths of a tile whose processing element does one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationPaths {
    /// The operation; without, no operand takes a track.
    pub operation: Option<String>,
    /// From register to register.
    pub registers: Option<Path>,
    /// From a track that comes in to a register.
    pub tracks_in: Option<Path>,
}

impl Paths {
    /// Reads what OpenSTA reports, in sections.
    ///
    /// # Errors
    /// When a path is not told as it is known here.
    pub(crate) fn of_report(text: &str, operations: &[String]) -> Result<Self, Diagnostic> {
        let path = |name: &str| section(text, name).map_or(Ok(None), Path::of_report);
        let longest = |names: &[&str]| {
            let paths: Vec<Option<Path>> = names.iter().map(|name| path(name)).try_collect()?;
            Ok::<_, Diagnostic>(
                paths.into_iter().flatten().max_by(|left, right| left.period_ps().total_cmp(&right.period_ps())),
            )
        };
        let edges = ["rise to rise", "rise to fall", "fall to rise", "fall to fall"];
        let registers = edges.map(|edges| format!("registers, {edges}"));
        let none = (!operations.is_empty()).then_some(None);
        let of_operations = operations.iter().map(Some).chain(none).map(|operation| {
            let name = operation.map_or("none", String::as_str);
            Ok::<_, Diagnostic>(OperationPaths {
                operation: operation.cloned(),
                registers: path(&format!("{name}: registers"))?,
                tracks_in: path(&format!("{name}: tracks in"))?,
            })
        });
        Ok(Paths {
            // The latch of a clock gate needs its enable before the edge that a register needs its data before.
            registers: longest(&registers.iter().map(String::as_str).chain(["gates"]).collect_vec())?,
            inputs: longest(&["inputs", "inputs of gates"])?,
            outputs: path("outputs")?,
            through: path("through")?,
            tracks_in: path("tracks in")?,
            tracks_out: path("tracks out")?,
            tracks_through: path("tracks through")?,
            operations: of_operations.try_collect()?,
        })
    }
}

/// A section of what a script for OpenSTA prints, if it has that.
pub(crate) fn section<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("SECTION {name}\n"))?;
    rest.split("SECTION ").next()
}

/// A number that OpenSTA prints.
pub(crate) fn figure(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|figure| figure.is_finite())
}

/// The text of a section without a path.
const NONE: &str = "No paths found.";

/// A pin that a path goes through, with the delay to it and the cell that it is of.
struct Arc<'a> {
    delay: f64,
    pin: &'a str,
    cell: &'a str,
}

impl Path {
    /// The least clock period with this path, in picoseconds.
    pub fn period_ps(&self) -> f64 {
        self.delay_ps / self.cycles
    }

    /// Reads a section; nothing where it says that there is no path.
    fn of_report(text: &str) -> Result<Option<Self>, Diagnostic> {
        if text.lines().any(|line| line.trim() == NONE) {
            return Ok(None);
        }
        let unknown =
            |what: &str| Diagnostic::new(format!("OpenSTA does not say {what} of a path, but:\n{}", text.trim_end()));
        let after = |key: &str| text.lines().find_map(|line| line.trim().strip_prefix(key)).map(str::trim);
        let begin = after("Startpoint:").ok_or_else(|| unknown("the beginning"))?;
        let end = after("Endpoint:").ok_or_else(|| unknown("the end"))?;
        // The number in the first column of a line that ends with this key, if there is one.
        let number = |key: &str| {
            let line = text.lines().find_map(|line| line.trim_end().strip_suffix(key));
            line.map(|line| line.split_whitespace().next().and_then(figure).ok_or_else(|| unknown(key))).transpose()
        };
        let arrival = number("data arrival time")?.ok_or_else(|| unknown("the arrival"))?;
        // Of a latch, it is a part of what is said of the time that it lends.
        let lent = after("library setup time").map(|rest| figure(rest).ok_or_else(|| unknown("the setup time")));
        let lent = lent.transpose()?;
        let to_register = !end.contains("(output port");
        let setup = match number("library setup time")?.or(lent) {
            Some(setup) => setup,
            None if to_register => return Err(unknown("the setup time")),
            None => 0.0,
        };
        let external = number("input external delay")?.unwrap_or(0.0);
        let (data, required) = text.split_once("data arrival time").unwrap_or((text, ""));
        // The edges at which it begins and ends: time, and whether the clock falls.
        let edge = |text: &str, what: &str| {
            let edge = text.lines().find_map(|line| match words(line).as_slice() {
                [_, time, "clock", _, edge, "edge)"] => Some((figure(time)?, *edge == "(fall")),
                _ => None,
            });
            edge.ok_or_else(|| unknown(what))
        };
        let (launch, falls) = edge(data, "the clock edge that begins")?;
        let (_, ends_falling) = edge(required, "the clock edge that ends")?;
        // The time that a latch lends is a part of the cycle.
        let half = ends_falling != falls && lent.is_none();
        let arcs = arcs(data).ok_or_else(|| unknown("the delay to a pin"))?;
        // Not the clock pin of the register where it begins, and not the pin where it ends.
        let from_register = usize::from(!begin.contains("(input port"));
        let outputs = arcs.get(from_register..arcs.len().saturating_sub(usize::from(to_register))).unwrap_or_default();
        let slowest = outputs.iter().max_by(|left, right| left.delay.total_cmp(&right.delay));
        Ok(Some(Path {
            from: place(begin),
            to: place(end),
            gates: outputs.len().saturating_sub(from_register),
            delay_ps: picoseconds(arrival - launch - external - setup),
            cycles: if half { 0.5 } else { 1.0 },
            slowest: slowest.map(|arc| (format!("{} in {}", arc.cell, instance(arc.pin)), picoseconds(arc.delay))),
        }))
    }
}

/// Nanoseconds of a report in picoseconds, to the last digit that `timing.tcl` asks for. Differences of such figures
/// carry noise of floating point below it, which depends on the edge where a path begins.
fn picoseconds(nanoseconds: f64) -> f64 {
    (nanoseconds * 1e5).round() / 100.0
}

/// The pins of cells on a path, from lines with delay, time, edge, instance/pin (CELL). Nothing if a delay is no number.
fn arcs(data: &str) -> Option<Vec<Arc<'_>>> {
    let arc = |line| match words(line).as_slice() {
        [_, _, "^" | "v", _, "(in)" | "(out)"] => None,
        [delay, _, "^" | "v", pin, cell] => {
            Some(figure(delay).map(|delay| Arc { delay, pin, cell: cell.trim_matches(['(', ')']) }))
        }
        _ => None,
    };
    data.lines().filter_map(arc).collect()
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The contents of registers of the modules, by the ends of their names.
const MEANINGS: [(&str, &str); 11] = [
    ("count_q", "loop counter"),
    ("wait_q", "countdown to the next firing"),
    ("cycle_q", "cycle counter"),
    ("address_q", "address"),
    ("active_q", "flag that it runs"),
    ("words", "words"),
    ("read_data_q", "data read back"),
    ("owned", "flags of rows of this tile"),
    // The latch of a clock gate, and a cell of the library.
    ("enabled", "clock gate"),
    ("cell", "clock gate"),
    ("macro", "SRAM macro"),
];

/// A name of the netlist in words: `gen_in2agg[0].u_controller/u_iteration_domain.gen_level[0].count_q[3]\DFFPOSX1` is the loop
/// counter of level 0 in `in2agg_0`.
fn place(text: &str) -> String {
    let name = text.split(" (").next().unwrap_or_default();
    let kind = if text.contains("(input") || text.contains("(output") { "port " } else { "" };
    let name = name.split('\\').next().unwrap_or(name);
    if kind == "port " {
        return format!("port {name}");
    }
    let parts = name.split(['/', '.']).collect_vec();
    let Some((register, path)) = parts.split_last() else { return name.to_owned() };
    let plain = register.split('[').next().unwrap_or(register).trim_start_matches("u_");
    // The instance, innermost first; the parts of a name that has none are those of flattened modules.
    let outer = name.split_once('/').map_or(path.len(), |(head, _)| head.split('.').count());
    let block = block(&path[..outer.min(path.len())]).unwrap_or_else(|| "the top module".to_owned());
    let level = path.iter().find_map(|part| part.strip_prefix("gen_level[")?.strip_suffix(']'));
    let what = MEANINGS
        .iter()
        .find(|(end, _)| *end == plain)
        .map_or_else(|| format!("register {plain}"), |(_, what)| (*what).to_owned());
    match level {
        Some(level) => format!("{what} of level {level} in {block}"),
        None => format!("{what} in {block}"),
    }
}

/// The block that an instance is in.
fn instance(pin: &str) -> String {
    match pin.split('/').collect_vec().as_slice() {
        [outer, _, _, ..] => block(&outer.split('.').collect_vec()),
        _ => None,
    }
    .unwrap_or_else(|| "the top module".to_owned())
}

/// Instances within each other, outermost first, in words: innermost first, without the blocks of conditions. Of a loop over
/// ports, `gen_in2agg[0].u_controller` is `in2agg_0`, and `gen_in2agg[0].u_agg_address` is `agg_address of in2agg_0`.
fn block(path: &[&str]) -> Option<String> {
    let mut words = Vec::new();
    let mut of_loop = None;
    for part in path {
        if let Some((name, port)) = part.strip_prefix("gen_").and_then(|part| part.strip_suffix(']')?.split_once('[')) {
            words.push(format!("{name}_{port}"));
            of_loop = Some(name);
        } else if !part.starts_with("g_") {
            let name = part.trim_start_matches("u_");
            if of_loop.take().is_none_or(|of_loop| name != "controller" && name != of_loop) {
                words.push(name.to_owned());
            }
        }
    }
    (!words.is_empty()).then(|| words.iter().rev().join(" of "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
SECTION registers, rise to rise
Startpoint: gen_in2agg[0].u_controller/u_iteration_domain.gen_level[3].count_q[0]\\\\DFFPOSX1 (rising edge-triggered flip-flop clocked by clk)
Endpoint: u_transpose_buffer_0/gen_lane[0].words[1][0]\\\\DFFPOSX1 (rising edge-triggered flip-flop clocked by clk)
Path Group: clk

   0.00000    0.00000   clock clk (rise edge)
   0.00000    0.00000 ^ gen_in2agg[0].u_controller/count\\\\DFFPOSX1/CLK (DFFPOSX1)
   0.26740    0.26740 v gen_in2agg[0].u_controller/count\\\\DFFPOSX1/Q (DFFPOSX1)
   1.12520    1.39260 v _336_/Y (AND2X1)
   0.20000    1.59260 ^ u_transpose_buffer_0/_897_/Y (NAND2X1)
   0.00000    1.59260 ^ u_transpose_buffer_0/words\\\\DFFPOSX1/D (DFFPOSX1)
              1.59260   data arrival time

   5.00000    5.00000   clock clk (rise edge)
  -0.14740    4.85260   library setup time
              4.85260   data required time
SECTION inputs
No paths found.
SECTION gates
Startpoint: gen_in2agg[0].u_controller/active_q\\\\DFFSR (rising edge-triggered flip-flop clocked by clk)
Endpoint: u_registers/u_clock.enabled\\\\LATCH (positive level-sensitive latch clocked by clk')

   0.00000    0.00000   clock clk (rise edge)
   0.00000    0.00000 ^ gen_in2agg[0].u_controller/active_q\\\\DFFSR/CLK (DFFSR)
   0.24500    0.24500 ^ gen_in2agg[0].u_controller/active_q\\\\DFFSR/Q (DFFSR)
   1.42500    1.67000 ^ u_registers/_182_/Y (OR2X1)
   0.00000    1.67000 ^ u_registers/u_clock.enabled\\\\LATCH/D (LATCH)
              1.67000   data arrival time

   2.50000    2.50000   clock clk' (rise edge)
              2.50000   data required time

Time Borrowing Information
clk' pulse width                        2.50000
library setup time                     -0.15000
max time borrow                         2.35000
";

    #[test]
    fn paths_are_told_in_words() {
        let paths = Paths::of_report(REPORT.split("SECTION gates").next().unwrap(), &[]).unwrap();
        let path = paths.registers.unwrap();
        assert_eq!(path.from, "loop counter of level 3 in in2agg_0");
        assert_eq!(path.to, "words in transpose_buffer_0");
        assert_eq!(path.gates, 2);
        assert!((path.delay_ps - 1740.0).abs() < 1e-6, "{}", path.delay_ps);
        assert_eq!(path.cycles, 1.0);
        let (slowest, delay) = path.slowest.unwrap();
        assert_eq!((slowest.as_str(), delay.round()), ("AND2X1 in the top module", 1125.0));
        assert!(paths.inputs.is_none());
    }

    #[test]
    fn a_path_between_edges_has_half_a_cycle() {
        let half = "\
SECTION registers, fall to rise
Startpoint: u_sram/gen_bank[0].gen_column[0].u_macro (falling edge-triggered flip-flop clocked by clk)
Endpoint: u_transpose_buffer_0/gen_lane[0].words[1][0]\\\\DFFPOSX1 (rising edge-triggered flip-flop clocked by clk)

   2.50000    2.50000   clock clk (fall edge)
   0.00000    2.50000 v u_sram/gen_bank[0].gen_column[0].u_macro/CLK (macro)
   0.80000    3.30000 v u_sram/gen_bank[0].gen_column[0].u_macro/Q[0] (macro)
   0.00000    3.30000 ^ u_transpose_buffer_0/words\\\\DFFPOSX1/D (DFFPOSX1)
              3.30000   data arrival time

   5.00000    5.00000   clock clk (rise edge)
  -0.10000    4.90000   library setup time
              4.90000   data required time
";
        let path = Paths::of_report(&(REPORT.split("SECTION gates").next().unwrap().to_owned() + half), &[])
            .unwrap()
            .registers
            .unwrap();
        assert_eq!(path.from, "SRAM macro in sram");
        assert!((path.delay_ps - 900.0).abs() < 1e-6, "{}", path.delay_ps);
        assert!((path.period_ps() - 1800.0).abs() < 1e-6, "{}", path.period_ps());
    }

    #[test]
    fn the_enable_of_a_clock_gate_is_there_before_the_rising_edge() {
        let later = REPORT.replace("1.67000   data arrival", "1.77000   data arrival");
        let path = Paths::of_report(&later, &[]).unwrap().registers.unwrap();
        assert_eq!(path.to, "clock gate in registers");
        assert!((path.delay_ps - 1920.0).abs() < 1e-6, "{}", path.delay_ps);
        let shorter = REPORT.replace("1.67000   data arrival", "1.58000   data arrival");
        assert_eq!(Paths::of_report(&shorter, &[]).unwrap().registers.unwrap().to, "words in transpose_buffer_0");
    }

    #[test]
    fn pins_of_registers_have_any_names() {
        let with_pins = |clock: &str, data: &str| {
            let report = REPORT.replace("/CLK (", &format!("/{clock} (")).replace("/D (", &format!("/{data} ("));
            Paths::of_report(&report, &[]).unwrap().registers.unwrap()
        };
        assert_eq!(with_pins("CK", "DATA"), with_pins("CLK", "D"));
        // A gate has pins of such names, too.
        let output = REPORT.replace("_336_/Y (AND2X1)", "_336_/D (AND2X1)");
        assert_eq!(Paths::of_report(&output, &[]).unwrap().registers.unwrap().gates, with_pins("CLK", "D").gates);
    }

    #[test]
    fn a_path_to_an_output_ends_with_a_gate() {
        let output = "\
SECTION outputs
Startpoint: gen_in2sram[0].u_controller/wait_q[0]\\\\DFFPOSX1 (rising edge-triggered flip-flop clocked by clk)
Endpoint: data_in_0_taken (output port clocked by clk)

   0.00000    0.00000   clock clk (rise edge)
   0.00000    0.00000 ^ gen_in2sram[0].u_controller/wait_q[0]\\\\DFFPOSX1/CLK (DFFPOSX1)
   0.17363    0.17363 ^ gen_in2sram[0].u_controller/wait_q[0]\\\\DFFPOSX1/Q (DFFPOSX1)
   0.55666    0.73029 v gen_in2sram[0].u_controller/fire\\\\AND2X1/Y (AND2X1)
   0.00000    0.73029 v data_in_0_taken (out)
              0.73029   data arrival time

   5.00000    5.00000   clock clk (rise edge)
  -1.50000    3.50000   output external delay
              3.50000   data required time
";
        let path = Paths::of_report(output, &[]).unwrap().outputs.unwrap();
        assert_eq!((path.gates, path.slowest.unwrap().0.as_str()), (1, "AND2X1 in in2sram_0"));
        assert!((path.delay_ps - 730.29).abs() < 1e-6, "{}", path.delay_ps);
    }

    /// An unreadable path is neither 0 nor no path.
    #[test]
    fn a_path_that_is_told_otherwise_is_an_error() {
        let one = REPORT.split("SECTION gates").next().unwrap();
        for (from, to, what) in [
            ("Startpoint:", "Start:", "the beginning"),
            ("Endpoint:", "End:", "the end"),
            ("1.59260   data arrival time", "nan   data arrival time", "data arrival time"),
            ("data arrival time", "arrival", "the arrival"),
            ("-0.14740    4.85260   library setup time", "-    4.85260   library setup time", "library setup time"),
            ("library setup time", "setup", "the setup time"),
            ("   0.00000    0.00000   clock clk (rise edge)\n", "", "the clock edge that begins"),
            ("   5.00000    5.00000   clock clk (rise edge)\n", "", "the clock edge that ends"),
            ("1.12520    1.39260 v", "*    1.39260 v", "the delay to a pin"),
            ("No paths found.", "No paths.", "the beginning"),
            ("No paths found.", "", "the beginning"),
        ] {
            assert!(one.contains(from), "{from}");
            let error = Paths::of_report(&one.replacen(from, to, 1), &[]).unwrap_err();
            assert!(error.message().starts_with(&format!("OpenSTA does not say {what} of a path")), "{from}: {error}");
        }
    }
}
