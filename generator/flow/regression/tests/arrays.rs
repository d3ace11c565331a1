//! Random arrays and bitstreams, and a program that was placed and routed by hand.

#[path = "arrays/gaussian.rs"]
mod gaussian;
#[path = "arrays/random.rs"]
mod random;
