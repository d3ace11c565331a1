//! Boxes of loop indices as controllers of memory tiles, whose bit is 1 while the indices are in the box.

use pushmem_affine::{Affine, Domain};
use pushmem_configuration::{Configuration, ControllerConfiguration};
use pushmem_graph::{Condition, Counter};
use pushmem_selection::{Predicate, Steps};
use pushmem_tile::{Role, TileSpec};

/// The cycles of a box: its iterations, and when each comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Firings {
    pub extent: Domain,
    pub cycle: Affine,
}

impl Firings {
    /// The steps of a counter at which its indices meet these conditions, each on a level.
    pub fn of_conditions(counter: &Counter, conditions: &[(usize, Condition)]) -> Self {
        let mut firings = Firings { extent: counter.extent.clone(), cycle: counter.cycle.clone() };
        for &(level, Condition { first, last, step }) in conditions {
            firings.cycle.start += first * counter.cycle.stride[level];
            firings.cycle.stride[level] = step * counter.cycle.stride[level];
            firings.extent[level] = ((last - first) / step + 1) as u64;
        }
        firings.without_single_iterations()
    }

    /// The steps of a counter at which the loop variables of a kernel are in a box; nothing if they never are. `variable` gives
    /// the level of a loop variable, and its value at an index.
    pub fn of_predicate(
        counter: &Counter,
        predicate: &Predicate,
        variable: impl Fn(usize) -> (Option<usize>, i64, i64),
    ) -> Option<Self> {
        let mut conditions = Vec::new();
        for (&number, &steps) in &predicate.variables {
            let (level, scale, offset) = variable(number);
            match level {
                None if steps.contains(offset) => {}
                None => return None,
                Some(level) => {
                    let extent = counter.extent[level] as i64;
                    let inside: Vec<i64> = (0..extent).filter(|index| steps.contains(offset + scale * index)).collect();
                    let Steps { first, last, step } = Steps::of(&inside)?;
                    conditions.push((level, Condition { first, last, step }));
                }
            }
        }
        Some(Self::of_conditions(counter, &conditions))
    }

    fn without_single_iterations(mut self) -> Self {
        let levels = self.extent.len();
        let several: Vec<bool> = self.extent.iter().map(|extent| *extent > 1).collect();
        let mut keep = several.iter();
        self.cycle.stride.retain(|_| *keep.next().expect("a stride for each level"));
        let extents = (0..levels).filter(|level| several[*level]).map(|level| self.extent[level]);
        self.extent = extents.collect();
        self
    }

    /// The configuration of a memory tile whose bit is 1 at these cycles, and that does nothing else.
    pub fn configuration(&self, spec: &TileSpec) -> Configuration {
        let controllers = spec.controllers();
        let name = controllers.iter().find(|controller| controller.role == Role::StencilValid);
        let name = name.expect("the tile has a stencil-valid output").name.clone();
        let controller = ControllerConfiguration {
            extent: self.extent.clone(),
            cycle: self.cycle.clone(),
            ..ControllerConfiguration::default()
        };
        Configuration {
            tile: spec.name.clone(),
            controllers: std::iter::once((name, controller)).collect(),
            ..Configuration::default()
        }
    }
}
