//! Rewrites change nothing of what a program computes.

mod common;
mod edges;
mod levels;
mod orders;
mod padding;
mod rolled;
mod serial_loads;
