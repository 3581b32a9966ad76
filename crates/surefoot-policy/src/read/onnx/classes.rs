//! What a classifier calls its classes: an attribute of trees and of the operator that makes maps of scores, or, where the
//! label of the highest score is looked up, the table for that.

use prost::Message;

use super::message::{Model, Tensor, data_type};
use super::tensor::{Numbers, read_numbers};

/// The classes of a model, in the order of its scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Classes {
    /// They have names.
    Names(Vec<String>),
    /// They have numbers.
    Numbers(Vec<i64>),
}

impl Classes {
    /// Their names; nothing if they have numbers.
    pub(super) fn names(self) -> Vec<String> {
        match self {
            Classes::Names(names) => names,
            Classes::Numbers(_) => Vec::new(),
        }
    }
}

/// What the classes of an ONNX model are called; `None` if it does not say it, or is no model.
pub fn onnx_classes(contents: &[u8]) -> Option<Classes> {
    of_model(&Model::decode(contents).ok()?)
}

/// The same of a model that was read.
pub(super) fn of_model(model: &Model) -> Option<Classes> {
    let graph = model.graph.as_ref()?;
    let names = |list: &[Vec<u8>]| {
        Classes::Names(list.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    };
    for node in &graph.nodes {
        for attribute in &node.attributes {
            match attribute.name.as_str() {
                "classlabels_strings" if !attribute.strings.is_empty() => {
                    return Some(names(&attribute.strings));
                }
                "classlabels_int64s" if !attribute.ints.is_empty() => {
                    return Some(Classes::Numbers(attribute.ints.clone()));
                }
                _ => {}
            }
        }
    }
    let looked_up = |tensor: &&Tensor| {
        let is_table = |node: &super::message::Node| {
            node.operator == "ArrayFeatureExtractor" && node.inputs.first() == Some(&tensor.name)
        };
        graph.nodes.iter().any(is_table)
    };
    let table = graph.initializers.iter().find(looked_up)?;
    match table.data_type {
        data_type::STRING => Some(names(&table.strings)),
        _ => match read_numbers(table).ok()? {
            Numbers::Int(numbers) => Some(Classes::Numbers(numbers)),
            Numbers::Float(_) => None,
        },
    }
}
