//! Networks of integers of 8 bits, from files of ONNX and TensorFlow Lite as quantizers write them, become programs of loop nests.
//!
//! Each stage takes what the one before returns:
//!
//! | Module | From | To |
//! |---|---|---|
//! | `onnx`, `tflite` | bytes | a `network` of integers, without the real numbers around |
//! | `requantization`, `multiplier`, `addition` | what other tools compute of integers | the same function in sums, products and shifts |
//! | `lanes` | a network, a number of multipliers | how many elements each nest computes at once |
//! | `emit`, `expressions`, `names` | a network with its lanes | a program, and the images of its constants |
//!
//! Words of a file of ONNX are those of onnxruntime, and words of a file of TensorFlow Lite those of its interpreter for microcontrollers.

mod addition;
mod emit;
mod expressions;
mod fault;
mod lanes;
mod multiplier;
mod names;
mod network;
mod onnx;
mod requantization;
mod tflite;

use std::collections::BTreeMap;
use std::path::Path;

use pushmem_files::{Code, Diagnostic, read_bytes};
use pushmem_images::Image;
use pushmem_nest::Checked;

use crate::lanes::Allocation;

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

/// The formats of networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// ONNX: files named *.onnx.
    Onnx,
    /// TensorFlow Lite: files named *.tflite.
    Tflite,
}

impl FileFormat {
    /// The format of a file, by the ending of its name; nothing where it is no network.
    pub fn of(path: &Path) -> Option<FileFormat> {
        match path.extension()?.to_str()? {
            "onnx" => Some(FileFormat::Onnx),
            "tflite" => Some(FileFormat::Tflite),
            _ => None,
        }
    }
}

/// Reads a network from a file.
///
/// # Errors
/// As [`import`], and when the file cannot be read.
pub fn read(path: &Path, choices: Choices) -> Result<Imported, Diagnostic> {
    import(&path.display().to_string(), &read_bytes(path)?, choices)
}

/// Turns a file of ONNX or, if its name says so, of TensorFlow Lite into a program, which is named like the file `name`, without its ending.
///
/// # Errors
/// Where the bytes are no such file, and at a node that hardware does not have: an operator, an attribute, a shape, real numbers that are
/// not quantized. The message points into a list of the nodes.
pub fn import(name: &str, bytes: &[u8], choices: Choices) -> Result<Imported, Diagnostic> {
    let path = Path::new(name);
    let stem = path.file_stem().map_or_else(|| "network".into(), |stem| stem.to_string_lossy());
    let network = match FileFormat::of(path) {
        Some(FileFormat::Tflite) => tflite::network(name, &stem, bytes),
        _ => onnx::network(name, &stem, bytes),
    };
    let network = network.map_err(|problem| problem.or_code(Code::Program))?;
    let lanes = Allocation::of(&network, choices.multipliers);
    let (checked, constants) = emit::emitted(&network, &lanes, choices.batch)?;
    Ok(Imported { checked, constants })
}

/// The bytes in parts of so many; a rest is left out.
fn chunks<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.chunks_exact(N).map(|chunk| chunk.try_into().expect("chunks have their length"))
}
