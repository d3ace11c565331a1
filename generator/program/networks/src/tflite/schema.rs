//! The tables of a file of TensorFlow Lite that networks of integers need, with the numbers of their fields in version 3 of its schema.

use crate::tflite::flatbuffer::{Buffer, Damaged, Result, Table};

/// The identifier of the format.
pub(crate) const IDENTIFIER: &[u8; 4] = b"TFL3";

/// Numbers of types of elements.
pub(crate) mod elements {
    pub(crate) const INT32: i64 = 2;
    pub(crate) const UINT8: i64 = 3;
    pub(crate) const INT8: i64 = 9;
    /// The names of the first types, for messages.
    pub(crate) const NAMES: [&str; 14] = [
        "float32",
        "float16",
        "int32",
        "uint8",
        "int64",
        "string",
        "bool",
        "int16",
        "complex64",
        "int8",
        "float64",
        "complex128",
        "uint64",
        "resource",
    ];
}

/// The names of operators, by their numbers.
const OPERATORS: &str = include_str!("operators.txt");

/// A file.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    /// The first is the network; others are called by it.
    pub graphs: Vec<Graph<'a>>,
}

/// Operators with their tensors.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    pub tensors: Vec<Tensor<'a>>,
    pub inputs: Vec<i64>,
    pub outputs: Vec<i64>,
    pub nodes: Vec<Node<'a>>,
}

#[derive(Debug)]
pub(crate) struct Tensor<'a> {
    pub name: String,
    /// A number of [`elements`].
    pub element: i64,
    /// Outermost dimension first.
    pub shape: Vec<i64>,
    /// The shape with -1 for extents that are not known, where there are some.
    pub signature: Vec<i64>,
    /// The elements of a constant, the last dimension innermost; none of other tensors.
    pub data: &'a [u8],
    /// One, or one of each index along the axis.
    pub scales: Vec<f32>,
    pub zero_points: Vec<i64>,
    pub axis: i64,
}

/// An operator with its operands: numbers of tensors, below 0 where there is none.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub operator: String,
    pub inputs: Vec<i64>,
    pub outputs: Vec<i64>,
    pub options: Option<Table<'a>>,
}

impl Node<'_> {
    /// An option of 32 bits, or this integer where it is absent.
    pub fn integer(&self, number: usize, default: i32) -> Result<i64> {
        self.options.map_or(Ok(default.into()), |options| options.integer(number, default))
    }

    /// An option of 8 bits, 0 where it is absent.
    pub fn byte(&self, number: usize) -> Result<i64> {
        self.options.map_or(Ok(0), |options| options.byte(number))
    }
}

impl<'a> Model<'a> {
    /// Reads a file.
    ///
    /// # Errors
    /// Where an offset or a number is beyond what it points into.
    pub fn of(buffer: &'a Buffer<'a>) -> Result<Model<'a>> {
        let root = buffer.root()?;
        let operators = root.tables(1)?.iter().map(operator).collect::<Result<Vec<_>>>()?;
        let data = root.tables(4)?.iter().map(|buffer| buffer.bytes(0)).collect::<Result<Vec<_>>>()?;
        let graph = |graph: &Table<'a>| {
            let tensors = graph.tables(0)?.iter().map(|each| tensor(each, &data)).collect::<Result<_>>()?;
            let nodes = graph.tables(3)?.iter().map(|each| node(each, &operators)).collect::<Result<_>>()?;
            Ok(Graph { tensors, inputs: graph.integers(1)?, outputs: graph.integers(2)?, nodes })
        };
        Ok(Model { graphs: root.tables(2)?.iter().map(graph).collect::<Result<_>>()? })
    }
}

fn operator(code: &Table) -> Result<String> {
    // Files of old tools have the number in 8 bits; others have the greater of both.
    let number = code.byte(0)?.max(code.integer(3, 0)?);
    let name = usize::try_from(number).ok().and_then(|number| OPERATORS.split_whitespace().nth(number));
    match name {
        Some("CUSTOM") => Ok(format!("CUSTOM {}", code.text(1)?)),
        Some(name) => Ok(name.to_owned()),
        None => Ok(format!("operator {number}")),
    }
}

fn tensor<'a>(tensor: &Table<'a>, data: &[&'a [u8]]) -> Result<Tensor<'a>> {
    let (mut scales, mut zero_points, mut axis) = (Vec::new(), Vec::new(), 0);
    if let Some(quantization) = tensor.table(4)? {
        scales = quantization.numbers(2, f32::from_le_bytes)?;
        zero_points = quantization.numbers(3, i64::from_le_bytes)?;
        axis = quantization.integer(6, 0)?;
    }
    let buffer = usize::try_from(tensor.integer(2, 0)?).ok();
    Ok(Tensor {
        name: tensor.text(3)?,
        element: tensor.byte(1)?,
        shape: tensor.integers(0)?,
        signature: tensor.integers(7)?,
        data: buffer.and_then(|number| data.get(number)).copied().unwrap_or_default(),
        scales,
        zero_points,
        axis,
    })
}

fn node<'a>(node: &Table<'a>, operators: &[String]) -> Result<Node<'a>> {
    let code = usize::try_from(node.integer(0, 0)?).ok();
    let operator = code.and_then(|code| operators.get(code)).ok_or(Damaged)?.clone();
    Ok(Node { operator, inputs: node.integers(1)?, outputs: node.integers(2)?, options: node.table(4)? })
}
