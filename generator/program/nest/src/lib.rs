//! The first stage of the compiler: programs as loop nests.
//!
//! [`Program::read`] reads a program and checks it, [`ProgramBuilder`] builds one in Rust, [`Program::run`] executes it: the
//! oracle of all later stages, on images from files or [random ones](Program::random_inputs). Printed, a program is text that reads back.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use pushmem_files::Document;
//! use pushmem_images::{Element, Image};
//! use pushmem_nest::Program;
//!
//! let text = "
//! name: differences
//! inputs: {input: {type: u16, shape: [4]}}
//! outputs: {output: {type: i16, shape: [3]}}
//! nest:
//!   - for x in 0..3:
//!     - output[x] = input[x + 1] as i16 - input[x] as i16
//! ";
//! let program = Program::from_document(&Document::parse("differences.yaml", text).unwrap()).unwrap().program;
//! let input = Image::from_values(Element::U16, &[4], vec![5, 3, 3, 9]).unwrap();
//! let outputs = program.run(&BTreeMap::from([("input".to_owned(), input)])).unwrap();
//! assert_eq!(outputs["output"].values().to_vec(), [-2, 0, 6]);
//! ```
//!
//! Dimension 0 of an array is the innermost. Loops are numbered from the outermost, which is 0, because that number means
//! the same for everything in a loop; [`AffineIndex::over`] lists them innermost first.

mod bound;
mod builder;
mod check;
mod copies;
mod expression;
mod index;
mod interpret;
mod lexer;
mod named_values;
mod operators;
mod parser;
mod print;
mod program;
mod random_access;
mod random_inputs;
mod read;
mod reductions;
mod region;
mod resolve;
mod source;
pub mod syntax;
mod types;
mod uses;
mod value_range;
mod witness;

pub use builder::{LoopBuilder, OperationBuilder, ProgramBuilder};
pub use expression::{Expression, ExpressionKind, Part};
pub use index::{AffineIndex, INDEX_LIMIT, Index, Piece};
pub use interpret::Observer;
pub use named_values::{named_values, value_names};
pub use operators::{Binary, Unary};
pub use parser::is_reserved;
pub use print::Printer;
pub use program::{
    Access, Array, ArrayKind, Level, Load, Loop, Node, Operation, Policy, Program, Share, Table, ranges,
};
pub use pushmem_affine::{LARGEST_BOUND, MOST_ITERATIONS};
pub use random_access::LARGEST_RANDOM_ACCESS;
pub use resolve::{
    Checked, LARGEST_ARRAY, LARGEST_PROGRAM, LARGEST_RUN, LARGEST_TABLE, MOST_DIMENSIONS, MOST_OPERATIONS,
};
pub use source::{Language, Problem, SourceText, Span};
pub use types::{Type, Word};
pub use witness::{ArrayOrigin, StatementOrigin, Witness};
