//! Unified buffers: specifications of the memory between two operations, without its implementation.
//!
//! A [`UnifiedBuffer`] is a set of [`Port`]s. Each port has an iteration domain, an access map and a schedule, which
//! together say which element of the buffer it writes or reads in which cycle (unified-buffer paper §III). There is no
//! capacity and no placement: mapping adds them. Its result is a [`MappedBuffer`], tiles with their configurations.
//!
//! Loop and dimension 0 are the innermost everywhere. Times are unstalled cycles since the flush.

mod buffer;
mod check;
mod display;
mod mapped;
mod order;
mod read;
mod together;

pub use buffer::{Direction, Loop, Port, UnifiedBuffer};
pub use mapped::{MappedBuffer, MappedTile, Source};
