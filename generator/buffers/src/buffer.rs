//! Ports and buffers.

use std::ops::RangeInclusive;

use pushmem_configuration::Affine;
use serde::Deserialize;

/// What a port does with elements of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Takes the word on the port's wire.
    Write,
    /// Shows a word on the port's wire.
    Read,
}

impl Direction {
    /// The name used in buffer files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Write => "write",
            Direction::Read => "read",
        }
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
    /// Iterations of each loop, innermost first.
    pub fn extents(&self) -> Vec<u64> {
        self.domain.iter().map(|level| level.extent).collect()
    }

    /// How many words pass the port in a run.
    pub fn iterations(&self) -> u128 {
        self.domain.iter().fold(1, |product, level| product.saturating_mul(u128::from(level.extent)))
    }

    /// The index of each loop, innermost first, in the iteration with this number, counted from 0.
    pub fn iteration(&self, number: u64) -> Vec<u64> {
        let mut rest = number;
        let digit = |level: &Loop| {
            let index = rest % level.extent;
            rest /= level.extent;
            index
        };
        self.domain.iter().map(digit).collect()
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
        let start = i128::from(function.start);
        let (mut low, mut high) = (start, start);
        for (&stride, level) in function.stride.iter().zip(&self.domain) {
            let travel = i128::from(stride) * (i128::from(level.extent) - 1);
            if travel < 0 {
                low += travel;
            } else {
                high += travel;
            }
        }
        low..=high
    }
}

/// A buffer: what its ports write and read, and when.
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
}
