//! Blocks of loops: reductions on arrays that are larger than the memory tiles go block by block (loop tiling).
//!
//! A [`Reduction`] is a nest that joins products in any order, such as a matrix product or a convolution, with the nests that begin its sums and
//! use them. A [`Blocking`] says into which blocks its loops are cut, and in which order these come. The blocked program has a copy for each
//! operand between the global buffer and the memory tiles, hoisted out of the loops with which its block does not change: the order decides which
//! operand stays. A block lies in the order in which the loops within it go.
//!
//! ```
//! use pushmem_blocking::{Blocking, Reduction};
//! use pushmem_files::Document;
//! use pushmem_nest::Program;
//!
//! let text = "
//! name: product
//! inputs: {a: {type: i16, shape: [64, 64]}, b: {type: i16, shape: [64, 64]}}
//! outputs: {output: {type: i16, shape: [64, 64]}}
//! buffers: {sums: {type: i16, shape: [64, 64]}}
//! nest:
//!   - for i in 0..64:
//!     - for j in 0..64:
//!       - sums[j, i] = 0
//!       - for k in 0..64:
//!         - sums[j, i] += a[k, i] * b[j, k]
//!   - for i in 0..64:
//!     - for j in 0..64:
//!       - output[j, i] = max(sums[j, i], 0)
//! ";
//! let program = Program::from_document(&Document::parse("product.yaml", text).unwrap()).unwrap().program;
//! let [product] = &Reduction::all(&program)[..] else { panic!("one nest adds") };
//! let blocking = Blocking { tiles: vec![16, 64, 64], outer: vec![0], inner: vec![2, 0, 1], is_wide: false };
//! let (blocked, _) = product.blocked(&blocking).unwrap().unwrap();
//! assert!(blocked.to_string().ends_with("
//! nest:
//!   - for i_block in 0..4:
//!     - for i0 in 0..64:
//!       - for i1 in 0..16:
//!         - a_block[i1, i0] = a[i0, i1 + 16*i_block]
//!     - for i in 0..16:
//!       - for j in 0..64:
//!         - sums[j, i] = 0
//!     - for k in 0..64:
//!       - for i in 0..16:
//!         - for j in 0..64:
//!           - sums[j, i] += a_block[i, k] * b[j, k]
//!     - for i in 0..16:
//!       - for j in 0..64:
//!         - output[j, i + 16*i_block] = max(sums[j, i], 0)
//! "));
//! ```

mod apply;
mod block;
mod blocking;
mod nests;
mod reduction;
mod search;

pub use blocking::Blocking;
pub use reduction::Reduction;
pub use search::{ArrayBlock, CYCLE_STEPS, Candidate, Capacity, Estimate};
