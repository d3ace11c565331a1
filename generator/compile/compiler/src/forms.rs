//! Forms of a program that compute the same, of which the cheapest becomes hardware.
//!
//! A pass of the nest makes each from the one before it, and the proof shows that both compute the same.

use std::cell::RefCell;
use std::collections::BTreeSet;

use pushmem_assembly::{Constraints, Delivery, Tiles};
use pushmem_nest::{Level, Policy, Program};
use pushmem_proof::{prove_copies, prove_sums};
use pushmem_rewriting::{with_accumulators, with_padding, with_serial_loads};

use crate::accumulators;
use crate::compile::{AtLevels, Compiled, compile_at_levels};
use crate::error::CompileError;
use crate::trial::Trial;

/// Loads one after the other begin later than those at once. The part of the tiles that they save must be so many times the part of the
/// cycles that they add.
const TILES_FOR_CYCLES: u64 = 16;

/// The hardware that the forms of a program are compiled for.
pub(crate) struct Forms<'a> {
    pub tiles: Tiles<'a>,
    pub constraints: &'a Constraints,
    pub delivery: Delivery,
    /// Is told of each schedule that was tried.
    pub observe: &'a dyn Fn(&Trial),
    /// Names of the arrays that are too large for memory tiles in a form: they hardly fit in another.
    pub moved: RefCell<BTreeSet<String>>,
}

impl Forms<'_> {
    /// Compiles a program: the cheapest of its forms. Arrays in memories are copied with the edge that windows read beyond them.
    ///
    /// # Errors
    /// Those of its first form, and every fault.
    pub fn compiled(&self, source: Program) -> Result<Compiled, CompileError> {
        if source.policy() == Policy::Stencil {
            return self.with_moves(source, None);
        }
        let padded = with_padding(source.clone());
        prove_copies(&source, &padded).map_err(|error| CompileError::wrong(&error))?;
        Ok(self.with_accumulators(padded)?.of_source(&source))
    }

    /// Sums of reductions are kept in registers where that is faster, or as fast with fewer tiles: those that wait for memories, or
    /// all.
    fn with_accumulators(&self, source: Program) -> Result<Compiled, CompileError> {
        let mut best = self.with_serial_loads(source.clone(), None);
        if matches!(best, Err(CompileError::Fault(_))) {
            return best;
        }
        let slow = accumulators::slow(&source, &best);
        let coarse = as_coarse(&source);
        let of_slow = with_accumulators(coarse.clone(), |operation| slow.contains(&accumulators::place(operation)));
        let of_all = with_accumulators(coarse.clone(), |_| true);
        let divided = if of_slow == of_all { vec![of_all] } else { vec![of_slow, of_all] };
        for divided in divided.into_iter().filter(|divided| *divided != coarse) {
            prove_sums(&source, &divided).map_err(|error| CompileError::wrong(&error))?;
            let Some(found) = unless_refused(self.with_serial_loads(divided, cycles(&best)))? else { continue };
            if best.as_ref().is_ok_and(|best| cost(best) <= cost(&found)) {
                continue;
            }
            best = Ok(found.of_source(&source));
        }
        best
    }

    /// Lanes that keep words load them one after the other where that takes fewer tiles and hardly more cycles. `known` are the cycles
    /// of another form.
    fn with_serial_loads(&self, source: Program, known: Option<u64>) -> Result<Compiled, CompileError> {
        let at_once = self.with_moves(source.clone(), known);
        let coarse = as_coarse(&source);
        let serial = match self.delivery.holds && self.constraints.serial_loads {
            true => with_serial_loads(coarse.clone()),
            false => coarse.clone(),
        };
        if serial == coarse || matches!(at_once, Err(CompileError::Fault(_))) {
            return at_once;
        }
        prove_copies(&coarse, &serial).map_err(|error| CompileError::wrong(&error))?;
        // Of a schedule that is longer by more, no tiles make up for it.
        let worthwhile = cycles(&at_once).map(|cycles| cycles + cycles / TILES_FOR_CYCLES);
        let known = known.into_iter().chain(worthwhile).min();
        let Some(found) = unless_refused(self.with_moves(serial, known))? else { return at_once };
        let is_cheaper = |at_once: &Compiled| {
            let ((cycles, tiles), (own_cycles, own_tiles)) = (cost(at_once), cost(&found));
            let (more, fewer) = (own_cycles.saturating_sub(cycles), tiles.saturating_sub(own_tiles));
            fewer > 0 && more * TILES_FOR_CYCLES * tiles <= fewer * cycles
        };
        match at_once {
            Ok(at_once) if !is_cheaper(&at_once) => Ok(at_once),
            _ => Ok(found.of_source(&source)),
        }
    }

    /// Arrays that memory tiles have no room for are in the global buffer. Those of a schedule that is much shorter than others move
    /// before these are tried; if that does not lead to such a schedule, all are tried.
    fn with_moves(&self, source: Program, known: Option<u64>) -> Result<Compiled, CompileError> {
        let first = self.moved(source.clone(), known, true);
        let follows_rates = |compiled: &Compiled| compiled.coarse.as_ref().is_some_and(|plan| plan.options.match_rates);
        let is_final = match &first.outcome {
            Ok(compiled) => !first.ahead || follows_rates(compiled),
            Err(error) => !first.ahead || matches!(error, CompileError::Fault(_)),
        };
        let chosen = if is_final { first } else { first.or_cheaper(self.moved(source, known, false)) };
        self.moved.borrow_mut().extend(chosen.too_large);
        chosen.outcome
    }

    /// A program with arrays in the global buffer, some of them `ahead` of other schedules if that is allowed.
    fn moved(&self, mut source: Program, known: Option<u64>, ahead: bool) -> Moved {
        for array in source.arrays.iter_mut().filter(|array| self.moved.borrow().contains(&array.name)) {
            array.level.get_or_insert(Level::GlobalBuffer);
        }
        let mut any_ahead = false;
        let mut too_large = Vec::new();
        let outcome = loop {
            match compile_at_levels(&source, self, known, ahead) {
                Ok(AtLevels::Compiled(compiled)) => break Ok(*compiled),
                Err(error) => break Err(error),
                Ok(AtLevels::Moves { array, ahead }) => {
                    any_ahead |= ahead;
                    let moved = &mut source.arrays[array];
                    moved.level = Some(Level::GlobalBuffer);
                    // Others move because tiles are too few, which they may not be in another form.
                    if moved.size() as u64 > self.tiles.target.memory().largest_memory() {
                        too_large.push(moved.name.clone());
                    }
                }
            }
        };
        Moved { outcome, ahead: any_ahead, too_large }
    }
}

/// A program whose arrays have moved to the global buffer as far as needed.
struct Moved {
    outcome: Result<Compiled, CompileError>,
    /// Whether one moved before all schedules were tried.
    ahead: bool,
    /// Names of the arrays that moved because they are too large for memory tiles.
    too_large: Vec<String>,
}

impl Moved {
    /// This, or the other, if that is cheaper, or a fault.
    fn or_cheaper(self, other: Moved) -> Moved {
        match (&self.outcome, &other.outcome) {
            (Ok(_), Err(CompileError::Refused(_) | CompileError::Unmapped { .. })) => self,
            (Ok(own), Ok(others)) if cost(own) < cost(others) => self,
            _ => other,
        }
    }
}

/// The program as a coarse pipeline in any case: without its reductions, the rule for the schedule would choose another.
fn as_coarse(source: &Program) -> Program {
    Program { schedule: Some(Policy::Dnn), ..source.clone() }
}

/// Cycles and tiles, in the order in which they count.
fn cost(compiled: &Compiled) -> (u64, u64) {
    (compiled.graph.length, compiled.storage.tiles.len() as u64)
}

/// The cycles of a form, if it was compiled.
fn cycles(form: &Result<Compiled, CompileError>) -> Option<u64> {
    form.as_ref().ok().map(|compiled| compiled.graph.length)
}

/// A form that was compiled; nothing if it was refused, as another may still do.
///
/// # Errors
/// A fault: it must be seen, whatever other forms there are.
fn unless_refused(outcome: Result<Compiled, CompileError>) -> Result<Option<Compiled>, CompileError> {
    match outcome {
        Ok(compiled) => Ok(Some(compiled)),
        Err(fault @ CompileError::Fault(_)) => Err(fault),
        Err(_) => Ok(None),
    }
}
