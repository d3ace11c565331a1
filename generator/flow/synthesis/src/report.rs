//! The results of synthesis.

use std::fmt::{Display, Formatter, Result};

use serde::{Deserialize, Serialize};

use crate::block::BlockKind;
use crate::job::Optimize;
use crate::path::{Path, Paths};

/// The modules of one kind, all instances together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Their kind.
    pub block: BlockKind,
    /// Instances of them.
    pub instances: u32,
    /// Cells of the library, flip-flops included.
    pub cells: u32,
    /// Flip-flops.
    pub flip_flops: u32,
    /// Memory macros.
    pub macros: u32,
    /// Area in the unit of the library, square micrometres as a rule. A macro without a library file counts what its binding
    /// says.
    pub area: f64,
}

/// Power at the clock of the report, in milliwatts, with the activity that OpenSTA assumes for inputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// Inside cells.
    pub internal_mw: f64,
    /// Of nets that switch.
    pub switching_mw: f64,
    /// At rest.
    pub leakage_mw: f64,
}

/// Area, speed and power of a design.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SynthesisReport {
    /// The top module.
    pub design: String,
    /// The cell library.
    pub library: String,
    /// The goal of the mapping.
    pub optimize: Optimize,
    /// The clock period that power is for, in picoseconds.
    pub clock_ps: u32,
    /// Area by kind of block.
    pub blocks: Vec<Block>,
    /// The part of the area that bindings of macros without a library file give.
    pub macro_area: f64,
    /// Whether the macros' own timing is known; if not, paths end at their pins.
    pub timed_macros: bool,
    /// The longest paths.
    pub paths: Paths,
    /// Power, where OpenSTA knows it.
    pub power: Option<Power>,
    /// Why it is not known, in one line, if it is not.
    pub power_unknown: Option<String>,
}

impl SynthesisReport {
    /// Area of all blocks.
    pub fn area(&self) -> f64 {
        self.blocks.iter().map(|block| block.area).sum()
    }

    /// Area of all blocks but the configuration registers.
    pub fn area_without_registers(&self) -> f64 {
        self.blocks.iter().filter(|block| block.block != BlockKind::Registers).map(|block| block.area).sum()
    }

    /// The least clock period in picoseconds: the longest path from register to register.
    pub fn minimum_period_ps(&self) -> Option<f64> {
        self.paths.registers.as_ref().map(Path::period_ps)
    }
}

impl Display for SynthesisReport {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let total = self.area();
        let goal = self.optimize.name();
        writeln!(formatter, "{} in {}, for {goal}", self.design, self.library)?;
        writeln!(
            formatter,
            "{:<18} {:>9} {:>8} {:>10} {:>7} {:>12} {:>7}",
            "block", "instances", "cells", "flip-flops", "macros", "area um2", "share"
        )?;
        let all = Block {
            block: BlockKind::Rest,
            instances: self.blocks.iter().map(|block| block.instances).sum(),
            cells: self.blocks.iter().map(|block| block.cells).sum(),
            flip_flops: self.blocks.iter().map(|block| block.flip_flops).sum(),
            macros: self.blocks.iter().map(|block| block.macros).sum(),
            area: total,
        };
        let named = self.blocks.iter().map(|block| (block.block.title(), block));
        for (name, block) in named.chain([("total".to_owned(), &all)]) {
            let share = 100.0 * block.area / total.max(f64::MIN_POSITIVE);
            writeln!(
                formatter,
                "{name:<18} {:>9} {:>8} {:>10} {:>7} {:>12.0} {share:>5.1} %",
                block.instances, block.cells, block.flip_flops, block.macros, block.area
            )?;
        }
        writeln!(formatter, "{:<18} {:>58.0}", "without registers", self.area_without_registers())?;
        if !self.timed_macros && all.macros > 0 {
            let area = if self.macro_area > 0.0 { "the area of their binding" } else { "no area" };
            writeln!(
                formatter,
                "The macros count {area}, and paths end at their pins: there is no library file of them."
            )?;
        }
        if let Some(period) = self.minimum_period_ps() {
            let included = match (all.macros, self.timed_macros) {
                (0, _) => "register to register",
                (_, true) => "between registers and SRAM macros",
                (_, false) => "register to register, SRAM macros outside",
            };
            writeln!(formatter, "minimum period     {period:.0} ps, {included}")?;
        }
        let paths = [
            ("register path", &self.paths.registers),
            ("input path", &self.paths.inputs),
            ("output path", &self.paths.outputs),
            ("through path", &self.paths.through),
            ("track to register", &self.paths.tracks_in),
            ("register to track", &self.paths.tracks_out),
            ("track to track", &self.paths.tracks_through),
        ];
        for (name, path) in paths {
            let Some(Path { from, to, gates, delay_ps, cycles, slowest }) = path else { continue };
            let half = if *cycles < 1.0 { " in half a cycle" } else { "" };
            write!(formatter, "{name:<18} {delay_ps:.0} ps{half}, {gates} gates")?;
            if let Some((cell, delay)) = slowest {
                write!(formatter, ", the slowest {cell} with {delay:.0} ps")?;
            }
            writeln!(formatter, "\n{:<18} from {from}\n{:<18} to {to}", "", "")?;
        }
        if let Some(power) = self.power {
            let sum = power.internal_mw + power.switching_mw + power.leakage_mw;
            writeln!(
                formatter,
                "power              {sum:.3} mW at {} ps, assumed: {:.3} in cells, {:.3} in nets, {:.3} at rest",
                self.clock_ps, power.internal_mw, power.switching_mw, power.leakage_mw
            )?;
        }
        if let Some(why) = &self.power_unknown {
            writeln!(formatter, "power              not known: {why}")?;
        }
        Ok(())
    }
}
