//! Units that kernels share.

use itertools::Itertools;

use super::Builder;
use crate::units::kernels_of_units;
use pushmem_graph::{BitDriver, Choice, CounterId, Edge, UnitNode, WordDriver, WordId};

impl Builder<'_> {
    /// Joins the kernels of operations that share a unit. Units that choose from the same words share the choice.
    pub(super) fn add_units(&mut self) {
        let mut chosen: Vec<(Vec<CounterId>, Vec<Choice>, WordId)> = Vec::new();
        for (name, kernels) in kernels_of_units(self.scheduled.operations, &self.graph) {
            let stages = kernels.iter().map(|&kernel| self.graph.stage_of(kernel)).collect_vec();
            let counters = stages.into_iter().map(|stage| self.counter(stage, 0)).collect_vec();
            let mut operands = Vec::new();
            for load in 0..self.graph.kernels[kernels[0]].operands.len() {
                let sources = kernels.iter().map(|&kernel| self.graph.kernels[kernel].operands[load]).collect_vec();
                if let Ok(&only) = sources.iter().all_equal_value() {
                    operands.push(only);
                    continue;
                }
                let mut choices = Vec::new();
                for (number, (&counter, edge)) in counters.iter().zip(sources).enumerate() {
                    // The operand of the last kernel is selected in all other cycles, too.
                    let decides = number + 1 < counters.len();
                    let when = decides.then(|| self.bit(BitDriver::Begins(counter)));
                    choices.push(Choice { when, edge });
                }
                let mut known = chosen.iter();
                let known = known.find(|(by, from, _)| *by == counters && *from == choices).map(|(.., net)| *net);
                let net = known.unwrap_or_else(|| {
                    let driver = WordDriver::Select(choices.clone());
                    let net = self.add_net(format!("{name}_load_{load}"), driver, None);
                    chosen.push((counters.clone(), choices, net));
                    net
                });
                operands.push(Edge::Net { net, delay: 0 });
            }
            self.graph.units.push(UnitNode { name, kernels, counters, operands });
        }
    }
}
