//! Transport latency: the cycles that words travel between stages, and in an operand of a stage.

use std::collections::BTreeMap;

/// Cycles that a word travels from the stage that computes it to a read of another stage, on top of the latency of the first: its
/// way from stage to stage, and the latency of the operand that it is for.
///
/// Zero in a dedicated accelerator, whose wires are short and whose operators take their operands from the ports. On an array of
/// tiles the way is the number of registers on the route, which placement bounds from below before the schedule is known; a
/// search may raise it and schedule again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transport {
    everywhere: u64,
    routes: BTreeMap<(usize, usize), u64>,
    operands: BTreeMap<(usize, usize), u64>,
    arrivals: BTreeMap<(usize, usize), u64>,
}

impl Transport {
    /// The same number of cycles between all stages.
    pub fn uniform(cycles: u64) -> Self {
        Transport { everywhere: cycles, ..Transport::default() }
    }

    /// Sets the cycles from a producer to one of its consumers, both indices of the pipeline's stages.
    pub fn set(&mut self, producer: usize, consumer: usize, cycles: u64) {
        self.routes.insert((producer, consumer), cycles);
    }

    /// Sets the latency of an operand: of a read of a stage, by their indices.
    pub fn set_operand(&mut self, consumer: usize, read: usize, cycles: u64) {
        self.operands.insert((consumer, read), cycles);
    }

    /// Sets how many cycles after the begin of an iteration a read takes its word.
    pub fn set_arrival(&mut self, consumer: usize, read: usize, cycles: u64) {
        self.arrivals.insert((consumer, read), cycles);
    }

    /// Cycles after the begin of an iteration in which a read takes its word: 0 but in recurrences, whose words enter the
    /// pipeline of a stage as late as they can.
    pub fn arrival(&self, consumer: usize, read: usize) -> i64 {
        self.arrivals.get(&(consumer, read)).copied().unwrap_or(0) as i64
    }

    /// Cycles from a producer to one of its consumers, both indices of the pipeline's stages, without those of the operand.
    pub fn between(&self, producer: usize, consumer: usize) -> u64 {
        self.routes.get(&(producer, consumer)).copied().unwrap_or(self.everywhere)
    }

    /// The latency of an operand: of a read of a stage, by their indices.
    pub fn operand(&self, consumer: usize, read: usize) -> u64 {
        self.operands.get(&(consumer, read)).copied().unwrap_or(0)
    }

    /// Cycles from a producer to the begin of the iteration of one of its consumers that has the read: the way, and the latency
    /// of the operand, less its arrival.
    pub fn to_operand(&self, producer: usize, consumer: usize, read: usize) -> i64 {
        (self.between(producer, consumer) + self.operand(consumer, read)) as i64 - self.arrival(consumer, read)
    }

    /// The greatest number of cycles from one of some producers to any operand of one of some consumers; there is one of each.
    pub(crate) fn longest(
        &self,
        producers: impl Iterator<Item = usize> + Clone,
        consumers: impl Iterator<Item = usize> + Clone,
    ) -> u64 {
        if self.routes.is_empty() && self.operands.is_empty() {
            return self.everywhere;
        }
        let slowest = |consumer: usize| {
            let operands = self.operands.range((consumer, 0)..=(consumer, usize::MAX));
            operands.map(|(_, cycles)| *cycles).max().unwrap_or(0)
        };
        let routes = consumers.flat_map(|consumer| {
            producers
                .clone()
                .map(move |producer| self.between(producer, consumer))
                .map(move |way| way + slowest(consumer))
        });
        routes.max().unwrap_or(0)
    }
}
