//! The shortest ways to the inputs of cores.

use std::collections::{HashMap, VecDeque};

use pushmem_resources::{Graph, NodeId};

use crate::wires::{Wire, Wires};

/// No way.
pub const FAR: u16 = u16::MAX;

/// The shortest ways from each wire to an input. Inputs of a tile that take the same tracks share one.
#[derive(Clone, Debug)]
pub struct InputDistances {
    /// The fewest registers behind each wire.
    pub registers: Vec<u16>,
    /// The fewest wires behind each wire, if that is another number.
    hops: Option<Vec<u16>>,
}

impl InputDistances {
    /// The fewest wires behind a wire.
    pub fn hops(&self, wire: Wire) -> u16 {
        self.hops.as_ref().unwrap_or(&self.registers)[wire as usize]
    }
}

/// The targets of a layer that were asked for.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    targets: Vec<InputDistances>,
    of_wires: HashMap<Vec<Wire>, usize>,
    of_input: HashMap<NodeId, usize>,
}

impl Targets {
    /// The number of the target of an input.
    pub fn add(&mut self, wires: &Wires, graph: &Graph, input: NodeId) -> usize {
        if let Some(target) = self.of_input.get(&input) {
            return *target;
        }
        let arriving: Vec<Wire> = wires.arriving(graph, input).collect();
        let number = *self.of_wires.entry(arriving).or_insert_with_key(|arriving| {
            let registers = ways(wires, arriving, |registers| registers);
            let hops = wires.has_passes.then(|| ways(wires, arriving, |_| 1));
            self.targets.push(InputDistances { registers, hops });
            self.targets.len() - 1
        });
        self.of_input.insert(input, number);
        number
    }

    /// A target by its number.
    pub fn get(&self, target: usize) -> &InputDistances {
        &self.targets[target]
    }

    /// The fewest registers of tracks from an output of a core to an input, if there is a way.
    pub fn least(&mut self, wires: &Wires, graph: &Graph, output: NodeId, input: NodeId) -> Option<u32> {
        let number = self.add(wires, graph, input);
        let target = &self.targets[number].registers;
        let leaving = wires.leaving(graph, output).map(|wire| target[wire as usize]);
        leaving.min().filter(|registers| *registers != FAR).map(|registers| u32::from(registers) + 1)
    }
}

/// The length of the shortest way from each wire to one of these, where a step costs 0 or 1.
fn ways(wires: &Wires, ends: &[Wire], cost: impl Fn(u8) -> u8) -> Vec<u16> {
    let mut lengths = vec![FAR; wires.len()];
    let mut queue: VecDeque<Wire> = ends.iter().copied().collect();
    for end in ends {
        lengths[*end as usize] = 0;
    }
    while let Some(wire) = queue.pop_front() {
        let here = lengths[wire as usize];
        for step in wires.previous(wire) {
            let cost = cost(step.registers);
            let there = &mut lengths[step.wire as usize];
            if here + u16::from(cost) < *there {
                *there = here + u16::from(cost);
                if cost == 0 { queue.push_front(step.wire) } else { queue.push_back(step.wire) }
            }
        }
    }
    lengths
}
