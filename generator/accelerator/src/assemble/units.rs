//! Units that kernels have in turn.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_extraction::Origin;

use super::Builder;
use crate::accelerator::{Driver, SharedUnit, Source, Turn, WireId};

impl Builder<'_> {
    /// Joins kernels of operations that share a unit: the first of each, the second of each, and so on. Kernels that read
    /// the same words in their turns share the choice.
    pub(super) fn add_units(&mut self) {
        let mut chosen: Vec<(Driver, WireId)> = Vec::new();
        for (unit, operations) in self.kernels_by_unit() {
            let copies = operations.iter().map(Vec::len).max().unwrap_or(0);
            for copy in 0..copies {
                let kernels = operations.iter().filter_map(|kernels| kernels.get(copy).copied()).collect_vec();
                if kernels.len() < 2 {
                    continue;
                }
                let name = if copies == 1 { unit.clone() } else { format!("{unit}_{copy}") };
                let counters =
                    kernels.iter().map(|&kernel| self.counter(self.accelerator.kernels[kernel].stage, 0)).collect_vec();
                let loads = self.accelerator.kernels[kernels[0]].operands.len();
                let mut operands = Vec::new();
                for load in 0..loads {
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

    /// The kernels of each unit, operation by operation in the order of the program.
    fn kernels_by_unit(&self) -> Vec<(String, Vec<Vec<usize>>)> {
        let mut of_operation: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, kernel) in self.accelerator.kernels.iter().enumerate() {
            if let Origin::Operation { operation, .. } = self.scheduled.extraction.origins[kernel.stage] {
                of_operation.entry(operation).or_default().push(number);
            }
        }
        let mut units: Vec<(String, Vec<Vec<usize>>)> = Vec::new();
        for (operation, kernels) in of_operation {
            let Some(share) = &self.scheduled.operations[operation].1.share else { continue };
            match units.iter_mut().find(|(name, _)| *name == share.name) {
                Some((_, operations)) => operations.push(kernels),
                None => units.push((share.name.clone(), vec![kernels])),
            }
        }
        units
    }
}
