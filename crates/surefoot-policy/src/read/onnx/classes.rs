//! What a classifier calls its classes: an attribute of trees and of the operator that makes maps of scores, or, where the
//! label of the highest score is looked up, the table for that.

use std::collections::HashSet;

use prost::Message;

use super::message::{Attribute, Graph, Model, Node, Tensor, data_type};
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

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Classes::Names(names) => names.len(),
            Classes::Numbers(numbers) => numbers.len(),
        }
    }

    /// Whether no two of them are the same.
    pub(super) fn are_different(&self) -> bool {
        let different = match self {
            Classes::Names(names) => names.iter().collect::<HashSet<_>>().len(),
            Classes::Numbers(numbers) => numbers.iter().collect::<HashSet<_>>().len(),
        };
        different == self.len()
    }
}

/// What the classes of an ONNX model are called; `None` if it does not say it, or is no model.
pub fn onnx_classes(contents: &[u8]) -> Option<Classes> {
    of_model(&Model::decode(contents).ok()?)
}

/// The same of a model that was read.
pub(super) fn of_model(model: &Model) -> Option<Classes> {
    let graph = model.graph.as_ref()?;
    graph.nodes.iter().find_map(of_node).or_else(|| {
        let look_up = graph.nodes.iter().find(|node| node.operator == "ArrayFeatureExtractor")?;
        table(graph, look_up.inputs.first()?)
    })
}

/// The classes that an operator lists.
pub(super) fn of_node(node: &Node) -> Option<Classes> {
    node.attributes.iter().find_map(|attribute| match attribute.name.as_str() {
        "classlabels_strings" if !attribute.strings.is_empty() => Some(names(&attribute.strings)),
        "classlabels_int64s" if !attribute.ints.is_empty() => Some(Classes::Numbers(attribute.ints.clone())),
        _ => None,
    })
}

/// The classes in a table of names or whole numbers: an initial value, or what a node `Constant` gives.
pub(super) fn table(graph: &Graph, name: &str) -> Option<Classes> {
    if let Some(tensor) = graph.initializers.iter().find(|tensor| tensor.name == name) {
        return of_tensor(tensor);
    }
    let is_origin = |node: &&Node| node.outputs.iter().any(|output| output == name);
    let node = graph.nodes.iter().find(is_origin)?;
    let is_constant = node.operator == "Constant" && matches!(node.domain.as_str(), "" | "ai.onnx");
    let [attribute] = node.attributes.as_slice() else { return None };
    if is_constant { of_constant(attribute) } else { None }
}

fn of_constant(attribute: &Attribute) -> Option<Classes> {
    match attribute.name.as_str() {
        "value" => of_tensor(attribute.tensor.as_ref()?),
        "value_strings" => Some(names(&attribute.strings)),
        "value_ints" => Some(Classes::Numbers(attribute.ints.clone())),
        _ => None,
    }
}

/// The classes in a tensor with one row.
fn of_tensor(tensor: &Tensor) -> Option<Classes> {
    let classes = match tensor.data_type {
        data_type::STRING => names(&tensor.strings),
        _ => match read_numbers(tensor).ok()? {
            Numbers::Int(numbers) => Classes::Numbers(numbers),
            Numbers::Float(_) => return None,
        },
    };
    let (last, others) = tensor.dimensions.split_last()?;
    let is_row = usize::try_from(*last) == Ok(classes.len()) && others.iter().all(|&extent| extent == 1);
    (is_row && tensor.location == 0 && tensor.segment.is_none()).then_some(classes)
}

fn names(list: &[Vec<u8>]) -> Classes {
    Classes::Names(list.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}
