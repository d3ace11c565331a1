//! Units that kernels share.

use itertools::Itertools;

use super::Builder;
use crate::units::kernels_in_turn;
use pushmem_graph::{Driver, SharedUnit, Source, Turn, WireId};

impl Builder<'_> {
    /// Joins the kernels of operations that share a unit. Units that choose from the same words share the choice.
    pub(super) fn add_units(&mut self) {
        let mut chosen: Vec<(Driver, WireId)> = Vec::new();
        let units = kernels_in_turn(self.scheduled.operations, self.scheduled.extraction, &self.accelerator.kernels);
        for (name, kernels) in units {
            let stages = kernels.iter().map(|&kernel| self.accelerator.kernels[kernel].stage).collect_vec();
            let counters = stages.into_iter().map(|stage| self.counter(stage, 0)).collect_vec();
            let mut operands = Vec::new();
            for load in 0..self.accelerator.kernels[kernels[0]].operands.len() {
                let sources = || kernels.iter().map(|&kernel| self.accelerator.kernels[kernel].operands[load]);
                if let Ok(only) = sources().all_equal_value() {
                    operands.push(only);
                    continue;
                }
                let turns = counters.iter().zip(sources()).map(|(&counter, source)| Turn { counter, source });
                let driver = Driver::Turns { turns: turns.collect() };
                let known = chosen.iter().find(|(other, _)| *other == driver).map(|(_, wire)| *wire);
                let wire = known.unwrap_or_else(|| {
                    let wire = self.add_wire(format!("{name}_load_{load}"), driver.clone());
                    chosen.push((driver, wire));
                    wire
                });
                operands.push(Source::Wire(wire));
            }
            self.accelerator.units.push(SharedUnit { name, kernels, counters, operands });
        }
    }
}
