//! Constraints on the hardware of an accelerator.

use serde::{Deserialize, Serialize};

/// Constraints on the hardware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraints {
    /// A step from one delay to the next of fewer cycles becomes registers, a longer one a memory (the
    /// unified-buffer paper, §V-C).
    pub shift_register_threshold: u64,
    /// The most entries of a table that stays in the logic of the kernels that look it up; a larger one is in ROM tiles.
    /// Of 64 entries, each bit is a function of six bits of the index: one look-up table of an FPGA.
    pub table_logic_words: usize,
    /// Whether arrays of coarse pipelines may have more than two versions, where a loop would wait for the last reads of the
    /// version before the last: the buffers that balance paths which part and meet again.
    pub balance_paths: bool,
    /// Whether lanes that keep words may load them one after the other, through one port of a memory, where that takes fewer tiles.
    #[serde(default = "allowed", skip_serializing_if = "is_allowed")]
    pub serial_loads: bool,
    /// Registers between the streams and what a stall stops; see [`stall_latency`](pushmem_graph::Accelerator::stall_latency).
    #[serde(default, skip_serializing_if = "is_none")]
    pub stall_latency: u32,
}

/// Whether there are no registers.
fn is_none(registers: &u32) -> bool {
    *registers == 0
}

fn allowed() -> bool {
    true
}

fn is_allowed(allowed: &bool) -> bool {
    *allowed
}

impl Default for Constraints {
    fn default() -> Self {
        Constraints {
            shift_register_threshold: 20,
            table_logic_words: 64,
            balance_paths: true,
            serial_loads: true,
            stall_latency: 0,
        }
    }
}
