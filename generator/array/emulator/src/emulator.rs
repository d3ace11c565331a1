//! The array in cycles.

use std::collections::{BTreeMap, BTreeSet};

use pushmem_bitstream::Configuration;
use pushmem_fabric::{ArraySpec, Place, TileKind};
use pushmem_model::{Inputs as MemoryInputs, TileModel};
use pushmem_resources::{Graph, NodeId};

use crate::control::ControlTree;
use crate::live::Live;
use crate::load::{configure_memories, hops, memory_inputs, of_kind, pes, registers, streams};
use crate::pe::{PeTile, PeTiles};
use crate::route::{Routes, Slot, slot};
use crate::streams::{Beat, Control, IoStream, StreamIn, StreamOut};

/// The inputs of a column in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamInputs {
    /// The beat that is offered to the stream into the array.
    pub beat: Option<Beat>,
    /// Whether the beat of the stream out of the array is taken.
    pub ready: bool,
}

/// The outputs of a column in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOutputs {
    /// Whether a beat that is offered is taken.
    pub ready: bool,
    /// The beat of the stream out of the array.
    pub beat: Option<Beat>,
}

/// The inputs of an array in a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Starts a run.
    pub flush: bool,
    /// Starts the columns that hold still, by the register for that.
    pub start: bool,
    /// Holds everything.
    pub stall: bool,
    /// The streams, column by column. In further columns nothing is offered and nothing taken.
    pub streams: Vec<StreamInputs>,
}

/// A memory in its tile.
pub struct MemoryTile {
    pub tile: TileModel,
    pub place: Place,
    /// Inputs of words.
    pub inputs: Vec<Slot>,
    /// Outputs of words, by port, and the output of a bit: those that something takes.
    pub outputs: Vec<(u32, Slot)>,
    pub bit: Option<Slot>,
    /// Whether that is the stencil-valid output. If not, it tells in which cycles the first output has a word.
    pub has_stencil_valid: bool,
}

/// The reason why a column holds still.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standstill {
    /// It was cleared, and has lost its configuration.
    Cleared,
    /// It was stopped, and has its memories and beats as they were.
    Stopped,
}

/// The cycle-accurate model of an array.
pub struct Emulator {
    spec: ArraySpec,
    graph: Graph,
    /// The values of registers by node, where they are while no part of the configuration works with them; behind them 0, the registers of
    /// operands, and constants of processing elements. Outputs of cores are 0 here.
    values: Vec<u32>,
    /// The first register of the operands of each processing element that was in use: registers keep their values.
    operands: BTreeMap<Place, Slot>,
    /// Values up to those of the last configuration.
    kept: usize,
    /// The values that the configuration works with. Tiles have places in them.
    live: Live,
    /// The processing elements whose results something takes, or whose operands are held.
    pes: PeTiles,
    memories: Vec<MemoryTile>,
    /// The streams that have beats.
    streams_in: Vec<StreamIn>,
    streams_out: Vec<StreamOut>,
    control: ControlTree,
    /// Columns that hold still until the next flush or start.
    held: BTreeMap<u32, Standstill>,
    /// The outputs of streams in this cycle, by column.
    outputs: Vec<StreamOutputs>,
}

impl Emulator {
    /// An array after reset: no tile is configured. Registers hold 0; in the hardware they hold anything.
    pub fn new(spec: &ArraySpec, graph: Graph) -> Self {
        let nodes = graph.nodes().count();
        Emulator {
            streams_in: Vec::new(),
            streams_out: Vec::new(),
            control: ControlTree::new(spec),
            held: BTreeMap::new(),
            values: vec![0; nodes + 1],
            operands: BTreeMap::new(),
            kept: nodes + 1,
            live: Live::default(),
            pes: PeTiles::default(),
            outputs: vec![StreamOutputs::default(); spec.columns as usize],
            memories: Vec::new(),
            spec: spec.clone(),
            graph,
        }
    }

    /// The specification of the array.
    pub fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    /// The routing resources of the array.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Loads a configuration, in place of the one before. Registers keep their values, memories their words; beats in the buffers of
    /// streams are dropped.
    ///
    /// Load it while no memory runs; memories take theirs with the next flush.
    pub fn configure(&mut self, configuration: &Configuration) {
        self.held.clear();
        self.replace(configuration, |_| true);
    }

    /// Clears some columns, which then hold still; `configuration` is that of the others. They go on as they are.
    pub fn clear_columns(&mut self, configuration: &Configuration, columns: &BTreeSet<u32>) {
        self.held.extend(columns.iter().map(|column| (*column, Standstill::Cleared)));
        self.replace(configuration, |column| columns.contains(&column));
    }

    /// Stops some columns, which then hold still; `configuration` is that of the others. They go on as they are.
    pub fn stop_columns(&mut self, configuration: &Configuration, columns: &BTreeSet<u32>) {
        for column in columns {
            self.held.entry(*column).or_insert(Standstill::Stopped);
        }
        self.replace(configuration, |_| false);
    }

    /// Ends the standstill of columns: those that were cleared begin with a new configuration, those that were stopped with theirs. Do it in
    /// the cycle after that in which a flush or a start reaches the tiles.
    pub fn start_columns(&mut self, configuration: &Configuration) {
        let held = std::mem::take(&mut self.held);
        self.replace(configuration, |column| held.get(&column) == Some(&Standstill::Cleared));
        let is_new = |column: usize| held.contains_key(&(column as u32));
        self.streams_in.iter_mut().filter(|stream| is_new(stream.column)).for_each(StreamIn::flush);
        self.streams_out.iter_mut().filter(|stream| is_new(stream.column)).for_each(StreamOut::flush);
        let flush = Control { flush: true, stall: true };
        let memories = self.memories.iter_mut().filter(|memory| held.contains_key(&memory.place.column));
        memories.for_each(|memory| memory.clock(flush, &self.live.values));
        self.show_streams();
    }

    /// Loads the configuration of some columns, in which streams lose their beats. That of the others stays as it is, but that they may be
    /// stopped: then they take part in nothing.
    fn replace(&mut self, configuration: &Configuration, is_loaded: impl Fn(u32) -> bool) {
        self.live.keep(&mut self.values);
        self.values.truncate(self.kept);
        self.add_operand_registers(configuration);
        let (spec, graph) = (&self.spec, &self.graph);
        let routes = Routes { graph, configuration, zero: graph.nodes().count() as Slot };
        let mut taken = hops(&routes);
        let mut pes = pes(spec, &routes, &self.operands, &mut self.values, &mut taken);
        let (streams_in, streams_out) = streams(spec, &routes);
        let before_in = std::mem::replace(&mut self.streams_in, streams_in);
        let before_out = std::mem::replace(&mut self.streams_out, streams_out);
        let stays = |column: usize| !is_loaded(column as u32);
        keep(&mut self.streams_in, before_in.into_iter().filter(|stream| stays(stream.column)), routes.zero);
        keep(&mut self.streams_out, before_out.into_iter().filter(|stream| stays(stream.column)), routes.zero);
        let mut sources: BTreeSet<Slot> = taken.iter().map(|(_, source)| *source).collect();
        // Without a register between them, operands take words of the register file beside them, and it takes results.
        sources.extend(pes.iter().flat_map(PeTile::operands));
        sources.extend(memory_inputs(&routes));
        configure_memories(spec, &routes, &sources, &mut self.memories, is_loaded);
        let is_used = |slot: Slot| sources.contains(&slot);
        pes.retain(|pe| is_used(pe.result) || is_used(pe.result_bit) || !pe.enabled.is_empty());
        let mut shown: BTreeSet<Slot> = pes.iter().flat_map(|pe| [pe.result, pe.result_bit]).collect();
        shown.extend(pes.iter().filter_map(|pe| pe.late).map(|late| late.shown));
        shown.extend(pes.iter().flat_map(|pe| &pe.enabled).map(|word| word.operand));
        let shows = |stream: &&StreamIn| !is_held(&self.held, stream.column);
        shown.extend(self.streams_in.iter().filter(shows).flat_map(|stream| [stream.data, stream.bit]));
        shown.extend(self.memories.iter().flat_map(MemoryTile::shown));
        self.live = Live::new(&taken, |slot| shown.contains(&slot), &self.values);
        let mut place = |slot: &mut Slot| *slot = self.live.place(*slot, &self.values);
        pes.iter_mut().flat_map(PeTile::slots).for_each(&mut place);
        self.streams_in.iter_mut().flat_map(IoStream::slots).for_each(&mut place);
        self.streams_out.iter_mut().flat_map(IoStream::slots).for_each(&mut place);
        self.memories.iter_mut().flat_map(MemoryTile::slots).for_each(&mut place);
        self.pes = PeTiles::new(pes);
        self.outputs.fill(StreamOutputs::default());
        self.show_streams();
    }

    /// Gives registers to operands of processing elements that had none yet. They come before constants, and stay.
    fn add_operand_registers(&mut self, configuration: &Configuration) {
        let registers = registers(&self.spec);
        for (place, _) in of_kind(&self.graph, configuration, TileKind::Pe) {
            if !self.operands.contains_key(place) {
                self.operands.insert(*place, self.values.len() as Slot);
                self.values.resize(self.values.len() + registers, 0);
            }
        }
        self.kept = self.values.len();
    }

    /// Loads a configuration as a host does: while time stands still, which it does when this ends, too.
    pub fn load(&mut self, configuration: &Configuration) {
        let still = Inputs { stall: true, ..Inputs::default() };
        (0..self.spec.control_depth).for_each(|_| self.clock(&still));
        self.configure(configuration);
        // Streams come to rest when the stalls that they asked for have come.
        (0..2 * self.spec.stall_latency()).for_each(|_| self.clock(&still));
    }

    /// The outputs in this cycle, column by column.
    pub fn outputs(&self) -> &[StreamOutputs] {
        &self.outputs
    }

    /// Whether time stands still in this cycle.
    pub fn is_stalled(&self) -> bool {
        self.control.now().stall
    }

    /// The value of a register in this cycle.
    pub fn register(&self, node: NodeId) -> u32 {
        self.live.value(slot(node)).unwrap_or(self.values[node.index()])
    }

    /// Takes the array to the next cycle.
    pub fn clock(&mut self, inputs: &Inputs) {
        let control = self.control.now();
        let runs = |column: usize| !is_held(&self.held, column);
        let requests = self.streams_in.iter().any(|stream| runs(stream.column) && stream.requests())
            || self.streams_out.iter().any(|stream| runs(stream.column) && stream.requests());
        let of_column = |column: usize| inputs.streams.get(column).copied().unwrap_or_default();
        if !control.stall {
            self.show(control);
        }
        // Beats leave a column that holds still, and none come in.
        let still = Control { flush: false, stall: true };
        for stream in &mut self.streams_out {
            let control = if is_held(&self.held, stream.column) { still } else { control };
            stream.clock(control, of_column(stream.column).ready, &self.live.values);
        }
        for stream in self.streams_in.iter_mut().filter(|stream| !is_held(&self.held, stream.column)) {
            stream.clock(control, of_column(stream.column).beat);
        }
        if control.flush || !control.stall {
            let moves = |memory: &&mut MemoryTile| !self.held.contains_key(&memory.place.column);
            self.memories.iter_mut().filter(moves).for_each(|memory| memory.clock(control, &self.live.values));
        }
        if !control.stall {
            self.live.step();
        }
        self.control.clock(inputs, requests);
        self.show_streams();
    }

    /// Puts what cores show in this cycle into the values.
    fn show(&mut self, control: Control) {
        let values = &mut self.live.values;
        let runs = |stream: &&StreamIn| !is_held(&self.held, stream.column);
        self.streams_in.iter().filter(runs).for_each(|stream| stream.show(values));
        self.memories.iter().for_each(|memory| memory.show(control, values));
        self.pes.show(self.spec.word_bits(), values);
    }

    /// Puts what streams show in this cycle into the outputs.
    fn show_streams(&mut self) {
        for stream in &self.streams_in {
            self.outputs[stream.column].ready = stream.is_ready() && !is_held(&self.held, stream.column);
        }
        self.streams_out.iter().for_each(|stream| self.outputs[stream.column].beat = stream.beat());
    }
}

/// Whether a column holds still.
fn is_held(held: &BTreeMap<u32, Standstill>, column: usize) -> bool {
    held.contains_key(&(column as u32))
}

/// Puts streams with their beats in the place of those of their columns in a new configuration. One of a stopped column has none there: it
/// stays, tied to nothing.
fn keep<Ahead: Default>(now: &mut Vec<IoStream<Ahead>>, before: impl Iterator<Item = IoStream<Ahead>>, nothing: Slot) {
    for mut stream in before {
        match now.iter_mut().find(|now| now.column == stream.column) {
            Some(now) => {
                for (slot, other) in stream.slots().into_iter().zip(now.slots()) {
                    *slot = *other;
                }
                *now = stream;
            }
            None => {
                stream.slots().into_iter().for_each(|slot| *slot = nothing);
                now.push(stream);
            }
        }
    }
}

impl MemoryTile {
    /// The slots of its outputs.
    fn shown(&self) -> impl Iterator<Item = Slot> {
        self.outputs.iter().map(|(_, slot)| *slot).chain(self.bit)
    }

    /// All slots of its ports.
    fn slots(&mut self) -> impl Iterator<Item = &mut Slot> {
        let outputs = self.outputs.iter_mut().map(|(_, slot)| slot);
        self.inputs.iter_mut().chain(outputs).chain(&mut self.bit)
    }

    fn ports(&self, control: Control, values: &[u32]) -> MemoryInputs {
        let mut ports = MemoryInputs { flush: control.flush, stall: control.stall, ..MemoryInputs::default() };
        for (port, slot) in ports.data.iter_mut().zip(&self.inputs) {
            *port = values[*slot as usize].into();
        }
        ports
    }

    /// Puts what the memory shows into the values.
    fn show(&self, control: Control, values: &mut [u32]) {
        let ports = self.ports(control, values);
        for (port, slot) in &self.outputs {
            values[*slot as usize] = self.tile.output(&ports, *port).map_or(0, |word| word.value as u32);
        }
        if let Some(slot) = self.bit {
            let bit = match self.has_stencil_valid {
                true => self.tile.stencil_valid(),
                false => self.tile.output(&ports, 0).is_some(),
            };
            values[slot as usize] = bit.into();
        }
    }

    fn clock(&mut self, control: Control, values: &[u32]) {
        self.tile.clock(&self.ports(control, values));
    }
}
