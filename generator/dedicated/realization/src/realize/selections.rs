//! Selections: multiplexers by loop indices, and those in front of units that kernels share; hold registers, which words are
//! loaded into by loop indices.

use itertools::Itertools;

use super::Realizer;
use pushmem_files::Diagnostic;
use pushmem_graph::{
    BitDriver, Case, Choice, Counter, CounterId, Driver, Edge, Hold, SharedUnit, Source, Turn, UnitNode, WireId,
    WordDriver, WordId,
};

impl Realizer<'_> {
    /// A selection by the indices of one counter.
    ///
    /// # Errors
    /// When an edited graph selects by several counters, or by the kernels of a unit elsewhere than in front of it.
    pub(super) fn selection(&mut self, net: WordId, choices: &[Choice]) -> Result<Driver, Diagnostic> {
        let mut counter = None;
        let mut cases = Vec::new();
        for choice in choices {
            let conditions = match choice.when.map(|bit| &self.graph.bits[bit].driver) {
                None => Vec::new(),
                Some(BitDriver::Indices { counter: by, conditions }) if *counter.get_or_insert(*by) == *by => {
                    conditions.clone()
                }
                Some(_) => {
                    return Err(self.unrealizable(
                        net,
                        "selects by bits of several counters",
                        "a multiplexer has one counter, whose indices all bits of the selection are about",
                    ));
                }
            };
            cases.push(Case { conditions, source: self.source(choice.edge)? });
        }
        let counter = counter.unwrap_or_else(|| self.counter_of(net));
        Ok(Driver::Select { counter, cases })
    }

    /// A hold register.
    ///
    /// # Errors
    /// When an edited graph loads it by a bit of another counter, or with a constant.
    pub(super) fn hold(&mut self, net: WordId, hold: Hold) -> Result<Driver, Diagnostic> {
        let conditions = match hold.when.map(|bit| &self.graph.bits[bit].driver) {
            None => Vec::new(),
            Some(BitDriver::Indices { counter, conditions }) if *counter == hold.counter => conditions.clone(),
            Some(_) => {
                return Err(self.unrealizable(
                    net,
                    "is loaded by a bit of another counter",
                    "a hold register is loaded in steps of one counter: give a bit about the indices of that counter",
                ));
            }
        };
        match self.source(hold.edge)? {
            Source::Wire(of) => Ok(Driver::Hold { of, counter: hold.counter, conditions }),
            Source::Constant(_) => {
                let help = "a constant needs no register: take it where the register is read";
                Err(self.unrealizable(net, "holds a constant", help))
            }
        }
    }

    /// The counter of the stage whose result a net carries, for a selection without conditions.
    fn counter_of(&mut self, net: WordId) -> CounterId {
        let result = self.graph.words[net].result.as_ref();
        let words = result.map_or_else(|| self.graph.counters[0].clone(), |result| in_time(&result.words));
        self.counter(words)
    }

    fn counter(&mut self, counter: Counter) -> CounterId {
        let counters = &mut self.accelerator.counters;
        counters.position(|other| *other == counter).unwrap_or_else(|| counters.push(counter))
    }

    /// A wire of a stage that always carries the same word.
    pub(super) fn add_constant(&mut self, stage: usize, word: u16) -> WireId {
        let cases = vec![Case { conditions: Vec::new(), source: Source::Constant(word) }];
        let driver = Driver::Select { counter: CounterId::new(0), cases };
        self.add_wire(self.graph.names.stages[stage].clone(), driver)
    }

    /// Adds the units that kernels share, with the selections in front of them.
    ///
    /// # Errors
    /// When an edited graph selects the operands of a unit by something else than its kernels.
    pub(super) fn add_units(&mut self) -> Result<(), Diagnostic> {
        for unit in &self.graph.units {
            let operands = unit.operands.iter().map(|&edge| self.operand(unit, edge)).try_collect()?;
            let UnitNode { name, kernels, counters, .. } = unit;
            let kernels = kernels.iter().map(|&kernel| self.kernel_of[kernel].expect("all stages are there")).collect();
            let (name, counters) = (name.clone(), counters.clone());
            self.accelerator.units.push(SharedUnit { name, kernels, counters, operands });
        }
        Ok(())
    }

    fn operand(&mut self, unit: &UnitNode, edge: Edge) -> Result<Source, Diagnostic> {
        let Edge::Net { net, delay: 0 } = edge else { return self.source(edge) };
        let WordDriver::Select(choices) = &self.graph.words[net].driver else { return self.source(edge) };
        let bits = choices.iter().filter_map(|choice| choice.when).map(|bit| &self.graph.bits[bit].driver);
        let bits = bits.cloned().collect_vec();
        let begins = unit.counters.iter().map(|&counter| BitDriver::Begins(counter));
        if self.wires.contains_key(&(net, 0)) || bits.iter().all(|bit| matches!(bit, BitDriver::Indices { .. })) {
            return self.source(edge);
        }
        if choices.len() != unit.counters.len() || !begins.take(bits.len()).eq(bits) {
            return Err(self.unrealizable(
                net,
                &format!("selects by other kernels than those of the unit `{}`", unit.name),
                "give an edge for each kernel of the unit, in their order, each but the last `if` its kernel begins",
            ));
        }
        let sources: Vec<Source> = choices.iter().map(|choice| self.source(choice.edge)).try_collect()?;
        let turns = unit.counters.iter().zip(sources).map(|(&counter, source)| Turn { counter, source }).collect();
        let wire = self.add_wire(self.graph.words[net].name.clone(), Driver::Turns { turns });
        self.wires.insert((net, 0), wire);
        Ok(Source::Wire(wire))
    }
}

/// A counter with its loops in the order of time.
fn in_time(counter: &Counter) -> Counter {
    let order = (0..counter.loops.len()).sorted_by_key(|&level| counter.cycle.stride[level]).collect_vec();
    Counter {
        loops: order.iter().map(|&level| counter.loops[level].clone()).collect(),
        extent: order.iter().map(|&level| counter.extent[level]).collect(),
        cycle: pushmem_affine::Affine {
            start: counter.cycle.start,
            stride: order.iter().map(|&level| counter.cycle.stride[level]).collect(),
        },
    }
}
