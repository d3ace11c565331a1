//! The changes of signals in a wave of a netlist.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use fst_reader::{FstFilter, FstHierarchyEntry, FstReader, FstSignalHandle, FstSignalValue, FstVarDirection};
use itertools::Itertools;
use pushmem_files::Diagnostic;

/// The cycles of a wave that count, by a port of the top module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Those after the first in which it is high.
    After(&'static str),
    /// From the first in which it is high to the last.
    While(&'static str),
}

/// A port of a macro as a wave shows it: what must be high or low in a cycle with an access.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Path of the instance in the top module.
    pub instance: String,
    /// Pins, and their level.
    pub pins: Vec<(String, bool)>,
}

/// How often outputs of cells change, and how often macros are used.
pub(crate) struct Toggles {
    /// Clock cycles that were looked at.
    pub cycles: u64,
    /// Changes from cycle to cycle, by the path of the cell in the top module: the mean of its outputs.
    pub cells: BTreeMap<String, f64>,
    /// Clock pulses of cells, by the path.
    pub pulses: BTreeMap<String, Pulses>,
    /// The cycles of each access.
    pub accesses: Vec<u64>,
}

/// Clock pulses of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pulses {
    /// Those that an input gets; inputs of gates are not in the wave.
    pub taken: u64,
    /// Those that an output has.
    pub given: u64,
}

/// The signals of a wave: path below the top module, and its number among the changes.
type Signals = BTreeMap<String, Signal>;

#[derive(Clone, Copy)]
struct Signal {
    number: usize,
    /// An input of its module.
    is_input: bool,
}

/// An edge of the clock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Rising,
    Falling,
}

/// A signal at the end of each cycle.
#[derive(Clone, Default)]
struct Sampled {
    /// Value at the end of the cycle before the last change.
    settled: bool,
    /// The last change: the cycle at whose end it is seen, and the value.
    last: (usize, bool),
    changes: u64,
    /// Whether the last change was with the rising edge of the clock.
    rising: bool,
    /// Changes with a rising edge of the clock that the falling edge took back: the signal is a clock then.
    pulses: u64,
}

impl Sampled {
    fn change(&mut self, cycle: usize, value: bool, edge: Option<Edge>, counts: &impl Fn(usize) -> bool) {
        self.pulses += u64::from(self.rising && edge == Some(Edge::Falling) && value != self.last.1 && counts(cycle));
        self.rising = edge == Some(Edge::Rising) && value != self.last.1;
        if cycle != self.last.0 {
            self.settle(counts);
        }
        self.last = (cycle, value);
    }

    fn settle(&mut self, counts: &impl Fn(usize) -> bool) {
        let (cycle, value) = self.last;
        self.changes += u64::from(value != self.settled && counts(cycle));
        self.settled = value;
    }
}

/// Reads a wave of a netlist: of its cells it shows the outputs. Each cycle counts as it is just before the rising edge that
/// ends it, so that what changes forth and back within a cycle does not count.
///
/// # Errors
/// When the file is no wave, or the top module, its clock or the port of the window is not in it.
pub(crate) fn read(wave: &Path, top: &str, window: Window, accesses: &[Access]) -> Result<Toggles, Diagnostic> {
    let failed = |what: &dyn std::fmt::Display| Diagnostic::new(format!("the wave of the netlist: {what}"));
    let file = File::open(wave).map_err(|error| failed(&error))?;
    let mut reader = FstReader::open(BufReader::new(file)).map_err(|error| failed(&error))?;
    let signals = signals(&mut reader, top).map_err(|error| failed(&error))?;
    let find = |name: &str| {
        signals
            .get(name)
            .map(|signal| signal.number)
            .ok_or_else(|| failed(&format!("there is no signal `{name}` of `{top}`")))
    };
    let (clock, port) = (
        find("clk_i")?,
        find(match window {
            Window::After(port) | Window::While(port) => port,
        })?,
    );

    // First when cycles end, and which of them count.
    let pins =
        accesses.iter().flat_map(|access| access.pins.iter().map(|(pin, _)| format!("{}/{pin}", access.instance)));
    let pins = pins.map(|pin| find(&pin)).collect::<Result<Vec<_>, _>>()?;
    let wanted = [clock, port].into_iter().chain(pins.iter().copied()).unique();
    let mut changes: BTreeMap<usize, Vec<(u64, bool)>> = BTreeMap::new();
    let filter = FstFilter::filter_signals(wanted.map(FstSignalHandle::from_index).collect());
    let read = reader.read_signals(&filter, |time, signal, value| {
        changes.entry(signal.get_index()).or_default().push((time, is_high(&value)));
        Ok::<_, std::convert::Infallible>(())
    });
    read.map_err(|error| failed(&error))?;
    let of = |signal: &usize| changes.get(signal).map_or(&[][..], Vec::as_slice);
    let rising = of(&clock).iter().tuple_windows().filter(|((_, before), (_, after))| !before && *after);
    let edges = rising.map(|(_, (time, _))| *time).collect_vec();
    let falling = of(&clock).iter().filter(|(_, high)| !high).map(|(time, _)| *time).collect_vec();
    let before = |signal: &usize, time: u64| {
        let changes = of(signal);
        let passed = changes.partition_point(|(changed, _)| *changed < time);
        passed > 0 && changes[passed - 1].1
    };
    let high = edges.iter().positions(|&edge| before(&port, edge)).collect_vec();
    let (Some(&first), Some(&last)) = (high.first(), high.last()) else {
        return Err(failed(&"the netlist was not started"));
    };
    let window = match window {
        Window::After(_) => first + 1..edges.len(),
        Window::While(_) => first..last + 1,
    };
    // A cycle counts by what changes from the one before to it.
    let counts = |cycle: usize| window.contains(&cycle);

    let mut sampled = vec![Sampled::default(); signals.values().map(|signal| signal.number + 1).max().unwrap_or(0)];
    let read = reader.read_signals(&FstFilter::all(), |time, signal, value| {
        let cycle = edges.partition_point(|edge| *edge <= time);
        if let Some(sampled) = sampled.get_mut(signal.get_index()) {
            let rises = cycle > 0 && edges[cycle - 1] == time;
            let falls = || falling.binary_search(&time).is_ok();
            let edge = if rises { Some(Edge::Rising) } else { falls().then_some(Edge::Falling) };
            sampled.change(cycle, is_high(&value), edge, &counts);
        }
        Ok::<_, std::convert::Infallible>(())
    });
    read.map_err(|error| failed(&error))?;
    sampled.iter_mut().for_each(|sampled| sampled.settle(&counts));

    let (cells, pulses) = by_cell(&signals, &sampled);
    let mut pins = pins.iter();
    let accesses = accesses.iter().map(|access| {
        let pins = access.pins.iter().zip(pins.by_ref()).map(|((_, level), signal)| (signal, *level)).collect_vec();
        let cycles = edges[window.clone()].iter();
        cycles.filter(|edge| pins.iter().all(|(signal, level)| before(signal, **edge) == *level)).count() as u64
    });
    Ok(Toggles { cycles: window.len() as u64, accesses: accesses.collect(), pulses, cells })
}

/// The mean changes of the outputs of each cell, and the most clock pulses of an input and of an output.
fn by_cell(signals: &Signals, sampled: &[Sampled]) -> (BTreeMap<String, f64>, BTreeMap<String, Pulses>) {
    let mut cells: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let mut pulses: BTreeMap<String, Pulses> = BTreeMap::new();
    for (path, signal) in signals {
        let Some((cell, _)) = path.rsplit_once('/') else { continue };
        let Sampled { changes, pulses: seen, .. } = sampled[signal.number];
        let of_cell = pulses.entry(cell.to_owned()).or_default();
        let most = if signal.is_input { &mut of_cell.taken } else { &mut of_cell.given };
        *most = seen.max(*most);
        if !signal.is_input {
            let (sum, outputs) = cells.entry(cell.to_owned()).or_default();
            *sum += changes as f64;
            *outputs += 1.0;
        }
    }
    (cells.into_iter().map(|(cell, (sum, outputs))| (cell, sum / outputs)).collect(), pulses)
}

/// The single bits of a top module.
fn signals(reader: &mut FstReader<BufReader<File>>, top: &str) -> Result<Signals, fst_reader::ReaderError> {
    let mut scopes: Vec<String> = Vec::new();
    let mut signals = Signals::new();
    reader.read_hierarchy(|entry| match entry {
        FstHierarchyEntry::Scope { name, .. } => scopes.push(name),
        FstHierarchyEntry::UpScope => drop(scopes.pop()),
        FstHierarchyEntry::Var { name, length: 1, handle, direction, .. } => {
            if let Some(place) = scopes.iter().position(|scope| scope == top) {
                let path = scopes[place + 1..].iter().chain([&name]).join("/");
                let is_input = direction == FstVarDirection::Input;
                signals.insert(path, Signal { number: handle.get_index(), is_input });
            }
        }
        _ => {}
    })?;
    Ok(signals)
}

fn is_high(value: &FstSignalValue) -> bool {
    matches!(value, FstSignalValue::String(b"1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_counts_once_a_cycle() {
        let counts = |cycle: usize| (2..=5).contains(&cycle);
        let mut signal = Sampled::default();
        // Before the window; forth and back within cycle 2; once in 3, and again; after the window.
        for (cycle, value) in [(0, false), (1, true), (2, false), (2, true), (3, false), (5, true), (6, false)] {
            signal.change(cycle, value, None, &counts);
        }
        signal.settle(&counts);
        assert_eq!((signal.changes, signal.pulses), (2, 0));
    }

    #[test]
    fn a_clock_is_what_both_edges_change() {
        let counts = |cycle: usize| (2..=5).contains(&cycle);
        let mut signal = Sampled::default();
        // A pulse before the window, two in it; what rises with an edge and falls with the next one is none.
        for cycle in [1, 2, 4] {
            signal.change(cycle, true, Some(Edge::Rising), &counts);
            signal.change(cycle, false, Some(Edge::Falling), &counts);
        }
        signal.change(4, true, Some(Edge::Rising), &counts);
        signal.change(5, false, Some(Edge::Rising), &counts);
        signal.change(5, false, Some(Edge::Falling), &counts);
        assert_eq!(signal.pulses, 2);
    }
}
