//! Published figures.

use serde::{Deserialize, Serialize};

/// The file with all of them. The tables of README.md and of the book are made from it, too.
const FILE: &str = include_str!("../published.json");

/// The published figures of a program on a kind of tile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The program.
    pub program: String,
    /// The size of its output, innermost dimension first: programs of other sizes have other figures.
    pub output: Vec<i64>,
    /// The tile that ours is compiled for, which is of the published kind.
    pub tile: String,
    /// Where the figures are.
    pub source: String,
    /// The schedule, where a program has several.
    pub schedule: Option<String>,
    /// Cycles of a run.
    pub cycles: Option<u64>,
    /// Cycles when one stage runs after the other.
    pub sequential_cycles: Option<u64>,
    /// Words in SRAM.
    pub sram_words: Option<u64>,
    /// Words in SRAM when one stage runs after the other.
    pub sequential_words: Option<u64>,
    /// Memory tiles, those with tables included.
    pub memory_tiles: Option<u64>,
    /// Memory tiles when every delay is in one.
    pub memory_tiles_without_shift_registers: Option<u64>,
    /// Processing elements.
    pub processing_elements: Option<u64>,
    /// Words in shift registers.
    pub shift_register_words: Option<u64>,
    /// Resources of the published design by Vivado HLS on an FPGA. They are for tables of the book, not for the report of a build.
    #[serde(default, skip_serializing)]
    pub fpga: Option<String>,
}

/// The published figures of the program of this name whose output has this size, on this tile.
pub fn published(program: &str, output: &[i64], tile: &str) -> Option<Published> {
    let all: Vec<Published> = serde_json::from_str(FILE).expect("a test reads the file");
    all.into_iter().find(|entry| entry.program == program && entry.output == output && entry.tile == tile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_program_size_and_tile() {
        let cycles = |size: i64, tile: &str| published("gaussian", &[size, size], tile).map(|found| found.cycles);
        assert_eq!(cycles(62, "amber"), Some(Some(4102)));
        assert_eq!(cycles(62, "dual_port"), Some(None));
        assert_eq!(cycles(4094, "amber"), None);
    }
}
