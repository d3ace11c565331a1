//! The search for a route of an exact number of registers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::distance::{FAR, InputDistances};
use crate::wires::{Wire, Wires};

/// The cost of a wire that no other net wants.
pub const BASE: u32 = 16;

/// How much more the way ahead counts than the way so far, in sixteenths: of two states on ways of equal length, the one that
/// is further on comes first, so a free detour is found without looking at all others.
const AHEAD: u32 = 20;

/// The ways on which the second search reaches a state.
const MOST_WAYS: u8 = 6;

/// A wire of a tree with the registers on the way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    pub wire: Wire,
    pub registers: u32,
}

/// The part of a route that is new in its tree.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The wire of the tree at which it leaves, none at the source.
    pub from: Option<Wire>,
    /// The wires beyond, each with the registers on the way from the source to it.
    pub wires: Vec<Reached>,
    /// The cycles by which the operand is late.
    pub delay: u32,
}

/// The end of a route.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    pub target: &'a InputDistances,
    /// The registers of tracks and of the operand together.
    pub registers: u32,
    /// The most that the operand can have.
    pub delay: u32,
}

/// A state that the search has reached.
#[derive(Clone, Copy, Debug)]
struct Label {
    wire: Wire,
    registers: u32,
    parent: u32,
    cost: u32,
    /// A set bit for each wire on the way, by a hash.
    signature: u64,
}

/// A wire with a number of registers.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// The last search that reached it.
    search: u32,
    /// The least cost.
    cost: u32,
    /// The ways on which it was reached.
    ways: u8,
}

const NO_PARENT: u32 = u32::MAX;

/// The memory of searches over the wires of a layer. It lasts from one search to the next.
#[derive(Clone, Debug)]
pub struct Search {
    /// The most registers of a route.
    most: u32,
    /// By wire and registers, what is known of the state.
    states: Vec<State>,
    /// The most ways on which a state is reached.
    ways: u8,
    number: u32,
    labels: Vec<Label>,
    heap: BinaryHeap<Reverse<(u32, u32, u32)>>,
    /// By wire, the number of the search in whose tree it is.
    in_tree: Vec<u32>,
}

impl Search {
    pub fn new(wires: &Wires, most: u32) -> Self {
        Search {
            most,
            states: vec![State::default(); wires.len() * (most as usize + 1)],
            ways: 1,
            number: 0,
            labels: Vec::new(),
            heap: BinaryHeap::new(),
            in_tree: vec![0; wires.len()],
        }
    }

    /// The cheapest branch that leads from a tree to a goal, as far as the search can tell. A state is reached on the cheapest
    /// way only, although another may lead on where that one would cross itself; if there is no branch, a second search reaches
    /// each state on several ways.
    pub fn branch(
        &mut self,
        wires: &Wires,
        leaving: &[Wire],
        tree: &[Reached],
        goal: Goal,
        cost: impl Fn(Wire) -> u32,
    ) -> Option<Branch> {
        [1, MOST_WAYS].into_iter().find_map(|ways| {
            self.ways = ways;
            self.try_branch(wires, leaving, tree, goal, &cost)
        })
    }

    fn try_branch(
        &mut self,
        wires: &Wires,
        leaving: &[Wire],
        tree: &[Reached],
        goal: Goal,
        cost: &impl Fn(Wire) -> u32,
    ) -> Option<Branch> {
        self.number += 1;
        self.labels.clear();
        self.heap.clear();
        for reached in tree {
            self.in_tree[reached.wire as usize] = self.number;
        }
        for reached in tree {
            let label =
                Label { wire: reached.wire, registers: reached.registers, parent: NO_PARENT, cost: 0, signature: 0 };
            self.push(label, goal);
        }
        for &wire in leaving {
            if self.in_tree[wire as usize] != self.number {
                let label = Label { wire, registers: 1, parent: NO_PARENT, cost: cost(wire), signature: bit(wire) };
                self.push(label, goal);
            }
        }
        while let Some(Reverse((_, _, number))) = self.heap.pop() {
            let label = self.labels[number as usize];
            if self.ways == 1 && self.states[self.state(label.wire, label.registers)].cost < label.cost {
                continue;
            }
            if goal.target.hops(label.wire) == 0 && goal.registers - label.registers <= goal.delay {
                return Some(self.branch_to(number, goal));
            }
            for step in wires.next(label.wire) {
                if self.in_tree[step.wire as usize] == self.number || self.is_on_way(number, step.wire) {
                    continue;
                }
                self.push(
                    Label {
                        wire: step.wire,
                        registers: label.registers + u32::from(step.registers),
                        parent: number,
                        cost: label.cost + cost(step.wire),
                        signature: label.signature | bit(step.wire),
                    },
                    goal,
                );
            }
        }
        None
    }

    fn state(&self, wire: Wire, registers: u32) -> usize {
        wire as usize * (self.most as usize + 1) + registers as usize
    }

    /// Adds a state, if the goal can be reached from it and no cheaper way to it is known.
    fn push(&mut self, label: Label, goal: Goal) {
        let Label { wire, registers, cost, .. } = label;
        let ahead = goal.target.registers[wire as usize];
        if ahead == FAR || registers + u32::from(ahead) > goal.registers {
            return;
        }
        let (search, ways) = (self.number, self.ways);
        let place = self.state(wire, registers);
        let state = &mut self.states[place];
        *state = match state.search == search {
            true if ways == 1 && state.cost <= cost || ways > 1 && state.ways >= ways => return,
            true => State { cost: cost.min(state.cost), ways: state.ways + u8::from(ways > 1), ..*state },
            false => State { search, cost, ways: 1 },
        };
        let rest = goal.registers - registers;
        let hops = rest.saturating_sub(goal.delay).max(goal.target.hops(wire).into());
        let key = cost + hops * BASE * AHEAD / 16;
        let number = self.labels.len() as u32;
        self.labels.push(label);
        self.heap.push(Reverse((key, rest, number)));
    }

    /// Whether a wire is on the way to a state.
    fn is_on_way(&self, number: u32, wire: Wire) -> bool {
        let mut number = number;
        if self.labels[number as usize].signature & bit(wire) == 0 {
            return false;
        }
        while number != NO_PARENT {
            let label = &self.labels[number as usize];
            if label.wire == wire {
                return true;
            }
            number = label.parent;
        }
        false
    }

    fn branch_to(&self, end: u32, goal: Goal) -> Branch {
        let mut wires = Vec::new();
        let mut number = end;
        let mut from = None;
        while number != NO_PARENT {
            let Label { wire, registers, parent, .. } = self.labels[number as usize];
            if self.in_tree[wire as usize] == self.number {
                from = Some(wire);
            } else {
                wires.push(Reached { wire, registers });
            }
            number = parent;
        }
        wires.reverse();
        Branch { from, wires, delay: goal.registers - self.labels[end as usize].registers }
    }
}

/// The bit of a wire in a signature.
fn bit(wire: Wire) -> u64 {
    1 << (wire.wrapping_mul(0x9e37_79b1) >> 26)
}
