//! The inputs and outputs of a network.

use itertools::Itertools;
use pushmem_nest::Type;

use crate::fault::{Fault, Result};
use crate::network::LARGEST_EXTENT;
use crate::onnx::model::{Declaration, elements};
use crate::onnx::recognize::{QUANTIZE, Recognizer, natural};
use crate::onnx::values::{Value, View};

impl Recognizer {
    /// Reads an input.
    pub fn input(&mut self, input: &Declaration) -> Result<()> {
        let tensor = input.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
        let shape = tensor.and_then(|tensor| tensor.shape.as_ref()).map(|shape| &shape.dimensions);
        let (Some(tensor), Some(dimensions)) = (tensor, shape) else {
            return Err(Fault::new(format!("the input `{}` has no shape", input.name)));
        };
        // A name for the number of images: each layer is that of one.
        let extents = dimensions.iter().enumerate().map(|(number, dimension)| match dimension.extent {
            None if number == 0 => Some(1),
            extent => extent.filter(|extent| (1..=LARGEST_EXTENT).contains(extent)),
        });
        let refused = || {
            let shown = dimensions.iter().map(|dimension| match (&dimension.name, dimension.extent) {
                (_, Some(extent)) => extent.to_string(),
                (Some(name), None) => name.clone(),
                (None, None) => "?".to_owned(),
            });
            let message = format!("the input `{}` has the shape [{}]", input.name, { shown }.join(", "));
            Fault::new(message).with_help(match dimensions.len() {
                2 | 4 => {
                    "give it one image of a known size: `onnxruntime.tools.make_dynamic_shape_fixed` does; `--batch` says how many there are"
                }
                _ => "an image has the shape [1, channels, rows, columns], and a vector [1, elements]",
            })
        };
        let extents: Vec<i64> = extents.collect::<Option<_>>().ok_or_else(refused)?;
        let shape = natural(&extents).ok_or_else(refused)?;
        let element = match tensor.element {
            elements::FLOAT => {
                let value = Value::Input { name: input.name.clone(), shape: extents };
                self.values.insert(input.name.clone(), value);
                return Ok(());
            }
            elements::UINT8 => Type::U8,
            elements::INT8 => Type::I8,
            other => {
                let message =
                    format!("the input `{}` has elements of type {other}; float, uint8 and int8 are read", input.name);
                return Err(Fault::new(message));
            }
        };
        let tensor = self.built.tensor(&input.name, element, shape)?;
        self.built.network.inputs.push(tensor);
        self.values.insert(input.name.clone(), Value::Integers(View { tensor, shape: extents }));
        Ok(())
    }

    /// Reads an output.
    pub fn output(&mut self, name: &str) -> Result<()> {
        let view = match self.values.get(name) {
            Some(Value::Integers(view) | Value::Reals(view, _)) => view,
            Some(Value::Pending(_)) => {
                return Err(Fault::new(format!("the output `{name}` is not quantized")).with_help(QUANTIZE));
            }
            _ => return Err(Fault::new(format!("no node gives the output `{name}`"))),
        };
        let (tensor, shape) = (view.tensor, self.tensor_of(view).shape);
        let network = &self.built.network;
        if network.inputs.contains(&tensor) || network.outputs.contains(&tensor) {
            return Err(Fault::new(format!("the output `{name}` is an input, or another output")));
        }
        if natural(&view.shape) != Some(shape) {
            let message = format!("the output `{name}` has the shape {:?}, and the order of an image", view.shape);
            return Err(Fault::new(message).with_help("let the graph end before it is flattened"));
        }
        self.built.output(name, tensor);
        Ok(())
    }
}
