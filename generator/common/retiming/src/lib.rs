//! Retiming: whole numbers under difference constraints, at the least cost.
//!
//! A [`Problem`] has [`Variable`]s, the times of events. A constraint says that one is at least so much later than another
//! ([`Problem::require`]), a cost that each unit of time between two of them costs so much ([`Problem::charge`]). That is
//! the program of Leiserson and Saxe ("Retiming Synchronous Circuitry", Algorithmica 1991, §8) and of the delays of
//! line buffers. [`Problem::solve`] solves it exactly, in integers: the linear program is totally unimodular, and its dual
//! is a flow of minimum cost.
//!
//! Registers that several users of a value share cost the longest of their times. An auxiliary variable is that end:
//!
//! ```
//! use pushmem_retiming::Problem;
//!
//! let mut problem = Problem::new();
//! let [value, first, second, end] = [(); 4].map(|()| problem.variable());
//! problem.require(value, first, 1);
//! problem.require(first, second, 3);
//! for user in [first, second] {
//!     problem.require(user, end, 0);
//! }
//! problem.charge(value, end, 16);
//! let solution = problem.solve().unwrap();
//! assert_eq!((solution.value(second), solution.cost()), (4, 64));
//! ```
//!
//! The solver is the project's own: of the crates, `mcmf` compiles a C++ library, and the network simplex of `rs-graph` is
//! under the GPL. Linear programming crates compute in floating point.

mod flow;
mod problem;

pub use problem::{ConstraintId, Error, Problem, Solution, Variable};
