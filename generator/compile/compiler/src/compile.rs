//! The passes in their order.

use std::cell::RefCell;
use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_assembly::{Constraints, Delivery, TileSharing, Tiles, storage};
use pushmem_extraction::{Extraction, extract};
use pushmem_files::{Code, Diagnostic, Document, counted};
use pushmem_graph::{ApplicationGraph, ArrayId, ArrayMemory, ProgramNames, Storage, Target, WORD_BITS};
use pushmem_kernels::{Datapath, DatapathGraph, TableMemories};
use pushmem_mapping::Mappings;
use pushmem_nest::{Level, Policy, Program};
use pushmem_proof::{prove_graph, prove_halves, prove_random_access};
use pushmem_rewriting::{with_copies, with_halves, with_random_access};
use pushmem_schedule::{Coarse, CoarseOptions, Recurrence, Schedule, Stage, sequential};
use pushmem_tile::{Kind, TileSpec, timing};

use crate::accumulators::with_complete_outputs;
use crate::compute_sharing;
use crate::error::CompileError;
use crate::forms::Forms;
use crate::recurrences::Recurrences;
use crate::refusal::refusal;
use crate::scan_or_nests::{Pipeline, scan_or_nests};
use crate::search::{Passes, Planned, Search};
use crate::trial::Trial;

/// A program through all stages, to its application graph and the memories of that.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program as it is written, except for arrays that moved to the global buffer.
    pub source: Program,
    /// The program with the copies between the levels of the memory hierarchy.
    pub program: Program,
    /// Its stages.
    pub extraction: Extraction,
    /// When they run.
    pub schedule: Schedule,
    /// Of a raster scan in which stages take results of earlier iterations: its initiation interval, and why it is not shorter.
    pub recurrence: Option<Recurrence>,
    /// The schedules that were tried, in their order, with the arrays at the levels where they are.
    pub trials: Vec<Trial>,
    /// How the schedule of a coarse pipeline came about.
    pub coarse: Option<CoarsePlan>,
    /// The datapath of each operation.
    pub datapaths: Vec<Datapath>,
    /// The operations and the nets between them, with delays.
    pub graph: ApplicationGraph,
    /// The arrays and the long delays of the graph on memory tiles.
    pub storage: Storage,
    /// The tiles.
    pub target: Target,
    /// Constraints on the hardware.
    pub constraints: Constraints,
    /// Why stages of a program that names no schedule cannot all follow one scan, where they run as a coarse pipeline instead.
    pub no_scan: Option<Diagnostic>,
    /// Arrays in memory tiles that are not at the level that the program names, each with the reason.
    pub without_level: Vec<(usize, String)>,
}

/// A coarse schedule, and the options for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoarsePlan {
    /// The pipeline; nothing if one stage after the other is faster, because stages would wait for the memories.
    pub coarse: Option<Coarse>,
    /// Ports of memories, arrays whose accesses take turns, and which optimizations there are.
    pub options: CoarseOptions,
}

/// Compiles a program for a target to an application graph that is proven.
///
/// # Errors
/// Which of both: the program is refused, or the proof fails, which is a fault of the compiler.
pub fn compile(program: Program, target: &Target, constraints: &Constraints) -> Result<Compiled, CompileError> {
    let compiled = plan(program, target, constraints, Delivery::default(), &|_| {})?;
    compiled.prove()?;
    Ok(compiled)
}

/// As [`compile`], with words that get to their readers in a certain way, where the proof is still to come: [`Compiled::prove`]. `observe`
/// is told of each schedule that was tried, as soon as it is known whether the memories serve it.
///
/// # Errors
/// As [`compile`].
pub fn plan(
    program: Program,
    target: &Target,
    constraints: &Constraints,
    delivery: Delivery,
    observe: &dyn Fn(&Trial),
) -> Result<Compiled, CompileError> {
    let mut planned = |pipeline| plan_as(pipeline, program.clone(), target, constraints, delivery, observe);
    scan_or_nests(&program, &mut planned, |compiled| compiled)
}

/// As [`plan`], of one pipeline.
///
/// # Errors
/// As [`compile`].
pub fn plan_as(
    pipeline: Pipeline,
    program: Program,
    target: &Target,
    constraints: &Constraints,
    delivery: Delivery,
    observe: &dyn Fn(&Trial),
) -> Result<Compiled, CompileError> {
    check_tiles(target.memory(), target.rom())?;
    let tiles = Tiles { target, mappings: &Mappings::default() };
    let (written, without_level) = at_levels_of(program, target);
    let alike = with_random_access(written.clone())?;
    prove_random_access(&written, &alike).map_err(|error| CompileError::wrong(&error))?;
    let program = with_halves(alike.clone())?;
    prove_halves(&alike, &program).map_err(|error| CompileError::wrong(&error))?;
    let forms = Forms { tiles, constraints, delivery, observe, moved: RefCell::default() };
    let compiled = forms.compiled(pipeline.of(program))?;
    Ok(Compiled { without_level, ..compiled.of_source(&written) })
}

/// The program with arrays in memory tiles whose level the target does not have, and these arrays with that reason.
fn at_levels_of(mut program: Program, target: &Target) -> (Program, Vec<(usize, String)>) {
    let mut without = Vec::new();
    for (number, array) in program.arrays.iter_mut().enumerate() {
        if let Some(level) = array.level.filter(|level| target.at(*level).is_none()) {
            array.level = Some(Level::Memory);
            without.push((number, format!("there is no {}", level.name().replace('_', " "))));
        }
    }
    (program, without)
}

/// Checks that the elements of programs fit the words of memory tiles, and that tables are in a ROM.
fn check_tiles(spec: &TileSpec, rom_spec: &TileSpec) -> Result<(), Diagnostic> {
    let TileSpec { name, word_bits, .. } = spec;
    if *word_bits < WORD_BITS {
        let message = format!("`{name}` has words of {word_bits} bits, but elements need {WORD_BITS}");
        return Err(Diagnostic::new(message).with_help("choose a tile with words of at least 16 bits"));
    }
    let TileSpec { name, kind, .. } = rom_spec;
    if *kind != Kind::Rom {
        let message = format!("`{name}` is a {} tile; tables need a rom", kind.name());
        return Err(Diagnostic::new(message).with_help("give a specification with `kind: rom`"));
    }
    Ok(())
}

/// Result of compiling a program with its arrays at the levels that it names.
pub(crate) enum AtLevels {
    Compiled(Box<Compiled>),
    /// Memory tiles have no room for this array: it is to be in the global buffer. `ahead`: not all schedules were tried, as the first
    /// one is much shorter than others.
    Moves {
        array: usize,
        ahead: bool,
    },
}

/// Compiles a form of a program with its arrays at the levels that it names; its proof is still to come. Schedules that take longer than
/// the `known` cycles of another form by more than memory is worth are not tried. Arrays may move to the global buffer for a much
/// shorter schedule, before others are tried, if `ahead`.
///
/// # Errors
/// As [`compile`].
pub(crate) fn compile_at_levels(
    source: &Program,
    forms: &Forms,
    known: Option<u64>,
    ahead: bool,
) -> Result<AtLevels, CompileError> {
    let Forms { tiles, constraints, delivery, observe, .. } = *forms;
    let program = with_copies(with_complete_outputs(source.clone()));
    check_levels(&program, tiles.target)?;
    let memories = TableMemories {
        logic_words: constraints.table_logic_words,
        latency: timing::sram_to_output(tiles.target.rom().sram_latency),
    };
    // The memory of an array has one distance from the stages that write it and those that read it.
    let Recurrences { loads: recurrent, come_back, registered } = Recurrences::of(&program);
    let datapath =
        |(((graph, recurrent), comes_back), registered): (((DatapathGraph, &BTreeSet<usize>), &bool), &bool)| {
            let datapath = graph.pipelined_around(tiles.target.operators.as_ref(), memories, recurrent);
            // An update travels to its memory, and from there to the next one: the schedule of a stage knows no distance to itself. So
            // does a result that comes back: all of its way but the delays is part of the kernel.
            let comes_back = graph.operation().updates() || *comes_back;
            let distance = if comes_back { delivery.transport } else { 0 };
            let datapath = datapath.map(|datapath| datapath.later(distance).behind_reads());
            // A random-access memory shows what comes to it in the same cycle, so that this comes out of a register.
            let writes_ram = program.arrays[graph.operation().target.array].random_access;
            let datapath = datapath.map(|of| if writes_ram && of.latency() == 0 { of.later(1) } else { of });
            // So is a copy that comes back, though it computes nothing.
            let datapath = datapath.map(|of| if *registered && of.copied().is_some() { of.registered() } else { of });
            datapath.map_err(|error| program.diagnostic(graph.operation().span, error.to_string()))
        };
    let datapaths: Vec<Datapath> =
        DatapathGraph::all(&program).zip(&recurrent).zip(&come_back).zip(&registered).map(datapath).try_collect()?;
    compute_sharing::check(&program, &datapaths)?;
    let extraction = extract(&program, |operation| datapaths[operation].latency())?;
    let passes = Passes {
        program: &program,
        extraction: &extraction,
        datapaths: &datapaths,
        recurrent: &recurrent,
        tiles,
        constraints,
        delivery,
    };
    let may_move = |array| ahead && moves(source, array, tiles.target);
    let search = Search::new(&passes, known, &may_move, observe);
    let planned = match program.policy() {
        Policy::Stencil => search.stencil(),
        Policy::Dnn => search.coarse().or_else(|error| match error.array() {
            Some(array) if !moves(source, array, tiles.target) => search.coarse_in_order().ok_or(error),
            _ => Err(error),
        }),
    };
    let trials = search.trials();
    let Planned { schedule, recurrence, coarse, graph, storage } = match planned {
        Ok(planned) => planned,
        Err(error) => match error.array().filter(|array| moves(source, *array, tiles.target)) {
            Some(array) => return Ok(AtLevels::Moves { array, ahead: search.moves_ahead() }),
            None => return Err(refusal(&program, &extraction, error)),
        },
    };
    let kept =
        Kept { program: &program, extraction: &extraction, graph: &graph, storage: &storage, target: tiles.target };
    if let Some(array) = kept.too_large(source)? {
        return Ok(AtLevels::Moves { array, ahead: false });
    }
    Ok(AtLevels::Compiled(Box::new(Compiled {
        source: source.clone(),
        program,
        extraction,
        schedule,
        recurrence,
        trials,
        coarse,
        datapaths,
        graph,
        storage,
        target: tiles.target.clone(),
        constraints: constraints.clone(),
        no_scan: None,
        without_level: Vec::new(),
    })))
}

/// Whether an array is to move to the global buffer, because it has more words than memory tiles can hold together.
fn moves(source: &Program, array: usize, target: &Target) -> bool {
    let is_large = |declared: &pushmem_nest::Array| declared.size() as u64 > target.memory().largest_memory();
    let free = source.arrays.get(array).filter(|declared| declared.level.is_none());
    free.is_some_and(is_large) && target.at(Level::GlobalBuffer).is_some()
}

/// Checks that an array can be kept at the level that the program names.
fn check_levels(program: &Program, target: &Target) -> Result<(), Diagnostic> {
    for array in &program.arrays {
        let Some(level @ (Level::GlobalBuffer | Level::RegisterFile)) = array.level else { continue };
        let option = match level {
            Level::GlobalBuffer => "--global-buffer",
            _ => "--register-file",
        };
        let help = format!("name a specification with words of at least {WORD_BITS} bits by `{option}`");
        let refuse = |message: String| Err(program.diagnostic(array.span, message).with_help(&help));
        if let Some(spec) = target.at(level).filter(|spec| spec.kind == Kind::Rom || spec.word_bits < WORD_BITS) {
            return refuse(format!("`{}` tiles cannot keep `{}`", spec.name, array.name));
        }
    }
    Ok(())
}

/// The memories of a program on tiles.
#[derive(Clone, Copy)]
struct Kept<'a> {
    program: &'a Program,
    extraction: &'a Extraction,
    graph: &'a ApplicationGraph,
    storage: &'a Storage,
    target: &'a Target,
}

impl Kept<'_> {
    /// Checks that there are as many tiles of each kind as it needs. Where memory tiles are too few, that one of the
    /// arrays in them is to be in the global buffer that has the most words and no level of its own.
    fn too_large(self, source: &Program) -> Result<Option<usize>, Diagnostic> {
        let Kept { program, graph, storage, target, .. } = self;
        let spec_at = |level: Level| target.at(level).unwrap_or_else(|| target.memory());
        let levels = [Level::Memory, Level::GlobalBuffer, Level::RegisterFile];
        for spec in levels.into_iter().filter(|level| storage.count_at(*level) > 0).map(spec_at).dedup() {
            let tiles = storage.tiles.iter().filter(|tile| spec_at(tile.level) == spec).count();
            let Some(count) = spec.count.filter(|count| tiles > *count as usize) else { continue };
            let arrays = || {
                let of_kind = |(array, _): &(ArrayId, &ArrayMemory)| spec_at(graph.arrays[*array].level) == spec;
                storage.arrays.iter_enumerated().filter(of_kind)
            };
            let is_free = |array: ArrayId| {
                let node = &graph.arrays[array];
                node.level == Level::Memory && source.arrays.get(node.array).is_some_and(|of| of.level.is_none())
            };
            let free = arrays().filter(|(array, _)| is_free(*array));
            if let Some((largest, _)) = free.max_by_key(|(_, memory)| memory.mapped.live_words)
                && target.at(Level::GlobalBuffer).is_some_and(|buffer| buffer != spec)
            {
                return Ok(Some(graph.arrays[largest].array));
            }
            let needed = counted(tiles, &format!("`{}` tile", spec.name));
            let message = format!("`{}` needs {needed}, and the specification has `count: {count}`", program.name);
            let error = match arrays().max_by_key(|(_, memory)| memory.mapped.tiles.len()) {
                Some((array, memory)) => {
                    let (most, span) = (memory.mapped.tiles.len(), program.arrays[graph.arrays[array].array].span);
                    program.diagnostic(span, format!("{message}; this array has the most, {most}"))
                }
                None => self.with_most_delays(&message),
            };
            return Err(error.with_help(
                "choose a tile with more rows or ports, divide the work into smaller tiles of arrays, or unroll less",
            ));
        }
        Ok(None)
    }

    /// A message at the statement whose result is delayed in the most tiles.
    fn with_most_delays(self, message: &str) -> Diagnostic {
        let Kept { program, extraction, storage, .. } = self;
        let largest = storage.delays.iter().max_by_key(|memory| memory.mapped.tiles.len());
        let found = largest.and_then(|memory| {
            let is_delayed = |stage: &Stage| stage.name == memory.buffer.name;
            let stage = extraction.pipeline.stages.iter().position(is_delayed)?;
            let most = memory.mapped.tiles.len();
            let message = format!("{message}; delays of this result take the most, {most}");
            Some(program.diagnostic(extraction.span(program, stage), message))
        });
        found.unwrap_or_else(|| Diagnostic::new(message))
    }
}

impl Compiled {
    /// The same, of the program as it is written, with arrays at the levels to which they moved.
    pub(crate) fn of_source(self, written: &Program) -> Self {
        let mut source = written.clone();
        source.arrays.iter_mut().zip(&self.source.arrays).for_each(|(array, moved)| array.level = moved.level);
        Compiled { source, ..self }
    }

    /// The datapaths of the kernels that have an instance of their own: a unit that several share is one.
    pub fn instances(&self) -> impl Iterator<Item = &Datapath> {
        self.graph.instances().map(|(_, kernel)| &self.datapaths[kernel.operation])
    }

    /// Constructs that can be built, but are probably not meant.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let mut warnings = self.extraction.warnings(&self.program);
        warnings.extend(self.slower_than_sequential());
        warnings.extend(self.without_scan());
        warnings.extend(self.without_level());
        warnings
    }

    /// Warnings about arrays in memory tiles that are not at the level that the program names.
    fn without_level(&self) -> impl Iterator<Item = Diagnostic> {
        self.without_level.iter().map(|(number, reason)| {
            let array = &self.source.arrays[*number];
            let message = format!("`{}` is kept in memory tiles: {reason}", array.name);
            let warning = self.source.diagnostic(array.span, message);
            warning.with_help("say `level: memory` in the program to choose this").as_warning()
        })
    }

    /// A warning where a program that names no schedule runs nest by nest, since stages cannot all follow one scan.
    fn without_scan(&self) -> Option<Diagnostic> {
        let refused = self.no_scan.clone()?;
        let message =
            format!("`{}` runs nest by nest: one scan of the image cannot serve all its stages", self.program.name);
        let help = "say `schedule: dnn` in the program to choose this, or change the place below so that it streams";
        Some(Diagnostic::new(message).with_help(help).as_warning().with_related(vec![refused.as_note()]))
    }

    /// Whether it is a raster scan that is slower than one stage after the other, because all of them wait for a recurrence.
    pub(crate) fn waits_for_recurrence(&self) -> bool {
        self.recurrence.as_ref().is_some_and(|of| of.interval > 1) && self.is_slower_than_sequential()
    }

    /// The pipeline that it is.
    pub fn pipeline(&self) -> Pipeline {
        match self.program.policy() {
            Policy::Dnn => Pipeline::Nests,
            Policy::Stencil => Pipeline::Chosen,
        }
    }

    /// Whether the schedule is slower than one stage after the other.
    fn is_slower_than_sequential(&self) -> bool {
        self.graph.length > self.sequential_cycles()
    }

    /// A warning where the schedule is slower than one stage after the other, with the reason.
    fn slower_than_sequential(&self) -> Option<Diagnostic> {
        let (cycles, sequential) = (self.graph.length, self.sequential_cycles());
        if !self.is_slower_than_sequential() {
            return None;
        }
        let name = &self.program.name;
        let slower = format!("`{name}` takes {cycles} cycles; one stage after the other would take {sequential}");
        let warning = match self.coarse {
            Some(_) => {
                let tile = &self.target.memory().name;
                Diagnostic::new(format!("{slower}, but memories of `{tile}` cannot serve that")).with_help(
                    "stages wait for the memories: their rows are padded to whole fetches, and their ports serve one \
                     stage at a time; choose a tile with more ports or without rows, as `dual_port`",
                )
            }
            None => Diagnostic::new(format!("{slower}, but all stages follow one scan")).with_help(
                "a stage of another rate leaves cycles of the scan unused, which `--emit schedule` shows; give inputs \
                 without the elements that no stage reads, or make accelerators of the parts of different rates",
            ),
        };
        Some(warning.as_warning())
    }

    /// The baseline: one stage after the other. Updates wait for their memories, as in the accelerator.
    pub(crate) fn sequential(&self) -> Schedule {
        let options = self.coarse.as_ref().map_or_else(CoarseOptions::default, |plan| plan.options.clone());
        sequential(&self.extraction.pipeline, &options)
    }

    /// Cycles of the baseline.
    pub fn sequential_cycles(&self) -> u64 {
        self.sequential().length(&self.extraction.pipeline) as u64
    }

    /// The same program with another graph of it, for example one that was edited, which is proven.
    ///
    /// # Errors
    /// The first operand or output of the graph that is not the value of the program, and the memories that tiles cannot be.
    pub fn with_graph(self, graph: ApplicationGraph) -> Result<Self, CompileError> {
        let staged = self.extraction.staged();
        prove_graph(&self.program, staged, &self.schedule, &self.datapaths, &graph).map_err(|error| {
            let error = Diagnostic::new(format!("the application graph does not compute the program: {error}"));
            error.with_help("compare with the graph that `--emit graph` writes").or_code(Code::Graph)
        })?;
        Compiled { graph, ..self }.with_tiles(TileSharing::Shared)
    }

    /// The same program with delays that share memory tiles, or do not.
    ///
    /// # Errors
    /// The memories that tiles cannot be.
    pub fn with_tiles(self, sharing: TileSharing) -> Result<Self, CompileError> {
        let tiles = Tiles { target: &self.target, mappings: &Mappings::default() };
        let storage = storage(&self.graph, tiles, &self.constraints, sharing)
            .map_err(|error| refusal(&self.program, &self.extraction, error))?;
        Ok(Compiled { storage, ..self })
    }

    /// As [`with_graph`](Self::with_graph), of the text that [`CompileStage::Graph`](crate::CompileStage) prints, perhaps edited.
    ///
    /// # Errors
    /// Those of the reader, and of [`with_graph`](Self::with_graph).
    pub fn with_graph_of(self, document: &Document) -> Result<Self, Diagnostic> {
        let names = ProgramNames::of(&self.program, &self.extraction.pipeline);
        let graph = ApplicationGraph::from_document(document, &names)?;
        self.with_graph(graph).map_err(Diagnostic::from)
    }

    /// Proves that the graph computes the program.
    ///
    /// # Errors
    /// A fault, when the proof fails.
    pub fn prove(&self) -> Result<(), CompileError> {
        let Compiled { program, extraction, schedule, datapaths, graph, .. } = self;
        prove_graph(program, extraction.staged(), schedule, datapaths, graph)
            .map_err(|error| CompileError::wrong(&error))
    }
}
