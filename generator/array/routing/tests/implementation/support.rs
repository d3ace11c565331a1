//! An array, and netlists on it.

use std::path::Path;

use pushmem_bitstream::decode;
use pushmem_emulator::{Emulator, Inputs, Stream as ArrayStream};
use pushmem_fabric::{ArraySpec, Folder};
use pushmem_files::Document;
use pushmem_netlist::{CellId, Netlist};
use pushmem_netlists::{Evaluation, Stream};
use pushmem_resources::Graph;
use pushmem_routing::{Fabric, FlowError, Implementation, Options, check, configure, place_and_route};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

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
        let mut emulator = Emulator::new(spec, graph.clone());
        emulator.configure(&decoded);
        emulator.clock(&Inputs { flush: true, ..Inputs::default() });
        let mut evaluation = Evaluation::new(netlist, spec, routing.lags.as_raw_slice());
        evaluation.cycle(|_| Stream::default());
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let word = u32::MAX >> (32 - spec.word_bits());
        for cycle in 0..cycles {
            let streams: Vec<ArrayStream> = (0..spec.columns)
                .map(|_| ArrayStream { data: random.random::<u32>() & word, valid: random.random() })
                .collect();
            let column = |cell: CellId| placement.places[cell].column as usize;
            let wanted = evaluation.cycle(|cell| {
                let ArrayStream { data, valid } = streams[column(cell)];
                Stream { data, valid }
            });
            let shown: Vec<ArrayStream> = emulator.outputs().collect();
            for (cell, stream) in wanted {
                let found = shown[column(cell)];
                let name = &netlist.cells[cell].name;
                assert_eq!((found.data, found.valid), (stream.data, stream.valid), "cycle {cycle}, {name}");
            }
            emulator.clock(&Inputs { streams, ..Inputs::default() });
        }
    }
}
