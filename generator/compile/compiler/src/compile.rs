//! The passes in their order.

use pushmem_arithmetic::Arithmetic;
use pushmem_assembly::{Constraints, Delivery, TileSharing, Tiles, storage};
use pushmem_datapaths::Datapath;
use pushmem_extraction::Extraction;
use pushmem_files::{Code, Diagnostic, Document};
use pushmem_graph::{ApplicationGraph, Memories, ProgramNames, Storage, Target, WORD_BITS};
use pushmem_mapping::Mappings;
use pushmem_nest::{Array, Level, Policy, Program};
use pushmem_proof::{prove_graph, prove_rewritten};
use pushmem_rewriting::{with_halves, with_random_access};
use pushmem_schedule::{Coarse, CoarseOptions, Recurrence, Schedule, sequential};
use pushmem_tile::{Kind, TileSpec};

use crate::accumulators::waiting;
use crate::error::CompileError;
use crate::forms::cheapest;
use crate::pipeline::Pipeline;
use crate::refusal::refusal;
use crate::schedules::{Found, cost, is_least, stream_words};
use crate::stages::{Hardware, Stages};
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

/// Compiles a program for a target to an application graph, with words that get to their readers in a certain way. The proof is still to
/// come: [`Compiled::prove`]. `observe` is told of each schedule that was tried, as soon as it is known whether the memories serve it.
///
/// # Errors
/// The program is refused.
pub fn plan(
    program: Program,
    target: &Target,
    constraints: &Constraints,
    delivery: Delivery,
    observe: &dyn Fn(&Trial),
) -> Result<Compiled, CompileError> {
    plan_as(Pipeline::Cheapest, program, target, constraints, delivery, observe)
}

/// As [`plan`], of one pipeline.
///
/// # Errors
/// As [`plan`].
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
    let (alike, witness) = with_random_access(written.clone())?;
    prove_rewritten(&written, &alike, &witness).map_err(|error| CompileError::wrong(&error))?;
    let (program, witness) = with_halves(alike.clone())?;
    prove_rewritten(&alike, &program, &witness).map_err(|error| CompileError::wrong(&error))?;
    let compiled = cheapest(pipeline, program, Hardware { tiles, constraints, delivery }, observe)?;
    Ok(Compiled { without_level, ..compiled.of_source(&written) })
}

/// The program with arrays in memory tiles whose level the target does not have, and these arrays with that reason. Memories that are
/// made for the program have no levels.
fn at_levels_of(mut program: Program, target: &Target) -> (Program, Vec<(usize, String)>) {
    let mut without = Vec::new();
    for (number, array) in program.arrays.iter_mut().enumerate() {
        if let Some(level) = array.level.filter(|level| target.at(*level).is_none()) {
            array.level = Some(Level::Memory);
            if target.memories == Memories::Tiles {
                without.push((number, format!("there is no {}", level.name().replace('_', " "))));
            }
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

impl Compiled {
    /// The same, of the program as it is written, with arrays at the levels to which they moved.
    pub(crate) fn of_source(self, written: &Program) -> Self {
        let mut source = written.clone();
        source.arrays.iter_mut().zip(&self.source.arrays).for_each(|(array, moved)| array.level = moved.level);
        Compiled { source, ..self }
    }

    /// A schedule of a form, for this target, which was found by these trials.
    pub(crate) fn of(found: Found, trials: Vec<Trial>) -> Self {
        let Found { stages, schedule, recurrence, coarse, graph, storage } = found;
        let Stages { hardware, form, program, extraction, datapaths, .. } = &*stages;
        Compiled {
            source: form.program.clone(),
            program: program.clone(),
            extraction: extraction.clone(),
            schedule,
            recurrence,
            trials,
            coarse,
            datapaths: datapaths.clone(),
            graph,
            storage,
            target: hardware.tiles.target.clone(),
            constraints: hardware.constraints.clone(),
            no_scan: None,
            without_level: Vec::new(),
        }
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

    /// The program with the arrays for whose memory iterations wait in random-access memories, which show a word in the cycle after it is
    /// written; nothing if there are none.
    pub fn without_waits(&self) -> Option<Program> {
        let waiting = waiting(self);
        let mut program = self.source.clone();
        let is_free =
            |array: &&mut Array| waiting.contains(array.name.as_str()) && array.level.is_none() && !array.random_access;
        let changed = program.arrays.iter_mut().filter(is_free).map(|array| array.random_access = true).count();
        (changed > 0).then_some(program)
    }

    /// Whether it takes more words of streams in a cycle than another.
    pub fn is_wider(&self, other: &Compiled) -> bool {
        stream_words(&self.graph) > stream_words(&other.graph)
    }

    /// Whether it costs less than another program: fewer cycles, or fewer tiles that make up for more cycles.
    pub fn is_cheaper(&self, other: &Compiled) -> bool {
        let [own, other] = [self, other].map(|of| cost(&of.program, &of.graph, &of.storage, &of.target));
        own.is_less(other)
    }

    /// Whether no schedule of its stages costs much less: it takes hardly more cycles than the busiest stage has iterations after the latencies
    /// of those before, and not many more tiles than its words fill.
    pub fn is_least(&self) -> bool {
        is_least(&self.graph, &self.storage, &self.extraction.pipeline, self.target.memory())
    }

    /// The pipeline that it is.
    pub fn pipeline(&self) -> Pipeline {
        match self.program.policy() {
            Policy::Dnn => Pipeline::Nests,
            Policy::Stencil => Pipeline::Chosen,
        }
    }

    /// A warning where the schedule is slower than one stage after the other, with the reason.
    fn slower_than_sequential(&self) -> Option<Diagnostic> {
        let (cycles, sequential) = (self.graph.length, self.sequential_cycles());
        if cycles <= sequential {
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
            .map_err(|short| refusal(&self.program, &self.extraction, &self.target, &short.into(), None))?;
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

    /// Proves that the graph computes the program, and says how its arithmetic is known.
    ///
    /// # Errors
    /// A fault, when the proof fails.
    pub fn prove(&self) -> Result<Arithmetic, CompileError> {
        let Compiled { program, extraction, schedule, datapaths, graph, .. } = self;
        prove_graph(program, extraction.staged(), schedule, datapaths, graph)
            .map_err(|error| CompileError::wrong(&error))
    }
}
