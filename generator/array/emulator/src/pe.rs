//! Processing elements in their tiles.

use pushmem_bitstream::TileConfiguration;
use pushmem_fabric::Layer;
use pushmem_pe::{Configuration, Mode, Operand, Pe, PeSpec};
use pushmem_resources::{Meaning, TileLayout};

use crate::route::Slot;

/// A PE tile in use.
pub struct PeTile {
    pub pe: Pe,
    word_bits: u32,
    /// Whether the opcode is that of an operation. The result of any other is 0.
    has_operation: bool,
    /// Whether a register takes a result.
    pub is_seen: bool,
    /// Whether an operand is late.
    pub is_delayed: bool,
    pub words: [Slot; 3],
    pub bits: [Slot; 3],
    pub result: Slot,
    pub result_bit: Slot,
}

impl PeTile {
    pub fn new(pe: Pe, word_bits: u32, has_operation: bool, inputs: [[Slot; 3]; 2], outputs: [Slot; 2]) -> Self {
        let ([words, bits], [result, result_bit]) = (inputs, outputs);
        let Configuration { words: of_words, bits: of_bits, .. } = pe.configuration;
        let is_late = |mode: Mode| matches!(mode, Mode::Delayed(_));
        let is_delayed =
            of_words.iter().any(|operand| is_late(operand.mode)) || of_bits.iter().any(|operand| is_late(operand.mode));
        PeTile { pe, word_bits, has_operation, is_seen: true, is_delayed, words, bits, result, result_bit }
    }

    fn operands(&self, values: &[u32]) -> ([u32; 3], [bool; 3]) {
        (self.words.map(|slot| values[slot]), self.bits.map(|slot| values[slot] != 0))
    }

    /// Adds the constants of operands to the values, and takes them from there: unless an operand is late, its value is in its slot.
    pub fn place_constants(&mut self, values: &mut Vec<u32>) {
        let Configuration { words, bits, .. } = self.pe.configuration;
        let bits = bits.map(|operand| Operand { mode: operand.mode, constant: operand.constant.into() });
        let slots = self.words.iter_mut().chain(&mut self.bits);
        for (slot, operand) in slots.zip(words.into_iter().chain(bits)) {
            if operand.mode == Mode::Constant {
                *slot = values.len();
                values.push(operand.constant);
            }
        }
    }

    /// Puts the results into the values.
    pub fn show(&self, values: &mut [u32]) {
        let (words, bits) = self.operands(values);
        let outcome = match self.is_delayed {
            true => self.pe.results(words, bits),
            false => self.pe.configuration.outcome(self.word_bits, words, bits),
        };
        let has_bit = self.has_operation || self.pe.configuration.lut.is_some();
        values[self.result] = if self.has_operation { outcome.word } else { 0 };
        values[self.result_bit] = u32::from(outcome.bit && has_bit);
    }

    /// Ends a cycle.
    pub fn step(&mut self, values: &[u32]) {
        let (words, bits) = self.operands(values);
        self.pe.step(words, bits);
    }
}

/// The configuration of the processing element of a tile, and whether its opcode is that of an operation.
pub fn configuration(spec: &PeSpec, layout: &TileLayout, tile: &TileConfiguration) -> (Configuration, bool) {
    let value = |meaning: Meaning| tile.value(layout, meaning);
    let mode = |layer: Layer, operand: u32| Mode::of(value(Meaning::Mode { layer, operand }));
    let constant = |layer: Layer, operand: u32| value(Meaning::Constant { layer, operand });
    let operation = spec.operations.get(value(Meaning::Operation) as usize).copied();
    let configuration = Configuration {
        operation: operation.unwrap_or(spec.operations[0]),
        words: [0, 1, 2]
            .map(|place| Operand { mode: mode(Layer::Word, place), constant: constant(Layer::Word, place) }),
        bits: [0, 1, 2]
            .map(|place| Operand { mode: mode(Layer::Bit, place), constant: constant(Layer::Bit, place) != 0 }),
        lut: (value(Meaning::LutSelected) != 0).then(|| value(Meaning::Lut) as u8),
    };
    (configuration, operation.is_some())
}
