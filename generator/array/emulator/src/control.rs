//! The way of flush and stall from the ports of the array to its tiles, and of the requests of IO tiles to the array.

use std::collections::VecDeque;

use pushmem_fabric::ArraySpec;

use crate::emulator::Inputs;
use crate::streams::Control;

/// Flush and stall on their way.
#[derive(Debug)]
pub struct ControlTree {
    /// Commands between the ports and the tiles, those that arrive first.
    commands: VecDeque<Control>,
    /// Requests in the registers of blocks, and in that of the array.
    of_blocks: bool,
    of_array: bool,
    /// Cycles of standstill that are left after a flush or a start.
    start: u32,
    latency: u32,
}

impl ControlTree {
    pub fn new(spec: &ArraySpec) -> Self {
        let commands = vec![Control::default(); spec.control_depth as usize].into();
        ControlTree { commands, of_blocks: false, of_array: false, start: 0, latency: spec.stall_latency() }
    }

    /// The commands that the tiles have in this cycle.
    pub fn now(&self) -> Control {
        self.commands[0]
    }

    /// Ends a cycle with these commands on the ports, in which some IO tile requests a stall or none.
    pub fn clock(&mut self, &Inputs { flush, start, stall, .. }: &Inputs, requests: bool) {
        self.commands.pop_front();
        self.commands.push_back(Control { flush, stall: stall || self.of_array || self.start > 0 });
        self.of_array = self.of_blocks;
        self.of_blocks = requests;
        self.start = if flush || start { self.latency } else { self.start.saturating_sub(1) };
    }
}
