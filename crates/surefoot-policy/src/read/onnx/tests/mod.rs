//! Small models, each for one operator, encoded as a file and read again.

mod arrange;
mod network;
mod refusal;
mod tail;
mod tree;

use std::path::Path;

use prost::Message;
use surefoot_model::InputError;

use super::message::{
    Attribute, Dimension, Graph, Model, Node, OperatorSet, Tensor, TensorShape, TensorType, ValueInfo,
    ValueType, data_type,
};
use crate::network::Network;
use crate::parameter::Number;
use crate::point::{ensemble_values, network_values};
use crate::policy::Scorer;

/// A model with the input `x` and the output `y` unless others are given.
#[derive(Clone)]
pub(super) struct Draft {
    version: i64,
    model: Model,
}

impl Draft {
    /// An input `x` of floats with these extents; 0 stands for a symbolic one.
    pub(super) fn new(version: i64, shape: &[i64]) -> Draft {
        let graph = Graph { inputs: vec![info("x", data_type::FLOAT, shape)], ..Graph::default() };
        Draft { version, model: Model { graph: Some(graph), ..Model::default() } }
    }

    pub(super) fn graph(&mut self) -> &mut Graph {
        self.model.graph.as_mut().expect("it was made")
    }

    pub(super) fn input_type(mut self, data_type: i32) -> Draft {
        let kind = self.graph().inputs[0].kind.as_mut().expect("it was made");
        kind.tensor.as_mut().expect("it was made").data_type = data_type;
        self
    }

    pub(super) fn floats(mut self, name: &str, shape: &[i64], numbers: &[f32]) -> Draft {
        let floats = numbers.to_vec();
        let tensor = Tensor { floats, ..tensor(name, data_type::FLOAT, shape) };
        self.graph().initializers.push(tensor);
        self
    }

    pub(super) fn ints(mut self, name: &str, numbers: &[i64]) -> Draft {
        let tensor =
            Tensor { longs: numbers.to_vec(), ..tensor(name, data_type::INT64, &[numbers.len() as i64]) };
        self.graph().initializers.push(tensor);
        self
    }

    /// A node; names are separated by spaces, `_` stands for one that is left out.
    pub(super) fn node(
        self,
        operator: &str,
        inputs: &str,
        outputs: &str,
        attributes: Vec<Attribute>,
    ) -> Draft {
        self.node_of("", operator, inputs, outputs, attributes)
    }

    pub(super) fn node_of(
        mut self,
        domain: &str,
        operator: &str,
        inputs: &str,
        outputs: &str,
        attributes: Vec<Attribute>,
    ) -> Draft {
        let names = |list: &str| -> Vec<String> {
            list.split_whitespace().map(|name| name.trim_matches('_').to_string()).collect()
        };
        self.graph().nodes.push(Node {
            inputs: names(inputs),
            outputs: names(outputs),
            operator: operator.into(),
            domain: domain.into(),
            attributes,
            ..Node::default()
        });
        self
    }

    pub(super) fn bytes(mut self) -> Vec<u8> {
        if self.graph().outputs.is_empty() {
            self.graph().outputs.push(info("y", data_type::FLOAT, &[]));
        }
        let set = |domain: &str, version| OperatorSet { domain: domain.into(), version };
        self.model.operator_sets = vec![set("", self.version), set("ai.onnx.ml", 5)];
        self.model.encode_to_vec()
    }

    /// Sets the outputs.
    pub(super) fn outputs(mut self, names: &[&str]) -> Draft {
        self.graph().outputs = names.iter().map(|name| info(name, data_type::FLOAT, &[])).collect();
        self
    }

    /// Adds an output of some type.
    pub(super) fn output(mut self, name: &str, kind: i32) -> Draft {
        self.graph().outputs.push(info(name, kind, &[]));
        self
    }

    /// What the classes are called, if the model is read.
    pub(super) fn classes(self, sizes: (usize, usize)) -> Result<Vec<String>, InputError> {
        super::read(Path::new("m.onnx"), &self.bytes(), sizes, &mut Vec::new()).map(|(_, classes)| classes)
    }

    pub(super) fn read(self, inputs: usize, outputs: usize) -> Result<Scorer, InputError> {
        super::read(Path::new("m.onnx"), &self.bytes(), (inputs, outputs), &mut Vec::new())
            .map(|(scorer, _)| scorer)
    }

    #[track_caller]
    pub(super) fn network(self, inputs: usize, outputs: usize) -> Network {
        match self.read(inputs, outputs) {
            Ok(Scorer::Network(network)) => network,
            Ok(Scorer::Ensemble(_)) => panic!("trees"),
            Err(error) => panic!("{error}"),
        }
    }

    /// The outputs for some inputs.
    #[track_caller]
    pub(super) fn values(self, inputs: &[i32], outputs: usize) -> Vec<f64> {
        values::<f64>(&self.read(inputs.len(), outputs).unwrap_or_else(|error| panic!("{error}")), inputs)
    }

    /// The same in single precision.
    #[track_caller]
    pub(super) fn singles(self, inputs: &[i32], outputs: usize) -> Vec<f32> {
        values::<f32>(&self.read(inputs.len(), outputs).unwrap_or_else(|error| panic!("{error}")), inputs)
    }

    /// Why the model is refused.
    #[track_caller]
    pub(super) fn refused(self, inputs: usize, outputs: usize) -> String {
        match self.read(inputs, outputs) {
            Ok(_) => panic!("it was read"),
            Err(error) => error.to_string(),
        }
    }
}

pub(super) fn values<T: Number>(scorer: &Scorer, inputs: &[i32]) -> Vec<T> {
    match scorer {
        Scorer::Network(network) => network_values(network, inputs),
        Scorer::Ensemble(ensemble) => ensemble_values(ensemble, inputs),
    }
}

pub(super) fn info(name: &str, data_type: i32, shape: &[i64]) -> ValueInfo {
    let dimension = |&extent: &i64| match extent {
        0 => Dimension { parameter: Some("batch".into()), ..Dimension::default() },
        extent => Dimension { value: Some(extent), ..Dimension::default() },
    };
    let shape = Some(TensorShape { dimensions: shape.iter().map(dimension).collect() });
    let tensor = Some(TensorType { data_type, shape });
    ValueInfo { name: name.into(), kind: Some(ValueType { tensor }) }
}

pub(super) fn tensor(name: &str, data_type: i32, shape: &[i64]) -> Tensor {
    Tensor { name: name.into(), data_type, dimensions: shape.to_vec(), ..Tensor::default() }
}

pub(super) fn strings(name: &str, list: &[&str]) -> Tensor {
    let strings = list.iter().map(|text| text.as_bytes().to_vec()).collect();
    Tensor { strings, ..tensor(name, data_type::STRING, &[list.len() as i64]) }
}

pub(super) fn int(name: &str, int: i64) -> Attribute {
    Attribute { name: name.into(), int, kind: 2, ..Attribute::default() }
}

pub(super) fn float(name: &str, float: f32) -> Attribute {
    Attribute { name: name.into(), float, kind: 1, ..Attribute::default() }
}

pub(super) fn text(name: &str, text: &str) -> Attribute {
    Attribute { name: name.into(), string: text.into(), kind: 3, ..Attribute::default() }
}

pub(super) fn ints(name: &str, ints: &[i64]) -> Attribute {
    Attribute { name: name.into(), ints: ints.to_vec(), kind: 7, ..Attribute::default() }
}

pub(super) fn floats(name: &str, floats: &[f32]) -> Attribute {
    Attribute { name: name.into(), floats: floats.to_vec(), kind: 6, ..Attribute::default() }
}

pub(super) fn texts(name: &str, texts: &[&str]) -> Attribute {
    let strings = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    Attribute { name: name.into(), strings, kind: 8, ..Attribute::default() }
}

pub(super) fn with_tensor(name: &str, tensor: Tensor) -> Attribute {
    Attribute { name: name.into(), tensor: Some(tensor), kind: 4, ..Attribute::default() }
}
