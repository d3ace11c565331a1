//! Values of the loop nest as words and bits of the array.
//!
//! A value whose range fits a word is one word, of 32-bit types too: arithmetic modulo a power of two needs no more. Any
//! other value of 32 bits is a pair of words.

use pushmem_datapaths::NodeKind;
use pushmem_float::Format;
use pushmem_kernels::{Value, Values};
use pushmem_nest::{Binary, Type, Unary};
use pushmem_pe::{FloatOperation, Operation, PeSpec};

use crate::builder::Builder;
use crate::predicate::{self, Decided};
use crate::reciprocal::TableTiles;
use pushmem_cells::{Bit, Sequence, Table, Word};

/// A value on the array.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Legal {
    /// A truth value.
    Bit(Bit),
    /// A value that fits a word: the word is signed if the value can be negative, else it is unsigned.
    Word(Word),
    /// The low and the high word of a value.
    Pair(Word, Word),
}

/// Legalizes values in their order.
pub(crate) struct Legalizer<'a, 'b> {
    pub builder: &'a mut Builder<'b>,
    pub values: &'a Values,
    /// The memory tiles that can be tables, if there are some.
    pub tables: Option<TableTiles>,
    legal: Vec<Legal>,
    /// For each value, the only loop variable that it depends on.
    variables: Vec<Option<usize>>,
}

impl<'a, 'b> Legalizer<'a, 'b> {
    pub fn new(builder: &'a mut Builder<'b>, values: &'a Values, tables: Option<TableTiles>) -> Self {
        Legalizer { builder, values, tables, legal: Vec::new(), variables: predicate::variables(values) }
    }

    /// The words of the result, low word first.
    pub fn run(mut self) -> Vec<Word> {
        for node in 0..=self.values.result {
            let legal = self.value(node);
            self.legal.push(legal);
        }
        let result = self.values.result;
        let words = self.values.values[result].value.words().iter();
        let word = |word: &pushmem_nest::Word| match word {
            pushmem_nest::Word::Low => self.low(result),
            pushmem_nest::Word::High => self.high(result),
        };
        words.map(word).collect()
    }

    /// The words of a load: those of its type, of which the low one is enough for a value that fits a word.
    fn load(&self, node: usize, load: usize) -> Legal {
        let before: usize = self.values.loads[..load].iter().map(|of| of.words().len()).sum();
        match self.is_narrow(node) {
            true => Legal::Word(Word::Load(before)),
            false => Legal::Pair(Word::Load(before), Word::Load(before + 1)),
        }
    }

    /// The words of an entry of a table of the program.
    fn entry(&mut self, node: usize, table: usize, index: Word) -> Legal {
        let low = self.builder.fetch(Table::Program(table), index);
        match self.is_narrow(node) {
            true => Legal::Word(low),
            false => Legal::Pair(low, self.builder.fetch(Table::High(table), index)),
        }
    }

    fn spec(&self) -> &PeSpec {
        self.builder.spec
    }

    pub fn range(&self, node: usize) -> (i64, i64) {
        self.values.values[node].range
    }

    /// Whether a value is never negative.
    pub fn is_natural(&self, node: usize) -> bool {
        self.range(node).0 >= 0
    }

    /// Whether values from one number to another fit a word.
    fn fits(&self, (low, high): (i64, i64)) -> bool {
        let half = 1_i64 << (self.spec().word_bits - 1);
        (low >= 0 && high < 2 * half) || (low >= -half && high < half)
    }

    /// Whether a value fits a word.
    pub fn is_narrow(&self, node: usize) -> bool {
        self.fits(self.range(node))
    }

    /// Whether a value fits a signed word.
    fn fits_signed(&self, (low, high): (i64, i64)) -> bool {
        let half = 1_i64 << (self.spec().word_bits - 1);
        low >= -half && high < half
    }

    /// The signedness that the words of two values have in common, if there is one.
    pub fn common_sign(&self, left: usize, right: usize) -> Option<bool> {
        if !self.is_narrow(left) || !self.is_narrow(right) {
            None
        } else if self.is_natural(left) && self.is_natural(right) {
            Some(false)
        } else {
            (self.fits_signed(self.range(left)) && self.fits_signed(self.range(right))).then_some(true)
        }
    }

    /// The low word of a value.
    pub fn low(&mut self, node: usize) -> Word {
        match self.legal[node] {
            Legal::Word(word) | Legal::Pair(word, _) => word,
            Legal::Bit(bit) => self.builder.word_of(bit),
        }
    }

    /// The high word of a value.
    pub fn high(&mut self, node: usize) -> Word {
        match self.legal[node] {
            Legal::Pair(_, high) => high,
            Legal::Bit(_) => Word::Constant(0),
            Legal::Word(_) if self.is_natural(node) => Word::Constant(0),
            Legal::Word(word) => self.builder.sign(word),
        }
    }

    fn bit(&mut self, node: usize) -> Bit {
        match self.legal[node] {
            Legal::Bit(bit) => bit,
            Legal::Word(word) | Legal::Pair(word, _) => {
                let low = self.builder.bitwise(Operation::And, word, Word::Constant(1));
                !self.builder.equal(low, Word::Constant(0))
            }
        }
    }

    /// A value modulo a power of two as a value of the type, from its low word and, where it does not fit a word, its high
    /// one. `exact` are the bounds before wrapping.
    pub fn wrapped(
        &mut self,
        node: usize,
        exact: Option<(i64, i64)>,
        low: Word,
        high: impl FnOnce(&mut Self) -> Word,
    ) -> Legal {
        let Value { value, .. } = self.values.values[node];
        if !self.is_narrow(node) {
            return Legal::Pair(low, high(self));
        }
        let is_exact = exact.is_some_and(|(low, high)| value.holds(low) && value.holds(high));
        let bits = if is_exact { self.spec().word_bits } else { value.bits() };
        Legal::Word(self.builder.extended(low, bits, value.is_signed()))
    }

    /// A function of the low words of two values and, where the result does not fit a word, the same function of their high words.
    pub fn word_by_word(
        &mut self,
        node: usize,
        left: usize,
        right: usize,
        function: impl Fn(&mut Builder<'b>, Word, Word) -> Word,
    ) -> Legal {
        let (a, b) = (self.low(left), self.low(right));
        let low = function(self.builder, a, b);
        if self.is_narrow(node) {
            return Legal::Word(low);
        }
        let (a, b) = (self.high(left), self.high(right));
        Legal::Pair(low, function(self.builder, a, b))
    }

    /// The words of a constant.
    fn constant(&self, node: usize, number: i64) -> Legal {
        match self.is_narrow(node) {
            _ if self.values.values[node].value == Type::Bool => Legal::Bit(Bit::constant(number != 0)),
            true => Legal::Word(self.builder.constant(number)),
            false => {
                let high = number >> self.spec().word_bits;
                Legal::Pair(self.builder.constant(number), self.builder.constant(high))
            }
        }
    }

    fn value(&mut self, node: usize) -> Legal {
        let Value { kind, value, .. } = self.values.values[node];
        if let (Type::Bool, Some(variable)) = (value, self.variables[node])
            && let Some(decided) = predicate::decide(self.values, node, variable)
        {
            return Legal::Bit(match decided {
                Decided::Always(value) => Bit::constant(value),
                Decided::In { predicate, inverted } => {
                    let bit = self.builder.predicate(predicate);
                    Bit { inverted, ..bit }
                }
            });
        }
        if let Some(variable) = self.variables[node]
            && let Some(sequence) = self.sequence(node, variable)
        {
            return sequence;
        }
        match kind {
            NodeKind::Constant(number) => self.constant(node, number),
            NodeKind::Load(load) => self.load(node, load),
            NodeKind::Variable(_) => unreachable!("a loop variable depends on itself only"),
            NodeKind::Lookup { table, index } | NodeKind::Fetch { table, index, .. } => {
                let index = self.low(index);
                self.entry(node, table, index)
            }
            NodeKind::Read { .. } => unreachable!("programs with random-access memories are refused before"),
            NodeKind::Unary { operator, operand } => self.unary(node, operator, operand),
            NodeKind::Binary { operator, left, right } => self.binary(node, operator, left, right),
            NodeKind::Select { condition, then, otherwise } => self.select(node, condition, then, otherwise),
            NodeKind::Cast(operand) => self.cast(node, operand),
        }
    }

    /// The words of a value that depends on a loop variable only; nothing for truth values.
    fn sequence(&mut self, node: usize, variable: usize) -> Option<Legal> {
        if self.values.values[node].value == Type::Bool {
            return None;
        }
        let (first, numbers) = predicate::tabulated(self.values, node)?;
        let (word_bits, is_narrow) = (self.spec().word_bits, self.is_narrow(node));
        let mut words = |shift: u32| {
            let words = numbers.iter().map(|number| (number >> shift) as u32 & (u32::MAX >> (u32::BITS - word_bits)));
            let words = words.collect();
            self.builder.sequence(Sequence { variable, first, words })
        };
        let low = words(0);
        Some(if is_narrow { Legal::Word(low) } else { Legal::Pair(low, words(word_bits)) })
    }

    fn select(&mut self, node: usize, condition: usize, then: usize, otherwise: usize) -> Legal {
        let condition = self.bit(condition);
        if self.values.values[node].value == Type::Bool {
            let (then, otherwise) = (self.bit(then), self.bit(otherwise));
            let chosen = self.builder.logic(condition, then, |condition, then| condition && then);
            let other = self.builder.logic(condition, otherwise, |condition, otherwise| !condition && otherwise);
            return Legal::Bit(self.builder.logic(chosen, other, |one, other| one || other));
        }
        self.word_by_word(node, then, otherwise, |builder, a, b| builder.select(condition, a, b))
    }

    fn cast(&mut self, node: usize, operand: usize) -> Legal {
        if self.values.values[node].value == Type::Bool {
            return Legal::Bit(self.bit(operand));
        }
        let low = self.low(operand);
        self.wrapped(node, Some(self.range(operand)), low, |this| this.high(operand))
    }

    fn unary(&mut self, node: usize, operator: Unary, operand: usize) -> Legal {
        let Value { value, .. } = self.values.values[node];
        let (least, greatest) = self.range(operand);
        if value == Type::Bool {
            let bit = self.bit(operand);
            // The opposite of a truth value; its negative and its absolute value are the value itself.
            return Legal::Bit(if operator == Unary::Not { !bit } else { bit });
        }
        let low = self.low(operand);
        match operator {
            Unary::FloatFromInteger(format) => {
                let operation = Operation::of_numbers(format, FloatOperation::FromInteger);
                Legal::Word(self.builder.convert(operation, low))
            }
            Unary::FloatToInteger(format) => {
                let operation = Operation::of_numbers(format, FloatOperation::ToInteger);
                Legal::Word(self.builder.convert(operation, low))
            }
            Unary::FloatNegate(_) | Unary::FloatAbsolute(_) | Unary::FloatFunction(..) => {
                unreachable!("datapaths have operations of bits for it")
            }
            Unary::Negate => {
                let (negative, no_borrow) = self.builder.subtract(Word::Constant(0), low);
                self.wrapped(node, Some((-greatest, -least)), negative, |this| {
                    let high = this.high(operand);
                    this.builder.subtract_carry(Word::Constant(0), high, no_borrow).0
                })
            }
            Unary::Not => {
                // Bits beyond an unsigned type stay 0; beyond a signed one they are inverted as its sign is.
                let ones = self.builder.ones();
                let mask = if value.is_signed() { -1 } else { value.max() };
                let mask = self.builder.constant(mask);
                let inverted = self.builder.bitwise(Operation::Xor, low, mask);
                let exact = (value.min(), value.max());
                self.wrapped(node, Some(exact), inverted, |this| {
                    let high = this.high(operand);
                    this.builder.bitwise(Operation::Xor, high, ones)
                })
            }
            Unary::Absolute if least >= 0 => self.legal[operand],
            Unary::Absolute if self.is_narrow(operand) => Legal::Word(self.builder.absolute(low)),
            Unary::Absolute => {
                let high = self.high(operand);
                let is_negative = self.builder.less(high, Word::Constant(0), true);
                let (negative, no_borrow) = self.builder.subtract(Word::Constant(0), low);
                let negative_high = self.builder.subtract_carry(Word::Constant(0), high, no_borrow).0;
                let low = self.builder.select(is_negative, negative, low);
                let high = self.builder.select(is_negative, negative_high, high);
                self.wrapped(node, None, low, |_| high)
            }
        }
    }

    fn binary(&mut self, node: usize, operator: Binary, left: usize, right: usize) -> Legal {
        if self.values.values[left].value == Type::Bool {
            return self.truth(operator, left, right);
        }
        match operator {
            Binary::Add | Binary::Subtract => self.sum(node, operator == Binary::Subtract, left, right),
            Binary::Multiply => self.product(node, left, right),
            Binary::Divide | Binary::Modulo => self.division(node, operator == Binary::Modulo, left, right),
            Binary::ShiftLeft | Binary::ShiftRight => self.shift(node, operator == Binary::ShiftLeft, left, right),
            Binary::And => self.bitwise(node, Operation::And, left, right),
            Binary::Or => self.bitwise(node, Operation::Or, left, right),
            Binary::Xor => self.bitwise(node, Operation::Xor, left, right),
            Binary::Equal => Legal::Bit(self.equal(left, right)),
            Binary::NotEqual => Legal::Bit(!self.equal(left, right)),
            Binary::Less => Legal::Bit(self.less(left, right)),
            Binary::Greater => Legal::Bit(self.less(right, left)),
            Binary::LessEqual => Legal::Bit(self.less_equal(left, right)),
            Binary::GreaterEqual => Legal::Bit(self.less_equal(right, left)),
            Binary::Minimum => self.extreme(node, false, left, right),
            Binary::Maximum => self.extreme(node, true, left, right),
            Binary::AbsoluteDifference => self.absolute_difference(node, left, right),
            Binary::FloatAdd(format) => self.float(format, FloatOperation::Add, left, right),
            Binary::FloatSubtract(format) => self.float(format, FloatOperation::Subtract, left, right),
            Binary::FloatMultiply(format) => self.float(format, FloatOperation::Multiply, left, right),
            Binary::FloatEqual(format) => self.float(format, FloatOperation::Equal, left, right),
            Binary::FloatLess(format) => self.float(format, FloatOperation::Less, left, right),
            Binary::FloatLessEqual(format) => self.float(format, FloatOperation::LessEqual, left, right),
            Binary::FloatMinimum(_) | Binary::FloatMaximum(_) => {
                unreachable!("datapaths have a comparison and a selection for it")
            }
        }
    }

    /// The number that an operation gives of two numbers with a fraction.
    fn float(&mut self, format: Format, operation: FloatOperation, left: usize, right: usize) -> Legal {
        let (a, b) = (self.low(left), self.low(right));
        let (word, bit) = self.builder.float(Operation::of_numbers(format, operation), a, b);
        if operation.is_comparison() { Legal::Bit(bit) } else { Legal::Word(word) }
    }

    /// A function of truth values.
    fn truth(&mut self, operator: Binary, left: usize, right: usize) -> Legal {
        let (left, right) = (self.bit(left), self.bit(right));
        if let (Binary::And, Some(both)) = (operator, self.both_boxes(left, right)) {
            return Legal::Bit(both);
        }
        let function = move |left: bool, right: bool| operator.apply(Type::Bool, left.into(), right.into()) != 0;
        Legal::Bit(self.builder.logic(left, right, function))
    }

    /// The bit of the box that two boxes have in common, if they limit different variables.
    fn both_boxes(&mut self, left: Bit, right: Bit) -> Option<Bit> {
        use pushmem_cells::BitSource::Predicate;
        let (Predicate(one), Predicate(other)) = (left.source, right.source) else { return None };
        if left.inverted || right.inverted {
            return None;
        }
        let both = self.builder.predicates[one].and(&self.builder.predicates[other])?;
        Some(self.builder.predicate(both))
    }
}
