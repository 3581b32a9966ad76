//! The messages of an ONNX file, as far as they are read. Field numbers are those of the published format.
//!
//! What is not listed here is skipped by the decoder: graphs in attributes (bodies of loops), types that are no
//! tensors, documentation. So messages nest in a fixed depth only.

/// The whole file.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Model {
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub operator_sets: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<Function>,
}

/// Which version of a family of operators the model uses.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OperatorSet {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// An operator that the model defines itself.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Function {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "10")]
    pub domain: String,
}

/// Nodes in an order in which they can be computed.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub nodes: Vec<Node>,
    #[prost(message, repeated, tag = "5")]
    pub initializers: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub inputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub outputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializers: Vec<SparseTensor>,
}

/// One application of an operator.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Node {
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

/// A named parameter of a node.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, tag = "2")]
    pub float: f32,
    #[prost(int64, tag = "3")]
    pub int: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub string: Vec<u8>,
    #[prost(message, optional, tag = "5")]
    pub tensor: Option<Tensor>,
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    #[prost(int32, tag = "20")]
    pub kind: i32,
}

/// Numbers of one type in a box of given extents.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    pub dimensions: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(message, optional, tag = "3")]
    pub segment: Option<Segment>,
    #[prost(float, repeated, tag = "4")]
    pub floats: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub ints: Vec<i32>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub strings: Vec<Vec<u8>>,
    #[prost(int64, repeated, tag = "7")]
    pub longs: Vec<i64>,
    #[prost(string, tag = "8")]
    pub name: String,
    #[prost(bytes = "vec", tag = "9")]
    pub raw: Vec<u8>,
    #[prost(double, repeated, tag = "10")]
    pub doubles: Vec<f64>,
    #[prost(int32, tag = "14")]
    pub location: i32,
}

/// Which part of a tensor a message holds.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Segment {
    #[prost(int64, tag = "1")]
    pub begin: i64,
    #[prost(int64, tag = "2")]
    pub end: i64,
}

/// A tensor that lists what is not zero; its name is that of its values.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SparseTensor {
    #[prost(message, optional, tag = "1")]
    pub values: Option<Tensor>,
}

/// The declaration of an input or output.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub kind: Option<ValueType>,
}

/// The type of a value.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ValueType {
    #[prost(message, optional, tag = "1")]
    pub tensor: Option<TensorType>,
}

/// The type of a tensor.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorType {
    #[prost(int32, tag = "1")]
    pub data_type: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShape>,
}

/// The extents of a tensor.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorShape {
    #[prost(message, repeated, tag = "1")]
    pub dimensions: Vec<Dimension>,
}

/// One extent: a number, or a name for what the caller decides.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub parameter: Option<String>,
}

/// Types of the numbers of a tensor.
pub(super) mod data_type {
    pub(in crate::read::onnx) const UNDEFINED: i32 = 0;
    pub(in crate::read::onnx) const FLOAT: i32 = 1;
    pub(in crate::read::onnx) const UINT8: i32 = 2;
    pub(in crate::read::onnx) const INT8: i32 = 3;
    pub(in crate::read::onnx) const UINT16: i32 = 4;
    pub(in crate::read::onnx) const INT16: i32 = 5;
    pub(in crate::read::onnx) const INT32: i32 = 6;
    pub(in crate::read::onnx) const INT64: i32 = 7;
    pub(in crate::read::onnx) const STRING: i32 = 8;
    pub(in crate::read::onnx) const BOOL: i32 = 9;
    pub(in crate::read::onnx) const FLOAT16: i32 = 10;
    pub(in crate::read::onnx) const DOUBLE: i32 = 11;
    pub(in crate::read::onnx) const UINT32: i32 = 12;
    pub(in crate::read::onnx) const UINT64: i32 = 13;
    pub(in crate::read::onnx) const BFLOAT16: i32 = 16;

    /// What ONNX calls a type.
    pub(in crate::read::onnx) fn name(data_type: i32) -> String {
        const NAMES: [&str; 17] = [
            "undefined",
            "float",
            "uint8",
            "int8",
            "uint16",
            "int16",
            "int32",
            "int64",
            "string",
            "bool",
            "float16",
            "double",
            "uint32",
            "uint64",
            "complex64",
            "complex128",
            "bfloat16",
        ];
        let known = usize::try_from(data_type).ok().and_then(|index| NAMES.get(index));
        known.map_or_else(|| format!("type {data_type}"), ToString::to_string)
    }
}
