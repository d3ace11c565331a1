//! Rewrites change nothing of what a program computes.

mod common;
mod inner_reductions;
mod levels;
mod padding;
mod serial_loads;
