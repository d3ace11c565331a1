//! Processing elements in their tiles.

use pushmem_bitstream::TileConfiguration;
use pushmem_fabric::Layer;
use pushmem_pe::{Mode, Operation, PeSpec};
use pushmem_resources::{Meaning, TileLayout};

use crate::route::Slot;

/// Operands of a layer.
pub const OPERANDS: usize = 3;

/// A PE tile in use. Constants, tracks and registers of operands are all values.
pub struct PeTile {
    /// The operation, if the opcode is that of one. The result of any other is 0.
    pub operation: Option<Operation>,
    /// The table of the three bits, if its entry is the resulting bit.
    pub lut: Option<u8>,
    pub words: [Slot; OPERANDS],
    pub bits: [Slot; OPERANDS],
    pub result: Slot,
    pub result_bit: Slot,
}

impl PeTile {
    /// Puts the results into the values.
    pub fn show(&self, word_bits: u32, values: &mut [u32]) {
        let [d, e, f] = self.bits.map(|slot| values[slot as usize]);
        let outcome = self
            .operation
            .map(|operation| operation.evaluate(word_bits, self.words.map(|slot| values[slot as usize]), d != 0));
        let entry = |table: u8| u32::from(table) >> (d + 2 * e + 4 * f) & 1;
        let bit = outcome.map_or(0, |outcome| outcome.bit.into());
        values[self.result as usize] = outcome.map_or(0, |outcome| outcome.word);
        values[self.result_bit as usize] = self.lut.map_or(bit, entry);
    }
}

/// The configured core of a PE tile.
pub struct Core<'a> {
    pub spec: &'a PeSpec,
    pub layout: &'a TileLayout,
    pub tile: &'a TileConfiguration,
}

impl Core<'_> {
    fn value(&self, meaning: Meaning) -> u32 {
        self.tile.value(self.layout, meaning)
    }

    /// The operation of the opcode, if there is one.
    pub fn operation(&self) -> Option<Operation> {
        self.spec.operations.get(self.value(Meaning::Operation) as usize).copied()
    }

    /// The table, if it is selected.
    pub fn lut(&self) -> Option<u8> {
        (self.value(Meaning::LutSelected) != 0).then(|| self.value(Meaning::Lut) as u8)
    }

    /// The mode of an operand.
    pub fn mode(&self, layer: Layer, operand: u32) -> Mode {
        Mode::of(self.value(Meaning::Mode { layer, operand }))
    }

    /// The constant of an operand.
    pub fn constant(&self, layer: Layer, operand: u32) -> u32 {
        self.value(Meaning::Constant { layer, operand })
    }
}
