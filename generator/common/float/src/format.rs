//! The formats.

use std::fmt;

/// The bit of the sign.
pub const SIGN: u16 = 0x8000;

pushmem_files::named! {
    /// A binary format of IEEE 754 in a word of 16 bits: a sign, an exponent and a fraction.
    #[derive(PartialOrd, Ord)]
    pub enum Format {
        /// The upper half of single precision: its range, with 8 significant bits.
        Bfloat16 = "bf16",
        /// Half precision, binary16 of IEEE 754: 11 significant bits, numbers to 65504.
        Float16 = "f16",
    }
}

impl Format {
    /// Bits of the exponent. All else follows from it.
    pub const fn exponent_bits(self) -> u32 {
        match self {
            Format::Bfloat16 => 8,
            Format::Float16 => 5,
        }
    }

    /// Bits of the fraction.
    pub const fn fraction_bits(self) -> u32 {
        u16::BITS - 1 - self.exponent_bits()
    }

    /// The numbers with one exponent and one sign.
    pub const fn fractions(self) -> u16 {
        1 << self.fraction_bits()
    }

    /// The bias of exponents: the exponent of 1.
    pub const fn bias(self) -> u16 {
        (1 << (self.exponent_bits() - 1)) - 1
    }

    /// The word of 1.
    pub const fn one(self) -> u16 {
        self.word(self.bias(), 0)
    }

    /// The least of the words that stand for no finite number, but for the sign.
    pub const fn infinity(self) -> u16 {
        self.word((1 << self.exponent_bits()) - 1, 0)
    }

    /// The word of the largest number.
    pub const fn largest(self) -> u16 {
        self.infinity() - 1
    }

    /// The result of operations that have no number, as the hardware gives it.
    pub const fn not_a_number(self) -> u16 {
        self.infinity() | (self.fractions() / 2)
    }

    /// The word of a number without sign.
    pub const fn word(self, exponent: u16, fraction: u16) -> u16 {
        exponent * self.fractions() + fraction
    }

    /// How names of operations begin that are those of this format.
    pub const fn prefix(self) -> &'static str {
        match self {
            Format::Bfloat16 => "bfloat",
            Format::Float16 => "float16",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Format::Bfloat16 => "bfloat16",
            Format::Float16 => "float16",
        })
    }
}
