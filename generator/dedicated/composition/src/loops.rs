//! Loop counters and functions of their indices: conditions, selections and loop variables.

use itertools::Itertools;
use pushmem_affine::{Affine, Domain};
use pushmem_files::{Diagnostic, counted};
use pushmem_graph::{Condition, Counter, Variable};

use crate::instance::Instance;
use crate::text::{bits_for, concatenation, literal, range};

/// Signals that say how time goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    /// High in the cycle before cycle 0 of a run.
    pub flush: &'static str,
    /// High in each cycle of a run in which time goes on.
    pub step: &'static str,
}

impl Time {
    /// The time of the hardware.
    pub const HARDWARE: Time = Time { flush: "flush", step: "step" };
    /// The time of the streams where the stall has registers: so many cycles ahead of the hardware's.
    pub const AHEAD: Time = Time { flush: "flush_ahead", step: "step_ahead" };
}

/// A loop counter with the names of its signals.
pub(crate) struct LoopCounter<'a> {
    pub counter: &'a Counter,
    /// The time that it counts in.
    pub time: Time,
    /// Name of the stream or kernel whose iterations it counts, the stem of its signals.
    pub name: String,
    /// Name of the instance, and of its module.
    pub instance: String,
    pub module: String,
    /// High in the cycle of each iteration; `unused` is in its name where it has no reader.
    pub steps: String,
    /// The index of each level, likewise; at least one.
    pub indices: Vec<String>,
}

/// Bits of every index of a counter.
pub(crate) fn index_bits(counter: &Counter) -> u32 {
    bits_for(counter.extent.iter().map(|extent| extent - 1).max().unwrap_or(0))
}

impl LoopCounter<'_> {
    /// The sentence that describes its loops.
    pub fn description(&self) -> String {
        let Counter { loops, extent, cycle } = self.counter;
        let name = &self.name;
        if loops.is_empty() {
            return format!("Cycle {} of the run is the only one of `{name}`.", cycle.start);
        }
        let levels = loops.iter().zip(extent).zip(&cycle.stride).rev();
        let levels = levels.map(|((name, extent), stride)| {
            let every = if *stride == 1 { "cycle".to_owned() } else { format!("{stride} cycles") };
            format!("{name} {}, every {every}", counted(extent, "time"))
        });
        format!("Loops of `{name}` from cycle {} on: {}.", cycle.start, levels.format("; "))
    }

    /// The signals and the instance, which has this clock and this reset.
    ///
    /// # Errors
    /// When the schedule is none that hardware could follow.
    pub fn print(&self, clock: &str, reset: &str) -> Result<String, Diagnostic> {
        let Counter { loops, extent, cycle } = self.counter;
        let counter = with_loops(Instance::new(self.module.as_str(), self.instance.as_str()), extent, cycle);
        let counter = counter.ok_or_else(|| {
            let loops = loops.join(", ");
            Diagnostic::new(format!("the loops [{loops}] have iterations in one cycle, or before cycle 0"))
        })?;
        let mut lines = vec![format!("    logic{} {};", range(1), self.steps)];
        let bits = range(index_bits(self.counter));
        lines.extend(self.indices.iter().rev().map(|index| format!("    logic{bits} {index};")));
        let counter = counter
            .to(&[("clk_i", clock), ("rst_ni", reset), ("flush_i", self.time.flush), ("step_i", self.time.step)])
            .port("steps_o", &self.steps)
            .port("indices_o", concatenation(self.indices.iter().cloned()));
        lines.push(counter.print());
        Ok(lines.join("\n"))
    }
}

/// An instance with the parameters of a loop counter; nothing if the schedule is none that hardware could follow.
pub(crate) fn with_loops(instance: Instance, extent: &Domain, cycle: &Affine) -> Option<Instance> {
    let start = u64::try_from(cycle.start).ok()?;
    // Counters hold one less: a gap has at least a cycle. No loops are a loop of one iteration.
    let gaps = extent.deltas(&cycle.stride).into_iter().map(|gap| u64::try_from(gap - 1).ok());
    let gaps = gaps.collect::<Option<Vec<_>>>()?;
    let extents = extent.iter().map(|extent| extent - 1).collect_vec();
    let levels = extents.len().max(1);
    let count_bits = bits_for(extents.iter().copied().max().unwrap_or(0));
    let gap_bits = bits_for(gaps.iter().copied().chain([start]).max().unwrap_or(0));
    let instance = instance
        .parameter("Levels", levels)
        .parameter("CountBits", count_bits)
        .parameter("GapBits", gap_bits)
        .parameter("Extents", literals(count_bits, &extents, levels))
        .parameter("Start", literal(gap_bits, start))
        .parameter("Gaps", literals(gap_bits, &gaps, levels));
    Some(instance)
}

/// A number for each of so many loops: those that are given, then zeros.
pub(crate) fn literals(bits: u32, values: &[u64], levels: usize) -> String {
    let values = values.iter().copied().chain(std::iter::repeat(0)).take(levels);
    concatenation(values.map(|value| literal(bits, value)))
}

/// Parts of a condition that not every index meets anyway.
struct Parts {
    equal: Option<u64>,
    least: Option<u64>,
    most: Option<u64>,
    /// Modulus and remainder.
    remainder: Option<(u64, u64)>,
}

fn parts(condition: &Condition, extent: u64) -> Parts {
    let last_index = extent as i64 - 1;
    let (first, step) = (condition.first.max(0), condition.step.max(1));
    let last = condition.last.min(last_index);
    let last = first + (last - first).div_euclid(step) * step;
    if first == last {
        let equal = (extent > 1).then_some(first as u64);
        return Parts { equal, least: None, most: None, remainder: None };
    }
    Parts {
        equal: None,
        least: (first >= step).then_some(first as u64),
        most: (last + step <= last_index).then_some(last as u64),
        remainder: (step > 1).then_some((step as u64, (first % step) as u64)),
    }
}

/// Whether a condition depends on its index.
pub(crate) fn depends(condition: &Condition, extent: u64) -> bool {
    let Parts { equal, least, most, remainder } = parts(condition, extent);
    equal.is_some() || least.is_some() || most.is_some() || remainder.is_some()
}

/// A condition as SystemVerilog, nothing if every index meets it. `index` has `bits` bits and is less than `extent`.
pub(crate) fn condition(condition: &Condition, extent: u64, index: &str, bits: u32) -> Option<String> {
    let Parts { equal, least, most, remainder } = parts(condition, extent);
    let equal = equal.map(|value| match (bits, value) {
        (1, 1) => index.to_owned(),
        (1, _) => format!("!{index}"),
        _ => format!("{index} == {}", literal(bits, value)),
    });
    let least = least.map(|value| format!("{index} >= {}", literal(bits, value)));
    let most = most.map(|value| format!("{index} <= {}", literal(bits, value)));
    let remainder =
        remainder.map(|(modulus, value)| format!("{index} % {} == {}", literal(bits, modulus), literal(bits, value)));
    let parts = [equal, least, most, remainder].into_iter().flatten().collect_vec();
    (!parts.is_empty()).then(|| parts.join(" && "))
}

/// A loop variable as SystemVerilog: 32 bits. `index` has `bits` bits.
pub(crate) fn variable(variable: &Variable, index: Option<(&str, u32)>) -> String {
    const BITS: u32 = 32;
    // Two's complement: the sign of a product or sum is in its bits.
    let offset = literal(BITS, variable.offset.unsigned_abs());
    let Some((index, bits)) = index else {
        return if variable.offset < 0 { format!("-{offset}") } else { offset };
    };
    let extended = match BITS.saturating_sub(bits) {
        0 => index.to_owned(),
        zeros => format!("{{{zeros}'d0, {index}}}"),
    };
    let scale = literal(BITS, variable.scale.unsigned_abs());
    let scaled = match variable.scale {
        1 => extended,
        ..=0 => format!("-({scale} * {extended})"),
        _ => format!("{scale} * {extended}"),
    };
    match variable.offset {
        0 => scaled,
        ..0 => format!("{scaled} - {offset}"),
        _ => format!("{scaled} + {offset}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(first: i64, last: i64, step: i64, extent: u64) -> Option<String> {
        condition(&Condition { first, last, step }, extent, "x", bits_for(extent - 1))
    }

    #[test]
    fn conditions_leave_out_what_always_holds() {
        assert_eq!(printed(0, 63, 1, 64), None);
        assert_eq!(printed(0, 0, 1, 64).unwrap(), "x == 6'd0");
        assert_eq!(printed(63, 63, 1, 64).unwrap(), "x == 6'd63");
        assert_eq!(printed(1, 63, 1, 64).unwrap(), "x >= 6'd1");
        assert_eq!(printed(0, 61, 1, 64).unwrap(), "x <= 6'd61");
        assert_eq!(printed(2, 61, 1, 64).unwrap(), "x >= 6'd2 && x <= 6'd61");
        assert_eq!(printed(0, 62, 2, 64).unwrap(), "x % 6'd2 == 6'd0");
        assert_eq!(printed(1, 63, 2, 64).unwrap(), "x % 6'd2 == 6'd1");
        assert_eq!(printed(3, 63, 2, 64).unwrap(), "x >= 6'd3 && x % 6'd2 == 6'd1");
        assert_eq!(printed(1, 7, 3, 64).unwrap(), "x <= 6'd7 && x % 6'd3 == 6'd1");
        assert_eq!(printed(0, 0, 1, 2).unwrap(), "!x");
        assert_eq!(printed(1, 1, 1, 2).unwrap(), "x");
        assert_eq!(printed(0, 0, 1, 1), None);
    }

    /// A printed condition agrees with the model for every index.
    #[test]
    fn printed_parts_mean_the_condition() {
        for extent in 1..8 {
            for (first, last, step) in itertools::iproduct!(0..extent, 0..extent, 1..5) {
                if first > last {
                    continue;
                }
                let condition = Condition { first, last, step };
                let Parts { equal, least, most, remainder } = parts(&condition, extent as u64);
                for index in 0..extent {
                    let value = index as u64;
                    let holds = equal.is_none_or(|equal| value == equal)
                        && least.is_none_or(|least| value >= least)
                        && most.is_none_or(|most| value <= most)
                        && remainder.is_none_or(|(modulus, remainder)| value % modulus == remainder);
                    assert_eq!(holds, condition.holds(index), "{condition:?} at {index} of {extent}");
                }
            }
        }
    }

    #[test]
    fn variables_are_scaled_and_shifted() {
        let of = |scale, offset| variable(&Variable { level: Some(0), scale, offset }, Some(("x", 6)));
        assert_eq!(of(1, 0), "{26'd0, x}");
        assert_eq!(of(2, 1), "32'd2 * {26'd0, x} + 32'd1");
        assert_eq!(of(1, -3), "{26'd0, x} - 32'd3");
        assert_eq!(of(-1, 7), "-(32'd1 * {26'd0, x}) + 32'd7");
        assert_eq!(variable(&Variable { level: None, scale: 1, offset: -2 }, None), "-32'd2");
    }
}
