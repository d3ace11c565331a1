//! Realization of an application graph in dedicated hardware: delays become shift registers and memory tiles.

mod arrays;
mod delays;
mod rams;
mod roms;
mod selections;

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use pushmem_assembly::{carried, least_storage, results, wanted_delays};
use pushmem_compiler::Compiled;
use pushmem_datapaths::Datapath;
use pushmem_files::Diagnostic;
use pushmem_graph::{
    Accelerator, ApplicationGraph, DatapathId, Driver, Edge, InputId, Kernel, KernelId, Lane, Memories,
    OperationDatapath, Source, Storage, TileOutput, Wire, WireId, WordDriver, WordId,
};
use pushmem_nest::{Loop, Operation, Program};

use self::roms::add_roms;

/// Realizes the application graph of a program as a dedicated accelerator.
///
/// # Errors
/// When a ROM tile cannot hold a table, and when an edited graph has an edge that no hardware here realizes.
pub fn realize(compiled: &Compiled) -> Result<Accelerator, Diagnostic> {
    let Compiled { program, extraction, datapaths, graph, storage, target, constraints, .. } = compiled;
    let operations = program.operations();
    let storage = &match target.memories {
        Memories::Tiles => storage.clone(),
        Memories::Fixed => least_storage(graph, storage),
    };
    let mut realizer = Realizer {
        program,
        operations: &operations,
        datapaths,
        graph,
        storage,
        accelerator: Accelerator {
            length: graph.length,
            stall_latency: constraints.stall_latency,
            counters: graph.counters.clone(),
            ..Accelerator::new(graph.name.as_str(), target.clone())
        },
        delays: wanted_delays(graph),
        delayed: storage.delayed(),
        wires: BTreeMap::new(),
        under_way: BTreeSet::new(),
        datapath_of: BTreeMap::new(),
        kernel_of: index_vec::index_vec![None; graph.kernels.len()],
    };
    realizer.add_tiles();
    realizer.add_delay_memories();
    realizer.add_arrays();
    realizer.add_inputs();
    let carried = carried(graph);
    for &kernel in &carried {
        realizer.add_kernel(kernel, Vec::new());
        graph.kernels[kernel].nets.iter().for_each(|&net| realizer.add_delays(net));
    }
    realizer.add_rams();
    for (_, net) in results(graph) {
        match graph.words[net].driver {
            WordDriver::Kernel { kernel, .. } if carried.contains(&kernel) => continue,
            // All words of a result are those of one kernel.
            WordDriver::Kernel { kernel, .. } if realizer.kernel_of[kernel].is_some() => {}
            WordDriver::Kernel { kernel, .. } => {
                let operands = realizer.sources(&graph.kernels[kernel].operands)?;
                realizer.add_kernel(kernel, operands);
            }
            WordDriver::Select(_) | WordDriver::Hold(_) => _ = realizer.wire(net, 0)?,
            WordDriver::Input { .. } | WordDriver::Port { .. } | WordDriver::Ram { .. } => {}
        }
        realizer.add_delays(net);
    }
    for &kernel in &carried {
        realizer.connect_kernel(kernel)?;
    }
    realizer.connect_arrays()?;
    realizer.connect_delays()?;
    realizer.connect_rams()?;
    realizer.add_units()?;
    realizer.add_outputs()?;
    let Realizer { mut accelerator, .. } = realizer;
    if target.memories == Memories::Fixed {
        accelerator.delay_lines = delays::lines(&accelerator.wires, constraints.shift_register_threshold);
    }
    add_roms(&mut accelerator, program, extraction, graph)?;
    Ok(accelerator)
}

struct Realizer<'a> {
    program: &'a Program,
    operations: &'a [(Vec<&'a Loop>, &'a Operation)],
    datapaths: &'a [Datapath],
    graph: &'a ApplicationGraph,
    storage: &'a Storage,
    accelerator: Accelerator,
    /// Delays at which each net is wanted.
    delays: IndexVec<WordId, BTreeSet<u64>>,
    /// The output of a memory tile that shows a net some cycles ago.
    delayed: BTreeMap<(WordId, u64), TileOutput>,
    /// The wire of each net some cycles ago.
    wires: BTreeMap<(WordId, u64), WireId>,
    /// The selections and hold registers that have been asked for.
    under_way: BTreeSet<WordId>,
    /// The datapath of each operation that has one.
    datapath_of: BTreeMap<usize, DatapathId>,
    /// The kernel that each of the graph's is.
    kernel_of: IndexVec<KernelId, Option<KernelId>>,
}

impl Realizer<'_> {
    fn add_wire(&mut self, name: String, driver: Driver) -> WireId {
        self.accelerator.wires.push(Wire { name, driver })
    }

    /// An edge of an edited graph that this hardware does not realize.
    fn unrealizable(&self, net: WordId, reason: &str, help: &str) -> Diagnostic {
        let message = format!("`{}` of the application graph {reason}", self.graph.words[net].name);
        Diagnostic::new(message).with_help(help)
    }

    /// The wire of a net some cycles ago. Selections and hold registers get theirs when they are first asked for.
    fn wire(&mut self, net: WordId, delay: u64) -> Result<WireId, Diagnostic> {
        if let Some(&wire) = self.wires.get(&(net, delay)) {
            return Ok(wire);
        }
        match &self.graph.words[net].driver {
            WordDriver::Select(_) | WordDriver::Hold(_) if delay == 0 && !self.under_way.insert(net) => Err(self
                .unrealizable(
                    net,
                    "takes itself, through hold registers",
                    "a hold register takes the word of a stage: give it one of those",
                )),
            WordDriver::Select(choices) if delay == 0 => {
                let driver = self.selection(net, choices)?;
                let wire = self.add_wire(self.graph.words[net].name.clone(), driver);
                self.wires.insert((net, 0), wire);
                Ok(wire)
            }
            WordDriver::Hold(hold) if delay == 0 => {
                let driver = self.hold(net, *hold)?;
                let wire = self.add_wire(self.graph.words[net].name.clone(), driver);
                self.wires.insert((net, 0), wire);
                Ok(wire)
            }
            _ if delay == 0 || self.graph.words[net].result.is_some() => Err(self.unrealizable(
                net,
                "is taken by a stage before its own",
                "hardware is connected in the order of the program's stages: take the word of an earlier stage",
            )),
            _ => Err(self.unrealizable(
                net,
                "is delayed, but carries no results of a stage",
                "only results of stages are delayed: delay the edges into the selection",
            )),
        }
    }

    fn source(&mut self, edge: Edge) -> Result<Source, Diagnostic> {
        match edge {
            Edge::Net { net, delay } => Ok(Source::Wire(self.wire(net, delay)?)),
            Edge::Constant(word) => Ok(Source::Constant(word)),
        }
    }

    fn sources(&mut self, edges: &[Edge]) -> Result<Vec<Source>, Diagnostic> {
        edges.iter().map(|&edge| self.source(edge)).collect()
    }

    fn add_inputs(&mut self) {
        for stream in &self.graph.inputs {
            let number: InputId = self.accelerator.inputs.next_idx();
            let lane = |(lane, of): (usize, &pushmem_graph::InputLane)| {
                let wire = self.add_wire(self.graph.words[of.net].name.clone(), Driver::Input { stream: number, lane });
                self.wires.insert((of.net, 0), wire);
                Lane { wire, element: of.element.clone() }
            };
            let lanes = stream.lanes.iter().enumerate().map(lane).collect();
            self.accelerator.inputs.push(stream.with_lanes(lanes));
        }
    }

    fn add_outputs(&mut self) -> Result<(), Diagnostic> {
        for stream in &self.graph.outputs {
            let mut lanes = Vec::new();
            for lane in &stream.lanes {
                let wire = match lane.edge {
                    Edge::Net { net, delay } => self.wire(net, delay)?,
                    Edge::Constant(word) => self.add_constant(lane.stage, word),
                };
                lanes.push(Lane { wire, element: lane.element.clone() });
            }
            self.accelerator.outputs.push(stream.with_lanes(lanes));
        }
        Ok(())
    }

    /// Connects the operands of a kernel that was added without.
    fn connect_kernel(&mut self, number: KernelId) -> Result<(), Diagnostic> {
        let graph = self.graph;
        let operands = self.sources(&graph.kernels[number].operands)?;
        let kernel = self.kernel_of[number].expect("the kernel was added");
        self.accelerator.kernels[kernel].operands = operands;
        Ok(())
    }

    /// Adds a kernel, with a wire for each word of its result.
    fn add_kernel(&mut self, number: KernelId, operands: Vec<Source>) {
        let node = &self.graph.kernels[number];
        let datapath = self.datapath(node.operation);
        let content = &self.graph.words[node.net()];
        let kernel = self.accelerator.kernels.push(Kernel {
            name: content.name.clone(),
            stage: self.graph.stage_of(number),
            datapath,
            iterations: node.iterations.clone(),
            counter: node.counter,
            operands,
            variables: node.variables.clone(),
        });
        self.kernel_of[number] = Some(kernel);
        for &net in &node.nets {
            if let WordDriver::Kernel { word, .. } = self.graph.words[net].driver {
                let wire = self.add_wire(self.graph.words[net].name.clone(), Driver::Kernel { kernel, word });
                self.wires.insert((net, 0), wire);
            }
        }
    }

    /// The datapath of an operation, which its copies share, and all operations of its unit.
    fn datapath(&mut self, operation: usize) -> DatapathId {
        let first = self.operations[operation].1;
        let unit = first.unit();
        let in_unit = |(_, other): &(Vec<&Loop>, &Operation)| other.shares_unit(first);
        let operation = self.operations.iter().position(in_unit).unwrap_or(operation);
        if let Some(&number) = self.datapath_of.get(&operation) {
            return number;
        }
        let content = self.operations[operation].1;
        let datapath = self.datapaths[operation].clone();
        let loops = &self.operations[operation].0;
        let number = self.accelerator.datapaths.push(OperationDatapath {
            name: unit.unwrap_or(&content.name).to_owned(),
            operation,
            depth: loops.len(),
            variables: datapath
                .variables()
                .into_iter()
                .map(|number| (number, loops[number].variable.clone()))
                .collect(),
            datapath,
        });
        self.datapath_of.insert(operation, number);
        number
    }
}
