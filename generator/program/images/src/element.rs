//! Types of elements.

pushmem_files::named! {
    /// The type of an image's elements.
    pub enum Element {
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
        /// Signed, 32 bits.
        I32 = "i32",
        /// Signed, 64 bits.
        I64 = "i64",
        /// A bfloat16 number, 16 bits: its values are its words, as numbers without sign.
        Bf16 = "bf16",
        /// A float16 number, 16 bits, likewise.
        F16 = "f16",
    }
}

impl Element {
    /// The number of bits.
    #[inline]
    pub fn bits(self) -> u32 {
        match self {
            Element::U8 | Element::I8 => 8,
            Element::U16 | Element::I16 | Element::Bf16 | Element::F16 => 16,
            Element::U32 | Element::I32 => 32,
            Element::I64 => 64,
        }
    }

    /// The number of bytes in memory.
    #[inline]
    pub fn bytes(self) -> u64 {
        self.size() as u64
    }

    #[inline]
    pub(crate) fn size(self) -> usize {
        self.bits() as usize / 8
    }

    /// The value in memory in these bytes, low byte first.
    ///
    /// # Panics
    /// If they are not as many as the type has.
    #[inline]
    pub fn value(self, bytes: &[u8]) -> i64 {
        match (self.is_signed(), bytes) {
            (false, &[byte]) => byte.into(),
            (true, &[byte]) => i64::from(byte as i8),
            (false, &[low, high]) => u16::from_le_bytes([low, high]).into(),
            (true, &[low, high]) => i16::from_le_bytes([low, high]).into(),
            (false, &[first, second, third, last]) => u32::from_le_bytes([first, second, third, last]).into(),
            (true, &[first, second, third, last]) => i32::from_le_bytes([first, second, third, last]).into(),
            _ => i64::from_le_bytes(*bytes.as_array().expect("no type has another number of bytes")),
        }
    }

    /// Whether there are negative values.
    #[inline]
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
