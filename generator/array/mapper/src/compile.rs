//! Programs compiled for an array: schedules with as many cycles for the routes of loops as these need.

use std::iter;

use pushmem_assembly::{Constraints, Delivery, TileSharing};
use pushmem_compiler::{CompileError, Compiled, Pipeline, may_be_scan, plan, plan_as, scan_or_nests};
use pushmem_files::{Diagnostic, Document};
use pushmem_graph::{Edge, WordDriver};
use pushmem_nest::{Array, ArrayKind, Level, Program};
use pushmem_placement::check_capacity;
use pushmem_routing::{Options, Progress};

use crate::edited::Edited;
use crate::lower::{Sharing, lower};
use crate::mapping::{ArrayTarget, MapError, Mapped, map};
use crate::times::{Times, timed};

/// Cycles that words travel from stage to stage, one budget after the other, where loops have too few. Delays share no memory tiles
/// there: a tile has one start for all of its memories, so that those of one tile make loops of their own.
///
/// The large ones are for recurrences of many cells: their results have all of the loop in one such way.
const BUDGETS: [u64; 12] = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48];

/// Compiles a program for the memories of an array, with the other kinds of tiles of `beside`, and maps it: without cycles for
/// routes, and if a loop of cells has too few cycles for its routes, with more and more of them. Stages that were edited belong to one
/// of these schedules, of the pipeline that the program becomes without edits: the first for which they are the program.
///
/// # Errors
/// When the compiler refuses the program, or the array has no room for it; the first refusal if no budget of cycles helps.
pub fn compile_for(
    program: &Program,
    target: &ArrayTarget,
    beside: &pushmem_graph::Target,
    constraints: &Constraints,
    edited: &Edited,
    options: Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(Compiled, Mapped), Diagnostic> {
    let search = Search { program, target, beside, constraints };
    let unedited = Edited::default();
    let mut unedited_map =
        |compiled: &Compiled, sharing: Sharing| map(compiled, sharing, target, &unedited, options, progress);
    let (compiled, mapped, course) = if edited.is_empty() {
        search.run(&mut unedited_map)?
    } else {
        let unedited = may_be_scan(program)?.then(|| search.run(&mut unedited_map).ok()).flatten();
        let pipeline = unedited.map_or(Pipeline::Chosen, |(compiled, _, _)| compiled.pipeline());
        let mut map = |compiled: &Compiled, sharing: Sharing| map(compiled, sharing, target, edited, options, progress);
        search.within_budgets(pipeline, Some(edited), &mut map)?
    };
    let times = course.before.plus(&mapped.times);
    Ok((compiled, Mapped { dedicated_cycles: course.dedicated_cycles, times, ..mapped }))
}

/// Compiles a program for the memories of an array as [`compile_for`] does at first, without places and routes: whether it fits the
/// array does not matter.
///
/// # Errors
/// When the compiler refuses the program, or programs do not run on the array.
pub fn compile_unplaced(
    program: &Program,
    target: &ArrayTarget,
    beside: &pushmem_graph::Target,
    constraints: &Constraints,
) -> Result<Compiled, Diagnostic> {
    check_addresses(program)?;
    let Levels { program, memories, .. } = Levels::of(program, target).remove(0);
    let hardware = hardware(target, beside, memories)?;
    plan(program, &hardware, constraints, delivery(target, 0), &|_| {}).map_err(Diagnostic::from)
}

/// The cycles of a program on an array as [`compile_unplaced`] compiles it, if the array has the operations and the tiles that it takes.
pub fn cycles_unplaced(
    program: &Program,
    target: &ArrayTarget,
    beside: &pushmem_graph::Target,
    constraints: &Constraints,
) -> Option<u64> {
    let compiled = compile_unplaced(program, target, beside, constraints).ok()?;
    let lowered = lower(&compiled, &target.spec, Sharing::Shared).ok()?;
    check_capacity(&lowered.netlist, &target.spec).ok()?;
    Some(compiled.graph.length)
}

/// Checks that no data choose elements of arrays: memory tiles have addresses of controllers alone.
fn check_addresses(program: &Program) -> Result<(), Diagnostic> {
    let Some(array) = program.arrays.iter().find(|array| array.random_access) else { return Ok(()) };
    let message =
        format!("data decide which elements of `{}` are used, and arrays have no random-access memories", array.name);
    Err(program.diagnostic(array.span, message).with_help("build dedicated hardware, without `--array`"))
}

/// Bits of the words of programs, in streams and memories.
const PROGRAM_WORD_BITS: u32 = u16::BITS;

/// How the budget of cycles for routes was found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Course {
    /// The times of the compiler, and of budgets that were too small.
    pub before: Times,
    /// Cycles of a run by the schedule without such a budget.
    pub dedicated_cycles: u64,
}

/// The search for a schedule of a program whose mapping an array has room for, with the other kinds of tiles of `beside`.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub program: &'a Program,
    pub target: &'a ArrayTarget,
    pub beside: &'a pushmem_graph::Target,
    pub constraints: &'a Constraints,
}

impl Search<'_> {
    /// Compiles the program and maps it by `map`, nest by nest where the array does not serve one raster scan.
    pub fn run<Found>(
        self,
        map: &mut dyn FnMut(&Compiled, Sharing) -> Result<Found, MapError>,
    ) -> Result<(Compiled, Found, Course), Diagnostic> {
        let mut build = |pipeline: Pipeline| self.within_budgets(pipeline, None, map).map_err(CompileError::from);
        let found = scan_or_nests(self.program, &mut build, |(compiled, _, _)| compiled);
        found.map_err(|error| self.missing_holds().unwrap_or(error.into_diagnostic()))
    }

    /// Compiles the program as a pipeline and maps it by `map`, with one budget of cycles for routes after the other.
    fn within_budgets<Found>(
        self,
        pipeline: Pipeline,
        edited: Option<&Edited>,
        map: &mut dyn FnMut(&Compiled, Sharing) -> Result<Found, MapError>,
    ) -> Result<(Compiled, Found, Course), Diagnostic> {
        let Search { program, target, beside, constraints } = self;
        let graph = edited.and_then(|edited| edited.graph.as_ref());
        check_addresses(program)?;
        let mut refused: Option<Diagnostic> = None;
        for levels in Levels::of(program, target) {
            let hardware = hardware(target, beside, levels.memories)?;
            let attempts =
                Attempts { program: &levels.program, pipeline, target, hardware: &hardware, constraints, graph };
            match attempts.run(map) {
                Ok((compiled, found, course)) => {
                    return Ok((levels.explained(compiled, refused.as_ref()), found, course));
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.expect("programs have levels"))
    }

    /// The refusal of a program that would fit the array if its operands held words: it says which word waits.
    fn missing_holds(&self) -> Option<Diagnostic> {
        let Search { program, target, beside, constraints } = *self;
        let spec = &target.spec;
        if spec.pe.held_operands {
            return None;
        }
        let hardware = hardware(target, beside, 0).ok()?;
        let holding = Delivery { transport: 0, holds: true };
        let compiled = plan(program.clone(), &hardware, constraints, holding, &|_| {}).ok()?;
        let graph = &compiled.graph;
        let held = graph.words.iter().find(|net| matches!(net.driver, WordDriver::Hold(_)))?;
        let lowered = lower(&compiled, spec, Sharing::Shared).ok()?;
        let unfit = check_capacity(&lowered.netlist, spec).err();
        // The parameter that it is loaded with, if it comes from outside as it is.
        let mut driver = &held.driver;
        let stream = loop {
            driver = match driver {
                WordDriver::Hold(hold) => match hold.edge {
                    Edge::Net { net, .. } => &graph.words[net].driver,
                    Edge::Constant(_) => break None,
                },
                WordDriver::Input { stream, .. } => break Some(*stream),
                WordDriver::Port { .. }
                | WordDriver::Kernel { .. }
                | WordDriver::Select(_)
                | WordDriver::Ram { .. } => {
                    break None;
                }
            };
        };
        let refused =
            |name: &str| format!("`{name}` waits for its readers, and operands of `{}` hold no words", spec.pe.name);
        let diagnostic = match stream.map(|stream| &compiled.program.arrays[graph.inputs[stream].array]) {
            Some(array) => compiled.program.diagnostic(array.span, refused(&array.name)),
            None => Diagnostic::new(refused(&held.name)),
        };
        let help = "set `held_operands: true` in the processing element, or choose an array whose `pe` has it";
        Some(diagnostic.with_help(match unfit {
            Some(unfit) => format!("{help}; even then, {unfit}: {}", unfit.help()),
            None => help.to_owned(),
        }))
    }
}

/// A program whose arrays are at levels that an array has.
struct Levels {
    program: Program,
    /// The arrays in memory tiles for which the program names the global buffer.
    in_tiles: Vec<usize>,
    /// The inputs and outputs for which it does.
    images: Vec<usize>,
    /// The arrays that are in banks.
    memories: usize,
}

impl Levels {
    /// The levels that may do, the best first. An input or an output for which a program names the global buffer is there already: its bank moves its
    /// words in the order of the stream. Other arrays are in banks of their own, fewer and fewer of them. If all else fails, copies of the images are in
    /// memory tiles, too.
    fn of(program: &Program, target: &ArrayTarget) -> Vec<Levels> {
        let named = |(number, array): (usize, &Array)| (array.level == Some(Level::GlobalBuffer)).then_some(number);
        let named: Vec<usize> = program.arrays.iter().enumerate().filter_map(named).collect();
        let whole = || Levels { program: program.clone(), in_tiles: Vec::new(), images: Vec::new(), memories: 0 };
        if target.spec.global_buffer.is_none() || named.is_empty() {
            return vec![whole()];
        }
        let is_buffer = |number: &usize| program.arrays[*number].kind == ArrayKind::Buffer;
        let (buffers, images): (Vec<usize>, Vec<usize>) = named.iter().partition(|number| is_buffer(number));
        let with = |memories: usize| {
            // Without levels, a program could become another sort of pipeline.
            let mut program = Program { schedule: Some(program.policy()), ..program.clone() };
            images.iter().for_each(|number| program.arrays[*number].level = None);
            let in_tiles = buffers[memories..].to_vec();
            in_tiles.iter().for_each(|number| program.arrays[*number].level = Some(Level::Memory));
            Levels { program, in_tiles, images: images.clone(), memories }
        };
        let mut levels: Vec<Levels> = (0..=buffers.len()).rev().map(with).collect();
        if !images.is_empty() {
            let mut copies = Levels { in_tiles: named.clone(), ..whole() };
            named.iter().for_each(|number| copies.program.arrays[*number].level = Some(Level::Memory));
            levels.push(copies);
        }
        levels
    }

    /// The result with the reasons why arrays are in memory tiles. `refused` says why better levels do not do.
    fn explained(&self, mut compiled: Compiled, refused: Option<&Diagnostic>) -> Compiled {
        let because = |refused: &Diagnostic| format!("with it in the global buffer, {}", first_line(refused));
        let reason = refused.map_or_else(|| "there is no bank for it".to_owned(), because);
        compiled.without_level.extend(self.in_tiles.iter().map(|number| (*number, reason.clone())));
        let kept: Vec<usize> = compiled.graph.arrays.iter().map(|node| node.array).collect();
        let again = self.images.iter().filter(|number| kept.contains(number));
        let reason = "more than one statement reads it, or one in another order than it can come from its bank";
        compiled.without_level.extend(again.map(|number| (*number, reason.to_owned())));
        compiled
    }
}

/// The first line of a refusal.
fn first_line(refused: &Diagnostic) -> String {
    refused.message().lines().next().unwrap_or_default().trim_end_matches(':').to_owned()
}

/// The hardware that an array is for the compiler, with so many memories in banks of its global buffer: without one, memory tiles are its only
/// level of memory.
fn hardware(
    target: &ArrayTarget,
    beside: &pushmem_graph::Target,
    memories: usize,
) -> Result<pushmem_graph::Target, Diagnostic> {
    let Some(memory) = &target.spec.memory else {
        let message = format!("`{}` has no memory tiles", target.spec.name);
        return Err(Diagnostic::new(message).with_help("programs need some: add `memory` to the specification"));
    };
    if target.spec.word_bits() != PROGRAM_WORD_BITS {
        let message = format!("words of `{}` have {} bits", target.spec.name, target.spec.word_bits());
        let help = format!("words of programs have {PROGRAM_WORD_BITS} bits: take an array with such words");
        return Err(Diagnostic::new(message).with_help(help));
    }
    let hardware = beside.clone().with_memory(memory.tile.clone());
    let bank = target.spec.bank_memory().filter(|_| memories > 0);
    Ok(hardware.with_level(Level::GlobalBuffer, bank).with_level(Level::RegisterFile, None))
}

/// How words get to their readers on an array, with so many cycles for each way. Where operands hold no words, they pass through
/// registers of the interconnect, which load in every cycle.
fn delivery(target: &ArrayTarget, transport: u64) -> Delivery {
    Delivery { transport, holds: target.spec.pe.held_operands }
}

/// The schedules of a program for hardware with the memories of the array.
struct Attempts<'a> {
    program: &'a Program,
    pipeline: Pipeline,
    target: &'a ArrayTarget,
    hardware: &'a pushmem_graph::Target,
    constraints: &'a Constraints,
    /// A graph in place of that of the schedule.
    graph: Option<&'a Document>,
}

impl Attempts<'_> {
    /// The program with so many cycles for each way.
    fn planned(&self, transport: u64, sharing: TileSharing) -> Result<Compiled, MapError> {
        let delivery = delivery(self.target, transport);
        let planned = plan_as(self.pipeline, self.program.clone(), self.hardware, self.constraints, delivery, &|_| {});
        let planned = planned.map_err(Diagnostic::from)?;
        let planned = match self.graph {
            Some(graph) => planned.with_graph_of(graph).map_err(MapError::Other)?,
            None => planned,
        };
        match sharing {
            TileSharing::Shared => Ok(planned),
            TileSharing::Apart => Ok(planned.with_tiles(sharing).map_err(Diagnostic::from)?),
        }
    }

    /// As [`Search::within_budgets`]. The graph of the schedule that is mapped is proven.
    fn run<Found>(
        &self,
        map: &mut dyn FnMut(&Compiled, Sharing) -> Result<Found, MapError>,
    ) -> Result<(Compiled, Found, Course), Diagnostic> {
        let mut course = Course::default();
        let mut attempt = |transport: u64, tiles: TileSharing, cells: Sharing| -> Result<(Compiled, Found), MapError> {
            let compiled = timed(&mut course.before.compile, || self.planned(transport, tiles))?;
            // The first schedule is the one without a budget.
            if course.dedicated_cycles == 0 {
                course.dedicated_cycles = compiled.graph.length;
            }
            let mut spent = 0.0;
            let mapped = timed(&mut spent, || map(&compiled, cells));
            let mapped = mapped.inspect_err(|_| course.before.place_and_route += spent)?;
            timed(&mut course.before.compile, || compiled.prove()).map_err(Diagnostic::from)?;
            Ok((compiled, mapped))
        };
        let shares = self.program.operations().iter().any(|(_, operation)| operation.unit().is_some());
        let ways = if shares { &[Sharing::Shared, Sharing::Apart][..] } else { &[Sharing::Apart] };
        let mut first = None;
        let mut wrong = None;
        let mut refused_shared = None;
        let apart = BUDGETS.into_iter().map(|transport| (transport, TileSharing::Apart));
        for &sharing in ways {
            // The least budget that may be enough. Other places may shorten a loop: half of what is short is sure to be wanted.
            let mut least = 0;
            for (transport, tiles) in iter::once((0, TileSharing::Shared)).chain(apart.clone()) {
                if transport < least {
                    continue;
                }
                match attempt(transport, tiles, sharing) {
                    Ok((compiled, mapped)) => return Ok((compiled, mapped, course)),
                    // Kernels with cells of their own may have routes where a unit that they share has none.
                    Err(MapError::Refused(refused)) if sharing == Sharing::Shared => {
                        refused_shared = Some(refused);
                        break;
                    }
                    // With the cycles that it needs, the program is refused for another reason.
                    Err(MapError::Refused(refused)) => return Err(wrong.or(refused_shared).unwrap_or(refused)),
                    // Edited stages belong to this schedule: a later one lacks their cells, which is no reason.
                    Err(MapError::Wrong(refused)) => wrong = wrong.or(Some(refused)),
                    Err(MapError::Loop { refused, short }) => {
                        least = transport + short.div_ceil(2);
                        first = first.or(Some(refused));
                    }
                    Err(MapError::Other(refused)) => first = first.or(Some(refused)),
                }
            }
        }
        Err(wrong.or(refused_shared).or(first).expect("each schedule was refused"))
    }
}
