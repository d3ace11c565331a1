//! The timing constants of a tile, in unstalled cycles. The RTL, the model and the compiler take them from here.

/// Cycles from the firing of `in2agg` until the word can be read from the aggregator.
pub const AGGREGATOR_WRITE: u64 = 1;

/// Cycles from the firing of a controller that writes the SRAM until the row can be read.
pub const SRAM_WRITE: u64 = 1;

/// Cycles from the firing of `sram2tb` until the transpose buffer holds the row: the SRAM read, then the write.
pub const fn sram_to_transpose_buffer(sram_latency: u32) -> u64 {
    sram_latency as u64 + 1
}

/// Cycles from the firing of a controller that reads the SRAM (or, with latency 0, a register file) for an output until
/// the word is on the output.
pub const fn sram_to_output(sram_latency: u32) -> u64 {
    sram_latency as u64
}

/// Most cycles from a word on an input of a wide-fetch tile to the same word on an output, where nothing else is in the way:
/// a row is collected, moved when the SRAM is free, and fetched.
pub const fn wide_fetch_round_trip(fetch_width: u32, sram_latency: u32) -> u64 {
    fetch_width as u64 - 1 + AGGREGATOR_WRITE + SRAM_WRITE + sram_to_transpose_buffer(sram_latency)
}
