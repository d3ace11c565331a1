//! Ports and buffers.

use std::ops::RangeInclusive;

use pushmem_affine::{Affine, Domain};
use serde::Deserialize;

pushmem_files::named! {
    /// Direction of a port's accesses.
    pub enum Direction {
        /// Takes the word on the port's wire.
        Write = "write",
        /// Shows a word on the port's wire.
        Read = "read",
    }
}

/// A loop of an iteration domain; its index counts from 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// Name of the index variable.
    pub name: String,
    /// Number of iterations, at least 1.
    pub extent: u64,
}

/// One stream into or out of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// Name, unique within the buffer.
    pub name: String,
    /// Whether it writes or reads.
    pub direction: Direction,
    /// The loops, innermost first.
    pub domain: Vec<Loop>,
    /// The element: for each dimension of the buffer, innermost first, an affine function of the loops.
    pub access: Vec<Affine>,
    /// The cycle in which the word is on the port's wire.
    pub schedule: Affine,
}

impl Port {
    /// The loops without their names.
    pub fn extents(&self) -> Domain {
        self.domain.iter().map(|level| level.extent).collect()
    }

    /// How many words pass the port in a run.
    pub fn iterations(&self) -> u128 {
        self.extents().iterations()
    }

    /// The index of each loop, innermost first, in the iteration with this number, counted from 0.
    pub fn iteration(&self, number: u64) -> Vec<u64> {
        self.extents().point(number)
    }

    /// The element that an iteration writes or reads.
    pub fn element(&self, index: &[u64]) -> Vec<i128> {
        self.access.iter().map(|function| function.at(index)).collect()
    }

    /// The cycle of an iteration.
    pub fn cycle(&self, index: &[u64]) -> i128 {
        self.schedule.at(index)
    }

    /// The smallest and the largest value of an affine function of the port's loops.
    pub fn range(&self, function: &Affine) -> RangeInclusive<i128> {
        self.extents().range(function)
    }
}

/// A buffer: the accesses of its ports, with their schedules.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnifiedBuffer {
    /// Name.
    pub name: String,
    /// All streams in and out.
    pub ports: Vec<Port>,
}

impl UnifiedBuffer {
    /// The ports of a direction, with their numbers among all ports.
    pub fn directed(&self, direction: Direction) -> impl Iterator<Item = (usize, &Port)> {
        self.ports.iter().enumerate().filter(move |(_, port)| port.direction == direction)
    }

    /// The ports that write, with their numbers among all ports.
    pub fn writes(&self) -> impl Iterator<Item = (usize, &Port)> {
        self.directed(Direction::Write)
    }

    /// The ports that read, with their numbers among all ports.
    pub fn reads(&self) -> impl Iterator<Item = (usize, &Port)> {
        self.directed(Direction::Read)
    }

    /// The same accesses, without the names of the buffer, the ports and the loops.
    pub fn without_names(&self) -> UnifiedBuffer {
        let loops = |level: &Loop| Loop { name: String::new(), extent: level.extent };
        let port = |port: &Port| Port {
            name: String::new(),
            direction: port.direction,
            domain: port.domain.iter().map(loops).collect(),
            access: port.access.clone(),
            schedule: port.schedule.clone(),
        };
        UnifiedBuffer { name: String::new(), ports: self.ports.iter().map(port).collect() }
    }
}
