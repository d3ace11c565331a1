//! The problem and its solution.

use crate::flow::{Arc, Flow};

/// A variable of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(pub(crate) usize);

/// A constraint of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstraintId(usize);

/// Variables with difference constraints and costs of differences.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    variables: usize,
    constraints: Vec<Constraint>,
    costs: Vec<Cost>,
}

#[derive(Clone, Copy, Debug)]
struct Constraint {
    from: Variable,
    to: Variable,
    least: i64,
}

#[derive(Clone, Copy, Debug)]
struct Cost {
    from: Variable,
    to: Variable,
    weight: u64,
}

/// Why there is no solution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Each of these variables must come later than the one before it, and the first later than the last.
    #[error("{} variables must each be later than the next, around in a circle", circle.len())]
    Circle {
        /// The variables, each constrained by the one before it.
        circle: Vec<Variable>,
    },
    /// Time between two variables costs something, and no constraint keeps it from becoming ever more negative.
    #[error("the cost has no lower bound")]
    Unbounded,
}

/// Values of the variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    values: Vec<i64>,
    cost: i128,
    prices: Vec<i128>,
}

impl Solution {
    /// The value of a variable, never negative.
    pub fn value(&self, variable: Variable) -> i64 {
        self.values[variable.0]
    }

    /// The sum of all costs: the least that there is.
    pub fn cost(&self) -> i128 {
        self.cost
    }

    /// The shadow price of a constraint: how much the cost grows with each unit by which the constraint demands more, as long
    /// as the same constraints bind. Where several sets of prices are right, it is one of them.
    pub fn price(&self, constraint: ConstraintId) -> i128 {
        self.prices[constraint.0]
    }
}

impl Problem {
    /// A problem without variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new variable, with values from 0 on.
    pub fn variable(&mut self) -> Variable {
        self.variables += 1;
        Variable(self.variables - 1)
    }

    /// Demands `to − from ≥ least`.
    pub fn require(&mut self, from: Variable, to: Variable, least: i64) -> ConstraintId {
        self.constraints.push(Constraint { from, to, least });
        ConstraintId(self.constraints.len() - 1)
    }

    /// Adds a cost of `weight · (to − from)`.
    pub fn charge(&mut self, from: Variable, to: Variable, weight: u64) {
        self.costs.push(Cost { from, to, weight });
    }

    /// The solution of least cost; of several, the one in which every variable is the earliest. There is only one such:
    /// solutions of least cost form a lattice.
    ///
    /// # Errors
    /// When no values meet the constraints, or the cost has no lower bound.
    pub fn solve(&self) -> Result<Solution, Error> {
        // The dual: a flow along constraints, of as much as they are worth, that brings to each variable its total weight.
        let mut flow = Flow::new(self.variables);
        for &Constraint { from, to, least } in &self.constraints {
            flow.add(Arc { from: from.0, to: to.0, length: i128::from(least) });
        }
        let mut demands = vec![0; self.variables];
        for &Cost { from, to, weight } in &self.costs {
            demands[to.0] += i128::from(weight);
            demands[from.0] -= i128::from(weight);
        }
        let circle = |circle: Vec<usize>| Error::Circle { circle: circle.into_iter().map(Variable).collect() };
        let earliest = flow.earliest().map_err(circle)?;
        let values = flow.route(demands, earliest).ok_or(Error::Unbounded)?;
        let narrow = |value: i128| i64::try_from(value).expect("sums of constraints fit 64 bits");
        let values: Vec<i64> = values.into_iter().map(narrow).collect();
        let cost = |cost: &Cost| i128::from(cost.weight) * i128::from(values[cost.to.0] - values[cost.from.0]);
        let cost = self.costs.iter().map(cost).sum();
        Ok(Solution { values, cost, prices: flow.amounts() })
    }
}
