//! An array in Verilator beside its model.

pub mod random;

use std::fmt::Write as _;
use std::path::Path;

use pushmem_bitstream::Configuration;
use pushmem_emulator::{Emulator, Inputs, StreamInputs, StreamOutputs};
use pushmem_fabric::{ArraySpec, Folder, Layer, Place, TileKind};
use pushmem_files::Document;
use pushmem_interconnect::{answer_latency, array_module, generate};
use pushmem_resources::{Graph, Node, NodeId};
use pushmem_systemverilog::files_of;
use pushmem_testing::Sources;

/// The specification of an array.
pub fn parse(text: &str) -> ArraySpec {
    let folder = Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints"));
    let document = Document::parse("array.yaml", text).unwrap();
    ArraySpec::from_document(&document, &folder).unwrap_or_else(|error| panic!("{error}"))
}

/// The ports of an array in a cycle.
#[derive(Clone, Debug, Default)]
pub struct Cycle {
    pub write: bool,
    pub read: bool,
    pub address: u32,
    pub data: u32,
    pub inputs: Inputs,
    /// The configuration that the tiles have from this cycle on.
    pub configured: Option<Configuration>,
    /// Whether a configuration is being loaded: streams show what they have of it.
    pub is_loading: bool,
    /// The answer that the access is to have: the word that is read, or none for an error.
    pub answer: Option<u32>,
}

/// A model of the RTL of an array. Without Verilator, nothing is run.
pub struct Bench {
    spec: ArraySpec,
    graph: Graph,
    /// The registers that are compared.
    registers: Vec<NodeId>,
    rtl: Option<pushmem_testing::Bench>,
}

impl Bench {
    /// Builds the model.
    pub fn new(spec: &ArraySpec) -> Self {
        let graph = Graph::of(spec);
        let is_register = |node: &NodeId| matches!(graph.resource(*node).node, Node::Register { .. });
        let registers: Vec<NodeId> = graph.nodes().filter(is_register).collect();
        let files = generate(spec).unwrap_or_else(|error| panic!("{error}"));
        let mut rtl = files_of(files);
        rtl.push(("bench.sv".to_owned(), bench(spec, &graph, &registers)));
        let flags = format!("-O1 -std=c++17 -DCOLUMNS={} -DPROBES={}", spec.columns, registers.len());
        let sources = Sources { rtl, harness: include_str!("harness.cpp"), flags: &flags };
        Self { spec: spec.clone(), graph, registers, rtl: pushmem_testing::Bench::build(&sources) }
    }

    pub fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Holds the RTL against the model: every output, register and answer of every cycle. Gives the outputs of the array.
    pub fn check(&self, cycles: &[Cycle]) -> Vec<Vec<StreamOutputs>> {
        let outputs = self.run(cycles);
        let mut model = Emulator::new(&self.spec, self.graph.clone());
        let mut streams = Vec::new();
        for (number, cycle) in cycles.iter().enumerate() {
            if let Some(configuration) = &cycle.configured {
                model.configure(configuration);
            }
            let shown = model.outputs();
            if let Some(outputs) = &outputs {
                self.compare(number, cycle, &outputs[number], &shown, &model);
                self.compare_answer(number, &outputs[number], cycles);
            }
            streams.push(shown);
            model.clock(&cycle.inputs);
        }
        streams
    }

    fn compare(&self, number: usize, cycle: &Cycle, outputs: &[u32], shown: &[StreamOutputs], model: &Emulator) {
        let (streams, registers) = outputs[2..].split_at(2 * shown.len());
        let compared = if cycle.is_loading { &[] } else { shown };
        for (column, (stream, pair)) in compared.iter().zip(streams.chunks_exact(2)).enumerate() {
            assert_eq!((pair[0], pair[1]), packed(stream), "cycle {number}, column {column}: {stream:?}");
        }
        for (node, value) in self.registers.iter().zip(registers) {
            assert_eq!(
                *value,
                model.register(*node),
                "cycle {number}, {} of {}",
                self.graph.name(*node),
                self.spec.to_yaml()
            );
        }
    }

    fn compare_answer(&self, number: usize, outputs: &[u32], cycles: &[Cycle]) {
        let asked = number.checked_sub(answer_latency(&self.spec) as usize).map(|asked| &cycles[asked]);
        let expected = match asked {
            Some(Cycle { write, read, answer, .. }) if *write || *read => (answer.is_none(), answer.filter(|_| *read)),
            _ => (false, None),
        };
        let asked = asked.map(|cycle| cycle.address);
        assert_eq!((outputs[0] != 0, outputs[1]), (expected.0, expected.1.unwrap_or(0)), "cycle {number}, {asked:x?}");
    }

    fn run(&self, cycles: &[Cycle]) -> Option<Vec<Vec<u32>>> {
        let rtl = self.rtl.as_ref()?;
        let stimuli = cycles.iter().flat_map(|cycle| record(&self.spec, cycle)).flat_map(u32::to_le_bytes).collect();
        let answers = rtl.run(stimuli);
        let words = 2 + 2 * self.spec.columns as usize + self.registers.len();
        assert_eq!(answers.len(), 4 * words * cycles.len());
        let (answers, _) = answers.as_chunks::<4>();
        let answers: Vec<u32> = answers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        Some(answers.chunks_exact(words).map(<[u32]>::to_vec).collect())
    }
}

/// A cycle as the harness reads it.
fn record(spec: &ArraySpec, cycle: &Cycle) -> Vec<u32> {
    let Cycle { write, read, inputs, .. } = cycle;
    let commands = [inputs.flush, inputs.stall, *write, *read].map(u32::from);
    let mut record = vec![commands.iter().rev().fold(0, |all, bit| 2 * all + bit), cycle.address, cycle.data];
    let streams = inputs.streams.iter().copied().chain(std::iter::repeat(StreamInputs::default()));
    record.extend(streams.take(spec.columns as usize).flat_map(|StreamInputs { beat, ready }| {
        let (is_valid, beat) = (beat.is_some(), beat.unwrap_or_default());
        [beat.data, flags(beat.bit, is_valid, ready)]
    }));
    record
}

/// The outputs of a column as the harness writes them.
fn packed(StreamOutputs { beat, ready }: &StreamOutputs) -> (u32, u32) {
    let (is_valid, beat) = (beat.is_some(), beat.unwrap_or_default());
    (beat.data, flags(beat.bit, is_valid, *ready))
}

fn flags(bit: bool, valid: bool, ready: bool) -> u32 {
    u32::from(bit) | u32::from(valid) << 1 | u32::from(ready) << 2
}

/// A module around the array with ports that the harness can write alike for all specifications, and all registers of tracks.
fn bench(spec: &ArraySpec, graph: &Graph, registers: &[NodeId]) -> String {
    let (w, columns, probes) = (spec.word_bits(), spec.columns, registers.len());
    let mut body = String::new();
    for column in 0..columns {
        let (low, at) = (column * w, 64 * column);
        writeln!(body, "    assign data_in[{low} +: {w}] = stream_in[{at} +: {w}];").unwrap();
        writeln!(
            body,
            "    assign {{ready_out[{column}], valid_in[{column}], bit_in[{column}]}} = stream_in[{} +: 3];",
            at + 32
        )
        .unwrap();
        writeln!(body, "    assign stream_out[{at} +: 32] = 32'(data_out[{low} +: {w}]);").unwrap();
        let flags = format!("{{ready_in[{column}], valid_out[{column}], bit_out[{column}]}}");
        writeln!(body, "    assign stream_out[{} +: 32] = 32'({flags});", at + 32).unwrap();
    }
    if columns == 1 {
        writeln!(body, "    assign stream_out[64 +: 64] = '0;").unwrap();
    }
    for (probe, register) in registers.iter().enumerate() {
        writeln!(body, "    assign probes[{} +: 32] = 32'({});", 32 * probe, path(spec, graph, *register)).unwrap();
    }
    format!(
        "/* verilator lint_off UNUSEDSIGNAL */\nmodule bench (\n    input logic clk, rst_n,\n    input logic [3:0] commands,\n    \
         input logic [31:0] address, write_data,\n    input logic [{stream}:0] stream_in,\n    output logic error,\n    \
         output logic [31:0] read_data,\n    output logic [{stream}:0] stream_out,\n    output logic [{last}:0] probes\n);\n    \
         logic [{words}:0] data_in, data_out;\n    logic [{bits}:0] bit_in, valid_in, ready_in, bit_out, valid_out, ready_out;\n    {top} u_array (.clk_i(clk), \
         .rst_ni(rst_n), .flush_i(commands[0]), .stall_i(commands[1]), .config_write_i(commands[2]), .config_read_i(commands[3]), \
         .config_address_i(address), .config_write_data_i(write_data), .config_read_data_o(read_data), .config_error_o(error), \
         .data_i(data_in), .bit_i(bit_in), .valid_i(valid_in), .ready_o(ready_in), .data_o(data_out), .bit_o(bit_out), \
         .valid_o(valid_out), .ready_i(ready_out));\n{body}endmodule\n",
        // Of more bits than 64, a port is an array for the harness.
        stream = 64 * columns.max(2) - 1,
        last = 32 * probes - 1,
        words = columns * w - 1,
        bits = columns - 1,
        top = array_module(spec),
    )
}

/// The flip-flops of a register of a track in the RTL.
fn path(spec: &ArraySpec, graph: &Graph, register: NodeId) -> String {
    let resource = graph.resource(register);
    let Place { row, column } = resource.place;
    let Node::Register { side, track } = resource.node else { panic!("a register") };
    let layer = if resource.layer == Layer::Word { "word" } else { "bit" };
    let (block, inner) = (column / spec.block.columns, column % spec.block.columns);
    match graph.kind(resource.place).unwrap() {
        TileKind::Io => format!("u_array.u_io_{block}.u_io_{inner}_0.gen_{layer}[{track}].u_hop.track_q"),
        kind => {
            let (block_row, inner_row) = ((row - 1) / spec.block.rows, (row - 1) % spec.block.rows);
            let tile = format!("u_{}_{inner}_{inner_row}", kind.name());
            let hop = format!("u_{layer}_switch_box.u_{}_{track}.track_q", side.name());
            format!("u_array.u_block_{block}_{block_row}.{tile}.{hop}")
        }
    }
}
