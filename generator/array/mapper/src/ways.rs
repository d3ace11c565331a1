//! The ways to map a program on an array, as candidates of a search by cost.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use pushmem_assembly::{Delivery, TileSharing};
use pushmem_compiler::{CompileError, Compiled, Pipeline, plan_as};
use pushmem_fabric::Direction;
use pushmem_files::{Diagnostic, Document};
use pushmem_search::{Relieved, Space};

use crate::compile::{Request, refused_by_array};
use crate::levels::{Levels, hardware};
use crate::lower::Sharing;
use crate::mapping::ArrayTarget;
use crate::times::{Times, timed};

/// Cycles that words travel from stage to stage, from schedule to schedule, where loops have too few. Delays share memory tiles in the
/// first of them only: tiles have one start for all of their memories, so that those of one tile make loops of their own.
///
/// The large ones are for recurrences of many cells: their results have all of the loop in one such way.
const TRANSPORTS: [u64; 13] = [0, 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48];

/// A refusal of a way to map a program.
#[derive(Clone, Debug)]
pub(crate) struct Unmapped {
    /// The refusal.
    pub refused: Diagnostic,
    /// The resource that is short.
    pub shortage: Shortage,
}

/// The resource that a way to map a program lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shortage {
    /// So many cycles of each way from stage to stage in a loop of cells, such as a sum in a memory: its routes take more than it has.
    Cycles(u64),
    /// The schedule of edited stages: this one has other cells, or another graph.
    EditedSchedule,
    /// Other values in edited stages, which are those of this schedule.
    EditedStages,
    /// The program of edited stages: with this schedule, they compute another one.
    EditedProgram,
    /// An operation, tiles or routes.
    Resources,
}

/// All but cycles and edited stages.
impl From<Diagnostic> for Unmapped {
    fn from(refused: Diagnostic) -> Self {
        Unmapped { refused, shortage: Shortage::Resources }
    }
}

impl From<CompileError> for Unmapped {
    fn from(error: CompileError) -> Self {
        refused_by_array(error).into()
    }
}

/// A step from a schedule to an array, for kernels that share cells or do not.
pub(crate) type Map<'a, Made> = &'a dyn Fn(&Compiled, Sharing) -> Result<Made, Unmapped>;

/// A way to map a program.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pipeline: Pipeline,
    /// The levels of its arrays, an index of those that may do.
    levels: usize,
    /// The refusal of better levels.
    refused_levels: Option<Rc<Diagnostic>>,
    cells: Sharing,
    /// An index of [`TRANSPORTS`].
    transport: usize,
}

/// The ways to map a program on an array. `Made` is the result.
pub(crate) struct Ways<'a, Made> {
    request: Request<'a>,
    /// A graph in place of that of the schedule.
    graph: Option<&'a Document>,
    levels: Vec<Levels>,
    /// Whether kernels share cells, the better choice first.
    cells: &'static [Sharing],
    map: Map<'a, Made>,
    /// Cycles of the schedules with the least transport, by pipeline and levels.
    shortest: RefCell<BTreeMap<(Pipeline, usize), u64>>,
    spent: Cell<Times>,
}

/// A schedule of a way.
pub(crate) struct Planned {
    way: Way,
    compiled: Compiled,
}

/// A program that is mapped.
pub(crate) struct Found<Made> {
    pub compiled: Compiled,
    pub made: Made,
    /// Cycles of a run by the schedule without cycles for the routes of loops.
    pub dedicated_cycles: u64,
}

/// A refusal of a way with these levels.
pub(crate) struct RefusedWay {
    levels: usize,
    pub unmapped: Unmapped,
}

impl<'a, Made> Ways<'a, Made> {
    /// The ways to map a program by `map`.
    pub fn of(request: Request<'a>, graph: Option<&'a Document>, map: Map<'a, Made>) -> Self {
        let Request { program, target, .. } = request;
        let shares = program.operations().iter().any(|(_, operation)| operation.unit().is_some());
        let cells = if shares { &[Sharing::Shared, Sharing::Apart][..] } else { &[Sharing::Apart] };
        let levels = Levels::of(program, target);
        let (shortest, spent) = Default::default();
        Ways { request, graph, levels, cells, map, shortest, spent }
    }

    /// The first way of a pipeline.
    pub fn first(&self, pipeline: Pipeline) -> Way {
        Way { pipeline, levels: 0, refused_levels: None, cells: self.cells[0], transport: 0 }
    }

    /// The times of the schedules, and of placement and routing of those that were refused.
    pub fn times(&self) -> Times {
        self.spent.get()
    }

    /// The cycles of the shortest schedule that the memories serve.
    pub fn least_cycles(&self) -> Option<u64> {
        self.shortest.borrow().values().min().copied()
    }

    /// The program with the schedule of a way.
    fn planned(&self, way: &Way) -> Result<Compiled, Unmapped> {
        let Request { target, beside, constraints, .. } = self.request;
        let levels = &self.levels[way.levels];
        let hardware = hardware(target, beside, levels.memories)?;
        let delivery = delivery(target, TRANSPORTS[way.transport]);
        let planned = plan_as(way.pipeline, levels.program.clone(), &hardware, constraints, delivery, &|_| {})?;
        let planned = match self.graph {
            Some(graph) => {
                let edited = planned.with_graph_of(graph);
                edited.map_err(|refused| Unmapped { refused, shortage: Shortage::EditedSchedule })?
            }
            None => planned,
        };
        match way.transport {
            0 => Ok(planned),
            _ => Ok(planned.with_tiles(TileSharing::Apart)?),
        }
    }

    /// Runs a step, and adds its time.
    fn timed<Outcome>(&self, part: impl FnOnce(&mut Times) -> &mut f64, step: impl FnOnce() -> Outcome) -> Outcome {
        let mut spent = self.spent.get();
        let outcome = timed(part(&mut spent), step);
        self.spent.set(spent);
        outcome
    }
}

impl<Made> Space for Ways<'_, Made> {
    type Candidate = Way;
    type Plan = Planned;
    type Found = Found<Made>;
    type Refusal = RefusedWay;
    type Trial = ();

    fn plan(&self, way: &Way) -> Result<Planned, RefusedWay> {
        let compiled = self.timed(|spent| &mut spent.compile, || self.planned(way));
        let compiled = compiled.map_err(|unmapped| RefusedWay { levels: way.levels, unmapped })?;
        self.shortest.borrow_mut().entry((way.pipeline, way.levels)).or_insert(compiled.graph.length);
        Ok(Planned { way: way.clone(), compiled })
    }

    fn may_be_cheaper(&self, plan: &Planned, best: &Found<Made>) -> bool {
        plan.compiled.graph.length < best.compiled.graph.length && !plan.compiled.is_wider(&best.compiled)
    }

    /// Maps the program, and proves the graph of its schedule.
    fn solve(&self, Planned { way, compiled }: Planned, _: &mut dyn FnMut(())) -> Result<Found<Made>, RefusedWay> {
        let refused = |unmapped| RefusedWay { levels: way.levels, unmapped };
        let before = self.spent.get();
        let made = self.timed(|spent| &mut spent.place_and_route, || (self.map)(&compiled, way.cells));
        let made = made.map_err(refused)?;
        // The result has the times of its own steps.
        self.spent.set(before);
        let proof = self.timed(|spent| &mut spent.compile, || compiled.prove());
        proof.map_err(|error| refused(error.into()))?;
        let dedicated_cycles = self.shortest.borrow()[&(way.pipeline, way.levels)];
        let compiled = self.levels[way.levels].explained(compiled, way.refused_levels.as_deref());
        Ok(Found { compiled, made, dedicated_cycles })
    }

    fn is_cheaper(&self, one: &Found<Made>, other: &Found<Made>) -> bool {
        one.compiled.graph.length < other.compiled.graph.length
    }

    fn is_short(&self, refused: &RefusedWay) -> bool {
        !refused.unmapped.refused.is_fault()
    }

    /// The best levels have the first word; there, cycles and schedules are short only until others have them.
    fn says_more(&self, refused: &RefusedWay, before: &RefusedWay) -> bool {
        let rank = |RefusedWay { unmapped, .. }: &RefusedWay| match unmapped.shortage {
            _ if unmapped.refused.is_fault() => 4,
            Shortage::EditedProgram => 3,
            Shortage::EditedStages => 2,
            Shortage::Resources => 1,
            Shortage::Cycles(_) | Shortage::EditedSchedule => 0,
        };
        (refused.levels == before.levels || rank(refused) == 4) && rank(refused) > rank(before)
    }

    /// A longer transport where cycles or a schedule are short. Then kernels with cells of their own, which may have routes where a unit
    /// that they share has none; then other levels.
    fn relieved(&self, way: &Way, RefusedWay { unmapped, .. }: &RefusedWay) -> Relieved<Way> {
        let Unmapped { refused, shortage } = unmapped;
        if refused.is_fault() {
            return Relieved::default();
        }
        let transport = TRANSPORTS[way.transport];
        let least = match shortage {
            // Other places may shorten a loop: half of the shortage is sure to be wanted.
            Shortage::Cycles(short) => Some(transport + short.div_ceil(2)),
            // Edited stages are those of one schedule: cells that other ones lack are no reason.
            Shortage::EditedSchedule | Shortage::EditedStages | Shortage::EditedProgram => Some(transport),
            Shortage::Resources => None,
        };
        let longer = |least| (way.transport + 1..TRANSPORTS.len()).find(|other| TRANSPORTS[*other] >= least);
        let own_cells =
            || self.cells.iter().position(|cells| *cells == way.cells).and_then(|at| self.cells.get(at + 1));
        let next = if let Some(transport) = least.and_then(longer) {
            Some(Way { transport, ..way.clone() })
        } else if let Some(&cells) = own_cells() {
            Some(Way { cells, transport: 0, ..way.clone() })
        } else {
            let refused_levels = way.refused_levels.clone().or_else(|| Some(Rc::new(refused.clone())));
            let first = Way { refused_levels, levels: way.levels + 1, ..self.first(way.pipeline) };
            (first.levels < self.levels.len()).then_some(first)
        };
        Relieved { next: next.into_iter().collect(), last: Vec::new() }
    }
}

/// How words get to their readers on an array, with so many cycles for each way. Where operands hold no words, they pass through
/// registers of the interconnect, which load in every cycle.
pub(crate) fn delivery(target: &ArrayTarget, transport: u64) -> Delivery {
    let spec = &target.spec;
    let streams = |direction| (0..spec.columns).filter(|column| spec.has_stream(*column, direction)).count();
    Delivery { transport, holds: spec.pe.held_operands, streams: (streams(Direction::In), streams(Direction::Out)) }
}
