//! State that the parts of a tile share.

use pushmem_configuration::Chain;
use pushmem_tile::{Controller as Parameters, Role, TileSpec};

use crate::controller::{Controller, NEVER};
use crate::violation::{Violation, ViolationKind};

/// Recorded violations are cut off here: one broken promise tends to break one in every cycle.
const MAX_VIOLATIONS: usize = 1000;

/// Numbers of ports, a bit each: an iterator over them.
#[derive(Clone, Copy)]
pub(crate) struct Ports(u64);

impl Iterator for Ports {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let port = (self.0 != 0).then(|| self.0.trailing_zeros());
        self.0 &= self.0.wrapping_sub(1);
        port
    }
}

/// State that the parts of a tile read from each other in a cycle.
pub(crate) struct Context {
    controllers: Vec<Controller>,
    /// The cycle in which each fires next, and the earliest of them.
    due: Vec<u64>,
    next: u64,
    /// The controllers that fire in this cycle: a bit each, by index.
    firing: u64,
    /// By the number of a role, the index of its first controller, and a bit for each of them.
    roles: Vec<(usize, u64)>,
    pub chain: Chain,
    pub chaining: bool,
    pub rows: u32,
    /// Unstalled cycles since the flush.
    cycle: u64,
    violations: Vec<Violation>,
}

impl Context {
    /// Nothing configured, and nothing recorded.
    pub fn new(spec: &TileSpec, parameters: &[Parameters]) -> Self {
        let numbers = parameters.iter().map(|controller| controller.role as usize);
        let mut roles = vec![(0, 0); numbers.clone().max().map_or(0, |last| last + 1)];
        for (index, number) in numbers.enumerate() {
            let (first, ports) = &mut roles[number];
            if *ports == 0 {
                *first = index;
            }
            *ports = *ports << 1 | 1;
        }
        Context {
            controllers: parameters.iter().map(Controller::idle).collect(),
            due: vec![NEVER; parameters.len()],
            next: NEVER,
            firing: 0,
            roles,
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

    /// Changes controllers, and counts cycles from 0 on.
    pub fn begin(&mut self, change: impl FnOnce(&mut [Controller])) {
        change(&mut self.controllers);
        self.due = self.controllers.iter().map(Controller::due).collect();
        self.cycle = 0;
        self.find_firing();
    }

    /// Lets so many unstalled cycles pass for the controllers.
    pub fn skip(&mut self, cycles: u64) {
        self.cycle += cycles;
        self.controllers.iter_mut().for_each(|controller| controller.go_to(self.cycle));
        self.due = self.controllers.iter().map(Controller::due).collect();
        self.find_firing();
    }

    /// Unstalled cycles since the flush.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Ends an unstalled cycle for all controllers.
    #[inline]
    pub fn advance(&mut self) {
        self.cycle += 1;
        if self.firing != 0 {
            let mut firing = self.firing;
            while firing != 0 {
                let index = firing.trailing_zeros() as usize;
                self.controllers[index].fire();
                self.due[index] = self.controllers[index].due();
                firing &= firing - 1;
            }
            self.find_firing();
        } else if self.cycle == self.next {
            self.find_firing();
        }
    }

    fn find_firing(&mut self) {
        (self.next, self.firing) = (NEVER, 0);
        for (index, due) in self.due.iter().enumerate() {
            self.next = self.next.min(*due);
            self.firing |= u64::from(*due == self.cycle) << index;
        }
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

    /// The ports at which controllers of a role fire in this cycle, a bit each.
    #[inline]
    pub fn ports(&self, role: Role) -> Ports {
        let (first, ports) = self.roles[role as usize];
        Ports(self.firing >> first & ports)
    }

    #[inline]
    fn index(&self, role: Role, port: u32) -> usize {
        self.roles[role as usize].0 + port as usize
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
