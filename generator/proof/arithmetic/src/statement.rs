//! The results of statements for given operands.

use pushmem_nest::{Loop, Operation, Program, Table};

use crate::code::Code;
use crate::evaluate::{Columns, evaluate};
use crate::leaves::Leaf;

/// A statement as the interpreter reads it: all iterations that one datapath joins.
pub struct Statement<'a> {
    code: Code,
    tables: &'a [Table],
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
        Self { code: Code::of_statement(program, loops, operation), tables: &program.tables }
    }

    /// The result for each of these operands; nothing where the program has an error.
    pub fn results(&self, samples: &[Sample]) -> Vec<Option<i64>> {
        let value = |leaf: Leaf, sample: &Sample| match leaf {
            Leaf::Load(load) => sample.loads[load],
            Leaf::Variable(variable) => sample.variables[variable],
        };
        let column = |leaf: Leaf| samples.iter().map(|sample| value(leaf, sample)).collect();
        let of_steps = self.code.steps.iter().map(|step| Leaf::of(&step.kind).map(column)).collect();
        let mut values = Columns { samples: samples.len(), of_steps };
        evaluate(&self.code, self.tables, 0..self.code.steps.len(), &mut values);
        let is_valid = |sample: usize| {
            self.code.bounded.iter().all(|(step, low, high)| (*low..=*high).contains(&values.column(*step)[sample]))
        };
        let results = values.column(self.code.result).iter().enumerate();
        results.map(|(sample, result)| is_valid(sample).then_some(*result)).collect()
    }
}
