//! State dicts: tensors with names such as `net.0.weight`, as safetensors files and those of `PyTorch` hold them.
//!
//! A state dict says neither in which order its layers follow each other nor what stands between them. Both decide what
//! the network computes, so neither is guessed: the [order](order) must follow from numbers in the names or from the
//! shapes, or be given, and the activation must be given.

mod order;
mod tensor;

use std::collections::BTreeMap;
use std::path::Path;

use surefoot_model::InputError;

use super::request::Request;
use crate::layer::{Activation, Layer};
use crate::network::Network;
use crate::parameter::Parameter;
pub(super) use tensor::{NumberType, Tensor, Tensors, dense};

/// What to say if the network between the weights is not clear.
const LIST_LAYERS: &str = "list the layers in their order: `\"layers\": [\"net.0\", \"net.2\"]` in the interface, or \
                           `--layers net.0,net.2`";

/// Most layers whose order is looked for.
const MANY_LAYERS: usize = 256;

/// A linear layer of a state dict.
#[derive(Debug, Clone, Copy)]
struct Linear<'t> {
    /// Its name: what stands before `.weight`.
    name: &'t str,
    weight: &'t Tensor,
    bias: Option<&'t Tensor>,
    inputs: usize,
    neurons: usize,
}

/// The network that a state dict holds. An activation stands between its layers and not after the last one.
pub(super) fn network(path: &Path, tensors: &Tensors, request: &Request) -> Result<Network, InputError> {
    let layers = match &request.layers {
        Some(names) => names.iter().map(|name| listed(path, tensors, name)).collect::<Result<_, _>>()?,
        None => order::ordered(path, all(path, tensors)?, request.sizes)?,
    };
    build(path, tensors, &layers, request.activation)
}

/// The chain of the layers with these names.
pub(super) fn chain(
    path: &Path,
    tensors: &Tensors,
    names: &[String],
    activation: Activation,
) -> Result<Network, InputError> {
    let layers: Vec<Linear<'_>> =
        names.iter().map(|name| listed(path, tensors, name)).collect::<Result<_, _>>()?;
    build(path, tensors, &layers, Some(activation))
}

fn build(
    path: &Path,
    tensors: &Tensors,
    layers: &[Linear<'_>],
    activation: Option<Activation>,
) -> Result<Network, InputError> {
    for pair in layers.windows(2) {
        if pair[0].neurons != pair[1].inputs {
            let message = format!(
                "the layer {:?} has {} neurons, but the next one, {:?}, reads {} values",
                pair[0].name, pair[0].neurons, pair[1].name, pair[1].inputs
            );
            return Err(InputError::in_file(path, message).with_hint(LIST_LAYERS));
        }
    }
    let activation = match activation {
        Some(activation) => activation,
        None if layers.len() < 2 => Activation::Identity,
        None => {
            let message = "a state dict does not say which activation stands between its layers";
            let hint = "say it: `\"activation\": \"relu\"` in the interface, or `--activation relu`";
            return Err(InputError::in_file(path, message).with_hint(hint));
        }
    };
    // Tensors may be views of the same numbers, so what they become is limited by more than the size of the file.
    let mut budget = tensors.budget();
    let mut made = Vec::new();
    for (index, layer) in layers.iter().enumerate() {
        let fail = |what: &str, error: String| {
            InputError::in_file(path, format!("the tensor {:?} {error}", format!("{}.{what}", layer.name)))
        };
        let weights = tensors.values(layer.weight, &mut budget).map_err(|error| fail("weight", error))?;
        let biases = match layer.bias {
            Some(bias) => tensors.values(bias, &mut budget).map_err(|error| fail("bias", error))?,
            None => vec![Parameter::from(0.0_f32); layer.neurons],
        };
        let activation = if index + 1 == layers.len() { Activation::Identity } else { activation };
        let made_layer = Layer::new(layer.inputs, weights, biases, activation);
        made.push(made_layer.map_err(|error| InputError::in_file(path, error.to_string()))?);
    }
    Network::new(made).map_err(|error| InputError::in_file(path, error.to_string()))
}

/// The layer of this name.
fn listed<'t>(path: &Path, tensors: &'t Tensors, name: &str) -> Result<Linear<'t>, InputError> {
    let Some(weight) = tensors.list.iter().find(|tensor| tensor.name == joined(name, "weight")) else {
        let message =
            format!("there is no layer {name:?}: the file has no tensor {:?}", joined(name, "weight"));
        return Err(InputError::in_file(path, message).with_hint(known(tensors)));
    };
    let bias = tensors.list.iter().find(|tensor| tensor.name == joined(name, "bias"));
    linear(path, weight, bias)
}

/// All layers, in any order. Whatever is not part of a linear layer would change what the network computes.
fn all<'t>(path: &Path, tensors: &'t Tensors) -> Result<Vec<Linear<'t>>, InputError> {
    let mut found: BTreeMap<&str, [Option<&Tensor>; 2]> = BTreeMap::new();
    for tensor in &tensors.list {
        let (layer, part) = tensor.name.rsplit_once('.').unwrap_or(("", &tensor.name));
        let part = match part {
            "weight" => 0,
            "bias" => 1,
            _ => {
                let message = format!(
                    "the tensor {:?} belongs to no linear layer: only weights and biases of them are read",
                    tensor.name
                );
                return Err(InputError::in_file(path, message).with_hint(LIST_LAYERS));
            }
        };
        found.entry(layer).or_default()[part] = Some(tensor);
    }
    if found.is_empty() {
        return Err(InputError::in_file(path, "the file holds no tensors"));
    }
    if found.len() > MANY_LAYERS {
        let message =
            format!("the file has {} layers, and {MANY_LAYERS} at most are put in order", found.len());
        return Err(InputError::in_file(path, message).with_hint(LIST_LAYERS));
    }
    let layer = |(name, [weight, bias]): (&str, [Option<&'t Tensor>; 2])| {
        let weight = weight.ok_or_else(|| {
            let message = format!("the layer {name:?} has a bias, but no weight");
            InputError::in_file(path, message)
        })?;
        linear(path, weight, bias)
    };
    found.into_iter().map(layer).collect()
}

fn linear<'t>(path: &Path, weight: &'t Tensor, bias: Option<&'t Tensor>) -> Result<Linear<'t>, InputError> {
    let [neurons, inputs] = weight.shape[..] else {
        let message = format!(
            "the tensor {:?} has the shape {:?}, but the weights of a linear layer are a matrix",
            weight.name, weight.shape
        );
        return Err(InputError::in_file(path, message)
            .with_hint("networks of linear layers are read; export others to ONNX"));
    };
    if let Some(bias) = bias.filter(|bias| bias.shape != [neurons]) {
        let message = format!(
            "the tensor {:?} has the shape {:?}, but {:?} has {neurons} rows",
            bias.name, bias.shape, weight.name
        );
        return Err(InputError::in_file(path, message));
    }
    let name = weight.name.rsplit_once('.').map_or("", |(layer, _)| layer);
    Ok(Linear { name, weight, bias, inputs, neurons })
}

fn joined(layer: &str, part: &str) -> String {
    if layer.is_empty() { part.to_string() } else { format!("{layer}.{part}") }
}

/// A hint that lists what could have been meant.
fn known(tensors: &Tensors) -> String {
    const MANY: usize = 12;
    let weights = || tensors.list.iter().filter(|tensor| tensor.shape.len() == 2);
    let names: Vec<String> = weights()
        .take(MANY)
        .map(|tensor| format!("{:?}", tensor.name.rsplit_once('.').map_or("", |(layer, _)| layer)))
        .collect();
    let more = if weights().count() > MANY { ", …" } else { "" };
    if names.is_empty() {
        "it has no layers at all".into()
    } else {
        format!("it has {}{more}", names.join(", "))
    }
}
