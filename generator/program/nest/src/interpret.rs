//! Executing programs: what every later stage is compared with.
//!
//! Each operation is compiled to a short list of instructions on registers. The registers of loop variables come first,
//! outermost first, then those of constants, then those that an operation uses while it is executed: first what it loads.

mod compile;

use std::borrow::Cow;
use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_images::{Image, Values};

use crate::index::Index;
use crate::operators::{Binary, Unary};
use crate::program::{Access, Array, ArrayKind, Loop, Operation, Program};
use crate::resolve::{LARGEST_RUN, too_many_elements};
use crate::source::Problem;
use crate::types::Type;
use compile::Compiler;

/// Sees each operation when it is executed.
pub trait Observer {
    /// An operation, numbered in the order of the text, was executed for these values of the loop variables, outermost
    /// first. It loaded these values, in the order of [`Operation::reads`], and stored this one.
    fn executed(&mut self, operation: usize, variables: &[i64], loads: &[i64], stored: i64);
}

/// Does not look.
impl Observer for () {
    fn executed(&mut self, _operation: usize, _variables: &[i64], _loads: &[i64], _stored: i64) {}
}

impl Program {
    /// Executes the program on these inputs and returns the outputs, both by name.
    ///
    /// # Errors
    /// If an input is missing, or has another type or shape than declared, or another least index; if an element is read
    /// that was never written, or the index of a table lies outside.
    pub fn run(&self, inputs: &BTreeMap<String, Image>) -> Result<BTreeMap<String, Image>, Diagnostic> {
        self.run_observed(inputs, &mut ())
    }

    /// As [`Program::run`]; the observer sees each operation.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub fn run_observed(
        &self,
        inputs: &BTreeMap<String, Image>,
        observer: &mut impl Observer,
    ) -> Result<BTreeMap<String, Image>, Diagnostic> {
        if let Some(problem) = too_many_elements(&self.arrays, LARGEST_RUN) {
            return Err(self.source.locate(problem.with_help(
                "a program of this size is compiled, but not run: leave out `-o` and `--array`, or make its images smaller",
            )));
        }
        let memories = self.arrays.iter().map(|array| self.memory(array, inputs)).collect::<Result<_, _>>()?;
        let mut machine = Machine::new(self, memories, Work::All);
        machine.run(observer).map_err(|problem| self.source.locate(problem))?;
        let outputs = self.arrays.iter().zip(machine.memories).filter(|(array, _)| array.kind == ArrayKind::Output);
        let image = |(array, memory): (&Array, Memory)| {
            (array.name.clone(), Image::of(&shape(array), memory.values.into_owned()).with_min(&array.min))
        };
        Ok(outputs.map(image).collect())
    }

    fn memory<'a>(&self, array: &Array, inputs: &'a BTreeMap<String, Image>) -> Result<Memory<'a>, Diagnostic> {
        if array.kind != ArrayKind::Input {
            return Ok(Memory::unwritten(array));
        }
        let refuse = |message: String| self.diagnostic(array.span, message);
        let Some(image) = inputs.get(&array.name) else {
            return Err(refuse(format!("no image is given for the input `{}`", array.name)));
        };
        let shape = shape(array);
        if image.shape() != shape {
            return Err(refuse(format!("the image for `{}` has shape {:?}, not {shape:?}", array.name, image.shape())));
        }
        if let Some(value) = image.values().iter().find(|value| !array.element.holds(*value)) {
            return Err(refuse(format!(
                "the image for `{}` holds {value}, beyond {}",
                array.name,
                array.element.name()
            )));
        }
        Ok(Memory { values: Cow::Borrowed(image.values()), written: Vec::new(), unwritten: 0 })
    }
}

fn shape(array: &Array) -> Vec<usize> {
    array.shape.iter().map(|&extent| extent as usize).collect()
}

/// The first element of each array that a program without errors leaves unwritten, if there is one.
///
/// # Errors
/// If an element is read that was never written.
pub(crate) fn unwritten_elements(program: &Program) -> Result<Vec<Option<usize>>, Problem> {
    let memory = |array: &Array| match array.kind {
        ArrayKind::Input => Memory { unwritten: 0, ..Memory::unwritten(array) },
        _ => Memory::unwritten(array),
    };
    let mut machine = Machine::new(program, program.arrays.iter().map(memory).collect(), Work::Accesses);
    machine.run(&mut ())?;
    let first = |memory: Memory| (0..memory.values.len()).find(|position| !memory.is_written(*position));
    Ok(machine.memories.into_iter().map(first).collect())
}

/// The message for an element that is read before it is written.
pub(crate) fn unwritten(program: &Program, access: &Access, loops: &[&Loop], variables: &[i64]) -> Problem {
    let name = &program.arrays[access.array].name;
    let when = describe(loops, variables);
    if access.computed.is_some() {
        let message = format!("an element of `{name}` is read before all are written at {when}");
        return Problem::new(access.span, message)
            .with_help("data decide which element it is: write first values to all elements above");
    }
    let element = access.indices.iter().map(|index| index.evaluate(variables)).join(", ");
    let operations = program.operations();
    let mut targets = operations.iter().map(|(_, operation)| &operation.target);
    if targets.any(|target| target.array == access.array && !target.is_known()) {
        let message = format!("`{name}[{element}]` may be read before it is written at {when}");
        return Problem::new(access.span, message)
            .with_help("data decide which elements are written: write first values to all elements above");
    }
    let is_added_to =
        operations.iter().any(|(_, operation)| operation.reduction.is_some() && operation.target.span == access.span);
    Problem::new(access.span, format!("`{name}[{element}]` is read before it is written at {when}")).with_help(
        match is_added_to {
            true => "`+=` adds to what is there: write a first value to it above",
            false => "write all elements that are read here above, or enlarge the loops that write them",
        },
    )
}

/// The iteration in words, innermost variable first.
pub(crate) fn describe(loops: &[&Loop], variables: &[i64]) -> String {
    if loops.is_empty() {
        return "its only iteration".to_owned();
    }
    loops.iter().zip(variables).rev().map(|(each, value)| format!("{} = {value}", each.variable)).join(", ")
}

struct Memory<'a> {
    values: Cow<'a, Values>,
    /// Whether each element is written, a bit each, while there are some that are not.
    written: Vec<u64>,
    /// How many elements are not written.
    unwritten: usize,
}

impl Memory<'_> {
    fn unwritten(array: &Array) -> Self {
        let (size, element) = (array.size(), array.element.element().expect("arrays hold elements"));
        let values = Cow::Owned(Values::zeros(element, size));
        Memory { values, written: vec![0; size.div_ceil(u64::BITS as usize)], unwritten: size }
    }

    #[inline]
    fn is_written(&self, position: usize) -> bool {
        self.unwritten == 0 || self.written.get(position / 64).is_some_and(|bits| bits >> (position % 64) & 1 == 1)
    }

    /// The element at this position, if it is written.
    #[inline]
    fn read(&self, position: usize) -> Option<i64> {
        self.values.get(position).filter(|_| self.is_written(position))
    }

    #[inline]
    fn write(&mut self, position: usize, value: i64) {
        self.values.to_mut().set(position, value);
        if !self.is_written(position) {
            self.written[position / 64] |= 1 << (position % 64);
            self.unwritten -= 1;
        }
    }
}

/// How much of an operation is executed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    All,
    /// Only which elements are read and written, not their values.
    Accesses,
}

type Register = usize;

enum Instruction {
    Unary { operator: Unary, operand_type: Type, operand: Register },
    Binary { operator: Binary, operand_type: Type, left: Register, right: Register },
    Select { condition: Register, then: Register, otherwise: Register },
    Cast { from: Type, to: Type, operand: Register },
    Lookup { table: usize, index: Register },
}

/// How to find an element of a memory.
enum Address {
    /// Affine and known to be inside: the position is `start + Σ stride · variable`.
    Affine { start: i64, strides: Vec<(usize, i64)> },
    /// For each dimension: index, least index, extent, distance of neighbours.
    General(Vec<(Index, i64, i64, i64)>),
    /// The indices are values, which are known without data or not. The first instruction writes this register; for each dimension:
    /// register of the index, least index, extent, distance of neighbours.
    Computed { is_known: bool, code: Vec<Instruction>, first: Register, dimensions: Vec<(Register, i64, i64, i64)> },
}

struct CompiledLoad {
    array: usize,
    address: Address,
    outside: Option<i64>,
}

struct CompiledOperation<'a> {
    number: usize,
    operation: &'a Operation,
    loops: Vec<&'a Loop>,
    loads: Vec<CompiledLoad>,
    /// Each writes the register after that of the instruction before; the first the one after the loads.
    instructions: Vec<Instruction>,
    result: Register,
    target: Address,
}

enum CompiledNode<'a> {
    Loop { variable: Register, min: i64, max: i64, body: Vec<CompiledNode<'a>> },
    Operation(Box<CompiledOperation<'a>>),
}

struct Machine<'a> {
    program: &'a Program,
    memories: Vec<Memory<'a>>,
    nodes: Vec<CompiledNode<'a>>,
    registers: Vec<i64>,
    /// The first register that operations use.
    scratch: Register,
    work: Work,
}

impl<'a> Machine<'a> {
    fn new(program: &'a Program, memories: Vec<Memory<'a>>, work: Work) -> Self {
        let mut compiler = Compiler::new(program);
        let nodes = compiler.nodes(&program.nest, &mut Vec::new());
        let Compiler { registers, scratch, largest, .. } = compiler;
        let mut machine = Self { program, memories, nodes, registers, scratch, work };
        machine.registers.resize(scratch + largest, 0);
        machine
    }

    fn run(&mut self, observer: &mut impl Observer) -> Result<(), Problem> {
        let nodes = std::mem::take(&mut self.nodes);
        self.execute(&nodes, observer)
    }

    fn execute(&mut self, nodes: &[CompiledNode], observer: &mut impl Observer) -> Result<(), Problem> {
        for node in nodes {
            match node {
                CompiledNode::Loop { variable, min, max, body } => {
                    for value in *min..=*max {
                        self.registers[*variable] = value;
                        self.execute(body, observer)?;
                    }
                }
                CompiledNode::Operation(operation) => self.operation(operation, observer)?,
            }
        }
        Ok(())
    }

    fn operation(&mut self, operation: &CompiledOperation, observer: &mut impl Observer) -> Result<(), Problem> {
        let depth = operation.loops.len();
        let mut next = self.scratch;
        for (place, load) in operation.loads.iter().enumerate() {
            if let Address::Computed { is_known, code, first, .. } = &load.address {
                if self.work == Work::Accesses && !is_known {
                    if self.memories[load.array].unwritten > 0 {
                        return Err(self.bad_read(operation, place, Some(0)));
                    }
                    next += 1;
                    continue;
                }
                self.compute(operation, code, *first)?;
            }
            let position = self.position(&load.address);
            let value = position.map_or(load.outside, |position| self.memories[load.array].read(position));
            let Some(value) = value else { return Err(self.bad_read(operation, place, position)) };
            self.registers[next] = value;
            next += 1;
        }
        let loaded = self.scratch..next;
        let mut stored = 0;
        if self.work == Work::All {
            self.compute(operation, &operation.instructions, next)?;
            stored = self.registers[operation.result];
            if let Some(operator) = operation.operation.reduction {
                let target = self.registers[loaded.end - 1];
                stored = operator.apply(operation.operation.expression.value, target, stored);
            }
            observer.executed(operation.number, &self.registers[..depth], &self.registers[loaded], stored);
        }
        let target = &operation.operation.target;
        if let Address::Computed { is_known, code, first, .. } = &operation.target {
            if self.work == Work::Accesses && !is_known {
                return Ok(());
            }
            self.compute(operation, code, *first)?;
        }
        let Some(position) = self.position(&operation.target) else {
            return Err(self.bad_index(operation, target, &operation.target));
        };
        self.memories[target.array].write(position, stored);
        Ok(())
    }

    /// Executes instructions, of which the first writes a register and each other one the next.
    fn compute(&mut self, operation: &CompiledOperation, code: &[Instruction], first: Register) -> Result<(), Problem> {
        for (next, instruction) in (first..).zip(code) {
            let read = |register: &Register| self.registers[*register];
            let value = match instruction {
                Instruction::Unary { operator, operand_type, operand } => operator.apply(*operand_type, read(operand)),
                Instruction::Binary { operator, operand_type, left, right } => {
                    operator.apply(*operand_type, read(left), read(right))
                }
                Instruction::Select { condition, then, .. } if read(condition) != 0 => read(then),
                Instruction::Select { otherwise, .. } => read(otherwise),
                Instruction::Cast { from, to, operand } => from.cast(*to, read(operand)),
                Instruction::Lookup { table, index } => {
                    let entry = usize::try_from(read(index)).ok();
                    match entry.and_then(|entry| self.program.tables[*table].values.get(entry)) {
                        Some(value) => *value,
                        None => return Err(self.bad_lookup(operation, *table, read(index))),
                    }
                }
            };
            self.registers[next] = value;
        }
        Ok(())
    }

    #[inline]
    fn position(&self, address: &Address) -> Option<usize> {
        match address {
            Address::Affine { start, strides } => {
                let add = |position, &(variable, stride): &(usize, i64)| position + stride * self.registers[variable];
                usize::try_from(strides.iter().fold(*start, add)).ok()
            }
            Address::General(dimensions) => {
                let mut position = 0;
                for (index, min, extent, distance) in dimensions {
                    let place = index.evaluate(&self.registers) - min;
                    if !(0..*extent).contains(&place) {
                        return None;
                    }
                    position += place * distance;
                }
                usize::try_from(position).ok()
            }
            Address::Computed { dimensions, .. } => {
                let place = |&(index, min, extent, distance): &(Register, i64, i64, i64)| {
                    let place = self.registers[index] - min;
                    (0..extent).contains(&place).then_some(place * distance)
                };
                usize::try_from(dimensions.iter().map(place).sum::<Option<i64>>()?).ok()
            }
        }
    }

    fn variables(&self, operation: &CompiledOperation) -> Vec<i64> {
        self.registers[..operation.loops.len()].to_vec()
    }

    fn bad_read(&self, operation: &CompiledOperation, place: usize, position: Option<usize>) -> Problem {
        let Some(access) = operation.operation.reads().nth(place) else {
            return Problem::new(operation.operation.span, "an operation loads more than it reads");
        };
        if position.is_none() {
            return self.bad_index(operation, access, &operation.loads[place].address);
        }
        unwritten(self.program, access, &operation.loops, &self.variables(operation))
    }

    fn bad_index(&self, operation: &CompiledOperation, access: &Access, address: &Address) -> Problem {
        let variables = self.variables(operation);
        let Array { name, min, shape, .. } = &self.program.arrays[access.array];
        let when = describe(&operation.loops, &variables);
        let outside = |element: String| {
            Problem::new(access.span, format!("`{name}[{element}]` lies outside of the array at {when}"))
        };
        match address {
            Address::Computed { dimensions, .. } => {
                let problem = outside(dimensions.iter().map(|(index, ..)| self.registers[*index]).join(", "));
                let bounds =
                    min.iter().zip(shape).map(|(min, extent)| format!("{min} to {}", min + extent - 1)).join(", ");
                problem.with_help(format!("its indices are from {bounds}: limit them by `clamp`"))
            }
            _ => outside(access.indices.iter().map(|index| index.evaluate(&variables)).join(", ")),
        }
    }

    fn bad_lookup(&self, operation: &CompiledOperation, table: usize, index: i64) -> Problem {
        let when = describe(&operation.loops, &self.variables(operation));
        let table = &self.program.tables[table];
        let last = table.values.len() - 1;
        let message = format!("entry {index} of the table `{}`, which has 0 to {last}, at {when}", table.name);
        Problem::new(operation.operation.span, message)
            .with_help(format!("limit the index: `{}[clamp(…, 0, {last})]`", table.name))
    }
}
