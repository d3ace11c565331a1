//! From an operation of the loop nest to the hardware that computes it.
//!
//! A [`DatapathGraph`] is the expression of an operation, simplified, the same for every technology. A [`Datapath`] is the
//! graph spread over pipeline stages for the operators of one technology.
//!
//! [`Datapath`]: pushmem_datapaths::Datapath
//!
//! ```
//! use pushmem_datapaths::Evaluator;
//! use pushmem_files::Document;
//! use pushmem_kernels::DatapathGraph;
//! use pushmem_nest::Program;
//!
//! let text = "
//! name: blur
//! inputs: {input: {type: u16, shape: [66]}}
//! outputs: {output: {type: u16, shape: [64]}}
//! nest:
//!   - for x in 0..64:
//!     - output[x] = (input[x] + 2 * input[x + 1] + input[x + 2]) / 4
//! ";
//! let program = Program::from_document(&Document::parse("blur.yaml", text).unwrap()).unwrap().program;
//! let (_, operation) = program.operations()[0];
//! let datapath = DatapathGraph::of(&program, operation).dedicated();
//! assert_eq!((datapath.latency(), datapath.processing_elements()), (1, 2));
//! assert_eq!(Evaluator::new(&datapath, &program.tables).evaluate(&[1, 10, 7], &[0]), 7);
//! ```

mod array_ranges;
mod build;
mod chains;
mod datapath_graph;
mod digits;
mod float;
mod functions;
mod graph;
mod moments;
mod quotients;
mod ranges;
mod simplify;
mod stages;
mod sums;

pub use array_ranges::ArrayRanges;
pub use datapath_graph::{DatapathGraph, Unsupported, Value, Values};
