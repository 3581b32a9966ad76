//! The graph: inputs, constants, nodes one after the other, outputs.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use surefoot_model::InputError;

use super::builder::Builder;
use super::call::{self, Call};
use super::classes;
use super::message::{Dimension, Graph, Model, Node, ValueInfo, data_type};
use super::operator;
use super::output;
use super::shape;
use super::tensor::{Numbers, Tensor};
use super::value::{Computed, Value};
use crate::parameter::Parameter;
use crate::policy::Scorer;

/// How many values and weights a model may make besides those for which its file has room.
const ROOM: usize = 1 << 24;

/// Versions of the operators whose meaning is known here.
const VERSIONS: std::ops::RangeInclusive<i64> = 7..=28;
const LEARNED_VERSIONS: std::ops::RangeInclusive<i64> = 1..=5;

/// What a name stands for, or why that is not known.
pub(super) type Known = Result<Value, Rc<InputError>>;

/// Reads the graph of a model whose file has `length` bytes.
pub(super) fn read(
    path: &Path,
    model: &Model,
    length: usize,
    (inputs, outputs): (usize, usize),
    warnings: &mut Vec<InputError>,
) -> Result<Scorer, InputError> {
    let graph = model
        .graph
        .as_ref()
        .ok_or_else(|| InputError::in_file(path, "this is no ONNX model: there is no graph"))?;
    let versions = Versions::read(path, model)?;
    let classes = classes::of_model(model);
    let mut names = constants(path, graph)?;
    warn_of_range(path, &names, warnings);
    let mut builder = Builder::new(inputs);
    let (name, value) = input(path, graph, &names, inputs, &builder)?;
    names.insert(name, Ok(value));
    // Values have 32-bit numbers.
    let mut budget = length.saturating_mul(8).saturating_add(ROOM).min(u32::MAX as usize);
    for (index, node) in graph.nodes.iter().enumerate() {
        let found = operands(path, &names, node, index).and_then(|inputs| {
            let version = versions.of(path, node, index)?;
            let mut call = Call {
                path,
                graph,
                classes: classes.as_ref(),
                node,
                index,
                version,
                inputs,
                builder: &mut builder,
                budget: &mut budget,
            };
            Ok(operator::apply(&mut call)?)
        });
        let mut found = found.map(Vec::into_iter);
        for name in &node.outputs {
            let value = match &mut found {
                Ok(values) => values.next().ok_or_else(|| {
                    let message =
                        format!("{}: the output `{name}` is not supported", call::describe(node, index));
                    Rc::new(InputError::in_file(path, message))
                }),
                Err(error) => Err(error.0.clone()),
            };
            if !name.is_empty() && names.insert(name, value).is_some() {
                let message = format!("{}: the name `{name}` is used twice", call::describe(node, index));
                return Err(InputError::in_file(path, message));
            }
        }
    }
    let scores = output::choose(path, graph, &names, outputs, warnings)?;
    output::finish(path, scores, builder)
}

/// A shared error, so that a mistake that many values depend on is kept once.
struct Shared(Rc<InputError>);

impl From<InputError> for Shared {
    fn from(error: InputError) -> Self {
        Shared(Rc::new(error))
    }
}

/// The operands of a node.
fn operands(
    path: &Path,
    names: &HashMap<&str, Known>,
    node: &Node,
    index: usize,
) -> Result<Vec<Option<Value>>, Shared> {
    // The names of labels may be text, which is read apart.
    let only_labels = node.operator == "ArrayFeatureExtractor";
    let mut values = Vec::with_capacity(node.inputs.len());
    for (operand, name) in node.inputs.iter().enumerate() {
        if name.is_empty() {
            values.push(None);
            continue;
        }
        match names.get(name.as_str()) {
            Some(Ok(value)) => values.push(Some(value.clone())),
            Some(Err(_)) if only_labels && operand == 0 => values.push(None),
            Some(Err(error)) => return Err(Shared(error.clone())),
            None => {
                let node = call::describe(node, index);
                let message = format!("{node}: no node before it computes `{name}`");
                return Err(InputError::in_file(path, message).into());
            }
        }
    }
    Ok(values)
}

/// Versions of the two families of operators.
struct Versions {
    default: Option<i64>,
    learned: Option<i64>,
}

impl Versions {
    fn read(path: &Path, model: &Model) -> Result<Versions, InputError> {
        let version = |domains: &[&str]| {
            let sets = &model.operator_sets;
            sets.iter().find(|set| domains.contains(&set.domain.as_str())).map(|set| set.version)
        };
        for function in &model.functions {
            if matches!(function.domain.as_str(), "" | "ai.onnx" | "ai.onnx.ml") {
                let message = format!("the model redefines the operator `{}`", function.name);
                return Err(InputError::in_file(path, message));
            }
        }
        Ok(Versions { default: version(&["", "ai.onnx"]), learned: version(&["ai.onnx.ml"]) })
    }

    /// The version of a node's operator.
    fn of(&self, path: &Path, node: &Node, index: usize) -> Result<i64, InputError> {
        let (version, known, domain) = match node.domain.as_str() {
            "ai.onnx.ml" => (self.learned, LEARNED_VERSIONS, "`ai.onnx.ml`"),
            _ => (self.default, VERSIONS, "ONNX"),
        };
        let name = call::describe(node, index);
        match version {
            Some(version) if known.contains(&version) => Ok(version),
            Some(version) => {
                let (first, last) = known.into_inner();
                let message =
                    format!("{name}: version {version} of the operators of {domain} is not supported");
                let hint =
                    format!("supported are versions {first} to {last}; convert the model to one of these");
                Err(InputError::in_file(path, message).with_hint(hint))
            }
            None => {
                let message = format!("{name}: the model does not say which version of {domain} it uses");
                Err(InputError::in_file(path, message))
            }
        }
    }
}

/// All initial values by name.
fn constants<'m>(path: &Path, graph: &'m Graph) -> Result<HashMap<&'m str, Known>, InputError> {
    let mut names = HashMap::new();
    let twice = |name: &str| InputError::in_file(path, format!("the initial value `{name}` is given twice"));
    for tensor in &graph.initializers {
        let value = Tensor::read(tensor).map(|tensor| Value::Constant(Rc::new(tensor))).map_err(|reason| {
            let message = format!("the initial value `{}` cannot be read: {reason}", tensor.name);
            let error = InputError::in_file(path, message);
            Rc::new(if tensor.location == 0 {
                error
            } else {
                error.with_hint("save the model again with all its data in one file")
            })
        });
        if names.insert(tensor.name.as_str(), value).is_some() {
            return Err(twice(&tensor.name));
        }
    }
    for values in graph.sparse_initializers.iter().filter_map(|tensor| tensor.values.as_ref()) {
        let message =
            format!("the initial value `{}` is a sparse tensor, which is not supported", values.name);
        let value = Err(Rc::new(InputError::in_file(path, message)));
        if names.insert(values.name.as_str(), value).is_some() {
            return Err(twice(&values.name));
        }
    }
    Ok(names)
}

/// Warns of numbers that single precision cannot hold.
fn warn_of_range(path: &Path, names: &HashMap<&str, Known>, warnings: &mut Vec<InputError>) {
    let exceeds = |number: &Parameter| number.double.is_finite() && number.single.is_infinite();
    let found = names.iter().filter_map(|(name, value)| match value {
        Ok(Value::Constant(tensor)) => match &tensor.numbers {
            Numbers::Float(numbers) => numbers.iter().any(exceeds).then_some(*name),
            Numbers::Int(_) => None,
        },
        _ => None,
    });
    if let Some(name) = found.min() {
        let message =
            format!("a number of `{name}` exceeds the range of f32: it is infinite in single precision");
        warnings.push(InputError::in_file(path, message));
    }
}

/// The one input that is no initial value.
fn input<'m>(
    path: &Path,
    graph: &'m Graph,
    names: &HashMap<&str, Known>,
    inputs: usize,
    builder: &Builder,
) -> Result<(&'m str, Value), InputError> {
    let open: Vec<&ValueInfo> =
        graph.inputs.iter().filter(|input| !names.contains_key(input.name.as_str())).collect();
    let [input] = open[..] else {
        let names: Vec<String> = open.iter().map(|input| format!("`{}`", input.name)).collect();
        let found = if names.is_empty() { "none".into() } else { names.join(", ") };
        let message = format!("the model must have one input, found {found}");
        return Err(InputError::in_file(path, message).with_hint("join the inputs into one tensor"));
    };
    let error = |message: String| InputError::in_file(path, format!("the input `{}` {message}", input.name));
    let tensor = input.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
    let tensor = tensor.ok_or_else(|| error("is no tensor".into()))?;
    let integer = match tensor.data_type {
        data_type::FLOAT | data_type::DOUBLE => false,
        data_type::INT32 | data_type::INT64 => true,
        other => {
            let name = data_type::name(other);
            return Err(error(format!("is of type {name}; supported are float, double, int32 and int64")));
        }
    };
    let declared = tensor.shape.as_ref().ok_or_else(|| error("has no shape".into()))?;
    if declared.dimensions.len() > shape::RANK {
        return Err(error(format!("has {} axes", declared.dimensions.len())));
    }
    let extents = declared
        .dimensions
        .iter()
        .enumerate()
        .map(|(axis, dimension)| extent(axis, dimension))
        .collect::<Result<Vec<usize>, String>>()
        .map_err(error)?;
    if shape::count(&extents) != Some(inputs) || inputs == 0 {
        let extents = shape::describe(&extents);
        return Err(error(format!("has the shape {extents}, but the interface lists {inputs} inputs")));
    }
    let elements = builder.inputs().into();
    Ok((&input.name, Value::Computed(Computed { shape: extents, elements, integer })))
}

/// An extent of the input. Only the first may be open: it is the batch, of which there is one.
fn extent(axis: usize, dimension: &Dimension) -> Result<usize, String> {
    match dimension.value.filter(|&value| value > 0) {
        Some(value) => usize::try_from(value).map_err(|_| format!("has the extent {value}")),
        None if axis == 0 => Ok(1),
        None => {
            let name = dimension.parameter.as_deref().filter(|name| !name.is_empty()).unwrap_or("?");
            Err(format!("has an open extent `{name}` on axis {axis}; only the first axis may be open"))
        }
    }
}
