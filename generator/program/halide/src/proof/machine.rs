//! Steps on flat memories: what a statement and what a nest become to be executed in the same way.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use pushmem_nest::{Binary, Type, Unary};

use super::worlds::World;
use crate::value::Value;

/// A value that depends on an element that was never written, or that is not there.
pub(crate) const UNKNOWN: i64 = i64::MIN;

/// A load from a memory, at an address that may itself depend on loads.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub memory: usize,
    pub element: Type,
    pub address: Rc<Value<Word>>,
}

/// The steps that are executed. Variables are numbered by their loops, the outermost being 0.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub steps: Vec<Step>,
    /// How many memories there are.
    pub memories: usize,
    /// The greatest number of loops around a step.
    pub depth: usize,
}

impl Script {
    /// The numbers in what is stored.
    pub fn numbers(&self) -> BTreeSet<i64> {
        let mut found = BTreeSet::new();
        self.steps.iter().for_each(|step| step.numbers(&mut found));
        found
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
        /// Whether it may compare data, or take the smaller or the larger of it.
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

impl Code {
    /// Compiles a value. Its shared parts are computed once.
    pub fn new(value: &Rc<Value<Word>>) -> Self {
        let mut compiler = Compiler { instructions: Vec::new(), loads: Vec::new(), known: HashMap::new() };
        compiler.value(value);
        let (differing, same) = { 0..compiler.loads.len() }.partition(|at| compiler.loads[*at]);
        Code { instructions: compiler.instructions, same, differing }
    }

    /// Whether the value is the same in all worlds.
    fn is_same(&self) -> bool {
        self.differing.last() < self.same.last()
    }
}

struct Compiler {
    instructions: Vec<Instruction>,
    /// Whether the value of each instruction is computed from loads.
    loads: Vec<bool>,
    /// The registers of values that are compiled already, with their types.
    known: HashMap<*const Value<Word>, (Register, Type)>,
}

impl Compiler {
    fn value(&mut self, value: &Rc<Value<Word>>) -> (Register, Type) {
        if let Some(known) = self.known.get(&Rc::as_ptr(value)) {
            return *known;
        }
        let (instruction, result, loads) = match &**value {
            Value::Number(number, of) => (Instruction::Number(*number), *of, false),
            Value::Variable(variable) => (Instruction::Variable(*variable), Type::I32, false),
            Value::Load(Word { memory, element, address }) => {
                let (address, _) = self.value(address);
                let looks_up = self.loads[address];
                (Instruction::Load { memory: *memory, address, element: *element, looks_up }, *element, true)
            }
            Value::Unary(operator, operand) => {
                let (operand, operands) = self.value(operand);
                let instruction = Instruction::Unary { operator: *operator, operands, operand };
                (instruction, operator.result(operands), self.loads[operand])
            }
            Value::Binary(operator, left, right) => {
                let ((left, operands), (right, _)) = (self.value(left), self.value(right));
                let loads = self.loads[left] || self.loads[right];
                let orders = operator.is_comparison() || matches!(operator, Binary::Minimum | Binary::Maximum);
                let orders_data = orders && operands != Type::Bool && loads;
                let instruction = Instruction::Binary { operator: *operator, operands, left, right, orders_data };
                (instruction, operator.result(operands), loads)
            }
            Value::Select(condition, then, otherwise) => {
                let ((condition, _), (then, result)) = (self.value(condition), self.value(then));
                let otherwise = self.value(otherwise).0;
                let loads = [condition, then, otherwise].iter().any(|register| self.loads[*register]);
                (Instruction::Select { condition, then, otherwise }, result, loads)
            }
            Value::Cast(to, operand) => {
                let operand = self.value(operand).0;
                (Instruction::Cast { to: *to, operand }, *to, self.loads[operand])
            }
        };
        self.instructions.push(instruction);
        self.loads.push(loads);
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
    /// The next step depends on an unknown value.
    Undetermined,
}

/// How many numbers there are for an element: its value in each world, and whether it is data, which is what is computed from
/// pixels. Other values, as initial values and entries of tables, have their own order in all worlds, wherever they are stored:
/// imports compute with them.
pub(crate) fn width(worlds: &[World]) -> usize {
    worlds.len() + 1
}

/// Executes steps in several worlds at once: their data differs, but no index does.
#[derive(Debug)]
pub(crate) struct Machine<'a> {
    worlds: &'a [World],
    /// Of each memory, the elements, each as [`width`] says.
    pub memories: Vec<Vec<i64>>,
    pub variables: Vec<i64>,
    registers: Vec<i64>,
    /// Whether what is in each register is data.
    data: Vec<bool>,
    /// The result of the last code, as an element.
    results: Vec<i64>,
    /// How many instructions may still be executed.
    pub allowed: u64,
}

impl<'a> Machine<'a> {
    pub fn new(script: &Script, worlds: &'a [World], memories: Vec<Vec<i64>>, allowed: u64) -> Self {
        let (variables, results) = (vec![0; script.depth], vec![UNKNOWN; width(worlds)]);
        let (registers, data) = (Vec::new(), Vec::new());
        let mut machine = Self { worlds, memories, variables, registers, data, results, allowed };
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
                    let mut size = width(self.worlds) as i64;
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

    /// Executes a store. The memory grows where it was not allocated.
    pub fn store(&mut self, store: &Store) -> Result<(), Stop> {
        let address = usize::try_from(self.determined(&store.address)?).map_err(|_| Stop::Undetermined)?;
        self.evaluate(&store.value)?;
        let width = width(self.worlds);
        let places = address * width..(address + 1) * width;
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
        let is_same = value != UNKNOWN && self.results[..self.worlds.len()].iter().all(|other| *other == value);
        if is_same { Ok(value) } else { Err(Stop::Undetermined) }
    }

    /// Gives the results of a code their values.
    fn evaluate(&mut self, code: &Code) -> Result<(), Stop> {
        let differing = if code.is_same() { 0 } else { self.worlds.len() * code.differing.len() };
        self.charge(code.same.len() + differing)?;
        self.registers.resize(code.instructions.len(), UNKNOWN);
        self.data.resize(code.instructions.len(), false);
        for &register in &code.same {
            self.registers[register] = self.execute(&code.instructions[register], 0);
            self.data[register] = false;
        }
        let last = code.instructions.len() - 1;
        let worlds = self.worlds.len();
        if code.is_same() {
            self.results[..worlds].fill(self.registers[last]);
            self.results[worlds] = 0;
            return Ok(());
        }
        for world in 0..worlds {
            for &register in &code.differing {
                let instruction = &code.instructions[register];
                if world == 0 {
                    self.data[register] = self.is_data(instruction);
                }
                self.registers[register] = self.execute(instruction, world);
            }
            self.results[world] = self.registers[last];
        }
        self.results[worlds] = i64::from(self.data[last]);
        Ok(())
    }

    /// Whether the value of an instruction is data; those before it have theirs, and their values in the first world.
    fn is_data(&self, instruction: &Instruction) -> bool {
        match instruction {
            Instruction::Number(_) | Instruction::Variable(_) => false,
            Instruction::Load { memory, address, .. } => {
                let element = usize::try_from(self.registers[*address]).ok();
                let place = element.and_then(|at| at.checked_mul(width(self.worlds))?.checked_add(self.worlds.len()));
                let stored = place.and_then(|place| self.memories[*memory].get(place));
                self.data[*address] || stored.is_some_and(|flag| *flag == 1)
            }
            Instruction::Unary { operand, .. } | Instruction::Cast { operand, .. } => self.data[*operand],
            Instruction::Binary { left, right, .. } => self.data[*left] || self.data[*right],
            Instruction::Select { condition, then, otherwise } => match self.data[*condition] {
                true => true,
                // The other one is no part of a loop that is divided instead.
                false if self.registers[*condition] == 0 => self.data[*otherwise],
                false => self.data[*then],
            },
        }
    }

    fn execute(&self, instruction: &Instruction, world: usize) -> i64 {
        let read = |register: &Register| self.registers[*register];
        match instruction {
            Instruction::Number(number) => *number,
            Instruction::Variable(variable) => self.variables[*variable],
            Instruction::Load { memory, address, element, looks_up } => {
                let element_at = |address: usize| {
                    let place = address.checked_mul(width(self.worlds))?.checked_add(world)?;
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
                    (one, two, Some(order)) if *orders_data && (self.data[*left] || self.data[*right]) => {
                        order.apply(*operator, *operands, one, two)
                    }
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
