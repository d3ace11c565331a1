//! The cycle-accurate model of a processing element.

use crate::modes::{ENABLE, Mode};
use crate::operation::{Operation, Outcome};
use crate::spec::PeSpec;

/// An operand of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand<Value> {
    /// Where it comes from.
    pub mode: Mode,
    /// Its constant, which only the modes [`Mode::Constant`] and [`Mode::Accumulated`] use.
    pub constant: Value,
}

/// The configuration of a processing element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeConfiguration {
    /// The operation, one of the specification's.
    pub operation: Operation,
    /// The words `a`, `b`, `c`.
    pub words: [Operand<u32>; 3],
    /// The bits `d`, `e`, `f`. With held operands, `f` is their enable, whatever else reads it.
    pub bits: [Operand<bool>; 3],
    /// The table whose entry `4·f + 2·e + d` is the resulting bit, in place of the bit of the operation.
    pub lut: Option<u8>,
}

impl PeConfiguration {
    /// The results for operands of words of `word_bits`, whatever their modes.
    pub fn outcome(&self, word_bits: u32, words: [u32; 3], [d, e, f]: [bool; 3]) -> Outcome {
        let mut outcome = self.operation.evaluate(word_bits, words, d);
        if let Some(table) = self.lut {
            let entry = u8::from(d) + 2 * u8::from(e) + 4 * u8::from(f);
            outcome.bit = table >> entry & 1 == 1;
        }
        outcome
    }
}

/// A processing element at work. Operands that its specification does not have are 0.
#[derive(Clone, Debug)]
pub struct Pe {
    word_bits: u32,
    operands: (usize, usize),
    /// The configuration, which may change between cycles.
    pub configuration: PeConfiguration,
    words: [Vec<u32>; 3],
    bits: [Vec<bool>; 3],
    /// Whether words of products come from a register, and its word.
    products_are_late: bool,
    product: u32,
}

impl Pe {
    /// A processing element whose registers hold 0; in the hardware they hold anything.
    pub fn new(spec: &PeSpec, configuration: PeConfiguration) -> Self {
        let delay = spec.operand_delay as usize;
        Self {
            word_bits: spec.word_bits,
            operands: (spec.word_operands() as usize, spec.bit_operands() as usize),
            configuration,
            words: std::array::from_fn(|_| vec![0; delay]),
            bits: std::array::from_fn(|_| vec![false; delay]),
            products_are_late: spec.multiplier_cycles > 1,
            product: 0,
        }
    }

    /// The results while the tracks have these values.
    pub fn results(&self, words: [u32; 3], bits: [bool; 3]) -> Outcome {
        let outcome = self.computed(words, bits);
        if self.has_late_product() { Outcome { word: self.product, ..outcome } } else { outcome }
    }

    /// Whether the word is a product that leaves a cycle later.
    fn has_late_product(&self) -> bool {
        self.products_are_late && self.configuration.operation.is_product()
    }

    /// The results of the operands that are there.
    fn computed(&self, words: [u32; 3], bits: [bool; 3]) -> Outcome {
        let PeConfiguration { operation, lut, .. } = self.configuration;
        // Of operands that the result does not depend on, any value does.
        let needed_words = self.operands.0.min(operation.words());
        let needed_bits = self.operands.1.min(if lut.is_some() { 3 } else { operation.uses_bit().into() });
        let enable = self.bit(ENABLE, bits);
        let word = |place: usize| match place < needed_words {
            true => taken(self.configuration.words[place], words[place], &self.words[place], enable),
            false => 0,
        };
        let bit = |place: usize| place < needed_bits && self.bit(place, bits);
        self.configuration.outcome(self.word_bits, std::array::from_fn(word), std::array::from_fn(bit))
    }

    /// The value of a bit that is an operand.
    fn bit(&self, place: usize, bits: [bool; 3]) -> bool {
        // Nothing holds a bit.
        place < self.operands.1 && taken(self.configuration.bits[place], bits[place], &self.bits[place], false)
    }

    /// Ends a cycle in which the tracks have these values.
    pub fn step(&mut self, words: [u32; 3], bits: [bool; 3]) {
        let (result, enable) = (self.computed(words, bits).word, self.bit(ENABLE, bits));
        if self.has_late_product() {
            self.product = result;
        }
        for place in 0..3 {
            let mode = self.configuration.words[place].mode;
            match mode {
                Mode::Held if enable => self.words[place][0] = words[place],
                Mode::Accumulated => self.words[place][0] = result,
                _ => shift(mode, words[place], &mut self.words[place]),
            }
            shift(self.configuration.bits[place].mode, bits[place], &mut self.bits[place]);
        }
    }
}

/// The value of an operand, of the constant, the track, and the registers behind it.
fn taken<Value: Copy + Default>(operand: Operand<Value>, track: Value, registers: &[Value], enable: bool) -> Value {
    match operand.mode {
        Mode::Constant => operand.constant,
        Mode::Direct => track,
        Mode::Delayed(cycles) => registers[cycles as usize - 1],
        Mode::Held if enable => track,
        Mode::Accumulated if enable => operand.constant,
        Mode::Held | Mode::Accumulated => registers[0],
        Mode::Undefined(_) => Value::default(),
    }
}

/// The registers that a delay needs take the value before them. A number of no mode moves all.
fn shift<Value: Copy>(mode: Mode, track: Value, registers: &mut [Value]) {
    let moved = match mode {
        Mode::Delayed(cycles) => cycles as usize,
        Mode::Undefined(_) => registers.len(),
        Mode::Constant | Mode::Direct | Mode::Held | Mode::Accumulated => return,
    };
    registers[..moved].rotate_right(1);
    registers[0] = track;
}
