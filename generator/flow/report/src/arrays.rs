//! Arrays: who writes and reads them, and what keeps their words.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use itertools::Itertools;
use pushmem_buffers::Direction;
use pushmem_graph::{Accelerator, Driver, Wire, WireId};
use pushmem_realization::Dedicated;
use pushmem_schedule::Access;
use serde::Serialize;

use crate::memories::MemoryRow;
use crate::stages::groups;

/// An array: a unified buffer, an input or an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArrayRow {
    /// Its name.
    pub name: String,
    /// `input`, `output` or `buffer`.
    pub kind: &'static str,
    /// The type of its elements.
    pub element: &'static str,
    /// Elements in each dimension, innermost first.
    pub shape: Vec<i64>,
    /// Its ports: who writes it, then who reads it.
    pub ports: Vec<PortRow>,
    /// The memories of its words, indices of [`crate::Contents::memories`].
    pub memories: Vec<usize>,
    /// Words of it in shift registers.
    pub registers: u64,
    /// The array whose words it passes on, if it keeps none of its own: an index of [`crate::Contents::arrays`].
    pub copy_of: Option<usize>,
}

/// The accesses of a stage to an array: all in the cycles of the stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortRow {
    /// `write` or `read`.
    pub direction: &'static str,
    /// The stage, an index of [`crate::Contents::stages`]. It writes its latency after it reads.
    pub stage: usize,
    /// The elements, in terms of the stage's loops: `(x + 1, y)`. Copies of a stage have one each.
    pub access: Vec<String>,
}

/// The arrays of a compiled program, kept in these memories, with the array of each wire.
pub(crate) fn arrays(compiled: &Dedicated, memories: &[MemoryRow], sources: &Sources) -> Vec<ArrayRow> {
    let (program, accelerator) = (&compiled.program, &compiled.accelerator);
    let mut registers = vec![0; program.arrays.len()];
    for wire in &accelerator.wires {
        let (of, length) = match wire.driver {
            Driver::ShiftRegister { of, length } => (of, length),
            Driver::Hold { of, .. } => (of, 1),
            _ => continue,
        };
        if let Some(array) = sources[of] {
            registers[array] += length;
        }
    }
    let groups = groups(compiled);
    let numbered = program.arrays.iter().enumerate();
    let told = numbered.map(|(number, array)| {
        let memories = (0..memories.len()).filter(|&memory| memories[memory].arrays.contains(&number)).collect_vec();
        ArrayRow {
            name: array.name.clone(),
            kind: array.kind.name(),
            element: array.element.name(),
            shape: array.shape.clone(),
            ports: ports(compiled, &groups, number),
            copy_of: copied(compiled, number).filter(|_| memories.is_empty()),
            memories,
            registers: registers[number],
        }
    });
    told.collect()
}

fn ports(compiled: &Dedicated, groups: &[usize], array: usize) -> Vec<PortRow> {
    let pipeline = &compiled.extraction.pipeline;
    let mut ports: Vec<PortRow> = Vec::new();
    let mut add = |direction: Direction, stage: usize, access: &Access| {
        let text = access.display(&pipeline.stages[stage].loops).to_string();
        let (direction, stage) = (direction.name(), groups[stage]);
        match ports.iter_mut().find(|port| port.direction == direction && port.stage == stage) {
            Some(port) if port.access.contains(&text) => {}
            Some(port) => port.access.push(text),
            None => ports.push(PortRow { direction, stage, access: vec![text] }),
        }
    };
    for (number, stage) in pipeline.stages.iter().enumerate().filter(|(_, stage)| stage.write.array == array) {
        add(Direction::Write, number, &stage.write);
    }
    for (number, stage) in pipeline.stages.iter().enumerate() {
        stage.reads.iter().filter(|read| read.array == array).for_each(|read| add(Direction::Read, number, read));
    }
    ports
}

/// The array whose words an array passes on: all its writers only copy, with nothing to choose.
fn copied(compiled: &Dedicated, array: usize) -> Option<usize> {
    let stages = &compiled.extraction.pipeline.stages;
    let sources = (0..stages.len()).filter(|&stage| stages[stage].write.array == array).map(|stage| {
        let copied = compiled.graph.copies.iter().find(|copied| copied.stage == stage && copied.nets.is_empty())?;
        Some(stages[stage].reads.get(copied.load)?.array)
    });
    sources.dedup().exactly_one().ok().flatten()
}

/// For each wire, the array whose words it carries, perhaps some cycles late; nothing if words of several arrays are chosen
/// from.
pub(crate) type Sources = IndexVec<WireId, Option<usize>>;

/// The array of each wire of a compiled program.
pub(crate) fn sources(compiled: &Dedicated) -> Sources {
    let Accelerator { wires, inputs, kernels, memories, arrays, rams, .. } = &compiled.accelerator;
    let graph = &compiled.graph;
    let written = |stage: usize| Origin::Array(Some(compiled.extraction.pipeline.stages[stage].write.array));
    let mut of_tiles = BTreeMap::new();
    for stored in arrays {
        of_tiles.extend(stored.wires.iter().map(|&wire| (wire, Origin::Array(Some(stored.array)))));
    }
    for stream in memories.iter().flat_map(|memory| &memory.streams) {
        of_tiles.extend(stream.wires.iter().map(|&wire| (wire, Origin::Wire(stream.of))));
    }
    // The wire of a selection has the name of its net.
    let nets = graph.copies.iter().flat_map(|copied| copied.nets.iter().map(|&net| (net, copied.stage)));
    let chosen: BTreeMap<&str, usize> = nets.map(|(net, stage)| (graph.words[net].name.as_str(), stage)).collect();
    let origin = |(wire, content): (WireId, &Wire)| match &content.driver {
        Driver::Input { stream, .. } => Origin::Array(Some(inputs[*stream].array)),
        Driver::Kernel { kernel, .. } => written(kernels[*kernel].stage),
        Driver::ShiftRegister { of, .. } | Driver::Hold { of, .. } => Origin::Wire(*of),
        Driver::Tile { .. } => of_tiles.get(&wire).copied().unwrap_or(Origin::Array(None)),
        Driver::Select { .. } => chosen.get(content.name.as_str()).map_or(Origin::Array(None), |&stage| written(stage)),
        Driver::Ram { ram, .. } => Origin::Array(Some(rams[*ram].array)),
        Driver::Turns { .. } => Origin::Array(None),
    };
    let mut origins: IndexVec<WireId, Origin> = wires.iter_enumerated().map(origin).collect();
    origins
        .indices()
        .map(|wire| {
            let mut passed = Vec::new();
            let mut at = wire;
            while let Origin::Wire(of) = origins[at] {
                passed.push(at);
                at = of;
            }
            // Shift registers make long chains: those that were passed are known from now on.
            for other in passed {
                origins[other] = origins[at];
            }
            match origins[at] {
                Origin::Array(array) => array,
                Origin::Wire(_) => None,
            }
        })
        .collect()
}

/// Where the words of a wire come from.
#[derive(Clone, Copy)]
enum Origin {
    /// Another wire, some cycles ago.
    Wire(WireId),
    /// An array, if it is one.
    Array(Option<usize>),
}
