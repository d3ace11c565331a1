//! The controller of a stream, from its registers: any values, also those that no schedule in a file has.

use pushmem_configuration::ScheduleRegisters;

/// A schedule in progress.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    registers: ScheduleRegisters,
    is_active: bool,
    /// Iterations of each level after this one.
    left: Vec<u64>,
    /// Cycles until the next firing.
    wait: u64,
}

impl Schedule {
    /// A schedule that waits for the first flush.
    pub fn new(registers: ScheduleRegisters) -> Self {
        Schedule { registers, ..Schedule::default() }
    }

    /// Starts a run.
    pub fn flush(&mut self) {
        self.is_active = true;
        self.left.clone_from(&self.registers.extents);
        self.wait = self.registers.start;
    }

    /// Whether it fires in this cycle.
    pub fn fires(&self) -> bool {
        self.is_active && self.wait == 0
    }

    /// The outermost level that the step to the next firing increments; none behind the last one.
    pub fn increments(&self) -> Option<usize> {
        self.left.iter().position(|left| *left > 0)
    }

    /// Ends a cycle of its time.
    pub fn advance(&mut self) {
        if !self.is_active {
            return;
        }
        if self.wait > 0 {
            self.wait -= 1;
            return;
        }
        let ScheduleRegisters { extents, gaps, .. } = &self.registers;
        for (level, left) in self.left.iter_mut().enumerate() {
            if *left > 0 {
                *left -= 1;
                self.wait = gaps[level];
                return;
            }
            *left = extents[level];
        }
        self.is_active = false;
    }
}
