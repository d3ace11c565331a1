//! Netlists on arrays, from placement to the bitstream that is emulated.

mod random;
mod refused;
mod support;
mod table;
mod text;
