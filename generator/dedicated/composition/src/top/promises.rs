//! Assertions: guarantees of the memory tiles, and of hold registers.

use std::collections::BTreeMap;

use index_vec::IndexSlice;
use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_buffers::Port;
use pushmem_graph::{Accelerator, Counter, Driver, Kernel, Source, WireId};

use super::signals::HoldSignals;
use super::{Context, Section, run_cycles};
use crate::names::Names;
use crate::text::{bits_for, literal, range};

/// The cycle of the run, which only assertions read.
const CYCLE: &str = "cycle_q";

/// The reader of the signals that only assertions read.
pub(super) const READER: &str = "assertions_unused";

/// The longest part of a condition that is not broken.
const LINE: usize = 100;

/// One of the conditions that together say in which cycles a schedule has an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Limit {
    /// Not before this cycle.
    First(u64),
    /// Not after this cycle.
    Last(u64),
    /// The time since the start, modulo the first of these, then the next, is at most so long.
    Within { start: u64, moduli: Vec<u64>, most: u64 },
}

impl Limit {
    fn print(&self, bits: u32) -> String {
        let number = |value: &u64| literal(bits, *value);
        let since = |start: u64, moduli: &[u64]| {
            // A multiple of the next modulus has no effect, nor does a start that is one.
            let next = moduli.iter().skip(1).map(Some).chain([None]);
            let needed = moduli.iter().zip(next).filter(|(one, next)| next.is_none_or(|next| *one % next != 0));
            let moduli = needed.map(|(one, _)| one).collect_vec();
            let aligned = moduli.first().is_some_and(|first| start.is_multiple_of(**first));
            let time = if aligned { CYCLE.to_owned() } else { format!("({CYCLE} - {})", number(&start)) };
            std::iter::once(time).chain(moduli.into_iter().map(number)).join(" % ")
        };
        match self {
            Limit::First(cycle) => format!("{CYCLE} >= {}", number(cycle)),
            Limit::Last(cycle) => format!("{CYCLE} <= {}", number(cycle)),
            Limit::Within { start, moduli, most } => {
                let compared = if *most == 0 { "==" } else { "<=" };
                format!("{} {compared} {}", since(*start, moduli), number(most))
            }
        }
    }
}

/// Guarantee of a memory tile or a hold register for a wire: a word in each cycle of the schedule. The proof of the compiler shows that
/// the wire is used in no other cycle.
pub(crate) struct Promise {
    /// The label of the assertion.
    pub label: String,
    limits: Vec<Limit>,
}

/// The promises about all words that memories delay or keep, and about those that registers hold for kernels.
pub(super) fn promises(
    accelerator: &Accelerator,
    names: &mut Names,
    wires: &IndexSlice<WireId, [String]>,
) -> BTreeMap<WireId, Promise> {
    let run = run_cycles(accelerator);
    let memories = accelerator.memories.iter();
    let delayed = memories.flat_map(|memory| memory.buffer.reads().map(|(number, port)| (memory.wire(number), port)));
    let arrays = accelerator.arrays.iter();
    let kept = arrays.flat_map(|array| array.buffer.reads().map(|(number, port)| (array.wires[number], port)));
    let promise = |(wire, port): (WireId, &Port)| {
        let port = port.in_time_order()?;
        let limits = limits(&port.extents(), &port.schedule, run)?;
        Some((wire, Promise { label: names.claim(&format!("a_{}_valid", wires[wire]), "assertion"), limits }))
    };
    let tiles = delayed.chain(kept).filter_map(promise).collect_vec();
    let held = accelerator.wires.iter_enumerated().filter(|(_, wire)| matches!(wire.driver, Driver::Hold { .. }));
    let held = held.filter_map(|(wire, _)| {
        let reads = |kernel: &&Kernel| kernel.operands.contains(&Source::Wire(wire));
        let Counter { extent, cycle, .. } = &accelerator.kernels.iter().find(reads)?.iterations;
        let limits = limits(extent, cycle, run)?;
        Some((wire, Promise { label: names.claim(&format!("a_{}_valid", wires[wire]), "assertion"), limits }))
    });
    tiles.into_iter().chain(held).collect()
}

/// In which of the cycles of a run a schedule has an iteration; nothing if in none.
fn limits(extents: &[u64], schedule: &Affine, run: u64) -> Option<Vec<Limit>> {
    let start = u64::try_from(schedule.start).ok().filter(|start| *start < run)?;
    let levels = extents.iter().zip(&schedule.stride).filter(|(extent, _)| **extent > 1);
    let levels =
        levels.map(|(extent, stride)| Some((*extent, u64::try_from(*stride).ok().filter(|stride| *stride > 0)?)));
    let levels: Vec<(u64, u64)> = levels.collect::<Option<_>>()?;
    // How long the loops up to each take from their first iteration to their last.
    let mut total = 0;
    let spans = levels.iter().map(|(extent, stride)| {
        total += (extent - 1) * stride;
        total
    });
    let spans = spans.collect_vec();
    let mut limits = Vec::new();
    if start > 0 {
        limits.push(Limit::First(start));
    }
    let last = start + spans.last().copied().unwrap_or(0);
    if last < run - 1 {
        limits.push(Limit::Last(last));
    }
    // The time within an iteration of each loop, of the outermost first, is that of an iteration of the loops inside.
    let mut moduli = Vec::new();
    for (level, (_, stride)) in levels.iter().enumerate().rev() {
        moduli.push(*stride);
        let most = if level == 0 { 0 } else { spans[level - 1] };
        if most < stride - 1 {
            limits.push(Limit::Within { start, moduli: moduli.clone(), most });
        }
    }
    Some(limits)
}

impl Context<'_> {
    /// Bits of the cycle of a run.
    fn cycle_bits(&self) -> u32 {
        bits_for(run_cycles(self.accelerator))
    }

    /// The cycle of the run, if assertions read it.
    pub(super) fn cycle_of_run(&self) -> Option<Section> {
        if self.signals.promises.is_empty() {
            return None;
        }
        let body = format!(
            "`ifndef PUSHMEM_ASSERT_OFF\n    logic{} {CYCLE};\n    always_ff @(posedge clk_i) begin\n        if (flush) begin\n            \
             {CYCLE} <= '0;\n        end else if (step) begin\n            {CYCLE} <= {CYCLE} + 1'b1;\n        end\n    \
             end\n`endif",
            range(self.cycle_bits()),
        );
        Some(Section::new("The cycle of the run, for assertions.", body))
    }

    /// A reader for the signals that only assertions read: without assertions, lint would find them unused.
    pub(super) fn read_by_assertions(&self) -> Option<Section> {
        let valid = |wire: &WireId| match self.accelerator.wires[*wire].driver {
            Driver::Tile { tile, output } => Some(self.signals.valid(tile, output)),
            _ => None,
        };
        let signals = self.signals.promises.keys().filter_map(valid).collect_vec();
        if signals.is_empty() {
            return None;
        }
        let body = format!(
            "`ifdef PUSHMEM_ASSERT_OFF\n    logic {READER};\n    assign {READER} = &{{\n        1'b0,\n        {}\n    }};\n`endif",
            signals.join(",\n        ")
        );
        Some(Section::new("Without assertions, nothing reads these.", body))
    }

    /// An assertion for each of these wires on which there is a delayed word.
    pub(super) fn promises(&self, wires: impl Iterator<Item = WireId>) -> String {
        let assertions = wires.filter_map(|wire| self.promise(wire)).collect_vec();
        if assertions.is_empty() {
            return String::new();
        }
        format!(
            "\n\n    // There is a word in each cycle of its schedule, and so in each in which it is used.\n{}",
            assertions.join("\n")
        )
    }

    /// Whether a hold register was loaded in this run, if an assertion reads that.
    pub(super) fn loaded(&self, wire: WireId) -> String {
        if !self.signals.promises.contains_key(&wire) {
            return String::new();
        }
        let HoldSignals { load, loaded, .. } = &self.signals.hold_registers[&wire];
        format!(
            "`ifndef PUSHMEM_ASSERT_OFF\n    logic {loaded};\n    always_ff @(posedge clk_i) begin\n        if (flush) begin\n            \
             {loaded} <= 1'b0;\n        end else if (step && {load}) begin\n            {loaded} <= 1'b1;\n        end\n    \
             end\n`endif"
        )
    }

    fn promise(&self, wire: WireId) -> Option<String> {
        let Promise { label, limits } = self.signals.promises.get(&wire)?;
        let valid = match self.accelerator.wires[wire].driver {
            Driver::Tile { tile, output } => self.signals.valid(tile, output),
            Driver::Hold { .. } => self.signals.hold_registers[&wire].loaded.clone(),
            _ => return None,
        };
        let name = &self.signals.wires[wire];
        let bits = self.cycle_bits();
        let mut used = vec!["step".to_owned()];
        for limit in limits.iter().map(|limit| limit.print(bits)) {
            match used.last_mut() {
                Some(line) if line.len() + limit.len() <= LINE => {
                    line.push_str(" && ");
                    line.push_str(&limit);
                }
                _ => used.push(format!("&& {limit}")),
            }
        }
        Some(format!(
            "    `PUSHMEM_ASSERT({label},\n        ({}) !== 1'b1\n        || {valid},\n        (\"{}: no word on `{name}` in cycle \
             %0d\", {CYCLE}))",
            used.join("\n            "),
            self.accelerator.name
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Limit {
        fn holds(&self, cycle: u64) -> bool {
            match self {
                Limit::First(first) => cycle >= *first,
                Limit::Last(last) => cycle <= *last,
                Limit::Within { start, moduli, most } => {
                    cycle >= *start && moduli.iter().fold(cycle - start, |time, modulus| time % modulus) <= *most
                }
            }
        }
    }

    fn printed(extents: &[u64], start: i64, stride: &[i64], run: u64) -> Option<String> {
        let schedule = Affine { start, stride: stride.to_vec() };
        Some(limits(extents, &schedule, run)?.iter().map(|limit| limit.print(8)).join(" && "))
    }

    #[test]
    fn cycles_of_schedules() {
        assert_eq!(printed(&[100], 0, &[1], 100).unwrap(), "");
        assert_eq!(printed(&[], 3, &[], 100).unwrap(), "cycle_q >= 8'd3 && cycle_q <= 8'd3");
        assert_eq!(printed(&[90], 10, &[1], 100).unwrap(), "cycle_q >= 8'd10");
        assert_eq!(printed(&[4], 10, &[2], 17).unwrap(), "cycle_q >= 8'd10 && cycle_q % 8'd2 == 8'd0");
        assert_eq!(printed(&[4, 3], 0, &[1, 10], 30).unwrap(), "cycle_q <= 8'd23 && cycle_q % 8'd10 <= 8'd3");
        assert_eq!(printed(&[4], 7, &[2], 14).unwrap(), "cycle_q >= 8'd7 && (cycle_q - 8'd7) % 8'd2 == 8'd0");
        assert_eq!(
            printed(&[4, 3], 1, &[2, 10], 28).unwrap(),
            "cycle_q >= 8'd1 && (cycle_q - 8'd1) % 8'd10 <= 8'd6 && (cycle_q - 8'd1) % 8'd2 == 8'd0"
        );
        assert_eq!(printed(&[4], 10, &[2], 10), None);
    }

    /// The limits hold in the cycles of the iterations, and in no others.
    #[test]
    fn limits_mean_the_schedule() {
        let schedules: [(&[u64], i64, &[i64]); 6] = [
            (&[5], 2, &[3]),
            (&[4, 3], 7, &[2, 9]),
            (&[4, 3], 0, &[2, 7]),
            (&[3, 1, 2], 1, &[1, 50, 3]),
            (&[3, 2, 3], 5, &[2, 6, 15]),
            (&[2, 2, 2, 2], 9, &[1, 3, 7, 20]),
        ];
        for (extents, start, stride) in schedules {
            let schedule = Affine { start, stride: stride.to_vec() };
            let points = extents.iter().map(|extent| 0..*extent).multi_cartesian_product();
            let cycles = points.map(|index| schedule.at(&index) as u64).collect_vec();
            for run in [10, 30, 60] {
                let limits = limits(extents, &schedule, run).unwrap();
                for cycle in 0..run {
                    let holds = limits.iter().all(|limit| limit.holds(cycle));
                    assert_eq!(holds, cycles.contains(&cycle), "{schedule:?} {extents:?} in cycle {cycle}");
                }
            }
        }
    }
}
