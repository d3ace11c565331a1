//! The solver against all assignments of small problems.

use itertools::Itertools;
use proptest::prelude::*;
use pushmem_retiming::{Error, Problem, Variable};

/// A problem as a table.
#[derive(Clone, Debug)]
struct Table {
    variables: usize,
    /// From, to, least difference.
    constraints: Vec<(usize, usize, i64)>,
    /// From, to, weight.
    costs: Vec<(usize, usize, u64)>,
}

impl Table {
    fn problem(&self) -> (Problem, Vec<Variable>) {
        let mut problem = Problem::new();
        let variables = (0..self.variables).map(|_| problem.variable()).collect_vec();
        self.constraints.iter().for_each(|&(from, to, least)| {
            problem.require(variables[from], variables[to], least);
        });
        self.costs.iter().for_each(|&(from, to, weight)| problem.charge(variables[from], variables[to], weight));
        (problem, variables)
    }

    fn holds(&self, values: &[i64]) -> bool {
        self.constraints.iter().all(|&(from, to, least)| values[to] - values[from] >= least)
    }

    fn cost(&self, values: &[i64]) -> i128 {
        self.costs.iter().map(|&(from, to, weight)| i128::from(weight) * i128::from(values[to] - values[from])).sum()
    }

    /// The best of all values up to `most`, the earliest of them.
    fn best(&self, most: i64) -> Option<Vec<i64>> {
        let all = (0..self.variables).map(|_| 0..=most).multi_cartesian_product();
        let all = all.filter(|values| self.holds(values));
        all.min_by_key(|values| (self.cost(values), values.iter().sum::<i64>()))
    }
}

fn table(backwards: bool) -> impl Strategy<Value = Table> {
    (2_usize..5).prop_flat_map(move |variables| {
        let pair = (0..variables, 0..variables);
        let constraint = (pair, -3_i64..4).prop_map(move |((one, other), least)| {
            // In order, unless circles are wanted.
            if backwards {
                (one, other, least)
            } else {
                (one.min(other), one.max(other), least.min((one != other).into()))
            }
        });
        let constraints = prop::collection::vec(constraint, 0..8);
        let costs = prop::collection::vec((0..variables, 0..variables, 0_u64..9), 0..5);
        (constraints, costs).prop_map(move |(mut constraints, costs)| {
            // Each cost has a lower bound.
            constraints.extend(costs.iter().filter(|(from, to, _)| from != to).map(|&(from, to, _)| (from, to, -2)));
            Table { variables, constraints, costs }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Values are the best of all, and the earliest of the best.
    #[test]
    fn solutions_are_the_best_of_all(table in prop_oneof![table(false), table(true)]) {
        let (problem, variables) = table.problem();
        // A longest path of constraints has at most three arcs of at most 3 each.
        match (problem.solve(), table.best(9)) {
            (Ok(solution), Some(best)) => {
                let values = variables.iter().map(|variable| solution.value(*variable)).collect_vec();
                prop_assert!(table.holds(&values));
                prop_assert_eq!(solution.cost(), table.cost(&values));
                prop_assert_eq!(values, best);
            }
            (Err(Error::Circle { circle }), None) => {
                let places = circle.iter().map(|node| variables.iter().position(|other| other == node).unwrap()).collect_vec();
                let around = places.iter().circular_tuple_windows().map(|(&from, &to)| {
                    let between = table.constraints.iter().filter(|other| (other.0, other.1) == (from, to));
                    between.map(|constraint| constraint.2).max()
                });
                let around: Option<i64> = if let [node] = places[..] {
                    table.constraints.iter().filter(|other| (other.0, other.1) == (node, node)).map(|other| other.2).max()
                } else {
                    around.sum()
                };
                prop_assert!(around.is_some_and(|length| length > 0), "{:?} is no circle", places);
            }
            (found, expected) => prop_assert!(false, "{:?} instead of {:?}", found, expected),
        }
    }

    /// Weights of any size, and shared ends: no value can be moved alone, and no set of values together, for less.
    #[test]
    fn large_problems_have_no_better_neighbour(
        leads in prop::collection::vec((0_usize..12, 0_usize..12, -40_i64..4000, 0_u64..1 << 40), 1..40)
    ) {
        let mut problem = Problem::new();
        let stages = (0..12).map(|_| problem.variable()).collect_vec();
        let mut table = Table { variables: 12, constraints: Vec::new(), costs: Vec::new() };
        for (one, other, lead, weight) in leads.into_iter().filter(|(one, other, ..)| one != other) {
            let (from, to) = (one.min(other), one.max(other));
            let end = problem.variable();
            problem.require(stages[from], stages[to], lead);
            problem.require(stages[from], end, 0);
            problem.require(stages[to], end, -7);
            problem.charge(stages[from], end, weight);
            let added = table.variables;
            table.variables += 1;
            table.constraints.extend([(from, to, lead), (from, added, 0), (to, added, -7)]);
            table.costs.push((from, added, weight));
        }
        let solution = problem.solve().unwrap();
        // The stages, and then the ends, in the order in which they were added.
        let mut values = stages.iter().map(|stage| solution.value(*stage)).collect_vec();
        for added in 12..table.variables {
            let ends = table.constraints.iter().filter(|(_, to, _)| *to == added);
            values.push(ends.map(|&(from, _, least)| values[from] + least).max().unwrap());
        }
        prop_assert!(table.holds(&values));
        let cost = table.cost(&values);
        prop_assert_eq!(cost, solution.cost());
        for set in (0..1_u32 << 12).step_by(5) {
            for by in [-1, 1] {
                let mut moved = values[..12].to_vec();
                (0..12).filter(|stage| set >> stage & 1 == 1).for_each(|stage| moved[stage] += by);
                for added in 12..table.variables {
                    let ends = table.constraints.iter().filter(|(_, to, _)| *to == added);
                    moved.push(ends.map(|&(from, _, least)| moved[from] + least).max().unwrap());
                }
                prop_assert!(!table.holds(&moved) || table.cost(&moved) >= cost, "{:?} costs less", moved);
            }
        }
    }
}

#[test]
fn times_that_nothing_bounds_are_refused() {
    let mut problem = Problem::new();
    let [one, other] = [(); 2].map(|()| problem.variable());
    problem.charge(one, other, 1);
    assert_eq!(problem.solve(), Err(Error::Unbounded));
    // An upper bound of the wrong one is none.
    problem.require(other, one, 3);
    assert_eq!(problem.solve(), Err(Error::Unbounded));
}

#[test]
fn circles_are_found() {
    let mut problem = Problem::new();
    let [first, second, third] = [(); 3].map(|()| problem.variable());
    problem.require(first, second, 2);
    problem.require(second, third, -1);
    problem.require(third, second, 2);
    let Err(Error::Circle { mut circle }) = problem.solve() else { panic!("it has a circle") };
    circle.sort_unstable();
    assert_eq!(circle, [second, third]);
}

/// Thousands of stages, each reading the one before it and one further back: all as soon as they can, for nothing else is
/// cheaper.
#[test]
fn long_chains_are_solved() {
    let mut problem = Problem::new();
    let stages = (0..3000).map(|_| problem.variable()).collect_vec();
    for (number, &stage) in stages.iter().enumerate().take(2999) {
        let end = problem.variable();
        for (user, lead) in stages[number + 1..].iter().step_by(6).take(2).zip([2, 5]) {
            problem.require(stage, *user, lead);
            problem.require(*user, end, 0);
        }
        problem.charge(stage, end, 3 + number as u64 % 5);
    }
    let solution = problem.solve().unwrap();
    assert!(stages.iter().enumerate().all(|(number, stage)| solution.value(*stage) == 2 * number as i64));
}

#[test]
fn nothing_costs_nothing() {
    let solution = Problem::new().solve().unwrap();
    assert_eq!(solution.cost(), 0);
}

/// The price of a constraint is what a unit more of it costs.
#[test]
fn prices_are_costs_of_one_more() {
    let problem = |least: i64| {
        let mut problem = Problem::new();
        let [value, near, far, end] = [(); 4].map(|()| problem.variable());
        let slack = problem.require(value, near, 1);
        let binding = problem.require(value, far, least);
        for user in [near, far] {
            problem.require(user, end, 0);
        }
        problem.charge(value, end, 16);
        let solution = problem.solve().unwrap();
        (solution.cost(), solution.price(slack), solution.price(binding))
    };
    let (cost, slack, binding) = problem(5);
    assert_eq!((slack, binding), (0, 16));
    assert_eq!(problem(6).0 - cost, binding);
}
