//! The comparison of a bitstream with an application graph.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_bitstream::{Bitstream, TileName, decode};
use pushmem_cells::Cells;
use pushmem_configuration::ControllerConfiguration;
use pushmem_datapaths::Datapath;
use pushmem_fabric::{ArraySpec, Direction, Place, TileKind};
use pushmem_graph::{ApplicationGraph, StreamElements};
use pushmem_nest::{Operation, Program};
use pushmem_netlist::{BankLanes, CellId, Core, Lane};
use pushmem_resources::Graph;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use crate::banks::{bank_lanes, check_banks};
use crate::lift::lift;
use crate::operations::Samples;
use crate::tokens::{Compared, Parts};

/// Runs, on different tokens, of a program that looks up words in tables.
const RUNS_OF_TABLES: u64 = 4;

/// The tiles of the lanes of a program's streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// For each input stream the tile of each lane.
    pub inputs: Vec<Vec<Place>>,
    /// For each output stream the tile of each lane.
    pub outputs: Vec<Vec<Place>>,
    /// The tiles of the memories that are banks of the global buffer.
    pub banks: Vec<BankSite>,
    /// The streams of programs beside it.
    pub others: Vec<(Place, Direction)>,
}

/// The tiles of a memory that is a bank of the global buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankSite {
    /// The name of the memory.
    pub name: String,
    /// Where its words enter.
    pub load: Place,
    /// Where they leave.
    pub store: Place,
}

impl Site {
    /// The streams of the program, those of its memories in banks among them.
    pub fn streams(&self) -> Vec<(Place, Direction)> {
        let inputs = self.inputs.iter().flatten().map(|place| (*place, Direction::In));
        let outputs = self.outputs.iter().flatten().map(|place| (*place, Direction::Out));
        let of_banks = self.banks.iter().flat_map(|bank| [(bank.load, Direction::In), (bank.store, Direction::Out)]);
        inputs.chain(outputs).chain(of_banks).collect()
    }
}

/// A program, as an array is to compute it.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'a> {
    /// The program.
    pub program: &'a Program,
    /// The datapath of each operation.
    pub datapaths: &'a [Datapath],
    /// Its application graph.
    pub graph: &'a ApplicationGraph,
}

impl Reference<'_> {
    /// The operation whose cells another one has: the first of its unit, or itself.
    pub(crate) fn first_of_unit(&self, operation: usize) -> usize {
        let nests = self.program.operations();
        nests.iter().position(|(_, other)| other.shares_unit(nests[operation].1)).unwrap_or(operation)
    }

    /// The operations that have cells.
    fn operations(&self) -> Vec<usize> {
        self.graph.kernels.iter().map(|kernel| self.first_of_unit(kernel.operation)).unique().collect()
    }
}

/// The elements of the streams of a graph: those that come in, and those that go out.
pub(crate) fn streams(graph: &ApplicationGraph) -> [Vec<StreamElements<'_>>; 2] {
    let inputs = graph.inputs.iter().map(StreamElements::from);
    [inputs.collect(), graph.outputs.iter().map(StreamElements::from).collect()]
}

/// Figures of a proof.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Operations of the loop nest whose cells were compared with their statements.
    pub operations: usize,
    /// Of these, those that are proven for all operands.
    pub proven: usize,
    /// Words that left the array and were compared, in all runs.
    pub words: usize,
    /// Cycles of these runs that were skipped, as they repeat an earlier period.
    pub skipped: u64,
}

/// Why a bitstream is not a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Invalid {
    /// It is no bitstream of the array, or its configuration is not one of the program, as this says.
    #[error("{0}")]
    Configuration(String),
    /// The cells of an operation compute something else.
    #[error("the cells of `{operation}` give another word than its statement, for the operands {operands:?}")]
    Operation {
        /// The operation.
        operation: String,
        /// Values of its loads.
        operands: Vec<i64>,
    },
    /// A word that leaves is not the one of the program.
    #[error("word {word} of beat {beat} of `{stream}` is not computed from the elements that the program says")]
    Word {
        /// The stream.
        stream: String,
        /// Which beat.
        beat: usize,
        /// Which word of the beat.
        word: usize,
    },
}

/// Proves that a bitstream is a program: every word that leaves the array is the same operations of the same elements as that of
/// the program's application graph, and each operation computes what its statement computes.
///
/// `cells` are the cells of each operation of the program.
///
/// # Errors
/// The first difference.
pub fn validate(
    reference: Reference,
    cells: &[Cells],
    spec: &ArraySpec,
    graph: &Graph,
    bitstream: &Bitstream,
    site: &Site,
) -> Result<Proof, Invalid> {
    let Reference { program, graph: of_program, .. } = reference;
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let nests = program.operations();
    let samples = Samples::of(program, &mut random);
    let operations = reference.operations();
    let mut proven = 0;
    for &operation in &operations {
        // The operations of a unit have the datapath of the first.
        let first = nests[operation].1;
        let computes = |(number, nest): &(usize, &(_, &Operation))| *number == operation || nest.1.shares_unit(first);
        let mut is_proven = true;
        for (_, nest) in nests.iter().enumerate().filter(computes) {
            let compared = samples.compare(nest, &cells[operation], spec.word_bits(), &mut random);
            is_proven &= compared.map_err(|operands| {
                let operation = first.unit().unwrap_or(&first.name).to_owned();
                Invalid::Operation { operation, operands }
            })?;
        }
        proven += usize::from(is_proven);
    }
    let undecodable = |error| Invalid::Configuration(format!("the bitstream cannot be decoded: {error}"));
    let configuration = decode(bitstream, spec, graph).map_err(undecodable)?;
    check_banks(reference, &configuration, spec, site)?;
    let (netlist, tiles) = lift(&configuration, spec, graph)?;
    let known: BTreeSet<(Place, Direction)> = site.streams().into_iter().chain(site.others.iter().copied()).collect();
    let is_stream = |cell: CellId| matches!(netlist.cells[cell].core, Core::Input | Core::Output);
    if let Some(((place, direction), _)) = tiles.iter().find(|(at, cell)| is_stream(**cell) && !known.contains(at)) {
        let tile = TileName { kind: TileKind::Io, place: *place }.to_string();
        let fault = format!("{tile} has a {}, which the program does not have", direction.stream());
        return Err(Invalid::Configuration(fault));
    }
    let lanes =
        |streams: &[StreamElements], places: &[Vec<Place>], direction: Direction| -> Result<Vec<Lane>, Invalid> {
            let of_stream =
                streams.iter().zip(places).flat_map(|(stream, places)| places.iter().map(move |place| (stream, place)));
            let lane = |(stream, place): (&StreamElements, &Place)| {
                let tile = configuration.tiles.get(place);
                let schedule = tile.and_then(|tile| tile.stream(spec, graph.layout(TileKind::Io), direction));
                let found = schedule.as_ref().map_or(0, |schedule| schedule.firings() as usize);
                let expected = of_program.counters[stream.counter].iterations() as usize;
                match (tiles.get(&(*place, direction)), schedule) {
                    (Some(&cell), Some(ControllerConfiguration { extent, cycle, .. })) if found == expected => {
                        Ok(Lane { cell, extent, cycle })
                    }
                    _ => Err(Invalid::Configuration(format!(
                        "the stream `{}` has {found} beats on the array, and {expected} in the program",
                        stream.name
                    ))),
                }
            };
            of_stream.map(lane).collect()
        };
    let beats = |place: Place, direction: Direction| -> Option<Lane> {
        let schedule = configuration.tiles.get(&place)?.stream(spec, graph.layout(TileKind::Io), direction)?;
        let ControllerConfiguration { extent, cycle, .. } = schedule;
        Some(Lane { cell: *tiles.get(&(place, direction))?, extent, cycle })
    };
    let of_bank = |bank: &BankSite| bank_lanes(bank, &configuration, spec, &beats);
    let banks: Vec<BankLanes> = site.banks.iter().map(of_bank).collect::<Result<_, Invalid>>()?;
    let [inputs, outputs] = streams(of_program);
    let entering = lanes(&inputs, &site.inputs, Direction::In)?;
    let leaving = lanes(&outputs, &site.outputs, Direction::Out)?;
    let parts = Parts { reference, cells, netlist: &netlist, spec, entering, leaving, banks };
    // An index is taken at the length of its table: of that few bits are compared in a run.
    let has_tables = operations.iter().any(|operation| !cells[*operation].fetches.is_empty());
    let runs = if has_tables { RUNS_OF_TABLES } else { 1 };
    let Compared { words, skipped } = parts.compared(runs)?;
    Ok(Proof { operations: operations.len(), proven, words, skipped })
}
