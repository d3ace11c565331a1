//! Assembly: the stages of a scheduled program as a graph of kernels, and its memories on tiles.
//!
//! [`application_graph`] finds for every read how long after its write it comes. A distance that is the same for every
//! iteration is a delay, the weight of an edge. A read whose distance depends on loop indices, as at the boundary of an
//! image or when it enlarges one, selects among delays. [`storage`] maps arrays and long delays to memory tiles; short delays are
//! left to registers (the dissertation §5.1).

mod application;
mod array_mapping;
mod arrays;
mod constraints;
mod inputs;
mod outputs;
mod pointwise;
mod port_sharing;
mod shortage;
mod storage;
mod taps;
mod units;
mod waiting;

pub use application::{Delivery, Tiles, application_graph};
pub use constraints::Constraints;
pub use inputs::check_inputs;
pub use shortage::{Shortage, Unserved};
pub use storage::{TileSharing, carried, least_storage, results, storage, wanted_delays};
pub use waiting::{LOAD, Waits};
