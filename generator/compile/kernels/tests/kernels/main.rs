//! Tests of datapaths against the interpreter, and of their RTL against their models.

mod apps;
mod common;
mod expressions;
mod functions;
mod operators;
mod pipeline;
mod properties;
mod shapes;
mod verilator;
