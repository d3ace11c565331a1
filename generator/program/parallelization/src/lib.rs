//! Unroll factors of the loops of a program, chosen by the compiler (HIDA, §5.5).
//!
//! A program is a graph of [dataflow nodes](DataflowNode), loop nests that run at the same time, connected by the arrays that one writes and
//! another reads. A [parallelization](Parallelization) gives each node copies in proportion to its work (*intensity-aware*), along loops
//! that agree with those of the nodes that it is connected to (*connection-aware*), so that banks of arrays are few.
//!
//! ```
//! use pushmem_files::Document;
//! use pushmem_nest::Program;
//! use pushmem_parallelization::{Awareness, Dataflow};
//!
//! let text = "
//! name: product
//! inputs: {a: {type: i16, shape: [16, 32]}, b: {type: i16, shape: [16, 16]}}
//! outputs: {output: {type: i16, shape: [16, 32]}}
//! buffers: {sums: {type: i16, shape: [16, 32]}}
//! nest:
//!   - for i in 0..32:
//!     - for j in 0..16:
//!       - sums[j, i] = 0
//!       - for k in 0..16:
//!         - sums[j, i] += a[k, i] * b[j, k]
//!   - for i in 0..32:
//!     - for j in 0..16:
//!       - output[j, i] = max(sums[j, i], 0)
//! ";
//! let program = Program::from_document(&Document::parse("product.yaml", text).unwrap()).unwrap().program;
//! let dataflow = Dataflow::of(&program);
//! let chosen = dataflow.parallelize(16, Awareness::default());
//! assert_eq!(chosen.nodes.iter().map(|node| node.parallel_factor).collect::<Vec<_>>(), [16, 1]);
//! let unrolled = chosen.applied(&program);
//! assert!(unrolled.to_string().contains("unroll"));
//! ```

mod apply;
mod dataflow;
mod partition;
mod search;

pub use dataflow::{Alignment, Connection, Dataflow, DataflowNode, NodeLoop};
pub use partition::Partition;
pub use search::{Alternative, Awareness, NodeParallelization, Parallelization};
