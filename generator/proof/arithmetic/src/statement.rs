//! The results of statements for given operands.

use pushmem_nest::{ArrayKind, Load, Loop, Operation, Program, Type};

use crate::code::Code;
use crate::entries;
use crate::equal::{Evidence, Pair};
use crate::evaluate::{Columns, evaluate};
use crate::leaves::{Leaf, variables};
use crate::ranges::Ranges;
use crate::terms::Bounds;

/// A statement as the interpreter reads it: all iterations that one datapath joins.
pub struct Statement<'a> {
    code: Code,
    loads: Vec<Bounds>,
    /// Whether all loads are of inputs.
    are_inputs: bool,
    variables: Vec<Bounds>,
    /// The type of what it writes.
    target: Type,
    program: &'a Program,
}

/// Operands of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The values of the loads, in the order of [`Datapath::loads`](pushmem_datapaths::Datapath::loads).
    pub loads: Vec<i64>,
    /// The values of the loop variables in the first iteration, outermost first.
    pub variables: Vec<i64>,
}

impl<'a> Statement<'a> {
    /// An operation of a program, in these loops, outermost first.
    pub fn new(program: &'a Program, loops: &[&'a Loop], operation: &'a Operation) -> Self {
        let target = program.arrays[operation.target.array].written();
        let (code, variables) = (Code::of_statement(program, loops, operation), variables(loops, operation));
        let is_input = |load: &Load| program.arrays[load.access.array].kind == ArrayKind::Input;
        let are_inputs = operation.reduction.is_none() && operation.loads.iter().all(is_input);
        Self { code, loads: Vec::new(), are_inputs, variables, target, program }
    }

    /// The same where the elements of arrays are in these ranges.
    pub fn within(program: &'a Program, loops: &[&'a Loop], operation: &'a Operation, ranges: &Ranges) -> Self {
        Self { loads: ranges.of_loads(operation, loops), ..Self::new(program, loops, operation) }
    }

    /// Whether other computations are proven to give the words of the result, low word first, for all values of loads and loop variables:
    /// these steps of the code. Its tables are those of the program and, after these, `tables`.
    ///
    /// # Errors
    /// Values of the loads for which a word differs, where the loads may have any values. Those of other loads are no fault: the program
    /// may never have them.
    pub fn is_proven(&self, code: &Code, words: &[usize], tables: &[Vec<i64>]) -> Result<bool, Vec<i64>> {
        let tables = entries(self.program, tables);
        if words.len() != self.target.words().len() {
            return Ok(false);
        }
        for (word, &step) in self.target.words().iter().zip(words) {
            let (mut statement, mut found) = (self.code.clone(), code.clone());
            statement.result = statement.word(self.code.result, *word);
            found.result = step;
            let pair = Pair {
                statement: &statement,
                datapath: &found,
                loads: &self.loads,
                variables: &self.variables,
                tables: &tables,
                has_samples: self.are_inputs,
            };
            match pair.compare() {
                Ok(Evidence::NormalForm | Evidence::Exhaustive) => {}
                Err(difference) if self.are_inputs => {
                    let load = |load: usize| difference.operands.get(&Leaf::Load(load)).copied().unwrap_or(0);
                    return Err((0..self.loads.len()).map(load).collect());
                }
                Ok(Evidence::Samples) | Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The result for each of these operands; nothing where the program has an error.
    pub fn results(&self, samples: &[Sample]) -> Vec<Option<i64>> {
        let values = columns(&self.code, &entries(self.program, &[]), samples);
        let is_valid = |sample: usize| {
            self.code.bounded.iter().all(|(step, low, high)| (*low..=*high).contains(&values.column(*step)[sample]))
        };
        let results = values.column(self.code.result).iter().enumerate();
        results.map(|(sample, result)| is_valid(sample).then_some(*result)).collect()
    }
}

impl Code {
    /// The values of steps, of each one for each of these operands. Its tables are those of the program and, after these, `tables`.
    pub fn results(
        &self,
        steps: &[usize],
        program: &Program,
        tables: &[Vec<i64>],
        samples: &[Sample],
    ) -> Vec<Vec<i64>> {
        let values = columns(self, &entries(program, tables), samples);
        steps.iter().map(|step| values.column(*step).to_vec()).collect()
    }
}

/// The values of all steps of a code for these operands.
fn columns(code: &Code, tables: &[&[i64]], samples: &[Sample]) -> Columns {
    let value = |leaf: Leaf, sample: &Sample| match leaf {
        Leaf::Load(load) => sample.loads[load],
        Leaf::Variable(variable) => sample.variables[variable],
    };
    let column = |leaf: Leaf| samples.iter().map(|sample| value(leaf, sample)).collect();
    let of_steps = code.steps.iter().map(|step| Leaf::of(&step.kind).map(column)).collect();
    let mut values = Columns { samples: samples.len(), of_steps };
    evaluate(code, tables, 0..code.steps.len(), &mut values);
    values
}
