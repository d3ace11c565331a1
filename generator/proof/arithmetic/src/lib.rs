//! The proof of the arithmetic: a datapath computes what the interpreter computes for its statement.
//!
//! One side is the expression of the statement, of all iterations that one datapath joins, the other the nodes of the datapath. Both
//! become steps (`code`), and these become `terms`, of which equal ones are equal for all operands. Where the terms differ, all
//! operands are tried if they are few, or all values of the parts in which both differ (`equal`). Beyond that, both are compared for
//! operands at limits and random ones (`samples`), which is no proof. Nothing here comes from the passes that make datapaths.

mod code;
mod equal;
mod evaluate;
mod leaves;
mod ranges;
mod samples;
#[cfg(test)]
mod soundness;
mod statement;
mod terms;
mod translate;

use std::collections::HashMap;
use std::fmt;

use itertools::Itertools;
use pushmem_datapaths::{Copies, Datapath};
use pushmem_files::counted;
use pushmem_nest::{Loop, Operation, Printer, Program};
use rayon::prelude::*;

pub use code::Code;
pub use ranges::Ranges;
pub use statement::{Sample, Statement};

use equal::{Difference, Evidence, Pair};
use leaves::{Leaf, variables};
use terms::Bounds;

/// The most operands that a message names.
const MOST_NAMED: usize = 8;

/// How the statements of a program are known to be computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arithmetic {
    /// Statements that have one normal form with their datapaths.
    pub normal_forms: usize,
    /// Statements of which all values were tried, or all of some parts.
    pub exhaustive: usize,
    /// Statements that were compared on samples: no proof.
    pub compared: usize,
}

impl Arithmetic {
    /// Statements that are proven.
    pub fn proven(&self) -> usize {
        self.normal_forms + self.exhaustive
    }
}

/// How many operations are proven, and how many were compared on samples only, as reports say it.
pub fn certainty(proven: usize, compared: usize) -> String {
    let proven = (proven > 0 || compared == 0).then(|| format!("{} proven", counted(proven, "operation")));
    let compared = match (compared, &proven) {
        (0, _) => None,
        (_, None) => Some(format!("{} compared on samples", counted(compared, "operation"))),
        _ => Some(format!("{compared} compared on samples")),
    };
    proven.into_iter().chain(compared).join(", ")
}

/// A datapath that computes something else than its statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongArithmetic {
    /// The name of the operation.
    pub operation: String,
    /// The values of loads and loop variables, each with its name.
    pub operands: Vec<(String, i64)>,
    /// The element whose address is wrong, if it is not the result.
    pub address: Option<String>,
    /// The value of the statement.
    pub expected: i64,
    /// That of the datapath.
    pub found: i64,
}

impl fmt::Display for WrongArithmetic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WrongArithmetic { operation, operands, address, expected, found } = self;
        let what = address.as_ref().map_or("result".to_owned(), |address| format!("address of {address}"));
        write!(formatter, "{operation}: the {what} is {found} in place of {expected}")?;
        let named = operands.iter().take(MOST_NAMED).map(|(name, value)| format!("{name} = {value}")).join(", ");
        let more = if operands.len() > MOST_NAMED { ", …" } else { "" };
        if named.is_empty() { Ok(()) } else { write!(formatter, " for {named}{more}") }
    }
}

impl std::error::Error for WrongArithmetic {}

/// Proves that each operation of a program has a datapath that computes it, or compares it where that takes too long. Statements that
/// are equal are looked at once.
///
/// # Errors
/// The first operation that its datapath does not compute, with operands for which that is so.
pub fn prove_arithmetic(program: &Program, datapaths: &[Datapath]) -> Result<Arithmetic, WrongArithmetic> {
    let nests = program.operations();
    let pairs = nests.iter().zip(datapaths).map(|((loops, operation), datapath)| {
        (Code::of_statement(program, loops, operation), Code::of_datapath(datapath), variables(loops, operation))
    });
    let pairs = pairs.collect_vec();
    let numbers: HashMap<&(Code, Code, Vec<Bounds>), usize> =
        pairs.iter().enumerate().rev().map(|(number, pair)| (pair, number)).collect();
    let first = |number: &usize| numbers[&pairs[*number]] == *number;
    let tables = entries(program, &[]);
    let compare = |number: usize| {
        let (statement, datapath, variables) = &pairs[number];
        Pair { statement, datapath, loads: &[], variables, tables: &tables, has_samples: true }.compare()
    };
    let unlike = (0..pairs.len()).filter(first).collect_vec();
    let results: HashMap<usize, Result<Evidence, Difference>> =
        unlike.into_par_iter().map(|number| (number, compare(number))).collect();
    let mut arithmetic = Arithmetic::default();
    for (number, (loops, operation)) in nests.iter().enumerate() {
        match &results[&numbers[&pairs[number]]] {
            Ok(Evidence::NormalForm) => arithmetic.normal_forms += 1,
            Ok(Evidence::Exhaustive) => arithmetic.exhaustive += 1,
            Ok(Evidence::Samples) => arithmetic.compared += 1,
            Err(difference) => return Err(wrong(program, loops, operation, difference)),
        }
    }
    Ok(arithmetic)
}

/// The entries of each table of a program, and after these of others.
fn entries<'a>(program: &'a Program, others: &'a [Vec<i64>]) -> Vec<&'a [i64]> {
    program.tables.iter().map(|table| &table.values).chain(others).map(Vec::as_slice).collect()
}

fn wrong(program: &Program, loops: &[&Loop], operation: &Operation, difference: &Difference) -> WrongArithmetic {
    let reads = Copies::within(loops.to_vec(), operation).reads();
    let printer = Printer { program, loops, operation };
    let load = |load: usize| reads.get(load).map_or(format!("load {load}"), |access| printer.access(access));
    let name = |leaf: &Leaf| match *leaf {
        Leaf::Load(number) => load(number),
        Leaf::Variable(variable) => loops[variable].variable.clone(),
    };
    WrongArithmetic {
        operation: operation.name.clone(),
        operands: difference.operands.iter().map(|(leaf, value)| (name(leaf), *value)).collect(),
        address: difference.address.map(load),
        expected: difference.expected,
        found: difference.found,
    }
}
