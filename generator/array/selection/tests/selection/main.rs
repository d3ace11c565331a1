//! Selection against the interpreter of the loop nest.

mod applications;
mod common;
mod operators;
mod random;
mod reciprocals;
