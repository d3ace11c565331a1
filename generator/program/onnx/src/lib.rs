//! Networks of integers of 8 bits from ONNX files, as quantizers write them, become programs of loop nests.
//!
//! Each stage takes what the one before returns:
//!
//! | Module | From | To |
//! |---|---|---|
//! | `model`, `constant` | bytes | the messages of the file |
//! | `recognize`, `interface`, `products`, `nodes`, `moves`, `integer_nodes`, `attributes`, `values` | nodes | a `network` of integers, without the real numbers around |
//! | `requantization`, `addition` | what floating point computes of integers | the same function in integers |
//! | `lanes` | a network, a number of multipliers | how many elements each nest computes at once |
//! | `emit`, `expressions`, `names` | a network with its lanes | a program, and the images of its constants |
//!
//! Sums are rounded as onnxruntime's quantized operators round them, see `requantization` and `addition`; functions of each element are those
//! of the ONNX standard between `DequantizeLinear` and `QuantizeLinear`, in `f32`.

mod addition;
mod attributes;
mod constant;
mod emit;
mod expressions;
mod fault;
mod integer_nodes;
mod interface;
mod lanes;
mod model;
mod moves;
mod names;
mod network;
mod nodes;
mod products;
mod recognize;
mod requantization;
#[cfg(test)]
mod tests;
mod values;

use std::collections::BTreeMap;
use std::path::Path;

use prost::Message;
use pushmem_files::{Code, Diagnostic, read_bytes};
use pushmem_images::Image;
use pushmem_nest::Checked;

use crate::fault::Fault;
use crate::lanes::Allocation;
use crate::model::Model;

/// The hardware and the run that a network is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    /// Multipliers that sums of products may take; each layer has one at least.
    pub multipliers: u64,
    /// Images of a run. Their layers overlap: an image begins as soon as the busiest layer has done with the one before.
    pub batch: u32,
}

impl Default for Choices {
    fn default() -> Self {
        Choices { multipliers: 64, batch: 1 }
    }
}

/// A network as a program.
#[derive(Debug)]
pub struct Imported {
    /// The program. The constants of the network are inputs of it.
    pub checked: Checked,
    /// The images of the inputs that are constants of the network, by name.
    pub constants: BTreeMap<String, Image>,
}

/// Whether a file is a network: its name ends in `.onnx`.
pub fn is_network(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "onnx")
}

/// Reads a network from a file.
///
/// # Errors
/// As [`import`], and when the file cannot be read.
pub fn read(path: &Path, choices: Choices) -> Result<Imported, Diagnostic> {
    import(&path.display().to_string(), &read_bytes(path)?, choices)
}

/// Turns an ONNX file into a program, which is named like the file `name`, without its ending.
///
/// # Errors
/// Where the bytes are no such file, and at a node that hardware does not have: an operator, an attribute, a shape, real numbers that are
/// not quantized. The message points into a list of the nodes.
pub fn import(name: &str, bytes: &[u8], choices: Choices) -> Result<Imported, Diagnostic> {
    let refused = |fault: Fault, model: Option<&Model>| {
        let graph = model.and_then(|model| model.graph.as_ref());
        fault.diagnostic(name, graph).or_code(Code::Program)
    };
    let model = Model::decode(bytes).map_err(|problem| {
        let fault = Fault::new(format!("`{name}` is no ONNX file: {problem}"));
        refused(fault.with_help("write it with `onnx.save`"), None)
    })?;
    let Some(graph) = &model.graph else {
        return Err(refused(Fault::new(format!("`{name}` has no graph")).with_help("write it with `onnx.save`"), None));
    };
    let stem = Path::new(name).file_stem().map_or_else(|| "network".into(), |stem| stem.to_string_lossy());
    let network = recognize::recognized(&stem, &model, graph).map_err(|fault| refused(fault, Some(&model)))?;
    let lanes = Allocation::of(&network, choices.multipliers);
    let (checked, constants) = emit::emitted(&network, &lanes, choices.batch)?;
    Ok(Imported { checked, constants })
}
