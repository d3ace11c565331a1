//! The proof that an accelerator is its application graph: what is proven of the graph holds for it.
//!
//! Each wire carries a net some cycles ago. A wire that has the name of a net is to have its driver, with sources that carry the edges of
//! the graph; shift registers and memories delay what other wires carry. All parts that take words are those of the graph, and take
//! what carries their edges. So all that has a value within a cycle has that of the graph, if it has it in all cycles before.

use std::collections::{HashMap, HashSet};

use index_vec::IndexVec;
use pushmem_graph::{
    Accelerator, ApplicationGraph, BitDriver, BitId, Case, Condition, CounterId, Driver, Edge, Kernel, KernelId,
    Memories, RamRead, RamReadNode, RamWrite, RamWriteNode, Source, Stream, StreamElements, Tile, Wire, WireId,
    WordDriver, WordId,
};
use pushmem_tile::TileSpec;

use crate::context::Context;
use crate::counters;
use crate::error::{PartError, require};
use crate::memories;
use crate::nets::stage_of;

/// Checks that an accelerator is a graph, with the datapaths of the operations. A replay shows that the tiles of each memory implement
/// its buffer.
///
/// # Errors
/// The first part that differs.
pub(crate) fn check(context: Context, graph: &ApplicationGraph, accelerator: &Accelerator) -> Result<(), PartError> {
    let kernels: HashMap<usize, KernelId> =
        graph.kernels.indices().map(|kernel| (graph.stage_of(kernel), kernel)).collect();
    let kernels = accelerator.kernels.iter().map(|kernel| kernels.get(&kernel.stage).copied()).collect();
    let hardware = Hardware { context, graph, accelerator, carried: carried(graph, accelerator), kernels };
    let name = || accelerator.name.clone();
    require(hardware.has_counters(), name, "it has other counters than its graph")?;
    hardware.datapaths()?;
    hardware.kernels()?;
    hardware.wires()?;
    hardware.streams()?;
    require(hardware.has_units(), name, "its units are not those of its graph")?;
    require(hardware.has_arrays(), name, "its arrays are not those of its graph")?;
    require(hardware.has_rams(), name, "its random-access memories are not those of its graph")?;
    require(accelerator.length == graph.length, name, "its run has another length than that of its graph")?;
    hardware.tiles()?;
    hardware.delay_lines()?;
    hardware.memories()
}

struct Hardware<'a> {
    context: Context<'a>,
    graph: &'a ApplicationGraph,
    accelerator: &'a Accelerator,
    /// What each wire carries; nothing for words between tiles.
    carried: IndexVec<WireId, Option<Edge>>,
    /// The kernel of the graph that each kernel is.
    kernels: IndexVec<KernelId, Option<KernelId>>,
}

/// What each wire carries: the net of its name, another wire some cycles ago, or always the same word.
fn carried(graph: &ApplicationGraph, accelerator: &Accelerator) -> IndexVec<WireId, Option<Edge>> {
    let nets: HashMap<&str, WordId> = graph.words.iter_enumerated().map(|(net, of)| (of.name.as_str(), net)).collect();
    let streams = accelerator.memories.iter().flat_map(|memory| &memory.streams);
    let delayed =
        streams.flat_map(|stream| stream.wires.iter().zip(&stream.delays).map(|(wire, by)| (*wire, (stream.of, *by))));
    let delayed: HashMap<WireId, (WireId, u64)> = delayed.collect();
    let mut found: IndexVec<WireId, Option<Edge>> = IndexVec::new();
    for (number, wire) in accelerator.wires.iter_enumerated() {
        // Only wires that come before can be followed.
        let later = |of: WireId, by: u64| match found.get(of).copied().flatten()? {
            Edge::Net { net, delay } => Some(Edge::Net { net, delay: delay.checked_add(by)? }),
            Edge::Constant(_) => None,
        };
        let own = nets.get(wire.name.as_str()).map(|&net| Edge::Net { net, delay: 0 });
        found.push(match (&wire.driver, delayed.get(&number)) {
            (Driver::ShiftRegister { of, length }, _) => later(*of, *length),
            (Driver::Tile { .. }, Some(&(of, by))) => later(of, by),
            (Driver::Select { cases, .. }, _) => own.or(match cases.as_slice() {
                [Case { conditions, source: Source::Constant(word) }] if conditions.is_empty() => {
                    Some(Edge::Constant(*word))
                }
                _ => None,
            }),
            _ => own,
        });
    }
    found
}

impl Hardware<'_> {
    /// The edge of the graph that a source carries, if it is known.
    fn edge(&self, source: Source) -> Option<Edge> {
        match source {
            Source::Wire(wire) => self.carried.get(wire).copied().flatten(),
            Source::Constant(word) => Some(Edge::Constant(word)),
        }
    }

    /// Whether sources carry these edges.
    fn carry(&self, sources: impl Iterator<Item = Source>, edges: impl Iterator<Item = Edge>) -> bool {
        sources.map(|source| self.edge(source)).eq(edges.map(Some))
    }

    /// Whether the counters of the graph come first. Others are those of selections without conditions.
    fn has_counters(&self) -> bool {
        let (own, others) = (&self.graph.counters.raw, &self.accelerator.counters.raw);
        others.starts_with(own) && others[own.len()..].iter().all(counters::is_possible)
    }

    /// Checks that datapaths are those of their operations.
    fn datapaths(&self) -> Result<(), PartError> {
        let Context { sequence, datapaths, .. } = self.context;
        let mut known = HashSet::new();
        self.accelerator.datapaths.iter().try_for_each(|of| {
            let right = sequence.operations.get(of.operation).is_some_and(|(loops, _)| {
                let variables = of.variables.iter().map(|(variable, _)| *variable);
                datapaths[of.operation] == of.datapath
                    && of.depth == loops.len()
                    && variables.eq(of.datapath.variables())
            });
            require(right, || of.name.clone(), "its datapath is not that of the operation")?;
            require(known.insert(of.operation), || of.name.clone(), "an operation has one datapath")
        })
    }

    /// Checks that each kernel is one of the graph, and that there are no others.
    fn kernels(&self) -> Result<(), PartError> {
        let mut known = HashSet::new();
        for (kernel, number) in self.accelerator.kernels.iter().zip(&self.kernels) {
            let right = number.is_some_and(|number| known.insert(number) && self.is_kernel(kernel, number));
            require(right, || kernel.name.clone(), "it does not execute its stage")?;
        }
        let missing = self.graph.kernels.indices().find(|kernel| !known.contains(kernel));
        let name = || missing.map_or(String::new(), |kernel| self.context.name(self.graph.stage_of(kernel)));
        require(missing.is_none(), name, "nothing executes it")
    }

    /// Whether a kernel is this one of the graph, with the datapath of its operation or of another one of the same unit.
    fn is_kernel(&self, kernel: &Kernel, number: KernelId) -> bool {
        let Context { sequence, datapaths, .. } = self.context;
        let node = &self.graph.kernels[number];
        let has_datapath = self.accelerator.datapaths.get(kernel.datapath).is_some_and(|of| {
            let [own, other] = [node.operation, of.operation].map(|operation| sequence.operations[operation].1);
            of.operation == node.operation || (own.shares_unit(other) && of.datapath == datapaths[node.operation])
        });
        has_datapath
            && (kernel.counter, &kernel.iterations) == (node.counter, &node.iterations)
            && kernel.variables == node.variables
            && self.carry(kernel.operands.iter().copied(), node.operands.iter().copied())
    }

    /// Checks that each wire that carries a net has its driver, that no two are one net, and that wires come after those that they depend on
    /// within a cycle.
    fn wires(&self) -> Result<(), PartError> {
        let mut known = HashSet::new();
        for (number, Wire { name, driver }) in self.accelerator.wires.iter_enumerated() {
            let carried = self.carried[number];
            let mut is_own = |net: WordId| known.insert(net) && self.is_driver(number, driver, net);
            let right = match (driver, carried) {
                (Driver::ShiftRegister { length, .. }, _) => carried.is_some() && *length > 0,
                (_, Some(Edge::Net { net, delay: 0 })) => is_own(net),
                (Driver::Tile { .. }, _) | (Driver::Select { .. }, Some(Edge::Constant(_))) => true,
                _ => false,
            };
            let is_listed = match *driver {
                Driver::Tile { tile, output } => {
                    let outputs = self.accelerator.tiles.get(tile).map(|tile| &tile.outputs);
                    outputs.and_then(|outputs| outputs.get(output)) == Some(&Some(number))
                }
                _ => true,
            };
            let in_order = self.within_cycle(driver).into_iter().filter_map(|of| of.wire()).all(|of| of < number);
            require(right && is_listed && in_order, || name.clone(), "nothing drives it")?;
        }
        Ok(())
    }

    /// The sources that a driver depends on in the same cycle, and those of registers.
    fn within_cycle(&self, driver: &Driver) -> Vec<Source> {
        let Accelerator { kernels, datapaths, rams, .. } = self.accelerator;
        match driver {
            Driver::Kernel { kernel, .. } => kernels.get(*kernel).map_or(Vec::new(), |kernel| {
                let datapath = &datapaths[kernel.datapath].datapath;
                let operands = datapath.operands().into_iter().zip(&kernel.operands);
                // Behind a register, words may come back.
                operands
                    .filter(|((load, _), _)| datapath.latency() <= datapath.arrival(*load))
                    .map(|(_, of)| *of)
                    .collect()
            }),
            Driver::Ram { ram, .. } => {
                let writes = rams.get(*ram).map_or(&[] as &[_], |ram| ram.writes.as_slice());
                writes.iter().flat_map(|write| [write.element, write.address]).collect()
            }
            _ => driver.wires().into_iter().map(Source::Wire).collect(),
        }
    }

    /// Whether the driver of a wire is that of a net.
    fn is_driver(&self, wire: WireId, driver: &Driver, net: WordId) -> bool {
        match (&self.graph.words[net].driver, driver) {
            (WordDriver::Input { stream, lane }, Driver::Input { stream: of, lane: place }) => {
                (stream, lane) == (of, place)
            }
            (WordDriver::Kernel { kernel, word }, Driver::Kernel { kernel: of, word: which }) => {
                self.kernels.get(*of) == Some(&Some(*kernel)) && word == which
            }
            (WordDriver::Ram { ram, read }, Driver::Ram { ram: of, read: place }) => (ram, read) == (of, place),
            (WordDriver::Port { array, port }, Driver::Tile { .. }) => {
                let array = self.accelerator.arrays.get(array.index());
                array.and_then(|array| array.wires.get(*port)) == Some(&wire)
            }
            (WordDriver::Hold(hold), Driver::Hold { of, counter, conditions }) => {
                *counter == hold.counter
                    && self.conditions(hold.when, *counter) == Some(conditions)
                    && self.edge(Source::Wire(*of)) == Some(hold.edge)
            }
            (WordDriver::Select(choices), Driver::Select { counter, cases }) => {
                let conditions = choices.iter().map(|choice| self.conditions(choice.when, *counter));
                conditions.eq(cases.iter().map(|case| Some(case.conditions.as_slice())))
                    && self.carry(cases.iter().map(|case| case.source), choices.iter().map(|choice| choice.edge))
            }
            (WordDriver::Select(choices), Driver::Turns { turns }) => {
                let begins = choices.iter().zip(turns).all(|(choice, turn)| {
                    choice.when.is_none_or(|bit| self.graph.bits[bit].driver == BitDriver::Begins(turn.counter))
                });
                begins && self.carry(turns.iter().map(|turn| turn.source), choices.iter().map(|choice| choice.edge))
            }
            _ => false,
        }
    }

    /// The conditions of a bit of the graph on the indices of a counter, none without a bit; nothing if it is about something else.
    fn conditions(&self, when: Option<BitId>, counter: CounterId) -> Option<&[(usize, Condition)]> {
        match when.map(|bit| &self.graph.bits[bit].driver) {
            None => Some(&[]),
            Some(BitDriver::Indices { counter: by, conditions }) if *by == counter => Some(conditions),
            Some(_) => None,
        }
    }

    /// Checks that streams are those of the graph.
    fn streams(&self) -> Result<(), PartError> {
        let Accelerator { inputs, outputs, .. } = self.accelerator;
        let each = (inputs.len(), outputs.len()) == (self.graph.inputs.len(), self.graph.outputs.len());
        require(each, || self.accelerator.name.clone(), "it has other streams than its graph")?;
        for (stream, node) in inputs.iter().zip(&self.graph.inputs) {
            let edges = node.lanes.iter().map(|lane| Edge::Net { net: lane.net, delay: 0 });
            self.stream(stream, node.into(), edges)?;
        }
        outputs
            .iter()
            .zip(&self.graph.outputs)
            .try_for_each(|(stream, node)| self.stream(stream, node.into(), node.lanes.iter().map(|lane| lane.edge)))
    }

    /// Checks that a stream is one of the graph, with these edges on its lanes.
    fn stream(
        &self,
        stream: &Stream,
        node: StreamElements,
        edges: impl Iterator<Item = Edge>,
    ) -> Result<(), PartError> {
        let right = (stream.array, stream.element, stream.counter) == (node.array, node.element, node.counter)
            && stream.lanes.iter().map(|lane| &lane.element).eq(node.lanes)
            && self.carry(stream.lanes.iter().map(|lane| Source::Wire(lane.wire)), edges);
        require(right, || stream.name.clone(), "its beats are not those of its graph")
    }

    /// Whether units are those of the graph.
    fn has_units(&self) -> bool {
        let units = &self.accelerator.units;
        units.len() == self.graph.units.len()
            && units.iter().zip(&self.graph.units).all(|(unit, node)| {
                let kernels = unit.kernels.iter().map(|&kernel| self.kernels.get(kernel).copied().flatten());
                let turns = unit.operands.iter().filter_map(Source::wire).filter_map(|wire| {
                    match &self.accelerator.wires[wire].driver {
                        Driver::Turns { turns } => Some(turns),
                        _ => None,
                    }
                });
                let mut counters = turns.map(|turns| turns.iter().map(|turn| turn.counter));
                kernels.eq(node.kernels.iter().copied().map(Some))
                    && unit.counters == node.counters
                    && self.carry(unit.operands.iter().copied(), node.operands.iter().copied())
                    && counters.all(|counters| counters.eq(node.counters.iter().copied()))
            })
    }

    /// Whether the arrays that are kept are those of the graph.
    fn has_arrays(&self) -> bool {
        let arrays = &self.accelerator.arrays;
        arrays.len() == self.graph.arrays.len()
            && arrays.iter().zip(&self.graph.arrays).all(|(array, node)| {
                let written = array.wires.iter().take(node.writers.len()).map(|&wire| Source::Wire(wire));
                (array.array, array.word) == (node.array, node.word)
                    && (&array.writers, &array.buffer) == (&node.writers, &node.buffer)
                    && self.carry(written, node.writes.iter().copied())
            })
    }

    /// Whether the random-access memories are those of the graph, as large as their arrays.
    fn has_rams(&self) -> bool {
        let Accelerator { rams, kernels, wires, .. } = self.accelerator;
        rams.len() == self.graph.rams.len()
            && rams.iter_enumerated().zip(&self.graph.rams).all(|((number, ram), node)| {
                let is_write = |(write, of): (&RamWrite, &RamWriteNode)| {
                    (write.stage, write.counter) == (of.stage, of.counter)
                        && self.edge(write.element) == Some(of.element)
                        && self.edge(write.address) == Some(of.address)
                };
                let is_read = |(read, (of, node)): (usize, (&RamRead, &RamReadNode))| {
                    kernels.get(of.kernel).map(|kernel| kernel.stage) == Some(node.stage)
                        && (of.load, of.port, of.counter) == (node.load, node.port, node.counter)
                        && wires.get(of.wire).map(|wire| &wire.driver) == Some(&Driver::Ram { ram: number, read })
                };
                ram.array == node.array
                    && ram.words == self.context.program.arrays[node.array].size() as u64
                    && (ram.writes.len(), ram.reads.len()) == (node.writes.len(), node.reads.len())
                    && ram.writes.iter().zip(&node.writes).all(is_write)
                    && ram.reads.iter().zip(&node.reads).enumerate().all(is_read)
            })
    }

    /// Checks that tiles are of the target, and that their connections exist.
    fn tiles(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator;
        for (number, tile) in accelerator.tiles.iter_enumerated() {
            let spec = &tile.spec;
            let drives = |(output, wire): (usize, &Option<WireId>)| {
                let driver = wire.map(|wire| accelerator.wires.get(wire).map(|wire| &wire.driver));
                driver.is_none_or(|driver| driver == Some(&Driver::Tile { tile: number, output }))
            };
            let right = self.is_specified(tile)
                && tile.inputs.len() == spec.inputs as usize
                && tile.outputs.len() == spec.outputs as usize
                && tile.inputs.iter().flatten().all(|&wire| wire < accelerator.wires.len())
                && tile.chain_from.is_none_or(|other| other < number)
                && tile.outputs.iter().enumerate().all(drives);
            require(right, || tile.name.clone(), "it is connected to what does not exist")?;
        }
        Ok(())
    }

    /// Whether a tile is of the target: the tile of its level, or a memory that is made for the program, of any rows.
    fn is_specified(&self, tile: &Tile) -> bool {
        let accelerator = self.accelerator;
        match accelerator.target.memories {
            Memories::Tiles => *tile.spec == *accelerator.spec_at(tile.level),
            Memories::Fixed => {
                let TileSpec { name, rows, .. } = &*tile.spec;
                *tile.spec == TileSpec { name: name.clone(), rows: *rows, ..accelerator.target.memory().clone() }
            }
        }
    }

    /// Checks that delay lines are shift registers of their lengths, each in one.
    fn delay_lines(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator;
        let mut known = HashSet::new();
        for line in &accelerator.delay_lines {
            let is_of_line = |wire: &WireId| match accelerator.wires.get(*wire).map(|wire| &wire.driver) {
                Some(Driver::ShiftRegister { length, .. }) => *length == line.length && known.insert(*wire),
                _ => false,
            };
            let right = !line.wires.is_empty() && line.wires.iter().all(is_of_line);
            require(right, || format!("the delay line of {} cycles", line.length), "it has other words")?;
        }
        Ok(())
    }

    /// Checks that memories are those that are replayed: that they take and show the words of their ports, those of delays all results of a
    /// stage.
    fn memories(&self) -> Result<(), PartError> {
        let Hardware { context, graph, accelerator, .. } = *self;
        for memory in &accelerator.memories {
            memories::check_delays(accelerator, memory)?;
            for (number, stream) in memory.streams.iter().enumerate() {
                let carried = match self.edge(Source::Wire(stream.of)) {
                    Some(Edge::Net { net, delay }) => stage_of(graph, net).map(|stage| (stage, delay)),
                    _ => None,
                };
                let Some((stage, ago)) = carried else {
                    return require(
                        false,
                        || format!("the memory of wire {}", stream.of),
                        "the wire is no stage's result",
                    );
                };
                let (content, schedule) = (&context.staged.pipeline.stages[stage], &context.schedule.stages[stage]);
                memories::check_words(accelerator, memory, number, content, schedule, ago as i64)?;
            }
        }
        let arrays = accelerator.arrays.iter().zip(&graph.arrays);
        arrays.into_iter().try_for_each(|(array, node)| memories::check_array(accelerator, array, node.level))
    }
}
