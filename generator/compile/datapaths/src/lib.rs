//! The datapath of an operation: a stage of the compiler, as data.
//!
//! A [`Datapath`] is a pipeline of operators, which passes make and proofs look at. [`Evaluator`] computes its results,
//! [`Datapath::module`] prints its SystemVerilog. [`Operators`] say what the operators of a technology take.

mod copies;
mod cost;
mod datapath;
mod evaluate;
mod module;
mod names;
mod node;
mod operators;
mod tables;

pub use copies::{Copies, Place};
pub use datapath::Datapath;
pub use evaluate::Evaluator;
pub use module::{DIVIDER, FetchPorts, Ports};
pub use node::{DatapathNode, NodeKind};
pub use operators::{DedicatedOperators, Delay, Operator, Operators};
pub use tables::{Fetch, MemoryRead, READ_LATENCY, TableMemories, address_bits};
