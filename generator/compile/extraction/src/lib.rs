//! From a program to the stages that the scheduler sees (dissertation §3.2: iteration domains and access maps).
//!
//! Every operation becomes a stage; an unrolled one becomes a stage for each copy, but a reduction one for all copies that
//! update the same element. Every input becomes a stage that streams it in raster order, as many elements a cycle as the
//! widest unrolled reader takes.

mod advice;
mod diagnose;
mod extract;
mod names;

pub use advice::{Repeated, unrolling};
pub use diagnose::diagnose;
pub use extract::{Extraction, NotExtracted, extract};
pub use pushmem_stages::Origin;
