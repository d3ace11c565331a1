//! Vectorization: streams of words on a memory whose rows have several (unified-buffer paper §V; dissertation §5.5).

mod fetch;
mod storage;

pub(crate) use fetch::{Fetch, Shape, candidates, place};
pub(crate) use storage::{Filling, Storage};
