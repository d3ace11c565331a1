//! An array, and netlists on it.

use std::collections::BTreeMap;
use std::path::Path;

use pushmem_affine::Affine;
use pushmem_bitstream::{Configuration, decode};
use pushmem_configuration::ControllerConfiguration;
use pushmem_emulator::{Beat, Emulator, Inputs, StreamInputs};
use pushmem_fabric::{ArraySpec, Direction, Folder, TileKind};
use pushmem_files::Document;
use pushmem_netlist::{CellId, Core, Lane, Machine, Netlist, Run};
use pushmem_pe::Numbers;
use pushmem_resources::Graph;
use pushmem_routing::{Fabric, FlowError, Implementation, Options, configure, place_and_route};

use crate::check::check;

/// An array with what routers need.
pub struct Array {
    pub spec: ArraySpec,
    pub graph: Graph,
    pub fabric: Fabric,
}

impl Array {
    /// An array of so many columns and rows with the elements of `image_pe`.
    pub fn new(columns: u32, rows: u32, tracks: u32, hop_limit: u32, keys: &str) -> Self {
        Array::parse(&format!(
            "name: test\nkind: array\ncolumns: {columns}\nrows: {rows}\npe: image_pe\ntracks: {{word: {tracks}, bit: {tracks}}}\n\
             hop_limit: {hop_limit}\nblock: {{columns: {columns}, rows: {rows}}}\n{keys}"
        ))
    }

    pub fn parse(text: &str) -> Self {
        let folder = Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints"));
        let document = Document::parse("array.yaml", text).unwrap();
        let spec = ArraySpec::from_document(&document, &folder).unwrap_or_else(|error| panic!("{error}"));
        Array::of(spec)
    }

    pub fn of(spec: ArraySpec) -> Self {
        let graph = Graph::of(&spec);
        let fabric = Fabric::of(&spec, &graph);
        Array { spec, graph, fabric }
    }

    pub fn implement(&self, netlist: &Netlist, options: Options) -> Result<Implementation, FlowError> {
        place_and_route(netlist, &self.spec, &self.graph, &self.fabric, options, &|_| {})
    }

    /// Checks what the bitstream decodes to, and emulates it beside the netlist for some cycles.
    pub fn verify(&self, netlist: &Netlist, implementation: &Implementation, cycles: usize) {
        let Array { spec, graph, .. } = self;
        let Implementation { placement, routing, .. } = implementation;
        let configuration = configure(netlist, spec, graph, placement, routing).unwrap();
        let bitstream = configuration.encode(spec, graph).unwrap_or_else(|error| panic!("{error}"));
        let decoded = decode(&bitstream, spec, graph).unwrap();
        check(netlist, spec, graph, placement, &routing.lags, &decoded).unwrap_or_else(|error| panic!("{error}"));
        let wanted = self.words(netlist, implementation, cycles);
        let found = self.run(netlist, implementation, decoded, cycles);
        for (cell, words) in wanted {
            let name = &netlist.cells[cell].name;
            for (cycle, (word, found)) in words.iter().zip(&found[&cell]).enumerate() {
                assert_eq!(found, word, "{name}, cycle {cycle}");
            }
            assert_eq!(found[&cell].len(), words.len(), "{name}");
        }
    }

    /// The words on each output cell by the netlist alone, if its connections take as many cycles as the lags say.
    fn words(&self, netlist: &Netlist, implementation: &Implementation, cycles: usize) -> BTreeMap<CellId, Vec<u32>> {
        let lags = &implementation.routing.lags;
        let mut late = netlist.clone();
        for net in &mut late.nets {
            for sink in &mut net.sinks {
                sink.cycles += lags[sink.cell] - lags[net.source];
            }
        }
        for (cell, lag) in late.cells.iter_mut().zip(lags) {
            match &mut cell.core {
                Core::Memory(memory) => *memory = memory.clone().later(*lag),
                Core::Predicate(schedule) => schedule.cycle.start += lag,
                Core::Pe(_) | Core::Input | Core::Output => {}
            }
        }
        let machine = Machine::new(&late, &self.spec, Numbers { word_bits: self.spec.word_bits() });
        let cycle = Affine { start: 0, stride: vec![1] };
        let lane = |cell: CellId| Lane { cell, extent: [cycles as u64].into(), cycle: cycle.clone() };
        let words_of = |cell: CellId| (0..cycles).map(|cycle| self.stimulus(cell, cycle)).collect();
        let entering: Vec<Lane> = of_core(netlist, &Core::Input).map(lane).collect();
        let words: Vec<Vec<u32>> = of_core(netlist, &Core::Input).map(words_of).collect();
        let leaving: Vec<Lane> = of_core(netlist, &Core::Output).map(lane).collect();
        let mut run = Run::new(machine, &entering, &leaving, &[]);
        run.execute(run.length(), &|lane, number| words[lane][number]);
        leaving.iter().map(|lane| lane.cell).zip(run.left).collect()
    }

    /// The words on each output cell on the array.
    fn run(
        &self,
        netlist: &Netlist,
        implementation: &Implementation,
        mut configuration: Configuration,
        cycles: usize,
    ) -> BTreeMap<CellId, Vec<u32>> {
        let Array { spec, graph, .. } = self;
        let places = &implementation.placement.places;
        let beats = ControllerConfiguration {
            extent: [cycles as u64].into(),
            cycle: Affine { start: 0, stride: vec![1] },
            ..ControllerConfiguration::default()
        };
        let streams = [(Core::Input, Direction::In), (Core::Output, Direction::Out)];
        for (core, direction) in &streams {
            for cell in of_core(netlist, core) {
                let tile = configuration.tile_mut(graph, places[cell]);
                tile.set_stream(spec, graph.layout(TileKind::Io), *direction, &beats).unwrap();
            }
        }
        let mut emulator = Emulator::new(spec, graph.clone());
        // Nothing is in the registers of tracks when the run starts.
        let stalled = Inputs { stall: true, ..Inputs::default() };
        (0..=spec.control_depth).for_each(|_| emulator.clock(&stalled));
        emulator.configure(&configuration);
        emulator.clock(&Inputs { flush: true, ..stalled });
        let mut inputs = Inputs { streams: vec![StreamInputs::default(); spec.columns as usize], ..Inputs::default() };
        let mut given: BTreeMap<CellId, usize> = of_core(netlist, &Core::Input).map(|cell| (cell, 0)).collect();
        let mut words: BTreeMap<CellId, Vec<u32>> =
            of_core(netlist, &Core::Output).map(|cell| (cell, Vec::new())).collect();
        for _ in 0..2 * cycles + 100 {
            let shown = emulator.outputs();
            inputs.streams = vec![StreamInputs::default(); spec.columns as usize];
            for (cell, given) in &mut given {
                let column = places[*cell].column as usize;
                let data = self.stimulus(*cell, *given);
                inputs.streams[column].beat = Some(Beat { data, bit: false });
                *given += usize::from(shown[column].ready);
            }
            for (cell, words) in &mut words {
                let column = places[*cell].column as usize;
                inputs.streams[column].ready = true;
                words.extend(shown[column].beat.map(|beat| beat.data));
            }
            emulator.clock(&inputs);
        }
        words
    }

    /// The word that enters at a cell in a cycle.
    fn stimulus(&self, cell: CellId, cycle: usize) -> u32 {
        let mixed = (cell.index() as u64 * 10_007 + cycle as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 33) as u32 & (u32::MAX >> (32 - self.spec.word_bits()))
    }
}

/// The cells of a core.
fn of_core<'a>(netlist: &'a Netlist, core: &'a Core) -> impl Iterator<Item = CellId> + 'a {
    netlist.cells.iter_enumerated().filter(move |(_, cell)| cell.core == *core).map(|(id, _)| id)
}
