//! Elements of 32 bits in random-access memories, which have words of 16: two memories have the halves of each element.
//!
//! A statement that writes an element becomes two. The first one writes the high half, of what both halves were before. The second
//! one, of the low half, reads no high half: the low half of a sum is the sum of low halves.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pushmem_files::Diagnostic;
use pushmem_nest::{
    Access, Array, ArrayOrigin, Binary, Expression, ExpressionKind, Load, Node, Operation, Part, Program, Span,
    StatementOrigin, Type, Unary, Witness, Word,
};

use crate::random_access::binary;

/// An array of 32 bits. Its own number is that of the low halves now.
struct Halves {
    name: String,
    element: Type,
    high: usize,
}

/// Gives the halves of elements of 32 bits memories of their own, in a program of which all accesses of random-access memories
/// [compute their indices](crate::with_random_access).
///
/// # Errors
/// A statement that writes an element whose low half depends on a high half of its array.
pub fn with_halves(mut program: Program) -> Result<(Program, Witness), Diagnostic> {
    let mut halves = BTreeMap::new();
    let mut arrays = Witness::same(&program).arrays;
    for array in 0..program.arrays.len() {
        let whole = program.arrays[array].clone();
        if !whole.random_access || whole.element.words().len() == 1 {
            continue;
        }
        let of = |half: &str| program.unused_name(&format!("{}_{half}", whole.name), &[]);
        let (low, high) = (of("low"), of("high"));
        let half = |name: String| Array { name, element: Type::U16, ..whole.clone() };
        program.arrays[array] = half(low);
        program.arrays.push(half(high));
        halves.insert(array, Halves { name: whole.name, element: whole.element, high: program.arrays.len() - 1 });
        arrays.push(ArrayOrigin { word: Some(Word::High), ..arrays[array].clone() });
        arrays[array].word = Some(Word::Low);
    }
    if !halves.is_empty() {
        let nest = std::mem::take(&mut program.nest);
        program.nest = halved(&program, nest, &halves)?;
    }
    let mut number = 0;
    let origin = |(loops, operation): (Vec<_>, &Operation)| {
        let word = arrays[operation.target.array].word;
        let origin = StatementOrigin { word, ..StatementOrigin::same(number, loops.len()) };
        // The low half comes after the high one.
        number += usize::from(word != Some(Word::High));
        Some(origin)
    };
    let statements = program.operations().into_iter().map(origin).collect();
    Ok((program, Witness { statements, arrays, edges: Vec::new() }))
}

fn halved(program: &Program, nodes: Vec<Node>, halves: &BTreeMap<usize, Halves>) -> Result<Vec<Node>, Diagnostic> {
    let mut done = Vec::new();
    for node in nodes {
        match node {
            Node::Loop(mut inner) => {
                inner.body = halved(program, inner.body, halves)?;
                done.push(Node::Loop(inner));
            }
            Node::Operation(operation) => {
                let statements = statements(program, *operation, halves)?;
                done.extend(statements.into_iter().map(|statement| Node::Operation(statement.into())));
            }
        }
    }
    Ok(done)
}

/// The statements in the place of one.
fn statements(
    program: &Program,
    operation: Operation,
    halves: &BTreeMap<usize, Halves>,
) -> Result<Vec<Operation>, Diagnostic> {
    if !operation.accesses().any(|access| halves.contains_key(&access.array)) {
        return Ok(vec![operation]);
    }
    let reads = Reads::new(&operation, halves);
    let Some(of) = halves.get(&operation.target.array) else {
        let expression = reads.whole(&operation.expression);
        return Ok(vec![reads.statement(&operation, operation.name.clone(), operation.target.array, expression)]);
    };
    let low = operation.target.array;
    let name = |array: usize| {
        let number = operation.name.strip_prefix(&of.name).unwrap_or_default();
        format!("{}{number}", program.arrays[array].name)
    };
    let high_half = high_half(reads.whole(&operation.expression));
    let high_half = reads.statement(&operation, name(of.high), of.high, high_half);
    let low_half = reads.low_half(&operation.expression);
    let low_half = reads.statement(&operation, name(low), low, low_half);
    if low_half.loads.iter().any(|load| load.access.array == of.high) {
        let message = format!("the low half of this element of `{}` depends on high halves of 32 bits", of.name);
        return Err(program.diagnostic(operation.span, message).with_help(
            "two memories have the halves, and updates of 32 bits are sums and products: keep a quotient, an extreme, and what is compared with the element, in 16 bits",
        ));
    }
    Ok(vec![high_half, low_half])
}

/// The loads of a statement, and further ones of high halves.
struct Reads {
    loads: Vec<Load>,
    /// Of each load of the statement that of the high half, if there is one, and the type of the element.
    high: Vec<Option<(usize, Type)>>,
}

impl Reads {
    fn new(operation: &Operation, halves: &BTreeMap<usize, Halves>) -> Self {
        let (mut loads, mut high) = (operation.loads.clone(), Vec::new());
        for load in &operation.loads {
            high.push(halves.get(&load.access.array).map(|of| {
                loads.push(Load { access: Access { array: of.high, ..load.access.clone() }, outside: load.outside });
                (loads.len() - 1, of.element)
            }));
        }
        let mut reads = Self { loads, high };
        for number in 0..reads.loads.len() {
            reads.loads[number].access = reads.whole_access(&reads.loads[number].access);
        }
        reads
    }

    /// The same value, in which an element of 32 bits is put together, unless its low half is enough.
    fn whole(&self, of: &Expression) -> Expression {
        Arc::unwrap_or_clone(Halving::new(self).whole(of))
    }

    /// The low half of a value of 32 bits, of low halves as far as they suffice.
    fn low_half(&self, of: &Expression) -> Expression {
        Arc::unwrap_or_clone(Halving::new(self).low_half(of))
    }

    /// An access by the same indices.
    fn whole_access(&self, of: &Access) -> Access {
        of.with_computed(|index| Some(self.whole(index))).expect("each index has another")
    }

    /// The statement that writes a value to an array, with the loads that it needs in the order of their use.
    fn statement(&self, of: &Operation, name: String, array: usize, value: Expression) -> Operation {
        let mut used = Used { all: &self.loads, numbers: BTreeMap::new(), loads: Vec::new() };
        let expression = used.expression(&value);
        let target = Access { array, ..used.access(&self.whole_access(&of.target)) };
        Operation { name, function: None, target, loads: used.loads, expression, ..of.clone() }
    }
}

/// The expressions in the place of the parts of others, of those that are shared each once.
struct Halving<'a> {
    reads: &'a Reads,
    whole: HashMap<Part<'a>, Arc<Expression>>,
    low: HashMap<Part<'a>, Arc<Expression>>,
}

impl<'a> Halving<'a> {
    fn new(reads: &'a Reads) -> Self {
        Self { reads, whole: HashMap::new(), low: HashMap::new() }
    }

    fn whole(&mut self, of: &'a Expression) -> Arc<Expression> {
        if let Some(known) = self.whole.get(&Part(of)) {
            return known.clone();
        }
        let whole = match &of.kind {
            ExpressionKind::Load(low) => Arc::new(match self.reads.high[*low] {
                Some((high, element)) => cast(joined(high, *low, of.span), element),
                None => of.clone(),
            }),
            ExpressionKind::Cast(inner)
                if of.value.is_integer() && of.value.bits() <= Word::BITS && inner.value.bits() > Word::BITS =>
            {
                cast_shared(self.low_half(inner), of.value)
            }
            _ => Arc::new(of.with(&mut |operand| self.whole(operand))),
        };
        self.whole.insert(Part(of), whole.clone());
        whole
    }

    fn low_half(&mut self, of: &'a Expression) -> Arc<Expression> {
        if let Some(known) = self.low.get(&Part(of)) {
            return known.clone();
        }
        let low = self.low_half_of(of);
        self.low.insert(Part(of), low.clone());
        low
    }

    fn low_half_of(&mut self, of: &'a Expression) -> Arc<Expression> {
        let span = of.span;
        let kind = match &of.kind {
            _ if of.value.bits() <= Word::BITS => return cast_shared(self.whole(of), Type::U16),
            ExpressionKind::Constant(number) => ExpressionKind::Constant(number & 0xffff),
            ExpressionKind::Load(load) if self.reads.high[*load].is_some() => ExpressionKind::Load(*load),
            ExpressionKind::Cast(inner) if inner.value.is_integer() => return self.low_half(inner),
            ExpressionKind::Unary { operator: Unary::Negate, operand } => {
                ExpressionKind::Unary { operator: Unary::Negate, operand: self.low_half(operand) }
            }
            ExpressionKind::Binary { operator, left, right }
                if matches!(
                    operator,
                    Binary::Add | Binary::Subtract | Binary::Multiply | Binary::And | Binary::Or | Binary::Xor
                ) =>
            {
                ExpressionKind::Binary { operator: *operator, left: self.low_half(left), right: self.low_half(right) }
            }
            ExpressionKind::Binary { operator: Binary::ShiftLeft, left, right } if shift(right).is_some() => {
                let by = Expression { value: Type::U16, ..(**right).clone() };
                ExpressionKind::Binary { operator: Binary::ShiftLeft, left: self.low_half(left), right: Arc::new(by) }
            }
            ExpressionKind::Select { condition, then, otherwise } => ExpressionKind::Select {
                condition: self.whole(condition),
                then: self.low_half(then),
                otherwise: self.low_half(otherwise),
            },
            _ => return cast_shared(self.whole(of), Type::U16),
        };
        Arc::new(Expression { kind, value: Type::U16, span })
    }
}

/// The loads that are used.
struct Used<'a> {
    all: &'a [Load],
    numbers: BTreeMap<usize, usize>,
    loads: Vec<Load>,
}

impl Used<'_> {
    /// The expression with the new numbers of its loads.
    fn expression(&mut self, of: &Expression) -> Expression {
        self.find(of);
        let leaf = |kind: &ExpressionKind| {
            Some(match kind {
                ExpressionKind::Load(load) => ExpressionKind::Load(self.numbers[load]),
                _ => kind.clone(),
            })
        };
        of.rebuilt(&leaf).expect("each load has a number")
    }

    /// The access with the new numbers of the loads of its indices.
    fn access(&mut self, of: &Access) -> Access {
        of.with_computed(|index| Some(self.expression(index))).expect("each index has another")
    }

    /// Notes the loads, those of indices before what is read by them.
    fn find(&mut self, of: &Expression) {
        for part in of.parts() {
            let ExpressionKind::Load(number) = part.kind else { continue };
            if self.numbers.contains_key(&number) {
                continue;
            }
            let all = self.all;
            let load = &all[number];
            let access = self.access(&load.access);
            self.numbers.insert(number, self.loads.len());
            self.loads.push(Load { access, outside: load.outside });
        }
    }
}

/// The high half of a value of 32 bits.
fn high_half(of: Expression) -> Expression {
    let span = of.span;
    if let ExpressionKind::Constant(number) = of.kind {
        let kind = ExpressionKind::Constant(number >> Word::BITS & 0xffff);
        return Expression { kind, value: Type::U16, span };
    }
    let bits = Expression { kind: ExpressionKind::Constant(Word::BITS.into()), value: of.value, span };
    cast(binary(Binary::ShiftRight, of, bits), Type::U16)
}

/// Both halves of an element, as u32.
fn joined(high: usize, low: usize, span: Span) -> Expression {
    let half = |load: usize| cast(Expression { kind: ExpressionKind::Load(load), value: Type::U16, span }, Type::U32);
    let bits = Expression { kind: ExpressionKind::Constant(Word::BITS.into()), value: Type::U32, span };
    binary(Binary::Or, binary(Binary::ShiftLeft, half(high), bits), half(low))
}

/// The bits that a shift by a constant moves, if some of the lowest 16 remain.
fn shift(by: &Expression) -> Option<i64> {
    match by.kind {
        ExpressionKind::Constant(by) => Some(by).filter(|by| (0..i64::from(Word::BITS)).contains(by)),
        _ => None,
    }
}

fn cast(of: Expression, to: Type) -> Expression {
    Arc::unwrap_or_clone(cast_shared(Arc::new(of), to))
}

fn cast_shared(of: Arc<Expression>, to: Type) -> Arc<Expression> {
    if of.value == to {
        return of;
    }
    let span = of.span;
    let kind = match of.kind {
        ExpressionKind::Constant(number) => ExpressionKind::Constant(of.value.cast(to, number)),
        _ => ExpressionKind::Cast(of),
    };
    Arc::new(Expression { kind, value: to, span })
}
