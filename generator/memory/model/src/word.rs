//! Words that know whether anybody wrote them.

/// A data word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Word {
    /// Its bits.
    pub value: u64,
    /// Whether they follow from written words; memories start undefined.
    pub defined: bool,
}

impl Word {
    /// A word that was written.
    pub fn new(value: u64) -> Self {
        Word { value, defined: true }
    }

    /// Whether it is another word, as far as anybody wrote that one.
    pub(crate) fn refines(self, other: Word) -> bool {
        !other.defined || self == other
    }

    /// The output of a one-hot multiplexer that selects two words.
    pub(crate) fn or(self, other: Word) -> Word {
        Word { value: self.value | other.value, defined: self.defined && other.defined }
    }
}
