//! The proof that two memories with the halves of elements of 32 bits stand for the one with these elements.
//!
//! Each statement has the same value, of elements that are put together of their halves. A statement that writes one is two: the first
//! writes the high half, and the second one reads nothing that the first one wrote.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use itertools::Itertools;
use pushmem_nest::{
    Access, Array, Binary, Expression, ExpressionKind, Loop, Node, Operation, Part, Program, Type, Unary, Word,
};

use crate::error::{PartError, require};

/// Proves that a program with halves in random-access memories computes what the one with whole elements does.
///
/// # Errors
/// The first statement that does something else.
pub fn prove_halves(whole: &Program, halved: &Program) -> Result<(), PartError> {
    let name = || whole.name.clone();
    let count = whole.arrays.len();
    let is_wide = |array: &Array| array.random_access && array.element.bits() > Word::BITS;
    let wide = whole.arrays.iter().positions(is_wide).collect_vec();
    require(
        halved.arrays.len() == count + wide.len() && whole.tables == halved.tables,
        name,
        "it has other arrays or tables",
    )?;
    require(halved.arrays.iter().map(|array| &array.name).all_unique(), name, "two arrays have one name")?;
    let high: BTreeMap<usize, usize> = wide.into_iter().zip(count..).collect();
    let half = |before: &Array, after: &Array| Array { name: after.name.clone(), element: Type::U16, ..before.clone() };
    for (number, before) in whole.arrays.iter().enumerate() {
        let after = &halved.arrays[number];
        let same = match high.get(&number) {
            None => before == after,
            Some(&high) => *after == half(before, after) && halved.arrays[high] == half(before, &halved.arrays[high]),
        };
        require(same, || before.name.clone(), "it is declared anew")?;
    }
    nodes(&high, name, &whole.nest, &halved.nest)
}

fn nodes(
    high: &BTreeMap<usize, usize>,
    name: impl Fn() -> String + Copy,
    whole: &[Node],
    halved: &[Node],
) -> Result<(), PartError> {
    let mut rest = halved.iter();
    for node in whole {
        match (node, rest.next()) {
            (Node::Loop(before), Some(Node::Loop(after))) => {
                let header = |level: &Loop| Loop { body: Vec::new(), ..level.clone() };
                require(header(before) == header(after), || before.variable.clone(), "it is another loop")?;
                nodes(high, name, &before.body, &after.body)?;
            }
            (Node::Operation(before), Some(Node::Operation(first))) => {
                let name = || before.name.clone();
                let second = match high.get(&before.target.array) {
                    None => None,
                    Some(_) => match rest.next() {
                        Some(Node::Operation(second)) => Some(&**second),
                        _ => return require(false, name, "the half of an element is not written"),
                    },
                };
                let same = statement(high, before, first, second);
                require(same, name, "it computes something else with halves of elements")?;
            }
            _ => return require(false, name, "it has other statements"),
        }
    }
    require(rest.next().is_none(), name, "it has further statements")
}

/// Whether a statement, or two of which the second one writes the low half, do what one does with whole elements.
fn statement(high: &BTreeMap<usize, usize>, whole: &Operation, first: &Operation, second: Option<&Operation>) -> bool {
    let array = whole.target.array;
    let is_plain = |after: &Operation| after.reduction == whole.reduction && after.share == whole.share;
    let Some(second) = second else {
        let same = Pair::new(high, whole, first);
        return is_plain(first)
            && same.access(&whole.target, &first.target, array)
            && same.value(&whole.expression, &first.expression);
    };
    let (of_high, of_low) = (Pair::new(high, whole, first), Pair::new(high, whole, second));
    let unread = second.loads.iter().all(|load| load.access.array != high[&array]);
    [first, second].into_iter().all(is_plain)
        && whole.reduction.is_none()
        && unread
        && of_high.access(&whole.target, &first.target, high[&array])
        && of_low.access(&whole.target, &second.target, array)
        && of_high.high_half(&whole.expression, &first.expression)
        && of_low.low_half(&whole.expression, &second.expression)
}

/// A statement, and one of those with halves.
struct Pair<'a> {
    high: &'a BTreeMap<usize, usize>,
    whole: &'a Operation,
    halved: &'a Operation,
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
    fn new(high: &'a BTreeMap<usize, usize>, whole: &'a Operation, halved: &'a Operation) -> Self {
        Self { high, whole, halved, known: RefCell::default() }
    }

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

    /// Whether two accesses are of one element, the second one of this array.
    fn access(&self, whole: &'a Access, halved: &'a Access, array: usize) -> bool {
        let computed = match (&whole.computed, &halved.computed) {
            (Some(before), Some(after)) => {
                before.len() == after.len() && before.iter().zip(after).all(|(before, after)| self.value(before, after))
            }
            (before, after) => before.is_none() && after.is_none(),
        };
        halved.array == array && whole.indices == halved.indices && computed
    }

    /// Whether a load is that of this array.
    fn load(&self, whole: usize, halved: usize, array: usize) -> bool {
        let (Some(before), Some(after)) = (self.whole.loads.get(whole), self.halved.loads.get(halved)) else {
            return false;
        };
        before.outside == after.outside && self.access(&before.access, &after.access, array)
    }

    /// The array with the high half of what a load reads, if it has one.
    fn high_of(&self, load: usize) -> Option<(usize, usize)> {
        let array = self.whole.loads.get(load)?.access.array;
        Some((array, *self.high.get(&array)?))
    }

    /// Whether two values are the same.
    fn value(&self, whole: &'a Expression, halved: &'a Expression) -> bool {
        self.once(Compared::Whole, whole, halved, || self.is_value(whole, halved))
    }

    fn is_value(&self, whole: &'a Expression, halved: &'a Expression) -> bool {
        if whole.value != halved.value {
            return false;
        }
        if let ExpressionKind::Load(load) = whole.kind
            && let Some((low, high)) = self.high_of(load)
        {
            return self.is_joined(load, [low, high], halved);
        }
        match (&whole.kind, &halved.kind) {
            (ExpressionKind::Load(before), ExpressionKind::Load(after)) => {
                let array = self.whole.loads.get(*before).map(|load| load.access.array);
                array.is_some_and(|array| self.load(*before, *after, array))
            }
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
    fn is_joined(&self, load: usize, [low, high]: [usize; 2], halved: &'a Expression) -> bool {
        let bits = match &halved.kind {
            ExpressionKind::Cast(inner) if halved.value == Type::I32 => inner,
            _ => halved,
        };
        let ExpressionKind::Binary { operator: Binary::Or, left, right } = &bits.kind else { return false };
        let ExpressionKind::Binary { operator: Binary::ShiftLeft, left, right: by } = &left.kind else { return false };
        let half = |of: &Expression, array: usize| match &of.kind {
            ExpressionKind::Cast(inner) if of.value == Type::U32 && inner.value == Type::U16 => match inner.kind {
                ExpressionKind::Load(half) => self.load(load, half, array),
                _ => false,
            },
            _ => false,
        };
        bits.value == Type::U32 && by.kind == ExpressionKind::Constant(16) && half(left, high) && half(right, low)
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
                (&ExpressionKind::Load(load), &ExpressionKind::Load(half)) => {
                    self.high_of(load).is_some_and(|(low, _)| self.load(load, half, low))
                }
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
