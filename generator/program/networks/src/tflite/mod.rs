//! Networks of integers from files of TensorFlow Lite.
//!
//! | Module | From | To |
//! |---|---|---|
//! | `flatbuffer`, `schema` | bytes | the operators of the file |
//! | `recognize`, `states`, `products`, `nodes`, `moves` | operators | a network |
//! | `functions` | functions of each element | tables |
//!
//! Words are those of the reference kernels of TensorFlow Lite for Microcontrollers.

mod flatbuffer;
mod functions;
mod moves;
mod nodes;
mod products;
mod recognize;
mod schema;
mod states;
#[cfg(test)]
mod tests;

use itertools::Itertools;
use pushmem_files::Diagnostic;

use crate::fault::Fault;
use crate::network::Network;
use crate::tflite::flatbuffer::Buffer;
use crate::tflite::schema::{Graph, IDENTIFIER, Model, Node};

/// The network of a file, which is named like `stem`.
///
/// # Errors
/// As [`crate::import`].
pub(crate) fn network(file: &str, stem: &str, bytes: &[u8]) -> Result<Network, Diagnostic> {
    let whole = |message: String| {
        let fault = Fault::new(message).with_help("write it with `tf.lite.TFLiteConverter`");
        fault.diagnostic(file, std::iter::empty())
    };
    let buffer =
        Buffer::new(bytes, IDENTIFIER).map_err(|_| whole(format!("`{file}` is no file of TensorFlow Lite")))?;
    let model = Model::of(&buffer).map_err(|_| whole(format!("`{file}` is damaged: it points beyond itself")))?;
    let graph = model.graphs.first().ok_or_else(|| whole(format!("`{file}` has no graph")))?;
    let network = recognize::recognized(stem, &model, graph);
    network.map_err(|fault| fault.diagnostic(file, graph.nodes.iter().map(|node| line(graph, node))))
}

/// A node in a line.
fn line(graph: &Graph, node: &Node) -> String {
    let tensor = |number: &i64| graph.tensor(*number).map_or("", |tensor| tensor.name.as_str());
    let [outputs, inputs] = [&node.outputs, &node.inputs].map(|numbers| numbers.iter().map(tensor).join(", "));
    format!("{outputs} = {}({inputs})", node.operator)
}
