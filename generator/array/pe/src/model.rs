//! The cycle-accurate model of a processing element.

use crate::operation::{Operation, Outcome};
use crate::spec::PeSpec;

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The constant of the configuration.
    Constant,
    /// The track, in the same cycle.
    Direct,
    /// The track, so many cycles ago, 1 or more.
    Delayed(u32),
}

impl Mode {
    /// The number of the mode in the configuration: 0, 1, or 1 more than the delay.
    pub fn number(self) -> u32 {
        match self {
            Mode::Constant => 0,
            Mode::Direct => 1,
            Mode::Delayed(cycles) => 1 + cycles,
        }
    }

    /// The mode of a number.
    pub fn of(number: u32) -> Self {
        match number {
            0 => Mode::Constant,
            1 => Mode::Direct,
            number => Mode::Delayed(number - 1),
        }
    }
}

/// An operand of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand<Value> {
    /// Where it comes from.
    pub mode: Mode,
    /// Its constant, which only the mode [`Mode::Constant`] uses.
    pub constant: Value,
}

/// The configuration of a processing element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// The operation, one of the specification's.
    pub operation: Operation,
    /// The words `a`, `b`, `c`.
    pub words: [Operand<u32>; 3],
    /// The bits `d`, `e`, `f`.
    pub bits: [Operand<bool>; 3],
    /// The table whose entry `4·f + 2·e + d` is the resulting bit, in place of the bit of the operation.
    pub lut: Option<u8>,
}

impl Configuration {
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
    pub configuration: Configuration,
    words: [Vec<u32>; 3],
    bits: [Vec<bool>; 3],
}

impl Pe {
    /// A processing element whose registers hold 0; in the hardware they hold anything.
    pub fn new(spec: &PeSpec, configuration: Configuration) -> Self {
        let delay = spec.operand_delay as usize;
        Self {
            word_bits: spec.word_bits,
            operands: (spec.word_operands() as usize, spec.bit_operands() as usize),
            configuration,
            words: std::array::from_fn(|_| vec![0; delay]),
            bits: std::array::from_fn(|_| vec![false; delay]),
        }
    }

    /// The results while the tracks have these values.
    pub fn results(&self, words: [u32; 3], bits: [bool; 3]) -> Outcome {
        let Configuration { operation, lut, .. } = self.configuration;
        // Of operands that the result does not depend on, any value does.
        let needed_words = self.operands.0.min(operation.words());
        let needed_bits = self.operands.1.min(if lut.is_some() { 3 } else { operation.uses_bit().into() });
        let word = |place: usize| match place < needed_words {
            true => taken(self.configuration.words[place], words[place], &self.words[place]),
            false => 0,
        };
        let bit = |place: usize| match place < needed_bits {
            true => taken(self.configuration.bits[place], bits[place], &self.bits[place]),
            false => false,
        };
        self.configuration.outcome(self.word_bits, std::array::from_fn(word), std::array::from_fn(bit))
    }

    /// Ends a cycle in which the tracks have these values.
    pub fn step(&mut self, words: [u32; 3], bits: [bool; 3]) {
        for place in 0..3 {
            shift(self.configuration.words[place].mode, words[place], &mut self.words[place]);
            shift(self.configuration.bits[place].mode, bits[place], &mut self.bits[place]);
        }
    }
}

/// The value of an operand, of the constant, the track, and the registers behind it.
fn taken<Value: Copy + Default>(operand: Operand<Value>, track: Value, registers: &[Value]) -> Value {
    match operand.mode {
        Mode::Constant => operand.constant,
        Mode::Direct => track,
        // A mode beyond the last register is none.
        Mode::Delayed(cycles) => registers.get(cycles as usize - 1).copied().unwrap_or_default(),
    }
}

/// The registers that the mode needs take the value before them.
fn shift<Value: Copy>(mode: Mode, track: Value, registers: &mut [Value]) {
    if let Mode::Delayed(cycles) = mode {
        let needed = registers.len().min(cycles as usize);
        registers[..needed].rotate_right(1);
        registers[0] = track;
    }
}
