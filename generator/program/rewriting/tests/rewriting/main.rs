//! Rewrites change nothing of what a program computes.

mod common;
mod levels;
mod padding;
mod serial_loads;
