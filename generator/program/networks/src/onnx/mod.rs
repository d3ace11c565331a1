//! Networks of integers from ONNX files.
//!
//! | Module | From | To |
//! |---|---|---|
//! | `model`, `constant` | bytes | the messages of the file |
//! | `recognize`, `interface`, `products`, `sums`, `nodes`, `moves`, `integer_nodes`, `attributes`, `values` | nodes | a network |
//!
//! Sums are rounded as onnxruntime's quantized operators round them; functions of each element are those of the ONNX standard between
//! `DequantizeLinear` and `QuantizeLinear`, in `f32`.

mod attributes;
mod constant;
mod integer_nodes;
mod interface;
mod model;
mod moves;
mod nodes;
mod products;
mod recognize;
mod sums;
#[cfg(test)]
mod tests;
mod values;

use itertools::Itertools;
use prost::Message;
use pushmem_files::Diagnostic;

use crate::fault::Fault;
use crate::network::Network;
use crate::onnx::model::{Model, Node};

/// The network of a file, which is named like `stem`.
///
/// # Errors
/// As [`crate::import`].
pub(crate) fn network(file: &str, stem: &str, bytes: &[u8]) -> Result<Network, Diagnostic> {
    let whole = |fault: Fault| fault.with_help("write it with `onnx.save`").diagnostic(file, std::iter::empty());
    let model = Model::decode(bytes);
    let model = model.map_err(|problem| whole(Fault::new(format!("`{file}` is no ONNX file: {problem}"))))?;
    let graph = model.graph.as_ref().ok_or_else(|| whole(Fault::new(format!("`{file}` has no graph"))))?;
    let network = recognize::recognized(stem, &model, graph);
    network.map_err(|fault| fault.diagnostic(file, graph.nodes.iter().map(line)))
}

/// A node in a line.
fn line(node: &Node) -> String {
    let name = if node.name.is_empty() { String::new() } else { format!("{}: ", node.name) };
    format!("{name}{} = {}({})", node.outputs.iter().join(", "), node.operator, node.inputs.iter().join(", "))
}
