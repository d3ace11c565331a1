//! Programs as instructions: expressions become code of registers, and indices addresses.

use std::collections::{BTreeMap, HashMap};

use itertools::Itertools;

use super::{Address, CompiledLoad, CompiledNode, CompiledOperation, Instruction, Register};
use crate::expression::{Expression, ExpressionKind, Part};
use crate::index::Index;
use crate::program::{Access, Loop, Node, Operation, Program};

pub(super) struct Compiler<'a> {
    pub program: &'a Program,
    pub registers: Vec<i64>,
    constants: HashMap<i64, Register>,
    pub scratch: Register,
    /// The most registers that an operation uses.
    pub largest: usize,
    pub operations: usize,
}

impl<'a> Compiler<'a> {
    pub fn new(program: &'a Program) -> Self {
        let operations = program.operations();
        let depth = operations.iter().map(|(loops, _)| loops.len()).max().unwrap_or(0);
        let mut registers = vec![0; depth];
        let mut constants = HashMap::new();
        for (_, operation) in &operations {
            for expression in operation.expressions() {
                for part in expression.parts() {
                    let ExpressionKind::Constant(number) = part.kind else { continue };
                    constants.entry(number).or_insert_with(|| {
                        registers.push(number);
                        registers.len() - 1
                    });
                }
            }
        }
        let scratch = registers.len();
        Self { program, registers, constants, scratch, largest: 0, operations: 0 }
    }

    pub fn nodes(&mut self, nodes: &'a [Node], loops: &mut Vec<&'a Loop>) -> Vec<CompiledNode<'a>> {
        let mut compiled = Vec::new();
        for node in nodes {
            compiled.push(match node {
                Node::Loop(each) => {
                    let variable = loops.len();
                    loops.push(each);
                    let body = self.nodes(&each.body, loops);
                    loops.pop();
                    CompiledNode::Loop { variable, min: each.min, max: each.max(), body }
                }
                Node::Operation(operation) => CompiledNode::Operation(Box::new(self.operation(operation, loops))),
            });
        }
        compiled
    }

    pub fn operation(&mut self, operation: &'a Operation, loops: &[&'a Loop]) -> CompiledOperation<'a> {
        let mut instructions = Vec::new();
        let first = self.scratch + operation.reads().count();
        let result = self.expression(&operation.expression, first, &mut instructions);
        // Registers of indices that depend on data follow those of the expression.
        let mut free = first + instructions.len();
        let mut loads = operation
            .loads
            .iter()
            .map(|load| CompiledLoad {
                array: load.access.array,
                address: self.address(&load.access, load.outside.is_some(), &mut free),
                outside: load.outside,
            })
            .collect_vec();
        if operation.reduction.is_some() {
            let address = self.address(&operation.target, false, &mut free);
            loads.push(CompiledLoad { array: operation.target.array, address, outside: None });
        }
        let number = self.operations;
        self.operations += 1;
        let target = self.address(&operation.target, false, &mut free);
        self.largest = self.largest.max(free - self.scratch);
        CompiledOperation { number, operation, loops: loops.to_vec(), loads, instructions, result, target }
    }

    /// The address of an element. Registers from `free` on hold the values of its indices; then `free` is the register after them.
    pub fn address(&self, access: &Access, may_be_outside: bool, free: &mut Register) -> Address {
        let array = &self.program.arrays[access.array];
        if let Some(indices) = &access.computed {
            let (mut code, first, mut distance) = (Vec::new(), *free, 1);
            let dimension = |(index, (&min, &extent)): (&Expression, (&i64, &i64))| {
                let found = (self.expression(index, first, &mut code), min, extent, distance);
                distance *= extent;
                found
            };
            let dimensions = indices.iter().zip(array.min.iter().zip(&array.shape)).map(dimension).collect();
            *free += code.len();
            return Address::Computed { is_known: access.is_known(), code, first, dimensions };
        }
        let mut distance = 1;
        let mut dimensions = Vec::new();
        for (index, (&min, &extent)) in access.indices.iter().zip(array.min.iter().zip(&array.shape)) {
            dimensions.push((index, min, extent, distance));
            distance *= extent;
        }
        let mut start = 0;
        let mut strides: BTreeMap<usize, i64> = BTreeMap::new();
        for (index, min, _, distance) in &dimensions {
            let Some(affine) = index.as_affine().filter(|_| !may_be_outside) else {
                let owned =
                    |(index, min, extent, distance): (&Index, i64, i64, i64)| (index.clone(), min, extent, distance);
                return Address::General(dimensions.into_iter().map(owned).collect());
            };
            start += (affine.constant - min) * distance;
            for (variable, coefficient) in &affine.terms {
                *strides.entry(*variable).or_default() += coefficient * distance;
            }
        }
        Address::Affine { start, strides: strides.into_iter().collect() }
    }

    /// Appends the instructions for an expression and returns the register of its value.
    pub fn expression(&self, expression: &Expression, first: Register, code: &mut Vec<Instruction>) -> Register {
        let mut registers: HashMap<Part, Register> = HashMap::new();
        for part in expression.parts() {
            let register = self.part(part, &registers, first, code);
            registers.insert(Part(part), register);
        }
        registers[&Part(expression)]
    }

    /// Appends the instruction for a part whose operands are in registers, and returns the register of its value.
    fn part(
        &self,
        part: &Expression,
        registers: &HashMap<Part, Register>,
        first: Register,
        code: &mut Vec<Instruction>,
    ) -> Register {
        let of = |operand: &Expression| registers[&Part(operand)];
        let instruction = match &part.kind {
            ExpressionKind::Constant(number) => return self.constants[number],
            ExpressionKind::Variable(variable) => return *variable,
            ExpressionKind::Load(load) => return self.scratch + load,
            ExpressionKind::Lookup { table, index } => Instruction::Lookup { table: *table, index: of(index) },
            ExpressionKind::Unary { operator, operand } => {
                Instruction::Unary { operator: *operator, operand_type: operand.value, operand: of(operand) }
            }
            ExpressionKind::Binary { operator, left, right } => {
                Instruction::Binary { operator: *operator, operand_type: left.value, left: of(left), right: of(right) }
            }
            ExpressionKind::Select { condition, then, otherwise } => {
                Instruction::Select { condition: of(condition), then: of(then), otherwise: of(otherwise) }
            }
            ExpressionKind::Cast(operand) => {
                Instruction::Cast { from: operand.value, to: part.value, operand: of(operand) }
            }
        };
        code.push(instruction);
        first + code.len() - 1
    }
}
