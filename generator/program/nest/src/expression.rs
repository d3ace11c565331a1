//! Expressions: the values of statements.
//!
//! Operands are shared: a value that a statement names is one part of its expression, wherever the name stands, and the number of paths
//! to it may be beyond all bounds. So walks go through [`Expression::parts`], or keep what they found by [`Part`].

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pushmem_float::{Format, Function};

use crate::index::AffineIndex;
use crate::operators::{Binary, Unary};
use crate::source::Span;
use crate::types::Type;

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The computation.
    pub kind: ExpressionKind,
    /// The type of the value.
    pub value: Type,
    /// Where it is written.
    pub span: Span,
}

/// The computation of an expression. A constant part is folded into one constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionKind {
    /// A number that the type holds.
    Constant(i64),
    /// A loop variable, numbered as in [`AffineIndex`](crate::AffineIndex): outermost 0. Its type is i32.
    Variable(usize),
    /// An element, an index of [`Operation::loads`](crate::Operation::loads).
    Load(usize),
    /// An entry of a table, an index of [`Program::tables`](crate::Program::tables). An index outside of the table is an error when it
    /// happens.
    Lookup {
        /// The table.
        table: usize,
        /// Which entry.
        index: Arc<Expression>,
    },
    /// An operator of one operand.
    Unary {
        /// The operator.
        operator: Unary,
        /// The operand.
        operand: Arc<Expression>,
    },
    /// An operator of two operands of one type.
    Binary {
        /// The operator.
        operator: Binary,
        /// The first operand.
        left: Arc<Expression>,
        /// The second operand.
        right: Arc<Expression>,
    },
    /// `sel(condition, then, otherwise)`. Both values are computed.
    Select {
        /// A truth value.
        condition: Arc<Expression>,
        /// The value if it is true.
        then: Arc<Expression>,
        /// The value if it is false, of the same type.
        otherwise: Arc<Expression>,
    },
    /// The value wrapped to the type of this expression; of a truth value 0 or 1.
    Cast(Arc<Expression>),
}

impl ExpressionKind {
    /// Whether it is the computation of another one, whatever the operands of both are; of those without operands, the same.
    pub fn is_alike(&self, other: &ExpressionKind) -> bool {
        use ExpressionKind::{Binary, Cast, Constant, Load, Lookup, Select, Unary, Variable};
        match (self, other) {
            (Constant(one), Constant(other)) => one == other,
            (Variable(one), Variable(other)) | (Load(one), Load(other)) => one == other,
            (Lookup { table: one, .. }, Lookup { table: other, .. }) => one == other,
            (Unary { operator: one, .. }, Unary { operator: other, .. }) => one == other,
            (Binary { operator: one, .. }, Binary { operator: other, .. }) => one == other,
            (Select { .. }, Select { .. }) | (Cast(_), Cast(_)) => true,
            _ => false,
        }
    }
}

/// A part of an expression as a key: the part itself, and none that only looks like it.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a>(pub &'a Expression);

impl PartialEq for Part<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Part<'_> {}

impl Hash for Part<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        let alike = |one: &Expression, other: &Expression| one.is_alike(other) && one.span == other.span;
        first_difference((self, other), &alike, &mut HashSet::new()).is_none()
    }
}

impl Eq for Expression {}

impl Expression {
    /// The expressions that it computes with, in the order of their places.
    pub fn operands(&self) -> Vec<&Expression> {
        self.shared_operands().into_iter().map(|operand| &**operand).collect()
    }

    fn shared_operands(&self) -> Vec<&Arc<Expression>> {
        match &self.kind {
            ExpressionKind::Constant(_) | ExpressionKind::Variable(_) | ExpressionKind::Load(_) => Vec::new(),
            ExpressionKind::Lookup { index: operand, .. }
            | ExpressionKind::Unary { operand, .. }
            | ExpressionKind::Cast(operand) => vec![operand],
            ExpressionKind::Binary { left, right, .. } => vec![left, right],
            ExpressionKind::Select { condition, then, otherwise } => vec![condition, then, otherwise],
        }
    }

    /// Each part once, operands before those that compute with them: the expression itself is the last one.
    pub fn parts(&self) -> Vec<&Expression> {
        let mut parts = Vec::new();
        add_parts(self, &mut HashSet::new(), &mut parts);
        parts
    }

    /// The first parts of this expression and another one that differ, wherever the two are written.
    pub fn difference<'a>(&'a self, other: &'a Expression) -> Option<(&'a Expression, &'a Expression)> {
        first_difference((self, other), &Expression::is_alike, &mut HashSet::new())
    }

    /// Whether it is the computation of another one, of the same type, whatever the operands of both are.
    fn is_alike(&self, other: &Expression) -> bool {
        self.kind.is_alike(&other.kind) && self.value == other.value
    }

    /// The parts that several others compute with, or one several times.
    pub fn shared_parts(&self) -> HashSet<Part<'_>> {
        let mut known = HashSet::new();
        let operands = self.parts().into_iter().flat_map(Expression::operands).map(Part);
        operands.filter(|operand| !known.insert(*operand)).collect()
    }

    /// Whether the value depends on loop variables, not only through elements.
    pub fn uses_variables(&self) -> bool {
        self.parts().into_iter().any(|part| matches!(part.kind, ExpressionKind::Variable(_)))
    }

    /// Whether the value depends on elements of arrays or tables.
    pub(crate) fn depends_on_data(&self) -> bool {
        let is_data = |kind: &ExpressionKind| matches!(kind, ExpressionKind::Load(_) | ExpressionKind::Lookup { .. });
        self.parts().into_iter().any(|part| is_data(&part.kind))
    }

    /// Finds the functions of numbers that it calls.
    pub(crate) fn functions(&self, found: &mut BTreeSet<(Format, Function)>) {
        for part in self.parts() {
            if let ExpressionKind::Unary { operator: Unary::FloatFunction(format, function), .. } = part.kind {
                found.insert((format, function));
            }
        }
    }

    /// The same operator on other operands.
    pub fn with<'a>(&'a self, operand: &mut dyn FnMut(&'a Arc<Expression>) -> Arc<Expression>) -> Expression {
        let kind = match &self.kind {
            ExpressionKind::Constant(_) | ExpressionKind::Variable(_) | ExpressionKind::Load(_) => self.kind.clone(),
            ExpressionKind::Lookup { table, index } => ExpressionKind::Lookup { table: *table, index: operand(index) },
            ExpressionKind::Unary { operator, operand: inner } => {
                ExpressionKind::Unary { operator: *operator, operand: operand(inner) }
            }
            ExpressionKind::Cast(inner) => ExpressionKind::Cast(operand(inner)),
            ExpressionKind::Binary { operator, left, right } => {
                ExpressionKind::Binary { operator: *operator, left: operand(left), right: operand(right) }
            }
            ExpressionKind::Select { condition, then, otherwise } => ExpressionKind::Select {
                condition: operand(condition),
                then: operand(then),
                otherwise: operand(otherwise),
            },
        };
        Expression { kind, ..self.clone() }
    }

    /// The same with other leaves; nothing if there is none for one of them.
    pub fn rebuilt(&self, leaf: &dyn Fn(&ExpressionKind) -> Option<ExpressionKind>) -> Option<Expression> {
        self.rebuilt_by(&mut |_, part| match part.shared_operands().is_empty() {
            true => Some(Expression { kind: leaf(&part.kind)?, ..part }),
            false => Some(part),
        })
    }

    /// The same in other loops, where the variables of its own have these values; nothing if one of them has none.
    pub fn in_loops(&self, values: &[AffineIndex]) -> Option<Expression> {
        self.rebuilt_by(&mut |_, part| match part.kind {
            ExpressionKind::Variable(variable) => Some(Expression::affine(values.get(variable)?, part.span)),
            _ => Some(part),
        })
    }

    /// The value of an affine function of loop variables.
    fn affine(function: &AffineIndex, span: Span) -> Expression {
        let of = |kind: ExpressionKind| Expression { kind, value: Type::I32, span };
        let binary = |operator: Binary, left: Expression, right: Expression| {
            of(ExpressionKind::Binary { operator, left: Arc::new(left), right: Arc::new(right) })
        };
        let terms = function.terms.iter().map(|&(variable, factor)| {
            let variable = of(ExpressionKind::Variable(variable));
            let multiplied = |variable| binary(Binary::Multiply, variable, of(ExpressionKind::Constant(factor)));
            if factor == 1 { variable } else { multiplied(variable) }
        });
        let constant = (function.constant != 0).then(|| of(ExpressionKind::Constant(function.constant)));
        let sum = terms.chain(constant).reduce(|sum, term| binary(Binary::Add, sum, term));
        sum.unwrap_or_else(|| of(ExpressionKind::Constant(0)))
    }

    /// The same with other parts, each made once: of the part that it was, and of that with the new operands. Nothing if there is none for
    /// one of them.
    pub fn rebuilt_by(&self, new: &mut dyn FnMut(&Expression, Expression) -> Option<Expression>) -> Option<Expression> {
        let mut rebuilt: HashMap<Part, Arc<Expression>> = HashMap::new();
        for part in self.parts() {
            let of = part.with(&mut |operand| rebuilt[&Part(operand)].clone());
            rebuilt.insert(Part(part), Arc::new(new(part, of)?));
        }
        rebuilt.remove(&Part(self)).map(Arc::unwrap_or_clone)
    }
}

fn add_parts<'a>(of: &'a Expression, known: &mut HashSet<Part<'a>>, parts: &mut Vec<&'a Expression>) {
    if known.insert(Part(of)) {
        of.shared_operands().into_iter().for_each(|operand| add_parts(operand, known, parts));
        parts.push(of);
    }
}

/// The first parts of two expressions that are not alike. Pairs without one are `known`.
fn first_difference<'a>(
    (one, other): (&'a Expression, &'a Expression),
    alike: &dyn Fn(&Expression, &Expression) -> bool,
    known: &mut HashSet<(Part<'a>, Part<'a>)>,
) -> Option<(&'a Expression, &'a Expression)> {
    if std::ptr::eq(one, other) || known.contains(&(Part(one), Part(other))) {
        return None;
    }
    if !alike(one, other) {
        return Some((one, other));
    }
    let found = one.operands().into_iter().zip(other.operands()).find_map(|pair| first_difference(pair, alike, known));
    if found.is_none() {
        known.insert((Part(one), Part(other)));
    }
    found
}
