//! Arrays in RTL and model.

mod gaussian;
mod lockstep;
mod speed;
mod support;
