//! Numbers of bfloat16: their arithmetic, the one that programs, models and tests mean, and their modules in hardware.
//!
//! A number is a word of 16 bits.

mod arithmetic;
mod decimal;
mod functions;
mod modules;

pub use arithmetic::{
    BIAS, FRACTION_BITS, INFINITY, NOT_A_NUMBER, SIGN, absolute, add, equal, from_f64, from_integer, less, less_equal,
    maximum, minimum, multiply, negate, subtract, to_f64, to_integer,
};
pub use decimal::{from_decimal, to_decimal};
pub use functions::{FRACTIONS, Function, parts};
pub use modules::{MODULES, Module, used};
