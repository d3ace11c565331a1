//! Netlists on arrays, from placement to the bitstream that is emulated.

mod check;
mod random;
mod refused;
mod support;
mod table;
mod text;
