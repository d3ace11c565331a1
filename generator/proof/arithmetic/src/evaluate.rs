//! Many values of steps at once.

use crate::code::{Code, Kind};

/// Values of each step that is known, one for each sample.
pub(crate) struct Columns {
    pub samples: usize,
    pub of_steps: Vec<Option<Vec<i64>>>,
}

impl Columns {
    /// The values of a step that is known.
    pub fn column(&self, step: usize) -> &[i64] {
        self.of_steps[step].as_deref().expect("operands come before their users")
    }
}

/// Computes these steps, in ascending order, as far as they have no values.
pub(crate) fn evaluate(code: &Code, tables: &[&[i64]], steps: impl IntoIterator<Item = usize>, values: &mut Columns) {
    for number in steps {
        if values.of_steps[number].is_none() {
            values.of_steps[number] = Some(column(code, tables, number, values));
        }
    }
}

fn column(code: &Code, tables: &[&[i64]], number: usize, values: &Columns) -> Vec<i64> {
    let step = code.steps[number];
    let of = |operand: usize| values.column(operand);
    let type_of = |operand: usize| code.operand_type(operand);
    match step.kind {
        Kind::Constant(constant) => vec![constant; values.samples],
        Kind::Load(_) | Kind::Variable(_) => vec![0; values.samples],
        Kind::Lookup { table, index, mask } => {
            let mask = mask.map_or(-1, i64::from);
            let entry = |index: &i64| usize::try_from(index & mask).ok().and_then(|entry| tables[table].get(entry));
            of(index).iter().map(|index| entry(index).copied().unwrap_or(0)).collect()
        }
        Kind::Unary { operator, operand } => {
            let operands = type_of(operand);
            of(operand).iter().map(|value| operator.apply(operands, *value)).collect()
        }
        Kind::Binary { operator, left, right } => {
            let operands = type_of(left);
            of(left).iter().zip(of(right)).map(|(left, right)| operator.apply(operands, *left, *right)).collect()
        }
        Kind::Select { condition, then, otherwise } => {
            let both = of(then).iter().zip(of(otherwise));
            of(condition)
                .iter()
                .zip(both)
                .map(|(truth, (then, other))| *if *truth != 0 { then } else { other })
                .collect()
        }
        Kind::Bits(operand) => of(operand).to_vec(),
        Kind::Cast(operand) => {
            let from = type_of(operand);
            of(operand).iter().map(|value| from.cast(step.value, *value)).collect()
        }
    }
}
