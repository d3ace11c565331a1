//! Steps on flat memories: what a statement and what a nest become to be executed in the same way.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use pushmem_nest::{Binary, Type, Unary};

use super::worlds::World;
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

impl Script {
    /// The numbers in what is stored, in ascending order.
    pub fn numbers(&self) -> Vec<i64> {
        let mut found = BTreeSet::new();
        self.steps.iter().for_each(|step| step.numbers(&mut found));
        found.into_iter().collect()
    }
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

impl Step {
    fn numbers(&self, found: &mut BTreeSet<i64>) {
        match self {
            Step::Loop { body, .. } => body.iter().for_each(|step| step.numbers(found)),
            Step::If { then, otherwise, .. } => then.iter().chain(otherwise).for_each(|step| step.numbers(found)),
            Step::Allocate { .. } => {}
            Step::Store(store) => found.extend(store.value.instructions.iter().filter_map(|each| match each {
                Instruction::Number(number) => Some(*number),
                _ => None,
            })),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Store {
    pub memory: usize,
    pub address: Code,
    pub value: Code,
}

/// An expression as a list of instructions, each of which gives the register of its number a value. The last is the result.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub instructions: Vec<Instruction>,
    /// The instructions whose values are the same in all worlds, as no load is needed for them.
    same: Vec<Register>,
    /// The others.
    differing: Vec<Register>,
}

pub(crate) type Register = usize;

#[derive(Debug)]
pub(crate) enum Instruction {
    Number(i64),
    Variable(usize),
    Load {
        memory: usize,
        address: Register,
        element: Type,
        /// Whether the address depends on data.
        looks_up: bool,
    },
    Unary {
        operator: Unary,
        operands: Type,
        operand: Register,
    },
    Binary {
        operator: Binary,
        operands: Type,
        left: Register,
        right: Register,
        /// Whether it compares data, or takes the smaller or the larger of it.
        orders_data: bool,
    },
    Select {
        condition: Register,
        then: Register,
        otherwise: Register,
    },
    Cast {
        to: Type,
        operand: Register,
    },
}

/// What a value is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// Numbers of the types of data only, as an initial value that is put in the place of the element. Halide leaves no
    /// comparison of these, so that there they were data.
    Numbers,
    /// Loop variables, and the numbers of indices that took their place.
    Counters,
    Loads,
}

impl Code {
    /// Compiles a value. What it shares is computed once.
    pub fn new(value: &Rc<Value<Word>>) -> Self {
        let mut compiler = Compiler { instructions: Vec::new(), origins: Vec::new(), known: HashMap::new() };
        compiler.value(value);
        let (differing, same) = { 0..compiler.origins.len() }.partition(|at| compiler.origins[*at] == Origin::Loads);
        Code { instructions: compiler.instructions, same, differing }
    }

    /// Whether the value is the same in all worlds.
    fn is_same(&self) -> bool {
        self.differing.last() < self.same.last()
    }
}

struct Compiler {
    instructions: Vec<Instruction>,
    /// Of the value of each instruction.
    origins: Vec<Origin>,
    /// The registers of values that are compiled already, with their types.
    known: HashMap<*const Value<Word>, (Register, Type)>,
}

impl Compiler {
    fn value(&mut self, value: &Rc<Value<Word>>) -> (Register, Type) {
        if let Some(known) = self.known.get(&Rc::as_ptr(value)) {
            return *known;
        }
        let (instruction, result, origin) = match &**value {
            Value::Number(number, Type::I32) => (Instruction::Number(*number), Type::I32, Origin::Counters),
            Value::Number(number, of) => (Instruction::Number(*number), *of, Origin::Numbers),
            Value::Variable(variable) => (Instruction::Variable(*variable), Type::I32, Origin::Counters),
            Value::Load(Word { memory, element, address }) => {
                let (address, _) = self.value(address);
                let looks_up = self.origins[address] == Origin::Loads;
                (Instruction::Load { memory: *memory, address, element: *element, looks_up }, *element, Origin::Loads)
            }
            Value::Unary(operator, operand) => {
                let (operand, operands) = self.value(operand);
                let instruction = Instruction::Unary { operator: *operator, operands, operand };
                (instruction, operator.result(operands), self.origins[operand])
            }
            Value::Binary(operator, left, right) => {
                let ((left, operands), (right, _)) = (self.value(left), self.value(right));
                let origin = self.origins[left].max(self.origins[right]);
                let orders = operator.is_comparison() || matches!(operator, Binary::Minimum | Binary::Maximum);
                let orders_data = orders && operands != Type::Bool && origin != Origin::Counters;
                let instruction = Instruction::Binary { operator: *operator, operands, left, right, orders_data };
                (instruction, operator.result(operands), origin)
            }
            Value::Select(condition, then, otherwise) => {
                let ((condition, _), (then, result)) = (self.value(condition), self.value(then));
                let otherwise = self.value(otherwise).0;
                let origin = [condition, then, otherwise].map(|register| self.origins[register]).into_iter().max();
                (Instruction::Select { condition, then, otherwise }, result, origin.unwrap_or(Origin::Loads))
            }
            Value::Cast(to, operand) => {
                let operand = self.value(operand).0;
                (Instruction::Cast { to: *to, operand }, *to, self.origins[operand])
            }
        };
        // The order of numbers differs between worlds, too.
        let origin = match instruction {
            Instruction::Binary { orders_data: true, .. } => Origin::Loads,
            _ => origin,
        };
        self.instructions.push(instruction);
        self.origins.push(origin);
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

/// Executes steps in several worlds at once: their data differs, but no index does.
#[derive(Debug)]
pub(crate) struct Machine<'a> {
    worlds: &'a [World],
    /// Of each memory, the elements, each with its value in each world.
    pub memories: Vec<Vec<i64>>,
    pub variables: Vec<i64>,
    registers: Vec<i64>,
    /// The result of the last code in each world.
    results: Vec<i64>,
    /// How many instructions may still be executed.
    pub allowed: u64,
}

impl<'a> Machine<'a> {
    pub fn new(script: &Script, worlds: &'a [World], memories: Vec<Vec<i64>>, allowed: u64) -> Self {
        let (variables, results) = (vec![0; script.depth], vec![UNKNOWN; worlds.len()]);
        let mut machine = Self { worlds, memories, variables, registers: Vec::new(), results, allowed };
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
                    let mut size = self.worlds.len() as i64;
                    for extent in extents {
                        size = size.saturating_mul(self.determined(extent)?);
                    }
                    let size = usize::try_from(size).unwrap_or(0);
                    self.charge(size)?;
                    self.memories[*memory] = vec![UNKNOWN; size];
                }
                Step::Store(store) => self.store(store)?,
            }
        }
        Ok(())
    }

    /// Executes a store. The memory grows where nobody has allocated it.
    pub fn store(&mut self, store: &Store) -> Result<(), Stop> {
        let address = usize::try_from(self.determined(&store.address)?).map_err(|_| Stop::Undetermined)?;
        self.evaluate(&store.value)?;
        let places = address * self.worlds.len()..(address + 1) * self.worlds.len();
        let length = self.memories[store.memory].len();
        if places.end > length {
            self.charge(places.end - length)?;
            self.memories[store.memory].resize(places.end, UNKNOWN);
        }
        self.memories[store.memory][places].copy_from_slice(&self.results);
        Ok(())
    }

    fn charge(&mut self, operations: usize) -> Result<(), Stop> {
        self.allowed = self.allowed.checked_sub(operations as u64).ok_or(Stop::Exhausted)?;
        Ok(())
    }

    /// The value of a code that is known, and the same in all worlds.
    fn determined(&mut self, code: &Code) -> Result<i64, Stop> {
        self.evaluate(code)?;
        let value = self.results[0];
        let is_same = value != UNKNOWN && self.results.iter().all(|other| *other == value);
        if is_same { Ok(value) } else { Err(Stop::Undetermined) }
    }

    /// Gives the results of a code their values.
    fn evaluate(&mut self, code: &Code) -> Result<(), Stop> {
        let differing = if code.is_same() { 0 } else { self.worlds.len() * code.differing.len() };
        self.charge(code.same.len() + differing)?;
        self.registers.resize(code.instructions.len(), UNKNOWN);
        for &register in &code.same {
            self.registers[register] = self.execute(&code.instructions[register], 0);
        }
        let last = code.instructions.len() - 1;
        if code.is_same() {
            self.results.fill(self.registers[last]);
            return Ok(());
        }
        for world in 0..self.worlds.len() {
            for &register in &code.differing {
                self.registers[register] = self.execute(&code.instructions[register], world);
            }
            self.results[world] = self.registers[last];
        }
        Ok(())
    }

    fn execute(&self, instruction: &Instruction, world: usize) -> i64 {
        let read = |register: &Register| self.registers[*register];
        match instruction {
            Instruction::Number(number) => *number,
            Instruction::Variable(variable) => self.variables[*variable],
            Instruction::Load { memory, address, element, looks_up } => {
                let element_at = |address: usize| {
                    let place = address.checked_mul(self.worlds.len())?.checked_add(world)?;
                    self.memories[*memory].get(place).copied()
                };
                let address = read(address);
                match (usize::try_from(address).ok().and_then(element_at), &self.worlds[world].order) {
                    (Some(value), _) => value,
                    (None, Some(order)) if *looks_up && address != UNKNOWN => order.entry(*element, address),
                    (None, _) => UNKNOWN,
                }
            }
            Instruction::Unary { operator, operands, operand } => match read(operand) {
                UNKNOWN => UNKNOWN,
                value => operator.apply(*operands, value),
            },
            Instruction::Binary { operator, operands, left, right, orders_data } => {
                match (read(left), read(right), &self.worlds[world].order) {
                    (UNKNOWN, ..) | (_, UNKNOWN, _) => UNKNOWN,
                    (left, right, Some(order)) if *orders_data => order.apply(*operator, *operands, left, right),
                    (left, right, _) => operator.apply(*operands, left, right),
                }
            }
            Instruction::Select { condition, then, otherwise } => match read(condition) {
                UNKNOWN => UNKNOWN,
                0 => read(otherwise),
                _ => read(then),
            },
            Instruction::Cast { to, operand } => match read(operand) {
                UNKNOWN => UNKNOWN,
                value => to.wrap(value),
            },
        }
    }
}
