//! The messages of an ONNX file (`onnx.proto3`), as far as networks of integers have them. Other fields are skipped.

use prost::Message;

/// A file.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Model {
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub operator_sets: Vec<OperatorSet>,
}

/// A version of the operators of a domain.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct OperatorSet {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// Nodes, each behind those whose results it takes.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub nodes: Vec<Node>,
    #[prost(message, repeated, tag = "5")]
    pub initializers: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub inputs: Vec<Declaration>,
    #[prost(message, repeated, tag = "12")]
    pub outputs: Vec<Declaration>,
}

/// An operator with its operands.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub inputs: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub outputs: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub operator: String,
    #[prost(message, repeated, tag = "5")]
    pub attributes: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// A constant that belongs to an operator.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, tag = "2")]
    pub real: f32,
    #[prost(int64, tag = "3")]
    pub integer: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub text: Vec<u8>,
    #[prost(message, optional, tag = "5")]
    pub tensor: Option<Tensor>,
    #[prost(int64, repeated, tag = "8")]
    pub integers: Vec<i64>,
}

/// A constant.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    pub shape: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub element: i32,
    #[prost(float, repeated, tag = "4")]
    pub reals: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub small_integers: Vec<i32>,
    #[prost(int64, repeated, tag = "7")]
    pub integers: Vec<i64>,
    #[prost(string, tag = "8")]
    pub name: String,
    #[prost(bytes = "vec", tag = "9")]
    pub bytes: Vec<u8>,
    /// 1 where the values are in another file.
    #[prost(int32, tag = "14")]
    pub location: i32,
}

/// An input or an output of the graph.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Declaration {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub kind: Option<Kind>,
}

/// The type of a value.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Kind {
    #[prost(message, optional, tag = "1")]
    pub tensor: Option<TensorKind>,
}

/// The type and the shape of a tensor.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorKind {
    #[prost(int32, tag = "1")]
    pub element: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Shape>,
}

/// The extents of a tensor, outermost first.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub dimensions: Vec<Dimension>,
}

/// An extent: a number, or a name for one that is known when the network runs.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub extent: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

/// Numbers of types of elements.
pub(crate) mod elements {
    pub(crate) const FLOAT: i32 = 1;
    pub(crate) const UINT8: i32 = 2;
    pub(crate) const INT8: i32 = 3;
    pub(crate) const INT32: i32 = 6;
    pub(crate) const INT64: i32 = 7;
}
