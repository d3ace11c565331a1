//! Transport latency: the cycles that words travel between stages.

use std::collections::BTreeMap;

/// Cycles that a word travels from the stage that computes it to a stage that reads it, on top of the latency of the first.
///
/// Zero in a dedicated accelerator, whose wires are short. On an array of tiles it is the number of registers on the route,
/// which placement bounds from below before the schedule is known; a search may raise it and schedule again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transport {
    everywhere: u64,
    routes: BTreeMap<(usize, usize), u64>,
}

impl Transport {
    /// The same number of cycles between all stages.
    pub fn uniform(cycles: u64) -> Self {
        Transport { everywhere: cycles, routes: BTreeMap::new() }
    }

    /// Sets the cycles from a producer to one of its consumers, both indices of the pipeline's stages.
    pub fn set(&mut self, producer: usize, consumer: usize, cycles: u64) {
        self.routes.insert((producer, consumer), cycles);
    }

    /// Cycles from a producer to one of its consumers, both indices of the pipeline's stages.
    pub fn between(&self, producer: usize, consumer: usize) -> u64 {
        self.routes.get(&(producer, consumer)).copied().unwrap_or(self.everywhere)
    }

    /// The greatest number of cycles from one of some producers to one of some consumers; there is one of each.
    pub(crate) fn longest(
        &self,
        producers: impl Iterator<Item = usize> + Clone,
        consumers: impl Iterator<Item = usize> + Clone,
    ) -> u64 {
        if self.routes.is_empty() {
            return self.everywhere;
        }
        let routes =
            producers.flat_map(|producer| consumers.clone().map(move |consumer| self.between(producer, consumer)));
        routes.max().unwrap_or(0)
    }
}
