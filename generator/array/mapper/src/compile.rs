//! Programs compiled for an array: the search for the cheapest way to map one.

use pushmem_assembly::{Constraints, Delivery};
use pushmem_compiler::{CompileError, Compiled, Pipeline, may_be_scan, plan};
use pushmem_files::Diagnostic;
use pushmem_graph::{Edge, WordDriver};
use pushmem_nest::Program;
use pushmem_placement::check_capacity;
use pushmem_routing::{Options, Progress};
use pushmem_search::Search;

use crate::edited::Edited;
use crate::levels::{Levels, hardware};
use crate::lower::{Sharing, lower};
use crate::mapping::{ArrayTarget, Mapped, map};
use crate::times::Times;
use crate::ways::{Found, Map, Ways, delivery};

/// Compiles a program for the memories of an array, with the other kinds of tiles of `beside`, and maps it: without cycles for
/// routes, and if a loop of cells has too few cycles for its routes, with more and more of them. Stages that were edited belong to one
/// of these schedules, of the pipeline that the program becomes without edits: the first for which they are the program.
///
/// # Errors
/// When the compiler refuses the program, or the array has no room for it; the first refusal if no schedule helps.
pub fn compile_for(
    program: &Program,
    target: &ArrayTarget,
    beside: &pushmem_graph::Target,
    constraints: &Constraints,
    edited: &Edited,
    options: Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(Compiled, Mapped), Refused> {
    let request = Request { program, target, beside, constraints };
    let map_with =
        |edited| move |compiled: &Compiled, sharing: Sharing| map(compiled, sharing, target, edited, options, progress);
    let unedited = Edited::default();
    let (found, times) = if edited.is_empty() {
        request.cheapest(&map_with(edited))?
    } else {
        let unedited = may_be_scan(program)?.then(|| request.cheapest(&map_with(&unedited)).ok()).flatten();
        let pipeline = unedited.map_or(Pipeline::Chosen, |(found, _)| found.compiled.pipeline());
        request.search(pipeline, Some(edited), &map_with(edited))?
    };
    let Found { compiled, made, dedicated_cycles } = found;
    let times = times.plus(&made.times);
    Ok((compiled, Mapped { dedicated_cycles, times, ..made }))
}

/// A refusal of a program by an array.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The message.
    pub diagnostic: Diagnostic,
    /// Cycles of the shortest schedule that the memories serve, if they serve any: then the array lacks something else.
    pub cycles: Option<u64>,
}

impl From<Diagnostic> for Refused {
    fn from(diagnostic: Diagnostic) -> Self {
        Refused { diagnostic, cycles: None }
    }
}

impl From<CompileError> for Refused {
    fn from(error: CompileError) -> Self {
        refused_by_array(error).into()
    }
}

impl From<Refused> for Diagnostic {
    fn from(refused: Refused) -> Self {
        refused.diagnostic
    }
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
    plan(program, &hardware, constraints, delivery(target, 0), &|_| {}).map_err(refused_by_array)
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
    Err(beyond_arrays(program.diagnostic(array.span, message)))
}

/// The message of a refusal, which says where other hardware serves the program.
pub(crate) fn refused_by_array(error: CompileError) -> Diagnostic {
    match error {
        CompileError::Unordered { .. } => beyond_arrays(error.into()),
        _ => error.into(),
    }
}

/// The refusal of a program that only random-access memories serve.
fn beyond_arrays(refused: Diagnostic) -> Diagnostic {
    let other = "build dedicated hardware, without `--array`: it has random-access memories, arrays have none";
    let help = refused.help().map_or(other.to_owned(), |help| format!("{help}; or {other}"));
    refused.with_help(help)
}

/// A program that is to be mapped on an array, with the other kinds of tiles of `beside`.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub program: &'a Program,
    pub target: &'a ArrayTarget,
    pub beside: &'a pushmem_graph::Target,
    pub constraints: &'a Constraints,
}

impl<'a> Request<'a> {
    /// The cheapest way to map the program by `map`, and the times of all that were tried. It is mapped nest by nest where that takes
    /// fewer cycles than a raster scan, or the array does not serve the scan.
    pub fn cheapest<Made>(self, map: Map<'a, Made>) -> Result<(Found<Made>, Times), Refused> {
        let missing_holds = |refused: Refused| match self.missing_holds() {
            Some(diagnostic) => Refused { diagnostic, ..refused },
            None => refused,
        };
        self.search(Pipeline::Chosen, None, map).map_err(missing_holds)
    }

    /// The cheapest way of a pipeline, or the first for which edited stages are the program.
    fn search<Made>(
        self,
        pipeline: Pipeline,
        edited: Option<&'a Edited>,
        map: Map<'a, Made>,
    ) -> Result<(Found<Made>, Times), Refused> {
        check_addresses(self.program)?;
        let ways = Ways::of(self, edited.and_then(|edited| edited.graph.as_ref()), map);
        // There are few ways: each is tried until one is feasible.
        let mut search = Search::new(&ways, usize::MAX, &|()| {});
        let refused_as = |diagnostic| Refused { diagnostic, cycles: ways.least_cycles() };
        search.run([ways.first(pipeline)]);
        let refused = refusal(&search)?;
        let is_final = search.best().is_some_and(|found| found.compiled.is_least());
        if is_final || edited.is_some() || !may_be_scan(self.program)? {
            return search
                .into_parts()
                .0
                .map(|found| (found, ways.times()))
                .ok_or_else(|| refused_as(refused.expect("no way fits")));
        }
        search.begin();
        search.run([ways.first(Pipeline::Nests)]);
        let of_nests = refusal(&search)?;
        match (search.into_parts().0, refused) {
            (Some(mut found), no_scan) => {
                found.compiled.no_scan = no_scan;
                Ok((found, ways.times()))
            }
            (None, scan) => {
                let [scan, nests] = [scan, of_nests].map(|refused| refused.expect("no way fits"));
                Err(refused_as(pushmem_compiler::beside(scan, nests)))
            }
        }
    }

    /// The refusal of a program that would fit the array if its operands held words: it says which word waits.
    fn missing_holds(&self) -> Option<Diagnostic> {
        let Request { program, target, beside, constraints } = *self;
        let spec = &target.spec;
        if spec.pe.held_operands {
            return None;
        }
        let hardware = hardware(target, beside, 0).ok()?;
        let holding = Delivery { holds: true, ..delivery(target, 0) };
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

/// The refusal where no way was feasible since the search began.
///
/// # Errors
/// A fault: it must be seen, whatever other ways there are.
fn refusal<Made>(search: &Search<Ways<Made>>) -> Result<Option<Diagnostic>, Diagnostic> {
    match search.refusal().map(|refused| &refused.unmapped.refused) {
        Some(fault) if fault.is_fault() => Err(fault.clone()),
        refused => Ok(refused.filter(|_| !search.any_feasible()).cloned()),
    }
}
