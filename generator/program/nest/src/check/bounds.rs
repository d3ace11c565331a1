//! Indices within their arrays.

use itertools::Itertools;

use crate::index::Index;
use crate::interpret::describe;
use crate::program::{Access, Loop, Program, ranges};
use crate::source::Problem;

/// The most iterations that are tried for an index whose range is not known in closed form.
const MOST_TRIALS: i64 = 1 << 20;

pub(super) fn check(program: &Program, problems: &mut Vec<Problem>, warnings: &mut Vec<Problem>) {
    for (loops, operation) in program.operations() {
        let reads = operation.loads.iter().filter(|load| load.outside.is_none()).map(|load| (&load.access, "read"));
        let accesses = reads.chain([(&operation.target, "written")]);
        // Of indices that depend on data, the values are checked when the program runs.
        for (access, what) in accesses.filter(|(access, _)| access.computed.is_none()) {
            for dimension in 0..access.indices.len() {
                match violation(program, &loops, access, dimension) {
                    Violation::None => {}
                    Violation::At(value, variables) => {
                        problems.push(outside(program, &loops, access, dimension, what, value, &variables));
                    }
                    Violation::Unknown => warnings.push(
                        Problem::new(
                            access.span,
                            format!("it is not known whether index {dimension} stays in the array"),
                        )
                        .with_help("if it does not, the execution fails there; write the index with fewer terms"),
                    ),
                }
            }
        }
    }
}

enum Violation {
    None,
    /// This index is outside, for these values of the variables.
    At(i64, Vec<i64>),
    Unknown,
}

fn violation(program: &Program, loops: &[&Loop], access: &Access, dimension: usize) -> Violation {
    let array = &program.arrays[access.array];
    let (index, least, greatest) = (&access.indices[dimension], array.min[dimension], array.max(dimension));
    let ranges = ranges(loops.iter().copied());
    let (low, high) = index.range(&ranges);
    if least <= low && high <= greatest {
        return Violation::None;
    }
    let mut variables = ranges.iter().map(|(first, _)| *first).collect_vec();
    if let Some(affine) = index.as_affine() {
        // The extreme that is outside is reached at a corner.
        for &(variable, coefficient) in &affine.terms {
            let (first, last) = ranges[variable];
            variables[variable] = if (coefficient > 0) == (high > greatest) { last } else { first };
        }
        return Violation::At(affine.evaluate(&variables), variables);
    }
    search(index, least, greatest, &ranges, variables)
}

/// Tries all values of the variables that occur in the index.
fn search(index: &Index, least: i64, greatest: i64, ranges: &[(i64, i64)], mut variables: Vec<i64>) -> Violation {
    let used = index.variables().into_iter().collect_vec();
    let trials = used.iter().try_fold(1_i64, |product, &variable| {
        let (first, last) = ranges[variable];
        product.checked_mul(last - first + 1)
    });
    if trials.is_none_or(|trials| trials > MOST_TRIALS) {
        return Violation::Unknown;
    }
    loop {
        let value = index.evaluate(&variables);
        if value < least || value > greatest {
            return Violation::At(value, variables);
        }
        // The next combination: the first variable that can step does, those before start again.
        let next = used.iter().position(|&variable| variables[variable] < ranges[variable].1);
        let Some(next) = next else {
            return Violation::None;
        };
        for &variable in &used[..next] {
            variables[variable] = ranges[variable].0;
        }
        variables[used[next]] += 1;
    }
}

fn outside(
    program: &Program,
    loops: &[&Loop],
    access: &Access,
    dimension: usize,
    what: &str,
    value: i64,
    variables: &[i64],
) -> Problem {
    let array = &program.arrays[access.array];
    let (name, least, greatest) = (&array.name, array.min[dimension], array.max(dimension));
    let message = format!(
        "`{name}` is {what} outside: index {dimension} is {value} at {}, but goes from {least} to {greatest}",
        describe(loops, variables)
    );
    Problem::new(access.span, message).with_help(match what {
        "read" => format!(
            "shorten the loop, or say what lies outside: `clamp(…, {least}, {greatest})` repeats the edge, `mirror(…, {least}, \
             {greatest})` reflects, and `outside({name}[…], 0)` is 0"
        ),
        _ => "shorten the loop, or make the array larger".to_owned(),
    })
}
