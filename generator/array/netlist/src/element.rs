//! A processing element at work.

use std::ops::Range;

use pushmem_pe::{ENABLE, Mode, Operand, PeConfiguration, Semantics};

use crate::history::{Histories, Output, Taken};
use crate::netlist::CellId;

/// The place of the register of a late product: behind those of the words that are operands.
const PRODUCT: usize = 3;

/// Why there are registers.
const REGISTERS: &str = "an element with enabled operands has registers";

/// A word that is an operand.
#[derive(Clone, Copy)]
pub(crate) enum WordOperand {
    Constant(u32),
    Taken(Option<Taken>),
    Held(Option<Taken>),
    Accumulated(u32),
}

/// A bit that is an operand.
#[derive(Clone, Copy)]
pub(crate) enum BitOperand {
    Constant(bool),
    Taken(Option<Taken>),
}

impl WordOperand {
    /// An operand whose input takes this.
    pub fn of(operand: Operand<u32>, taken: Option<Taken>) -> Self {
        match operand.mode {
            Mode::Constant => WordOperand::Constant(operand.constant),
            Mode::Held => WordOperand::Held(taken),
            Mode::Accumulated => WordOperand::Accumulated(operand.constant),
            Mode::Direct | Mode::Delayed(_) | Mode::Undefined(_) => WordOperand::Taken(taken),
        }
    }
}

impl BitOperand {
    /// An operand whose input takes this.
    pub fn of(operand: Operand<bool>, taken: Option<Taken>) -> Self {
        match operand.mode {
            Mode::Constant => BitOperand::Constant(operand.constant),
            _ => BitOperand::Taken(taken),
        }
    }
}

/// The registers of an element.
#[derive(PartialEq, Eq)]
pub(crate) struct State<Value> {
    /// Those of held and accumulated words, if there are any.
    registers: Option<[Value; 3]>,
    /// That of a late product.
    product: Option<Value>,
}

/// Room for the operands and the results of a block of cycles.
pub(crate) struct Scratch<Value> {
    words: [Vec<Value>; 3],
    bits: [Vec<Value>; 3],
    outcomes: [Vec<Value>; 2],
}

impl<Value: Copy + From<u32>> Scratch<Value> {
    /// Room for so many cycles.
    pub fn of(block: usize) -> Self {
        let room = || vec![Value::from(0); block];
        Scratch { words: [room(), room(), room()], bits: [room(), room(), room()], outcomes: [room(), room()] }
    }
}

/// A processing element.
pub(crate) struct Element<S: Semantics> {
    pub element: S::Element,
    pub words: [WordOperand; 3],
    pub bits: [BitOperand; 3],
    /// Its word and its bit, where they drive a net.
    pub outputs: [Option<Output>; 2],
    pub state: State<S::Value>,
}

impl<S: Semantics> Element<S> {
    /// The registers of a cell before the first cycle.
    pub fn state(cell: CellId, configuration: &PeConfiguration, is_late: bool, semantics: &S) -> State<S::Value> {
        let unknown = |place: usize| semantics.unknown(cell.raw(), place);
        let has_registers = configuration.words.iter().any(|word| word.mode.is_enabled());
        State { registers: has_registers.then(|| [0, 1, 2].map(unknown)), product: is_late.then(|| unknown(PRODUCT)) }
    }

    /// Executes these cycles.
    pub fn run(
        &mut self,
        semantics: &S,
        histories: &mut Histories<S::Value>,
        Scratch { words, bits, outcomes }: &mut Scratch<S::Value>,
        cycles: Range<usize>,
    ) {
        let (first, length) = (cycles.start, cycles.len());
        for (operand, to) in self.bits.iter().zip(bits.iter_mut()) {
            match *operand {
                BitOperand::Taken(taken) => histories.copy(taken, first, &mut to[..length]),
                BitOperand::Constant(bit) => to[..length].fill(u32::from(bit).into()),
            }
        }
        for (place, (operand, to)) in self.words.iter().zip(words.iter_mut()).enumerate() {
            match *operand {
                WordOperand::Constant(word) | WordOperand::Accumulated(word) => to[..length].fill(word.into()),
                WordOperand::Taken(taken) => histories.copy(taken, first, &mut to[..length]),
                WordOperand::Held(taken) => {
                    histories.copy(taken, first, &mut to[..length]);
                    let register = &mut self.state.registers.as_mut().expect(REGISTERS)[place];
                    for (word, enable) in to.iter_mut().zip(&bits[ENABLE][..length]) {
                        *register = semantics.enabled(*enable, *word, *register);
                        *word = *register;
                    }
                }
            }
        }
        let accumulates = |place: usize| matches!(self.words[place], WordOperand::Accumulated(_));
        let accumulated = [accumulates(0), accumulates(1), accumulates(2)];
        let ([a, b, c], [d, e, f], [word_outcomes, bit_outcomes]) = (words, bits, outcomes);
        let (words, bits) = ([&a[..length], &b[..length], &c[..length]], [&d[..length], &e[..length], &f[..length]]);
        let (word_outcomes, bit_outcomes) = (&mut word_outcomes[..length], &mut bit_outcomes[..length]);
        if accumulated == [false; 3] {
            semantics.outcomes(&self.element, words, bits, [word_outcomes, bit_outcomes]);
        } else {
            // Each outcome is an operand of the next one.
            let registers = self.state.registers.as_mut().expect(REGISTERS);
            for cycle in 0..length {
                let bits = [bits[0][cycle], bits[1][cycle], bits[2][cycle]];
                let operand = |place: usize| match words[place][cycle] {
                    word if accumulated[place] => semantics.enabled(bits[ENABLE], word, registers[place]),
                    word => word,
                };
                let (word, bit) = semantics.outcome(&self.element, [operand(0), operand(1), operand(2)], bits);
                (word_outcomes[cycle], bit_outcomes[cycle]) = (word, bit);
                for (register, accumulated) in registers.iter_mut().zip(accumulated) {
                    if accumulated {
                        *register = word;
                    }
                }
            }
        }
        let [words, bits] = [&*word_outcomes, &*bit_outcomes];
        let late = self.state.product.as_mut().map(|product| std::mem::replace(product, words[length - 1]));
        if let [Some(output), _] = self.outputs {
            match late {
                Some(product) => {
                    histories.put(output, first, product);
                    histories.paste(output, first + 1, &words[..length - 1]);
                }
                None => histories.paste(output, first, words),
            }
        }
        if let [_, Some(output)] = self.outputs {
            histories.paste(output, first, bits);
        }
    }
}
