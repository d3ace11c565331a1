//! Numbers with a fraction in words of 16 bits, [bfloat16](Format::Bfloat16) and [float16](Format::Float16): their arithmetic, the one
//! that programs, models and tests mean, and their modules in hardware.

mod arithmetic;
mod constants;
mod decimal;
mod format;
mod functions;
mod modules;

pub use constants::{
    ANGLE_EXPONENT, ANGLE_INDEX_BITS, BINARY_OF_EULER, Constants, LARGE_ANGLE_BITS, LARGE_ANGLE_EXPONENT,
    LOGARITHM_BITS, LOGARITHM_OF_TWO, QUARTER, QUARTER_EXPONENT, SINE_OF_LARGE, SINE_OF_SMALL, SMALL_ANGLE,
    SMALL_ANGLE_BITS, SMALL_SCALE, TURN_BITS,
};
pub use decimal::parse_decimal;
pub use format::{Format, SIGN};
pub use functions::{Function, TABLE_BITS, TABLE_WORDS};
pub use modules::{Module, module_names, used};
