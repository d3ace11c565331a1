//! State that the parts of a tile share.

use pushmem_configuration::Chain;
use pushmem_tile::{Controller as Parameters, Role, TileSpec};

use crate::controller::Controller;
use crate::violation::{Violation, ViolationKind};

/// Recorded violations are cut off here: one broken promise tends to break one in every cycle.
const MAX_VIOLATIONS: usize = 1000;

/// State that the parts of a tile read from each other in a cycle.
pub(crate) struct Context {
    pub controllers: Vec<Controller>,
    /// Index of the first controller of each role that exists.
    first: Vec<(Role, usize)>,
    pub chain: Chain,
    pub chaining: bool,
    pub rows: u32,
    /// Unstalled cycles since the flush.
    pub cycle: u64,
    violations: Vec<Violation>,
}

impl Context {
    /// Nothing configured, and nothing recorded.
    pub fn new(spec: &TileSpec, parameters: &[Parameters]) -> Self {
        let mut first: Vec<(Role, usize)> = Vec::new();
        for (index, controller) in parameters.iter().enumerate() {
            if first.last().is_none_or(|(role, _)| *role != controller.role) {
                first.push((controller.role, index));
            }
        }
        Context {
            controllers: parameters.iter().map(Controller::idle).collect(),
            first,
            chain: Chain::default(),
            chaining: spec.chaining,
            rows: spec.rows,
            cycle: 0,
            violations: Vec::new(),
        }
    }

    /// The controller of a role at a port.
    pub fn controller(&self, role: Role, port: u32) -> &Controller {
        let first = self.first.iter().find(|(other, _)| *other == role).expect("roles follow from the kind").1;
        &self.controllers[first + port as usize]
    }

    /// Splits an address of the chained memory into whether this tile owns it, and the row within the tile.
    pub fn own_row(&self, address: u64) -> (bool, u64) {
        let rows = u64::from(self.rows);
        if !self.chaining {
            return (true, address);
        }
        (!self.chain.enable || address / rows == u64::from(self.chain.tile_id), address % rows)
    }

    /// Records a broken promise.
    pub fn violation(&mut self, kind: ViolationKind, role: Role, port: u32, place: impl FnOnce() -> String) {
        if self.violations.len() < MAX_VIOLATIONS {
            let controller = self.controller(role, port).name.clone();
            self.violations.push(Violation { kind, cycle: self.cycle, controller, place: place() });
        }
    }

    /// Takes out the recorded violations.
    pub fn take_violations(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.violations)
    }
}
