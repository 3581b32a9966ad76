//! What an interface says about its scorer before the scorer is read.

use surefoot_model::InputError;
use surefoot_model::json::Json;

use super::suggestion::did_you_mean;
use crate::layer::Activation;
use crate::parameter::Parameter;

/// What a scorer must be, and what its file may not say.
#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    /// Numbers of inputs and outputs.
    pub sizes: (usize, usize),
    /// What stands between the layers of a state dict.
    pub activation: Option<Activation>,
    /// The layers of a state dict, in their order.
    pub layers: Option<Vec<String>>,
}

/// The activations that have a name of their own, as `PyTorch` calls them, with its default parameters.
const ACTIVATIONS: [(&str, &str); 5] =
    [("relu", "ReLU"), ("tanh", "Tanh"), ("sigmoid", "Sigmoid"), ("elu", "ELU"), ("leaky_relu", "LeakyReLU")];

/// The names of activations, for messages.
pub(super) fn activation_names() -> impl Iterator<Item = &'static str> {
    ACTIVATIONS.iter().map(|(name, _)| *name)
}

/// The activation of this name.
pub(super) fn activation(name: &str) -> Option<Activation> {
    Some(match name {
        "relu" => Activation::Relu,
        "tanh" => Activation::Tanh,
        "sigmoid" => Activation::Sigmoid,
        "elu" => Activation::Elu { scale: Parameter::from(1.0) },
        "leaky_relu" => Activation::LeakyRelu { slope: Parameter::from(0.01) },
        _ => return None,
    })
}

/// The activation that a class of `torch.nn` computes if it is made without arguments.
pub(super) fn activation_of_class(class: &str) -> Option<Activation> {
    let (name, _) = ACTIVATIONS.iter().find(|(_, known)| *known == class)?;
    activation(name)
}

/// Reads the key `activation`.
pub(super) fn read_activation(json: Json<'_>) -> Result<Activation, InputError> {
    let name = json.str()?;
    activation(name).ok_or_else(|| {
        let names: Vec<String> = activation_names().map(|name| format!("{name:?}")).collect();
        let error =
            json.error(format!("the activation {name:?} is unknown, expected one of {}", names.join(", ")));
        match did_you_mean(name, activation_names()) {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    })
}

/// Reads the key `layers`.
pub(super) fn read_layers(json: Json<'_>) -> Result<Vec<String>, InputError> {
    let mut names: Vec<String> = Vec::new();
    for item in json.array()? {
        let name = item.str()?;
        if names.iter().any(|other| other == name) {
            return Err(item.error(format!("the layer {name:?} is listed twice")));
        }
        names.push(name.to_string());
    }
    if names.is_empty() {
        return Err(json.error("a network has at least one layer"));
    }
    Ok(names)
}
