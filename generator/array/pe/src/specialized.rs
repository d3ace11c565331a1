//! Evaluation made for one operation, where that is evaluated often.

use crate::operation::{Operation, Outcome};

/// Something that evaluates one operation many times.
pub trait Evaluations {
    /// Evaluates it as often as needed, by a function of words and the bit `d` that is made for the operation.
    fn run(self, evaluate: impl Fn([u32; 3], bool) -> Outcome);
}

/// Chooses the code of an operation by its name.
macro_rules! choose {
    ($operation:expr, $word_bits:expr, $evaluations:expr, $($name:ident)*) => {
        match $operation {
            $(Operation::$name => $evaluations.run(|words, d| Operation::$name.evaluate($word_bits, words, d)),)*
        }
    };
}

impl Operation {
    /// Runs evaluations of this operation: the choice among all operations, which [`Operation::evaluate`] makes each time, is made
    /// once. So is that of the most frequent width of words.
    pub fn run(self, word_bits: u32, evaluations: impl Evaluations) {
        match word_bits {
            16 => self.run_at(16, evaluations),
            _ => self.run_at(word_bits, evaluations),
        }
    }

    #[inline(always)]
    fn run_at(self, word_bits: u32, evaluations: impl Evaluations) {
        choose!(
            self, word_bits, evaluations,
            Pass Add AddCarry Subtract SubtractCarry AddThree Multiply MultiplyAdd MultiplyMiddleUnsigned MultiplyMiddleSigned
            MultiplyHighUnsigned MultiplyHighSigned ShiftLeft ShiftRightUnsigned ShiftRightSigned And Or Xor MinimumUnsigned
            MinimumSigned MaximumUnsigned MaximumSigned Absolute AbsoluteDifferenceUnsigned AbsoluteDifferenceSigned ClampUnsigned
            ClampSigned Select Equal LessUnsigned LessSigned LessEqualUnsigned LessEqualSigned ExtendUnsigned ExtendSigned
            BfloatAdd BfloatSubtract BfloatMultiply BfloatEqual BfloatLess BfloatLessEqual BfloatFromInteger BfloatToInteger
            Float16Add Float16Subtract Float16Multiply Float16Equal Float16Less Float16LessEqual Float16FromInteger
            Float16ToInteger
        );
    }
}
