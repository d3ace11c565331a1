//! The delays of stages: an integer program over differences, which linear programming solves exactly.

use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, SolveOutcome, Variable};

/// A group of consumers must start at least `lead` after a group of producers, whose elements are kept from their write
/// until the consumers have read them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constraint {
    pub array: usize,
    /// The group that writes.
    pub producer: usize,
    /// Another group, which reads, or the same.
    pub consumer: usize,
    /// Least difference of the delays.
    pub lead: i64,
    /// The difference of the delays less this is how long the longest-lived word is kept.
    pub kept: i64,
}

/// A group that runs so much after another one, or later, for other reasons than what it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    /// The first group.
    pub first: usize,
    /// The second group.
    pub second: usize,
    /// Least difference of the delays.
    pub least: i64,
}

/// More than what the solver loses by rounding, and less than any difference of storage.
const ROUNDING: f64 = 1e-6;

/// Delays of `groups` of stages that satisfy all constraints and minimize the weighted storage; among those, the earliest.
///
/// A constraint within a group must hold without delay. The constraints are differences, so that the program is totally
/// unimodular: its corners are whole numbers.
pub(crate) fn solve(groups: usize, weights: &[f64], constraints: &[Constraint], apart: &[Apart]) -> Vec<i64> {
    let (storage, _) = minimize(groups, weights, constraints, apart, None);
    let (_, delays) = minimize(groups, weights, constraints, apart, Some(storage));
    assert!(
        constraints.iter().all(|c| delays[c.consumer] - delays[c.producer] >= c.lead),
        "the linear program ignored a constraint"
    );
    delays
}

/// Minimizes storage, or with `storage` given, the sum of delays at that storage.
fn minimize(
    groups: usize,
    weights: &[f64],
    constraints: &[Constraint],
    apart: &[Apart],
    storage: Option<f64>,
) -> (f64, Vec<i64>) {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let earliest = f64::from(u8::from(storage.is_some()));
    let delays: Vec<Variable> = (0..groups).map(|_| problem.add_var(earliest, (0.0, f64::INFINITY))).collect();
    let weight = |array: usize| weights[array];
    let kept: Vec<Variable> = (0..weights.len())
        .map(|array| problem.add_var(if storage.is_some() { 0.0 } else { weight(array) }, (0.0, f64::INFINITY)))
        .collect();
    for constraint in constraints {
        if constraint.consumer == constraint.producer {
            let longest = [(kept[constraint.array], 1.0)];
            problem.add_constraint(longest, ComparisonOp::Ge, -(constraint.kept as f64));
            continue;
        }
        let difference = [(delays[constraint.consumer], 1.0), (delays[constraint.producer], -1.0)];
        problem.add_constraint(difference, ComparisonOp::Ge, constraint.lead as f64);
        let mut longest = LinearExpr::empty();
        longest.add(kept[constraint.array], 1.0);
        longest.add(delays[constraint.consumer], -1.0);
        longest.add(delays[constraint.producer], 1.0);
        problem.add_constraint(longest, ComparisonOp::Ge, -(constraint.kept as f64));
    }
    for apart in apart {
        let difference = [(delays[apart.second], 1.0), (delays[apart.first], -1.0)];
        problem.add_constraint(difference, ComparisonOp::Ge, apart.least as f64);
    }
    if let Some(storage) = storage {
        let total: Vec<(Variable, f64)> =
            kept.iter().enumerate().map(|(array, &variable)| (variable, weight(array))).collect();
        // Weights may be fractions, which the solver rounds.
        problem.add_constraint(total, ComparisonOp::Le, storage + ROUNDING);
    }
    let outcome = problem.solve().expect("delays can always be long enough, and storage is bounded from below");
    let SolveOutcome::Solution(solution) = outcome else { unreachable!("there is no limit that could interrupt") };
    (solution.objective(), delays.iter().map(|&variable| solution.var_value(variable).round() as i64).collect())
}
