//! The controllers of memory tiles that follow loop indices: of bits that are 1 while the indices are in a box, and of tables.

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
        firings
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

    /// The configuration of a memory tile whose bit is 1 at these cycles, and that does nothing else.
    pub fn predicate(&self, spec: &TileSpec) -> Configuration {
        self.configuration(spec, Role::StencilValid)
    }

    /// The configuration of a memory tile that is a table: at these cycles it looks up the word that comes.
    pub fn table(&self, spec: &TileSpec, contents: Vec<u64>) -> Configuration {
        Configuration { contents, ..self.configuration(spec, Role::Rom2Out) }
    }

    /// The configuration of a memory tile of which one controller fires at these cycles.
    fn configuration(&self, spec: &TileSpec, role: Role) -> Configuration {
        let controllers = spec.controllers();
        let controller = controllers.iter().find(|controller| controller.role == role);
        let controller = controller.expect("the tile has the controller");
        let (extent, cycle) = self.cycle.coalesced(&self.extent, 1 << controller.extent_bits);
        let configured = ControllerConfiguration { extent, cycle, ..ControllerConfiguration::default() };
        Configuration {
            tile: spec.name.clone(),
            controllers: std::iter::once((controller.name.clone(), configured)).collect(),
            ..Configuration::default()
        }
    }
}
