//! Steps on flat memories: what a statement and what a nest become to be executed in the same way.

use std::collections::HashMap;
use std::rc::Rc;

use pushmem_nest::{Binary, Type, Unary};

use crate::value::Value;

/// A value that depends on an element that nobody has written, or that is not there.
pub(crate) const UNKNOWN: i64 = i64::MIN;

/// A load from a memory, at an address that may itself depend on loads.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub memory: usize,
    pub element: Type,
    pub address: Rc<Value<Word>>,
}

/// What is executed. Variables are numbered by their loops, the outermost being 0.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub steps: Vec<Step>,
    /// How many memories there are.
    pub memories: usize,
    /// The greatest number of loops around a step.
    pub depth: usize,
}

#[derive(Debug)]
pub(crate) enum Step {
    Loop {
        first: Code,
        extent: Code,
        body: Vec<Step>,
    },
    If {
        condition: Code,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    /// Makes a memory of as many elements as the product says, none of them written.
    Allocate {
        memory: usize,
        extents: Vec<Code>,
    },
    Store(Store),
}

#[derive(Debug)]
pub(crate) struct Store {
    pub memory: usize,
    pub address: Code,
    pub value: Code,
}

/// An expression as a list of instructions, each of which gives the register of its number a value. The last is the result.
#[derive(Debug, Default)]
pub(crate) struct Code(pub Vec<Instruction>);

pub(crate) type Register = usize;

#[derive(Debug)]
pub(crate) enum Instruction {
    Number(i64),
    Variable(usize),
    Load { memory: usize, address: Register, element: Type },
    Unary { operator: Unary, operands: Type, operand: Register },
    Binary { operator: Binary, operands: Type, left: Register, right: Register },
    Select { condition: Register, then: Register, otherwise: Register },
    Cast { to: Type, operand: Register },
}

impl Code {
    /// Compiles a value. What it shares is computed once.
    pub fn new(value: &Rc<Value<Word>>) -> Self {
        let mut compiler = Compiler { instructions: Vec::new(), known: HashMap::new() };
        compiler.value(value);
        Code(compiler.instructions)
    }
}

struct Compiler {
    instructions: Vec<Instruction>,
    /// The registers of values that are compiled already, with their types.
    known: HashMap<*const Value<Word>, (Register, Type)>,
}

impl Compiler {
    fn value(&mut self, value: &Rc<Value<Word>>) -> (Register, Type) {
        if let Some(known) = self.known.get(&Rc::as_ptr(value)) {
            return *known;
        }
        let (instruction, result) = match &**value {
            Value::Number(number, of) => (Instruction::Number(*number), *of),
            Value::Variable(variable) => (Instruction::Variable(*variable), Type::I32),
            Value::Load(Word { memory, element, address }) => {
                let (address, _) = self.value(address);
                (Instruction::Load { memory: *memory, address, element: *element }, *element)
            }
            Value::Unary(operator, operand) => {
                let (operand, operands) = self.value(operand);
                (Instruction::Unary { operator: *operator, operands, operand }, operator.result(operands))
            }
            Value::Binary(operator, left, right) => {
                let ((left, operands), (right, _)) = (self.value(left), self.value(right));
                (Instruction::Binary { operator: *operator, operands, left, right }, operator.result(operands))
            }
            Value::Select(condition, then, otherwise) => {
                let ((condition, _), (then, result)) = (self.value(condition), self.value(then));
                (Instruction::Select { condition, then, otherwise: self.value(otherwise).0 }, result)
            }
            Value::Cast(to, operand) => (Instruction::Cast { to: *to, operand: self.value(operand).0 }, *to),
        };
        self.instructions.push(instruction);
        let known = (self.instructions.len() - 1, result);
        self.known.insert(Rc::as_ptr(value), known);
        known
    }
}

/// Why an execution ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// All operations that were allowed are used up.
    Exhausted,
    /// What is executed depends on an unknown value.
    Undetermined,
}

/// Executes steps.
#[derive(Debug)]
pub(crate) struct Machine {
    pub memories: Vec<Vec<i64>>,
    pub variables: Vec<i64>,
    registers: Vec<i64>,
    /// How many instructions may still be executed.
    pub allowed: u64,
}

impl Machine {
    pub fn new(script: &Script, memories: Vec<Vec<i64>>, allowed: u64) -> Self {
        let mut machine = Self { memories, variables: vec![0; script.depth], registers: Vec::new(), allowed };
        machine.memories.resize(script.memories, Vec::new());
        machine
    }

    /// Executes steps in order.
    pub fn run(&mut self, steps: &[Step], depth: usize) -> Result<(), Stop> {
        for step in steps {
            match step {
                Step::Loop { first, extent, body } => {
                    let (first, extent) = (self.determined(first)?, self.determined(extent)?);
                    for at in first..first + extent {
                        self.variables[depth] = at;
                        self.run(body, depth + 1)?;
                    }
                }
                Step::If { condition, then, otherwise } => {
                    let body = if self.determined(condition)? != 0 { then } else { otherwise };
                    self.run(body, depth)?;
                }
                Step::Allocate { memory, extents } => {
                    let mut size = 1_i64;
                    for extent in extents {
                        size = size.saturating_mul(self.determined(extent)?);
                    }
                    self.charge(u64::try_from(size).unwrap_or(0))?;
                    self.memories[*memory] = vec![UNKNOWN; usize::try_from(size).unwrap_or(0)];
                }
                Step::Store(store) => self.store(store)?,
            }
        }
        Ok(())
    }

    /// Executes a store. The memory grows where nobody has allocated it.
    pub fn store(&mut self, store: &Store) -> Result<(), Stop> {
        let (address, value) = (self.determined(&store.address)?, self.evaluate(&store.value)?);
        let address = usize::try_from(address).map_err(|_| Stop::Undetermined)?;
        let length = self.memories[store.memory].len();
        if address >= length {
            self.charge((address + 1 - length) as u64)?;
            self.memories[store.memory].resize(address + 1, UNKNOWN);
        }
        self.memories[store.memory][address] = value;
        Ok(())
    }

    fn charge(&mut self, operations: u64) -> Result<(), Stop> {
        self.allowed = self.allowed.checked_sub(operations).ok_or(Stop::Exhausted)?;
        Ok(())
    }

    fn determined(&mut self, code: &Code) -> Result<i64, Stop> {
        match self.evaluate(code)? {
            UNKNOWN => Err(Stop::Undetermined),
            value => Ok(value),
        }
    }

    fn evaluate(&mut self, code: &Code) -> Result<i64, Stop> {
        self.charge(code.0.len() as u64)?;
        self.registers.clear();
        for instruction in &code.0 {
            let read = |register: &Register| self.registers[*register];
            let value = match instruction {
                Instruction::Number(number) => *number,
                Instruction::Variable(variable) => self.variables[*variable],
                Instruction::Load { memory, address, .. } => {
                    let address = usize::try_from(read(address)).ok();
                    address.and_then(|address| self.memories[*memory].get(address).copied()).unwrap_or(UNKNOWN)
                }
                Instruction::Unary { operator, operands, operand } => match read(operand) {
                    UNKNOWN => UNKNOWN,
                    value => operator.apply(*operands, value),
                },
                Instruction::Binary { operator, operands, left, right } => match (read(left), read(right)) {
                    (UNKNOWN, _) | (_, UNKNOWN) => UNKNOWN,
                    (left, right) => operator.apply(*operands, left, right),
                },
                Instruction::Select { condition, then, otherwise } => match read(condition) {
                    UNKNOWN => UNKNOWN,
                    0 => read(otherwise),
                    _ => read(then),
                },
                Instruction::Cast { to, operand } => match read(operand) {
                    UNKNOWN => UNKNOWN,
                    value => to.wrap(value),
                },
            };
            self.registers.push(value);
        }
        Ok(self.registers.last().copied().unwrap_or(UNKNOWN))
    }
}
