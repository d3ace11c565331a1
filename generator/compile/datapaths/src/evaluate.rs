//! Evaluation of datapaths.

use pushmem_nest::{Binary, Table, Type, Unary};

use crate::datapath::Datapath;
use crate::node::NodeKind;
use crate::tables::MemoryRead;

/// An operand: a register, or a load or loop variable that has one.
type Register = u32;

#[derive(Clone, Copy, Debug)]
enum Instruction {
    Add { to: Type, left: Register, right: Register },
    Subtract { to: Type, left: Register, right: Register },
    Less { left: Register, right: Register },
    Unary { operator: Unary, operands: Type, operand: Register },
    Binary { operator: Binary, operands: Type, left: Register, right: Register },
    Select { condition: Register, then: Register, otherwise: Register },
    Cast { to: Type, operand: Register },
    Lookup { table: u32, index: Register },
    Fetch { table: u32, index: Register, mask: u32 },
}

/// A datapath compiled to instructions, for many evaluations.
#[derive(Clone, Debug)]
pub struct Evaluator {
    /// Registers of the loads, each with the load.
    loads: Vec<(Register, u32)>,
    /// Registers of the loop variables, each with the variable.
    variables: Vec<(Register, u32)>,
    /// Each writes the register after that of the one before.
    instructions: Vec<Instruction>,
    /// The register of the first instruction.
    first: usize,
    registers: Vec<i64>,
    result: usize,
    tables: Vec<Vec<i64>>,
}

impl Evaluator {
    /// Compiles a datapath of a program with these tables.
    pub fn new(datapath: &Datapath, tables: &[Table]) -> Self {
        Self::of_node(datapath, tables, datapath.result)
    }

    /// Compiles the address of a read of a datapath: the value of which the low bits leave it.
    pub fn of_address(datapath: &Datapath, tables: &[Table], read: &MemoryRead) -> Self {
        Self::of_node(datapath, tables, read.address)
    }

    fn of_node(datapath: &Datapath, tables: &[Table], result: usize) -> Self {
        let mut places: Vec<Register> = vec![0; datapath.nodes.len()];
        let mut evaluator = Self {
            loads: Vec::new(),
            variables: Vec::new(),
            instructions: Vec::new(),
            first: 0,
            registers: Vec::new(),
            result: 0,
            tables: tables.iter().map(|table| table.values.clone()).collect(),
        };
        for (node, place) in datapath.nodes.iter().zip(&mut places) {
            let register = evaluator.registers.len() as Register;
            let mut constant = 0;
            match node.kind {
                NodeKind::Constant(number) => constant = number,
                NodeKind::Load(load) | NodeKind::Read { load, .. } => evaluator.loads.push((register, load as u32)),
                NodeKind::Variable(variable) => evaluator.variables.push((register, variable as u32)),
                _ => continue,
            }
            evaluator.registers.push(constant);
            *place = register;
        }
        evaluator.first = evaluator.registers.len();
        for (number, node) in datapath.nodes.iter().enumerate() {
            let operands_type = |operand: usize| datapath.nodes[operand].value;
            let instruction = match node.kind {
                NodeKind::Constant(_) | NodeKind::Load(_) | NodeKind::Variable(_) | NodeKind::Read { .. } => continue,
                NodeKind::Lookup { table, index } => Instruction::Lookup { table: table as u32, index: places[index] },
                NodeKind::Fetch { table, index, address_bits, .. } => {
                    let mask = u32::MAX >> (u32::BITS - address_bits);
                    Instruction::Fetch { table: table as u32, index: places[index], mask }
                }
                NodeKind::Unary { operator, operand } => {
                    Instruction::Unary { operator, operands: operands_type(operand), operand: places[operand] }
                }
                NodeKind::Binary { operator, left, right } => {
                    let operands = operands_type(left);
                    let (left, right) = (places[left], places[right]);
                    match operator {
                        Binary::Add => Instruction::Add { to: operands, left, right },
                        Binary::Subtract => Instruction::Subtract { to: operands, left, right },
                        Binary::Less => Instruction::Less { left, right },
                        _ => Instruction::Binary { operator, operands, left, right },
                    }
                }
                NodeKind::Select { condition, then, otherwise } => Instruction::Select {
                    condition: places[condition],
                    then: places[then],
                    otherwise: places[otherwise],
                },
                NodeKind::Cast(operand) => Instruction::Cast { to: node.value, operand: places[operand] },
            };
            places[number] = evaluator.registers.len() as Register;
            evaluator.registers.push(0);
            evaluator.instructions.push(instruction);
        }
        evaluator.result = places[result] as usize;
        evaluator
    }

    /// The result for these values of the loads, in the order of [`loads`](Datapath::loads), and of the loop variables in the
    /// first copy, outermost first. Values are of their types.
    ///
    /// For indices outside of it, a table gives the word of the hardware: one in logic 0, one in a memory the word at the low
    /// bits of the index, which is 0 behind the table.
    pub fn evaluate(&mut self, loads: &[i64], variables: &[i64]) -> i64 {
        for &(register, load) in &self.loads {
            self.registers[register as usize] = loads[load as usize];
        }
        for &(register, variable) in &self.variables {
            self.registers[register as usize] = variables[variable as usize];
        }
        for (next, instruction) in (self.first..).zip(&self.instructions) {
            let read = |register: Register| self.registers[register as usize];
            self.registers[next] = match *instruction {
                Instruction::Add { to, left, right } => to.wrap(read(left) + read(right)),
                Instruction::Subtract { to, left, right } => to.wrap(read(left) - read(right)),
                Instruction::Less { left, right } => i64::from(read(left) < read(right)),
                Instruction::Unary { operator, operands, operand } => operator.apply(operands, read(operand)),
                Instruction::Binary { operator, operands, left, right } => {
                    operator.apply(operands, read(left), read(right))
                }
                Instruction::Select { condition, then, otherwise } => {
                    read(if read(condition) != 0 { then } else { otherwise })
                }
                Instruction::Cast { to, operand } => to.wrap(read(operand)),
                Instruction::Lookup { table, index } => {
                    let entry = usize::try_from(read(index)).ok();
                    entry.and_then(|entry| self.tables[table as usize].get(entry)).copied().unwrap_or(0)
                }
                Instruction::Fetch { table, index, mask } => {
                    let entry = (read(index) & i64::from(mask)) as usize;
                    self.tables[table as usize].get(entry).copied().unwrap_or(0)
                }
            };
        }
        self.registers[self.result]
    }
}
