//! The modes of operands, and their numbers.

use crate::spec::bits_for;

/// The place among the bits of the one that enables held and accumulated operands: `f`.
pub const ENABLE: usize = 2;

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The constant of the configuration.
    Constant,
    /// The track, in the same cycle.
    Direct,
    /// The track, so many cycles ago, 1 or more.
    Delayed(u32),
    /// The track in cycles in which the enable is 1, and what it was in the last of them in all others.
    Held,
    /// The constant in cycles in which the enable is 1, and the word of the result of the cycle before in all others.
    Accumulated,
    /// A number of no mode, for which the operand is 0.
    Undefined(u32),
}

impl Mode {
    /// Whether the operand takes the track of its input.
    pub fn takes_track(self) -> bool {
        matches!(self, Mode::Direct | Mode::Delayed(_) | Mode::Held)
    }

    /// Whether the operand depends on the enable.
    pub fn is_enabled(self) -> bool {
        matches!(self, Mode::Held | Mode::Accumulated)
    }

    /// The cycles by which the operand is late.
    pub fn delay(self) -> u32 {
        match self {
            Mode::Delayed(cycles) => cycles,
            _ => 0,
        }
    }
}

/// The modes that the operands of a processing element have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// The longest delay of an operand, in cycles.
    pub delay: u32,
    /// Whether words can be held.
    pub held: bool,
    /// The word that can be accumulated, its place.
    pub accumulator: Option<u32>,
}

impl Modes {
    /// How many numbers are those of modes, from 0: constant, direct, delayed by 1 cycle, by 2, and so on, held, accumulated.
    pub fn count(self) -> u32 {
        self.delay + 2 + u32::from(self.held) + u32::from(self.accumulator.is_some())
    }

    /// Bits of a number.
    pub fn bits(self) -> u32 {
        bits_for(self.count())
    }

    /// The number of a mode, which must be one of these.
    pub fn number(self, mode: Mode) -> u32 {
        match mode {
            Mode::Constant => 0,
            Mode::Direct => 1,
            Mode::Delayed(cycles) => 1 + cycles,
            Mode::Held => 2 + self.delay,
            Mode::Accumulated => 3 + self.delay,
            Mode::Undefined(number) => number,
        }
    }

    /// The mode of a bit with a number.
    pub fn of_bit(self, number: u32) -> Mode {
        match number {
            0 => Mode::Constant,
            1 => Mode::Direct,
            number if number < 2 + self.delay => Mode::Delayed(number - 1),
            number => Mode::Undefined(number),
        }
    }

    /// The mode of the word at a place with a number.
    pub fn of_word(self, place: u32, number: u32) -> Mode {
        match self.of_bit(number) {
            Mode::Undefined(_) if self.held && number == self.number(Mode::Held) => Mode::Held,
            Mode::Undefined(_) if self.accumulator == Some(place) && number == self.number(Mode::Accumulated) => {
                Mode::Accumulated
            }
            mode => mode,
        }
    }
}
