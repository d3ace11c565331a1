//! Statements and datapaths as one list of steps, which the checker evaluates and writes as terms.

use std::collections::HashMap;

use pushmem_datapaths::{Datapath, NodeKind, address_bits};
use pushmem_nest::{Access, Binary, Expression, ExpressionKind, Loop, Operation, Part, Program, Type, Unary, Word};

/// A value that is computed from those of earlier steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub kind: Kind,
    pub value: Type,
}

/// The computation of a step. Operands are numbers of earlier steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Constant(i64),
    Load(usize),
    Variable(usize),
    /// The low bits of the index choose the entry, where there is a mask; 0 outside of the table.
    Lookup {
        table: usize,
        index: usize,
        mask: Option<u32>,
    },
    Unary {
        operator: Unary,
        operand: usize,
    },
    Binary {
        operator: Binary,
        left: usize,
        right: usize,
    },
    Select {
        condition: usize,
        then: usize,
        otherwise: usize,
    },
    Cast(usize),
    /// The word of a number, as an integer.
    Bits(usize),
}

impl Kind {
    pub fn operands(&self) -> impl Iterator<Item = usize> + use<> {
        let operands = match *self {
            Kind::Constant(_) | Kind::Load(_) | Kind::Variable(_) => [None; 3],
            Kind::Lookup { index: operand, .. }
            | Kind::Unary { operand, .. }
            | Kind::Cast(operand)
            | Kind::Bits(operand) => [Some(operand), None, None],
            Kind::Binary { left, right, .. } => [Some(left), Some(right), None],
            Kind::Select { condition, then, otherwise } => [Some(condition), Some(then), Some(otherwise)],
        };
        operands.into_iter().flatten()
    }
}

/// The address of an element in a random-access memory, of which the low bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub load: usize,
    pub step: usize,
    pub bits: u32,
}

/// A computation in steps: each has a number, and operands are the numbers of earlier steps. Operators are those of loop nests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Code {
    pub(crate) steps: Vec<Step>,
    pub(crate) result: usize,
    pub(crate) addresses: Vec<Address>,
    /// Steps that are between two numbers wherever the program runs without an error.
    pub(crate) bounded: Vec<(usize, i64, i64)>,
    /// Tables, each with the step of an index that must be within it.
    pub(crate) lookups: Vec<(usize, usize)>,
}

impl Code {
    fn step(&mut self, kind: Kind, value: Type) -> usize {
        self.steps.push(Step { kind, value });
        self.steps.len() - 1
    }

    /// A number.
    pub fn constant(&mut self, number: i64, value: Type) -> usize {
        self.step(Kind::Constant(number), value)
    }

    /// A load of a statement, in the order of [`Datapath::loads`].
    pub fn load(&mut self, load: usize, value: Type) -> usize {
        self.step(Kind::Load(load), value)
    }

    /// The value of a loop variable in the first of the iterations that are executed together.
    pub fn variable(&mut self, variable: usize) -> usize {
        self.step(Kind::Variable(variable), Type::I32)
    }

    /// The entry of a table. An index that may lie outside of it is not proven.
    pub fn lookup(&mut self, table: usize, index: usize, value: Type) -> usize {
        self.lookups.push((table, index));
        self.step(Kind::Lookup { table, index, mask: None }, value)
    }

    /// The result of an operator of one operand.
    pub fn unary(&mut self, operator: Unary, operand: usize) -> usize {
        let value = operator.result(self.operand_type(operand));
        self.step(Kind::Unary { operator, operand }, value)
    }

    /// The result of an operator of two operands, which have one type.
    pub fn binary(&mut self, operator: Binary, left: usize, right: usize) -> usize {
        let value = operator.result(self.operand_type(left));
        self.step(Kind::Binary { operator, left, right }, value)
    }

    /// One of two values, which have one type, by a truth value.
    pub fn select(&mut self, condition: usize, then: usize, otherwise: usize) -> usize {
        self.step(Kind::Select { condition, then, otherwise }, self.operand_type(then))
    }

    /// The conversion of a value to a type.
    pub fn cast(&mut self, operand: usize, value: Type) -> usize {
        self.step(Kind::Cast(operand), value)
    }

    /// The same number as a value of another type: the word of a number with a fraction, or the number that has this word; or a truth
    /// value that was computed as a number.
    pub fn bits(&mut self, operand: usize, value: Type) -> usize {
        self.step(Kind::Bits(operand), value)
    }

    /// A word of a value of any type, as an integer without sign.
    pub fn word(&mut self, operand: usize, word: Word) -> usize {
        match (word, self.operand_type(operand).format()) {
            (Word::Low, Some(_)) => self.bits(operand, Type::U16),
            (Word::Low, None) => self.cast(operand, Type::U16),
            (Word::High, _) => {
                let all = self.cast(operand, Type::U32);
                let bits = self.constant(Word::BITS.into(), Type::U32);
                let high = self.binary(Binary::ShiftRight, all, bits);
                self.cast(high, Type::U16)
            }
        }
    }

    /// The type of the operand of a step.
    pub(crate) fn operand_type(&self, operand: usize) -> Type {
        self.steps[operand].value
    }

    /// The computation of a datapath.
    pub(crate) fn of_datapath(datapath: &Datapath) -> Code {
        let mut code = Code { result: datapath.result(), ..Code::default() };
        for node in datapath.nodes() {
            let kind = match node.kind {
                NodeKind::Constant(number) => Kind::Constant(number),
                NodeKind::Load(load) => Kind::Load(load),
                NodeKind::Read { load, address, address_bits: bits } => {
                    code.addresses.push(Address { load, step: address, bits });
                    Kind::Load(load)
                }
                NodeKind::Variable(variable) => Kind::Variable(variable),
                NodeKind::Lookup { table, index } => Kind::Lookup { table, index, mask: None },
                NodeKind::Fetch { table, index, address_bits, .. } => {
                    Kind::Lookup { table, index, mask: Some(u32::MAX >> (u32::BITS - address_bits)) }
                }
                NodeKind::Unary { operator, operand } => Kind::Unary { operator, operand },
                NodeKind::Binary { operator, left, right } => Kind::Binary { operator, left, right },
                NodeKind::Select { condition, then, otherwise } => Kind::Select { condition, then, otherwise },
                // Conversions are operators of their own.
                NodeKind::Cast(operand) if code.operand_type(operand).format().is_some() => Kind::Bits(operand),
                NodeKind::Cast(operand) => Kind::Cast(operand),
            };
            code.step(kind, node.value);
        }
        code
    }

    /// The computation of the interpreter in the iterations of a statement that are executed together. The last load is the target before.
    pub(crate) fn of_statement(program: &Program, loops: &[&Loop], operation: &Operation) -> Code {
        let lanes = operation.copies_together(loops);
        let mut code = Code::default();
        let mut values = Vec::new();
        let mut target = None;
        for (copy, lanes) in lanes.iter().enumerate() {
            let mut of_copy = Copy { code: &mut code, program, loops, operation, lanes, copy, known: HashMap::new() };
            values.push(of_copy.add(&operation.expression));
            for (number, load) in operation.loads.iter().enumerate() {
                of_copy.address(number, &load.access);
            }
            if copy == 0 && program.arrays[operation.target.array].random_access {
                target = of_copy.place(&operation.target);
            }
        }
        let old = operation.reduction.map(|operator| {
            let old = Kind::Load(lanes.len() * operation.loads.len());
            (operator, code.step(old, program.arrays[operation.target.array].element))
        });
        code.result = match old {
            Some((operator, old)) => values.into_iter().fold(old, |sum, value| code.binary(operator, sum, value)),
            None => values[0],
        };
        if let Some(address) = target {
            code.with_address(address);
        }
        code
    }

    /// Makes the result an element and its address together, the element in the low word.
    fn with_address(&mut self, address: usize) {
        let [element, address] = [self.result, address].map(|of| {
            let word = self.word(of, Word::Low);
            self.cast(word, Type::U32)
        });
        let bits = self.constant(Word::BITS.into(), Type::U32);
        let address = self.binary(Binary::ShiftLeft, address, bits);
        self.result = self.binary(Binary::Or, address, element);
    }

    /// Whether the result, an address or an error depends on each step.
    pub(crate) fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.steps.len()];
        let addresses = self.addresses.iter().map(|address| &address.step);
        for &end in [self.result].iter().chain(addresses).chain(self.bounded.iter().map(|(step, ..)| step)) {
            needed[end] = true;
        }
        for step in (0..self.steps.len()).rev() {
            if needed[step] {
                self.steps[step].kind.operands().for_each(|operand| needed[operand] = true);
            }
        }
        needed
    }
}

/// One of the iterations that are executed together.
struct Copy<'a, 'b> {
    code: &'a mut Code,
    program: &'b Program,
    loops: &'a [&'b Loop],
    operation: &'b Operation,
    /// Innermost first.
    lanes: &'a [i64],
    copy: usize,
    known: HashMap<Part<'b>, usize>,
}

impl<'b> Copy<'_, 'b> {
    fn add(&mut self, expression: &'b Expression) -> usize {
        for part in expression.parts() {
            if !self.known.contains_key(&Part(part)) {
                let step = self.added(part);
                self.known.insert(Part(part), step);
            }
        }
        self.known[&Part(expression)]
    }

    /// The step of an expression whose operands have theirs.
    fn added(&mut self, of: &'b Expression) -> usize {
        let known = |part: &'b Expression| self.known[&Part(part)];
        let kind = match &of.kind {
            ExpressionKind::Constant(number) => Kind::Constant(*number),
            ExpressionKind::Variable(variable) => return self.variable(*variable),
            ExpressionKind::Load(number) => Kind::Load(self.copy * self.operation.loads.len() + number),
            ExpressionKind::Lookup { table, index } => {
                let index = known(index);
                let last = self.program.tables[*table].values.len() as i64 - 1;
                self.code.bounded.push((index, 0, last));
                Kind::Lookup { table: *table, index, mask: None }
            }
            ExpressionKind::Unary { operator, operand } => Kind::Unary { operator: *operator, operand: known(operand) },
            ExpressionKind::Binary { operator, left, right } => {
                Kind::Binary { operator: *operator, left: known(left), right: known(right) }
            }
            ExpressionKind::Select { condition, then, otherwise } => {
                Kind::Select { condition: known(condition), then: known(then), otherwise: known(otherwise) }
            }
            ExpressionKind::Cast(inner) => Kind::Cast(known(inner)),
        };
        self.code.step(kind, of.value)
    }

    /// A loop variable, which is so much more than in the first of the iterations, or a number if all are executed together.
    fn variable(&mut self, variable: usize) -> usize {
        let level = self.loops[variable];
        let lane = self.lanes[self.loops.len() - 1 - variable];
        if self.operation.merges(variable) && level.unroll == level.extent {
            return self.code.step(Kind::Constant(level.min + lane), Type::I32);
        }
        let first = self.code.step(Kind::Variable(variable), Type::I32);
        if lane == 0 {
            return first;
        }
        let lane = self.code.step(Kind::Constant(lane), Type::I32);
        self.code.binary(Binary::Add, first, lane)
    }

    /// The address of a load in a random-access memory, if it is in one.
    fn address(&mut self, number: usize, access: &'b Access) {
        let array = &self.program.arrays[access.array];
        if let Some(step) = self.place(access).filter(|_| array.random_access) {
            let load = self.copy * self.operation.loads.len() + number;
            self.code.addresses.push(Address { load, step, bits: address_bits(array.size()) });
        }
    }

    /// The place of an element in its array, in the order of memory, where its indices are computed.
    fn place(&mut self, access: &'b Access) -> Option<usize> {
        let array = &self.program.arrays[access.array];
        let mut distance = 1;
        let mut sum = None;
        for (dimension, index) in access.computed.as_ref()?.iter().enumerate() {
            let index = self.add(index);
            self.code.bounded.push((index, array.min[dimension], array.max(dimension)));
            let [least, factor] =
                [array.min[dimension], distance].map(|number| self.code.step(Kind::Constant(number), Type::I32));
            let place = self.code.binary(Binary::Subtract, index, least);
            let place = self.code.binary(Binary::Multiply, place, factor);
            sum = Some(sum.map_or(place, |sum| self.code.binary(Binary::Add, sum, place)));
            distance *= array.shape[dimension];
        }
        sum
    }
}
