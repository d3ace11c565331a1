//! Values of a statement of the program, and of one that computes the same, or a word of it, in the same loops.
//!
//! An element of 32 bits whose words are in two arrays is both together, `high << 16 | low`.

use std::cell::RefCell;
use std::collections::HashMap;

use itertools::Itertools;
use pushmem_nest::{Binary, Expression, ExpressionKind, Part, Type, Unary, Word};

use super::{Place, Statement, indices};

/// Whether a statement writes what one of the program does in some iterations, or that word of it.
pub(super) fn are_same(copies: &[Statement], other: &Statement, word: Option<Word>) -> bool {
    let own = &copies[0];
    let is_one = copies.len() == 1 && own.reduction == other.reduction;
    let pair = Pair { own, other, known: RefCell::default() };
    let same = match word {
        None if is_one => pair.value(&own.expression, &other.expression),
        None => joins_same(copies, other),
        Some(Word::Low) => is_one && pair.low_half(&own.expression, &other.expression),
        Some(Word::High) => is_one && pair.high_half(&own.expression, &other.expression),
    };
    own.operation.unit() == other.operation.unit() && same
}

/// Whether a statement joins the element that it writes, which it loads unless it is a reduction as well, with what one of the program does in some
/// iterations: in the order of these, unless any order is as good.
fn joins_same(copies: &[Statement], other: &Statement) -> bool {
    let (own, value) = (&copies[0], copies[0].expression.value);
    let reduces = other.reduction.is_some();
    let joins = |operator: &Binary| other.reduction.is_none_or(|of| of == *operator) && other.expression.value == value;
    let Some(operator) = own.reduction.filter(joins) else { return false };
    let pairs = copies.iter().map(|own| Pair { own, other, known: RefCell::default() }).collect_vec();
    let is_old = |of: &&Expression| match of.kind {
        ExpressionKind::Load(load) => other.loads.get(load).is_some_and(|of| pairs[0].place(&own.target, of, None)),
        _ => false,
    };
    if value.sums_in_order() {
        let mut joined = Vec::new();
        let mut sum = &*other.expression;
        while let ExpressionKind::Binary { operator: by, left, right } = &sum.kind
            && *by == operator
            && joined.len() < copies.len()
        {
            joined.push(&**right);
            sum = left;
        }
        let mut in_order = pairs.iter().zip(joined.iter().rev());
        return !reduces
            && is_old(&sum)
            && joined.len() == copies.len()
            && in_order.all(|(pair, of)| pair.value(&pair.own.expression, of));
    }
    let mut joined = operands(&other.expression, operator);
    if operator.identity(value).is_none() {
        return false;
    }
    if !reduces {
        let Some(old) = joined.iter().position(is_old) else { return false };
        joined.swap_remove(old);
    }
    let mut own =
        pairs.iter().flat_map(|pair| operands(&pair.own.expression, operator).into_iter().map(move |of| (pair, of)));
    own.all(|(pair, of)| {
        let found = joined.iter().position(|other| pair.value(of, other));
        found.map(|found| joined.swap_remove(found)).is_some()
    }) && joined.is_empty()
}

/// The values that an operator joins in an expression, whatever their order is. One that is used several times is a value of its own.
fn operands(expression: &Expression, operator: Binary) -> Vec<&Expression> {
    let shared = expression.shared_parts();
    let (mut open, mut found) = (vec![expression], Vec::new());
    while let Some(of) = open.pop() {
        match &of.kind {
            ExpressionKind::Binary { operator: by, left, right }
                if *by == operator && of.value == expression.value && !shared.contains(&Part(of)) =>
            {
                open.extend([&**left, &**right]);
            }
            _ => found.push(of),
        }
    }
    found
}

/// Whether two statements write the same element, the second one that word of it.
pub(super) fn have_same_target(own: &Statement, other: &Statement, word: Option<Word>) -> bool {
    Pair { own, other, known: RefCell::default() }.place(&own.target, &other.target, word)
}

/// A statement of the program, and another one.
struct Pair<'a> {
    own: &'a Statement<'a>,
    other: &'a Statement<'a>,
    /// Parts that were compared: several others may compute with one.
    known: RefCell<HashMap<(Compared, Part<'a>, Part<'a>), bool>>,
}

/// How two values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Compared {
    Whole,
    Low,
}

impl<'a> Pair<'a> {
    /// The result of a comparison, which is computed once.
    fn once(
        &self,
        compared: Compared,
        whole: &'a Expression,
        halved: &'a Expression,
        compare: impl FnOnce() -> bool,
    ) -> bool {
        let key = (compared, Part(whole), Part(halved));
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let same = compare();
        self.known.borrow_mut().insert(key, same);
        same
    }

    /// Whether two accesses are of one element, the second one of this word of it.
    fn place(&self, own: &'a Place<'a>, other: &'a Place<'a>, word: Option<Word>) -> bool {
        let loops = &self.other.loops;
        let is_same = match (&own.computed, &other.computed) {
            (None, None) => {
                let mut pairs = own.indices.iter().zip(&other.indices);
                own.indices.len() == other.indices.len() && pairs.all(|(one, two)| indices::are_same(one, two, loops))
            }
            (None, Some(computed)) => {
                let mut pairs = own.indices.iter().zip(&**computed);
                own.indices.len() == computed.len() && pairs.all(|(one, two)| indices::is_computed(one, two, loops))
            }
            (Some(one), Some(two)) => {
                one.len() == two.len() && one.iter().zip(&**two).all(|(one, two)| self.value(one, two))
            }
            (Some(_), None) => false,
        };
        (own.array, own.outside, word) == (other.array, other.outside, other.word) && is_same
    }

    /// Whether a load is this word of another one.
    fn load(&self, whole: usize, halved: usize, word: Option<Word>) -> bool {
        let loads = self.own.loads.get(whole).zip(self.other.loads.get(halved));
        loads.is_some_and(|(own, other)| self.place(own, other, word))
    }

    /// Whether two values are the same.
    fn value(&self, whole: &'a Expression, halved: &'a Expression) -> bool {
        self.once(Compared::Whole, whole, halved, || self.is_value(whole, halved))
    }

    fn is_value(&self, whole: &'a Expression, halved: &'a Expression) -> bool {
        if whole.value != halved.value {
            return false;
        }
        match (&whole.kind, &halved.kind) {
            (ExpressionKind::Load(before), ExpressionKind::Load(after)) => self.load(*before, *after, None),
            (ExpressionKind::Load(before), _) => self.is_joined(*before, halved),
            // Of a value that becomes narrow, the low half is enough.
            (ExpressionKind::Cast(inner), kind)
                if whole.value.is_integer() && inner.value.is_integer() && inner.value.bits() > 16 =>
            {
                let narrowed = match kind {
                    ExpressionKind::Cast(half) => self.low_half(inner, half) || self.value(inner, half),
                    _ => false,
                };
                narrowed && whole.value.bits() <= 16
                    || whole.value == Type::U16 && self.low_half(inner, halved)
                    || whole.kind.is_alike(&halved.kind) && self.all(whole, halved, |one, other| self.value(one, other))
            }
            _ => whole.kind.is_alike(&halved.kind) && self.all(whole, halved, |one, other| self.value(one, other)),
        }
    }

    fn all(
        &self,
        whole: &'a Expression,
        halved: &'a Expression,
        same: impl Fn(&'a Expression, &'a Expression) -> bool,
    ) -> bool {
        let (before, after) = (whole.operands(), halved.operands());
        before.len() == after.len() && before.into_iter().zip(after).all(|(before, after)| same(before, after))
    }

    /// Whether an expression is `high << 16 | low` of an element.
    fn is_joined(&self, load: usize, halved: &'a Expression) -> bool {
        let bits = match &halved.kind {
            ExpressionKind::Cast(inner) if halved.value == Type::I32 => inner,
            _ => halved,
        };
        let ExpressionKind::Binary { operator: Binary::Or, left, right } = &bits.kind else { return false };
        let ExpressionKind::Binary { operator: Binary::ShiftLeft, left, right: by } = &left.kind else { return false };
        let half = |of: &Expression, word: Word| match &of.kind {
            ExpressionKind::Cast(inner) if of.value == Type::U32 && inner.value == Type::U16 => match inner.kind {
                ExpressionKind::Load(half) => self.load(load, half, Some(word)),
                _ => false,
            },
            _ => false,
        };
        bits.value == Type::U32
            && by.kind == ExpressionKind::Constant(16)
            && half(left, Word::High)
            && half(right, Word::Low)
    }

    /// Whether an expression is the high half of a value.
    fn high_half(&self, whole: &'a Expression, halved: &'a Expression) -> bool {
        let is_half = |kind: &'a ExpressionKind| match (&whole.kind, kind) {
            (ExpressionKind::Constant(value), ExpressionKind::Constant(half)) => {
                *half == value.div_euclid(1 << 16).rem_euclid(1 << 16)
            }
            (_, ExpressionKind::Cast(inner)) => match &inner.kind {
                ExpressionKind::Binary { operator: Binary::ShiftRight, left, right } => {
                    right.kind == ExpressionKind::Constant(16) && self.value(whole, left)
                }
                _ => false,
            },
            _ => false,
        };
        halved.value == Type::U16 && is_half(&halved.kind)
    }

    /// Whether an expression is the low half of a value.
    fn low_half(&self, whole: &'a Expression, halved: &'a Expression) -> bool {
        self.once(Compared::Low, whole, halved, || self.is_low_half(whole, halved))
    }

    fn is_low_half(&self, whole: &'a Expression, halved: &'a Expression) -> bool {
        // The lowest 16 bits do not depend on others.
        let is_of_low_bits = |kind: &ExpressionKind| match kind {
            ExpressionKind::Unary { operator, .. } => *operator == Unary::Negate,
            ExpressionKind::Binary { operator, .. } => {
                [Binary::Add, Binary::Subtract, Binary::Multiply, Binary::And, Binary::Or, Binary::Xor]
                    .contains(operator)
            }
            _ => false,
        };
        if halved.value != Type::U16 {
            return false;
        }
        let is_whole = match &halved.kind {
            ExpressionKind::Cast(inner) => inner.value.is_integer() && self.value(whole, inner),
            _ => whole.value == Type::U16 && self.value(whole, halved),
        };
        is_whole
            || match (&whole.kind, &halved.kind) {
                (ExpressionKind::Constant(value), ExpressionKind::Constant(half)) => *half == value.rem_euclid(1 << 16),
                (&ExpressionKind::Load(load), &ExpressionKind::Load(half)) => self.load(load, half, Some(Word::Low)),
                (ExpressionKind::Cast(inner), ExpressionKind::Cast(half)) if inner.value == Type::Bool => {
                    self.value(inner, half)
                }
                (ExpressionKind::Cast(inner), _) if inner.value.is_integer() => self.low_half(inner, halved),
                (
                    ExpressionKind::Select { condition, then, otherwise },
                    ExpressionKind::Select { condition: of_half, then: one, otherwise: other },
                ) => self.value(condition, of_half) && self.low_half(then, one) && self.low_half(otherwise, other),
                // Bits move upwards only.
                (
                    ExpressionKind::Binary { operator: Binary::ShiftLeft, left, right },
                    ExpressionKind::Binary { operator: Binary::ShiftLeft, left: half, right: by },
                ) => match (&right.kind, &by.kind) {
                    (ExpressionKind::Constant(one), ExpressionKind::Constant(other)) => {
                        one == other && (0..16).contains(one) && self.low_half(left, half)
                    }
                    _ => false,
                },
                (kind, _) => {
                    is_of_low_bits(kind)
                        && whole.kind.is_alike(&halved.kind)
                        && self.all(whole, halved, |one, other| self.low_half(one, other))
                }
            }
    }
}
