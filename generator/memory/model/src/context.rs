//! State that the parts of a tile share.

use pushmem_configuration::Chain;
use pushmem_tile::{Controller as Parameters, Role, TileSpec};

use crate::controller::Controller;
use crate::violation::{Violation, ViolationKind};

/// Recorded violations are cut off here: one broken promise tends to break one in every cycle.
const MAX_VIOLATIONS: usize = 1000;

/// State that the parts of a tile read from each other in a cycle.
pub(crate) struct Context {
    controllers: Vec<Controller>,
    /// The controllers that fire in this cycle: a bit each, by index.
    firing: u64,
    /// Index of the first controller of each role, by the role's number, for roles that exist.
    first: Vec<Option<usize>>,
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
        let roles = parameters.iter().map(|controller| controller.role as usize);
        let mut first = vec![None; roles.clone().max().map_or(0, |last| last + 1)];
        for (index, role) in roles.enumerate() {
            first[role].get_or_insert(index);
        }
        Context {
            controllers: parameters.iter().map(Controller::idle).collect(),
            firing: 0,
            first,
            chain: Chain::default(),
            chaining: spec.chaining,
            rows: spec.rows,
            cycle: 0,
            violations: Vec::new(),
        }
    }

    /// All controllers.
    pub fn controllers(&self) -> &[Controller] {
        &self.controllers
    }

    /// Changes controllers.
    pub fn change(&mut self, change: impl FnOnce(&mut [Controller])) {
        change(&mut self.controllers);
        self.find_firing();
    }

    /// Ends an unstalled cycle for all controllers.
    pub fn advance(&mut self) {
        self.controllers.iter_mut().for_each(Controller::advance);
        self.find_firing();
    }

    fn find_firing(&mut self) {
        self.firing = self.controllers.iter().rev().fold(0, |firing, one| firing << 1 | u64::from(one.fires()));
    }

    /// The controller of a role at a port.
    pub fn controller(&self, role: Role, port: u32) -> &Controller {
        &self.controllers[self.index(role, port)]
    }

    /// The controller of a role at a port, if it fires in this cycle.
    #[inline]
    pub fn firing(&self, role: Role, port: u32) -> Option<&Controller> {
        let index = self.index(role, port);
        self.fires(index).then(|| &self.controllers[index])
    }

    /// Whether the controller with this index fires in this cycle.
    #[inline]
    pub fn fires(&self, index: usize) -> bool {
        self.firing >> index & 1 == 1
    }

    /// Whether any controller fires in this cycle.
    pub fn any_fires(&self) -> bool {
        self.firing != 0
    }

    #[inline]
    fn index(&self, role: Role, port: u32) -> usize {
        self.first[role as usize].expect("roles follow from the kind") + port as usize
    }

    /// Splits an address of the chained memory into whether this tile owns it, and the row within the tile.
    pub fn own_row(&self, address: u64) -> (bool, u64) {
        let rows = u64::from(self.rows);
        if !self.chaining || !self.chain.enable && address < rows {
            return (true, address);
        }
        (!self.chain.enable || address / rows == u64::from(self.chain.tile_id), address % rows)
    }

    /// Records a broken promise.
    pub fn violation(&mut self, kind: ViolationKind, role: Role, port: u32, place: impl FnOnce() -> String) {
        self.violation_before(self.cycle, kind, (role, port), place);
    }

    /// Records a promise that was broken in an earlier cycle.
    pub fn violation_before(
        &mut self,
        cycle: u64,
        kind: ViolationKind,
        (role, port): (Role, u32),
        place: impl FnOnce() -> String,
    ) {
        if self.violations.len() < MAX_VIOLATIONS {
            let controller = self.controller(role, port).name.clone();
            self.violations.push(Violation { kind, cycle, controller, place: place() });
        }
    }

    /// Records a promise that no controller broke: what came on an input.
    pub fn violation_at(&mut self, kind: ViolationKind, input: &str, place: String) {
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(Violation { kind, cycle: self.cycle, controller: input.to_owned(), place });
        }
    }

    /// Takes out the recorded violations.
    pub fn take_violations(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.violations)
    }
}
