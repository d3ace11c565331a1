//! The part of an execution that a few elements depend on.
//!
//! Steps are walked from the last to the first, with the elements that are needed where the walk is. Loops are halved as
//! long as a half may write a needed element, which the intervals of addresses tell: what is not needed is not visited.

use std::collections::BTreeSet;

use pushmem_nest::{Binary, Type};

use super::machine::{Code, Instruction, Machine, Script, Step, Stop, Store, UNKNOWN};

/// The least and the greatest value.
type Interval = (i64, i64);

const ANYTHING: Interval = (i64::MIN, i64::MAX);

/// Executes what elements of a memory depend on, on a machine whose memories hold what is there at the beginning.
pub(crate) fn run_for(script: &Script, machine: &mut Machine, wanted: &[(usize, i64)]) -> Result<(), Stop> {
    let mut slicer = Slicer {
        needed: vec![BTreeSet::new(); script.memories],
        whole: vec![false; script.memories],
        ranges: vec![ANYTHING; script.depth],
        registers: Vec::new(),
        stores: Vec::new(),
        variables: Vec::new(),
        allowed: machine.allowed,
    };
    wanted.iter().for_each(|&(memory, address)| {
        slicer.needed[memory].insert(address);
    });
    slicer.steps(&script.steps, 0)?;
    let Slicer { stores, mut variables, allowed, .. } = slicer;
    machine.allowed = allowed;
    for &(store, depth) in stores.iter().rev() {
        let first = variables.len() - depth;
        machine.variables[..depth].copy_from_slice(&variables[first..]);
        variables.truncate(first);
        machine.store(store)?;
    }
    Ok(())
}

struct Slicer<'a> {
    needed: Vec<BTreeSet<i64>>,
    /// The memories of which every element is needed, as they are looked up by data.
    whole: Vec<bool>,
    /// The values of the variables of the loops around.
    ranges: Vec<Interval>,
    registers: Vec<Interval>,
    /// The stores that are needed, the last first, each with the number of loops around.
    stores: Vec<(&'a Store, usize)>,
    /// The values of the variables of all of them.
    variables: Vec<i64>,
    /// How many instructions may still be looked at.
    allowed: u64,
}

impl<'a> Slicer<'a> {
    /// The steps from the last to the first.
    fn steps(&mut self, steps: &'a [Step], depth: usize) -> Result<(), Stop> {
        for step in steps.iter().rev() {
            match step {
                Step::Loop { first, extent, body } => {
                    let (first, extent) = (self.exact(first)?, self.exact(extent)?);
                    if extent > 0 {
                        self.iterations(body, depth, (first, first + extent - 1))?;
                    }
                }
                Step::If { condition, then, otherwise } => {
                    let body = if self.exact(condition)? != 0 { then } else { otherwise };
                    self.steps(body, depth)?;
                }
                Step::Allocate { memory, .. } => {
                    self.needed[*memory].clear();
                    self.whole[*memory] = false;
                }
                Step::Store(store) => self.store(store, depth)?,
            }
        }
        Ok(())
    }

    fn iterations(&mut self, body: &'a [Step], depth: usize, (first, last): Interval) -> Result<(), Stop> {
        self.ranges[depth] = (first, last);
        if !self.writes(body, depth + 1)? {
            return Ok(());
        }
        if first == last {
            return self.steps(body, depth + 1);
        }
        let middle = first + (last - first) / 2;
        self.iterations(body, depth, (middle + 1, last))?;
        self.iterations(body, depth, (first, middle))
    }

    /// Whether steps may write what is needed.
    fn writes(&mut self, steps: &[Step], depth: usize) -> Result<bool, Stop> {
        for step in steps {
            let found = match step {
                Step::Loop { first, extent, body } => {
                    let (first, extent) = (self.interval(first)?, self.interval(extent)?);
                    self.ranges[depth] = (first.0, first.1.saturating_add(extent.1) - 1);
                    extent.1 > 0 && self.writes(body, depth + 1)?
                }
                Step::If { then, otherwise, .. } => self.writes(then, depth)? || self.writes(otherwise, depth)?,
                Step::Allocate { .. } => false,
                Step::Store(store) => {
                    let (low, high) = self.interval(&store.address)?;
                    self.whole[store.memory] || self.needed[store.memory].range(low..=high).next().is_some()
                }
            };
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn store(&mut self, store: &'a Store, depth: usize) -> Result<(), Stop> {
        let address = self.exact(&store.address)?;
        let needed = self.needed[store.memory].remove(&address);
        if !needed && !self.whole[store.memory] {
            return Ok(());
        }
        self.stores.push((store, depth));
        self.variables.extend(self.ranges[..depth].iter().map(|range| range.0));
        self.interval(&store.value)?;
        for instruction in &store.value.instructions {
            if let Instruction::Load { memory, address, .. } = instruction {
                match self.registers[*address] {
                    (low, high) if low == high => _ = self.needed[*memory].insert(low),
                    _ => self.whole[*memory] = true,
                }
            }
        }
        Ok(())
    }

    fn exact(&mut self, code: &Code) -> Result<i64, Stop> {
        match self.interval(code)? {
            (low, high) if low == high => Ok(low),
            _ => Err(Stop::Undetermined),
        }
    }

    /// Bounds of a value. Of what is computed from variables that are known, it is exact.
    fn interval(&mut self, code: &Code) -> Result<Interval, Stop> {
        self.allowed = self.allowed.checked_sub(code.instructions.len() as u64).ok_or(Stop::Exhausted)?;
        self.registers.clear();
        for instruction in &code.instructions {
            let read = |register: &usize| self.registers[*register];
            let bounds = match instruction {
                Instruction::Number(UNKNOWN) => ANYTHING,
                Instruction::Number(number) => (*number, *number),
                Instruction::Variable(variable) => self.ranges[*variable],
                Instruction::Load { element, .. } => (element.min(), element.max()),
                Instruction::Unary { operator, operands, operand } => match read(operand) {
                    (low, high) if low == high => {
                        let value = operator.apply(*operands, low);
                        (value, value)
                    }
                    _ => all(operator.result(*operands)),
                },
                // Any order of data is possible.
                Instruction::Binary { operator, operands, left, right, orders_data: true } => {
                    let (left, right) = (read(left), read(right));
                    match operator {
                        Binary::Minimum | Binary::Maximum => (left.0.min(right.0), left.1.max(right.1)),
                        _ => all(operator.result(*operands)),
                    }
                }
                Instruction::Binary { operator, operands, left, right, .. } => {
                    binary(*operator, *operands, read(left), read(right))
                }
                Instruction::Select { condition, then, otherwise } => match read(condition) {
                    (0, 0) => read(otherwise),
                    (low, high) if low == high => read(then),
                    _ => {
                        let (one, other) = (read(then), read(otherwise));
                        (one.0.min(other.0), one.1.max(other.1))
                    }
                },
                Instruction::Cast { to, operand } => match read(operand) {
                    (low, high) if to.holds(low) && to.holds(high) => (low, high),
                    (low, high) if low == high => (to.wrap(low), to.wrap(low)),
                    _ => all(*to),
                },
            };
            self.registers.push(bounds);
        }
        Ok(self.registers.last().copied().unwrap_or(ANYTHING))
    }
}

fn all(of: Type) -> Interval {
    (of.min(), of.max())
}

fn binary(operator: Binary, of: Type, left: Interval, right: Interval) -> Interval {
    if left.0 == left.1 && right.0 == right.1 && left != ANYTHING && right != ANYTHING {
        let value = operator.apply(of, left.0, right.0);
        return (value, value);
    }
    let all = all(operator.result(of));
    let within = |(low, high): (i128, i128)| match i128::from(all.0) <= low && high <= i128::from(all.1) {
        true => (low as i64, high as i64),
        false => all,
    };
    let [a, b, c, d] = [left.0, left.1, right.0, right.1].map(i128::from);
    match operator {
        Binary::Add => within((a + c, b + d)),
        Binary::Subtract => within((a - d, b - c)),
        Binary::Multiply => {
            let products = [a * c, a * d, b * c, b * d];
            let least = products.iter().min().copied().unwrap_or_default();
            within((least, products.iter().max().copied().unwrap_or_default()))
        }
        Binary::Divide if c == d && c > 0 => within((a.div_euclid(c), b.div_euclid(c))),
        Binary::Modulo if c == d && c > 0 && a.div_euclid(c) == b.div_euclid(c) => {
            within((a.rem_euclid(c), b.rem_euclid(c)))
        }
        Binary::Modulo if c == d && c > 0 => within((0, c - 1)),
        Binary::Minimum => (left.0.min(right.0), left.1.min(right.1)),
        Binary::Maximum => (left.0.max(right.0), left.1.max(right.1)),
        _ => all,
    }
}
