//! Types of values.

use pushmem_files::nearest;
use pushmem_float::Format;
use pushmem_images::Element;

pushmem_files::named! {
    /// The type of a value. Arrays and tables hold numbers, of 8, 16 or 32 bits; truth values exist only within an expression.
    pub enum Type {
        /// Unsigned, 8 bits.
        U8 = "u8",
        /// Signed, 8 bits.
        I8 = "i8",
        /// Unsigned, 16 bits.
        U16 = "u16",
        /// Signed, 16 bits.
        I16 = "i16",
        /// Unsigned, 32 bits.
        U32 = "u32",
        /// Signed, 32 bits: the type of loop variables.
        I32 = "i32",
        /// A bfloat16 number, 16 bits: its values are their words, as numbers without sign.
        Bf16 = Format::Bfloat16.name(),
        /// A float16 number, 16 bits: its values are their words, as numbers without sign.
        F16 = Format::Float16.name(),
        /// A truth value: 0 or 1.
        Bool = "bool",
    }
}

impl Type {
    /// Those of elements of arrays.
    pub(crate) const ELEMENTS: &[Type] = Type::ALL.split_last().expect("there are types").1;

    /// The types to write instead of a name that is no type, where these are allowed. The names of floating point resemble
    /// some of integers, which are not meant.
    pub(crate) fn instead_of(name: &str, allowed: &[Type]) -> String {
        let names: Vec<&str> = allowed.iter().map(|allowed| allowed.name()).collect();
        let list = format!("the types here are {}", names.join(", "));
        match nearest(name, names.iter().copied()) {
            _ if is_floating_point(name) => {
                format!("the floating point here is bf16 and f16; {list}")
            }
            Some(near) => format!("did you mean `{near}`? {list}"),
            None => list,
        }
    }

    /// The number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Type::U8 | Type::I8 => 8,
            Type::U16 | Type::I16 | Type::Bf16 | Type::F16 => 16,
            Type::U32 | Type::I32 => 32,
            Type::Bool => 1,
        }
    }

    /// Whether there are negative values.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::I8 | Type::I16 | Type::I32)
    }

    /// The smallest value.
    pub fn min(self) -> i64 {
        if self.is_signed() { -1 << (self.bits() - 1) } else { 0 }
    }

    /// The largest value.
    pub fn max(self) -> i64 {
        if self.is_signed() { (1 << (self.bits() - 1)) - 1 } else { (1 << self.bits()) - 1 }
    }

    /// Whether the type has this value.
    pub fn holds(self, value: i64) -> bool {
        (self.min()..=self.max()).contains(&value)
    }

    /// The value of this type with the same low bits.
    pub fn wrap(self, value: i64) -> i64 {
        let unused = 64 - self.bits();
        if self.is_signed() { value << unused >> unused } else { ((value as u64) << unused >> unused) as i64 }
    }

    /// The format of numbers with a fraction, if this is their type.
    pub const fn format(self) -> Option<Format> {
        match self {
            Type::Bf16 => Some(Format::Bfloat16),
            Type::F16 => Some(Format::Float16),
            _ => None,
        }
    }

    /// The type of the numbers of a format.
    pub const fn of_format(format: Format) -> Type {
        match format {
            Format::Bfloat16 => Type::Bf16,
            Format::Float16 => Type::F16,
        }
    }

    /// Whether this is the type of integers.
    pub fn is_integer(self) -> bool {
        self.format().is_none() && self != Type::Bool
    }

    /// The type of integers that has the words of this type as its numbers, as datapaths compute with them.
    pub fn as_words(self) -> Type {
        if self.format().is_some() { Type::U16 } else { self }
    }

    /// Whether sums of this type depend on the order of what is added: those of integers wrap, and do not.
    pub fn sums_in_order(self) -> bool {
        self.format().is_some()
    }

    /// A value of this type as one of another: of integers and truth values the same low bits; to a number with a
    /// fraction the nearest, of two the even one, and from it the nearest integer towards zero.
    pub fn cast(self, to: Type, value: i64) -> i64 {
        match (self.format(), to.format()) {
            _ if self == to => value,
            (Some(own), Some(other)) => other.from_f64(own.to_f64(value as u16)).into(),
            (Some(own), None) => own.to_integer(value as u16, to.min(), to.max()),
            (None, Some(other)) => other.from_integer(value).into(),
            (None, None) => to.wrap(value),
        }
    }

    /// A value of this type as programs write it, without its type.
    pub fn text(self, value: i64) -> String {
        match self.format() {
            Some(format) => format.to_decimal(value as u16).unwrap_or_else(|| "no finite number".to_owned()),
            None if self == Type::Bool => (value != 0).to_string(),
            None => value.to_string(),
        }
    }

    /// The unsigned type of as many bits.
    pub fn unsigned(self) -> Type {
        match self {
            Type::I8 => Type::U8,
            Type::I16 => Type::U16,
            Type::I32 => Type::U32,
            unsigned => unsigned,
        }
    }

    /// The type as elements of an array, if arrays may hold it: that of the same name.
    pub fn element(self) -> Option<Element> {
        Element::of_name(self.name())
    }

    /// The parts of an element in the memory of a system: bytes of 8 bits, or words of 16, of which an element of 32 bits has
    /// [two](Type::words), if arrays may hold it.
    pub fn in_memory(self) -> Option<Element> {
        if self.bits() > Word::BITS { Some(Element::U16) } else { self.element() }
    }

    /// The words of an element in hardware, low word first.
    pub fn words(self) -> &'static [Word] {
        if self.bits() > Word::BITS { &[Word::Low, Word::High] } else { &[Word::Low] }
    }

    /// The element of this type that these words are, low word first.
    pub fn join(self, words: &[u16]) -> i64 {
        let bits = words.iter().rev().fold(0, |bits, word| (bits << Word::BITS) | i64::from(*word));
        self.wrap(bits)
    }
}

pushmem_files::named! {
    /// A word of an element in hardware, where words have [16 bits](Word::BITS): an element of 32 bits has two, which are stored, delayed
    /// and passed on side by side.
    #[derive(PartialOrd, Ord)]
    pub enum Word {
        /// The low 16 bits: the only word of elements of 8 and 16 bits, which are extended by their type.
        Low = "low",
        /// The high 16 bits of an element of 32.
        High = "high",
    }
}

impl Word {
    /// Bits of a word.
    pub const BITS: u32 = 16;

    /// This word of a value.
    pub fn of(self, value: i64) -> u16 {
        (value >> (Word::BITS * self.number() as u32)) as u16
    }

    /// A number of which this word has these bits, and the others none.
    pub fn shifted(self, bits: u16) -> i64 {
        i64::from(bits) << (Word::BITS * self.number() as u32)
    }

    /// Its place among the words of an element, low word first.
    pub fn number(self) -> usize {
        match self {
            Word::Low => 0,
            Word::High => 1,
        }
    }

    /// The end of the names of what carries it, beside what carries the low word.
    pub fn suffix(self) -> &'static str {
        match self {
            Word::Low => "",
            Word::High => "_high",
        }
    }
}

/// Whether languages have floating point of this name.
fn is_floating_point(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let digits = ["bfloat", "float", "bf", "f"].iter().find_map(|stem| name.strip_prefix(stem));
    ["double", "half", "real"].contains(&name.as_str())
        || digits.is_some_and(|digits| name.len() > 1 && digits.chars().all(|digit| digit.is_ascii_digit()))
}
