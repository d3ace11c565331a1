//! Types of elements.

/// The type of an image's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// A bfloat16 number, 16 bits: its values are its words, as numbers without sign.
    Bf16,
    /// A float16 number, 16 bits, likewise.
    F16,
}

/// By its name.
impl serde::Serialize for Element {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Element {
    /// All types.
    pub const ALL: [Element; 9] = [
        Element::U8,
        Element::I8,
        Element::U16,
        Element::I16,
        Element::U32,
        Element::I32,
        Element::I64,
        Element::Bf16,
        Element::F16,
    ];

    /// The name, such as `u16`.
    pub fn name(self) -> &'static str {
        match self {
            Element::U8 => "u8",
            Element::I8 => "i8",
            Element::U16 => "u16",
            Element::I16 => "i16",
            Element::U32 => "u32",
            Element::I32 => "i32",
            Element::I64 => "i64",
            Element::Bf16 => "bf16",
            Element::F16 => "f16",
        }
    }

    /// The number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Element::U8 | Element::I8 => 8,
            Element::U16 | Element::I16 | Element::Bf16 | Element::F16 => 16,
            Element::U32 | Element::I32 => 32,
            Element::I64 => 64,
        }
    }

    /// The number of bytes in memory.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits() / 8)
    }

    /// Whether there are negative values.
    pub fn is_signed(self) -> bool {
        matches!(self, Element::I8 | Element::I16 | Element::I32 | Element::I64)
    }

    /// Whether these are numbers with a fraction, whose values are words.
    pub fn has_fraction(self) -> bool {
        matches!(self, Element::Bf16 | Element::F16)
    }

    /// The smallest value.
    pub fn min(self) -> i64 {
        if self.is_signed() { i64::MIN >> (64 - self.bits()) } else { 0 }
    }

    /// The largest value.
    pub fn max(self) -> i64 {
        if self.is_signed() { i64::MAX >> (64 - self.bits()) } else { (1 << self.bits()) - 1 }
    }

    /// Whether the type has this value.
    pub fn holds(self, value: i64) -> bool {
        (self.min()..=self.max()).contains(&value)
    }
}
