//! Archives of Stable-Baselines3 (`model.save("policy.zip")`): the weights in `policy.pth`, and in `data` a JSON object
//! with the settings of the algorithm.
//!
//! What JSON cannot hold stands in `data` twice: as a pickle in base64 under `:serialized:`, which is never looked at,
//! and as texts for people. The texts say which classes were used, and those decide what the weights compute. Whatever
//! they do not say, or say in another way than known versions do, is refused.

use std::path::Path;

use surefoot_model::json::{Document, Json};
use surefoot_model::{InputError, utf8_text};

use super::archive::Archive;
use super::request::{Request, activation_of_class};
use super::state_dict::{self, Tensors};
use super::torch;
use crate::layer::Activation;
use crate::network::Network;

/// A policy of Stable-Baselines3.
pub(super) struct Stored {
    pub network: Network,
    /// Smallest and largest observation of each input, where the file says it.
    pub observed: Option<Vec<(f64, f64)>>,
    /// Whether observations are rounded to half precision before the policy sees them.
    pub is_half: bool,
    /// Whether it chooses among applicable labels only (`MaskablePPO`).
    pub is_masked: bool,
}

/// What the policies of an algorithm consist of.
struct Kind {
    /// The module of Python with its policy classes.
    module: &'static str,
    /// Whether it chooses among applicable labels only.
    is_masked: bool,
    /// The layers before the last one, up to their numbers.
    body: &'static str,
    /// The layer of the scores; `None` if it is the last one of the body.
    head: Option<&'static str>,
    /// What stands between layers unless the file says otherwise.
    activation: Activation,
}

/// PPO and A2C: the scores are the logits of actions.
const ACTOR_CRITIC: Kind = Kind {
    module: "stable_baselines3.common.policies",
    is_masked: false,
    body: "mlp_extractor.policy_net.",
    head: Some("action_net"),
    activation: Activation::Tanh,
};

const KINDS: [Kind; 3] = [
    ACTOR_CRITIC,
    // MaskablePPO.
    Kind { module: "sb3_contrib.common.maskable.policies", is_masked: true, ..ACTOR_CRITIC },
    // DQN: the scores are Q values.
    Kind {
        module: "stable_baselines3.dqn.policies",
        is_masked: false,
        body: "q_net.q_net.",
        head: None,
        activation: Activation::Relu,
    },
];

/// Settings of a policy that do not change what its weights compute, and those that are looked at.
const HARMLESS: [&str; 14] = [
    ":type:",
    ":serialized:",
    "net_arch",
    "activation_fn",
    "ortho_init",
    "optimizer_class",
    "optimizer_kwargs",
    "share_features_extractor",
    "features_extractor_class",
    "log_std_init",
    "full_std",
    "use_expln",
    // Images are normalised, vectors are not.
    "normalize_images",
    "lr_schedule",
];

const DISCRETE: [&str; 2] = ["gymnasium.spaces.discrete.Discrete", "gym.spaces.discrete.Discrete"];

/// Spaces whose values reach the network as they are.
const VECTORS: [&str; 4] = [
    "gymnasium.spaces.box.Box",
    "gymnasium.spaces.multi_binary.MultiBinary",
    "gym.spaces.box.Box",
    "gym.spaces.multi_binary.MultiBinary",
];

/// The module of activations. Classes of other modules may have the same names.
const ACTIVATIONS: &str = "torch.nn.modules.activation.";

/// The only extractor of features that leaves a vector as it is.
const FLATTEN: &str = "stable_baselines3.common.torch_layers.FlattenExtractor";

/// Whether an archive holds a policy of Stable-Baselines3.
pub(super) fn recognise(archive: &Archive<'_>) -> bool {
    ["data", "policy.pth"].iter().all(|wanted| archive.names().any(|name| name == *wanted))
}

/// Reads the policy.
pub(super) fn read(path: &Path, archive: &mut Archive<'_>, request: &Request) -> Result<Stored, InputError> {
    // Messages about files within the archive name them like files in a folder.
    let data_path = path.join("data");
    let weights_path = path.join("policy.pth");
    let text = utf8_text(&data_path, archive.require("data")?)?;
    let document = Document::parse(&data_path, &text)?;
    let root = document.root();
    let kind = kind(root)?;
    check_actions(root)?;
    let is_half = is_half(root)?;
    let observed = observations(root)?;
    refuse_normalisation(root, kind)?;
    let activation = activation(root, kind)?;
    let contents = archive.require("policy.pth")?;
    let mut inner = Archive::open(&weights_path, &contents)?;
    let folder = torch::folder(&inner)
        .ok_or_else(|| InputError::in_file(&weights_path, "the file is no state dict of PyTorch"))?;
    let tensors = torch::read(&weights_path, &mut inner, &folder)?;
    let names = layers(&weights_path, &tensors, kind)?;
    let network = state_dict::chain(&weights_path, &tensors, &names, activation)?;
    if let Some(asked) = request.activation.filter(|&asked| asked != activation) {
        let message = format!(
            "the activation is {:?} according to the file, but {:?} is asked for",
            activation.name(),
            asked.name()
        );
        return Err(InputError::in_file(&data_path, message));
    }
    if let Some(asked) = request.layers.as_ref().filter(|&asked| *asked != names) {
        let message = format!("the layers are {names:?}, but {asked:?} are asked for");
        return Err(InputError::in_file(&weights_path, message).with_hint("leave out the list of layers"));
    }
    let observed = observed.filter(|bounds| bounds.len() == request.sizes.0);
    Ok(Stored { network, observed, is_half, is_masked: kind.is_masked })
}

fn kind(root: Json<'_>) -> Result<&'static Kind, InputError> {
    let class = root.require("policy_class")?;
    let module = class.require("__module__")?;
    let name = module.str()?;
    KINDS.iter().find(|kind| kind.module == name).ok_or_else(|| {
        let message = format!("policies of the module {name:?} are not read");
        module
            .error(message)
            .with_hint("PPO, A2C, DQN and MaskablePPO with `MlpPolicy` are; export others to ONNX")
    })
}

/// The class that a text such as `<class 'gymnasium.spaces.box.Box'>` names, with its module.
fn class(json: Json<'_>) -> Result<&str, InputError> {
    let text = json.str()?;
    let name = text.strip_prefix("<class '").and_then(|rest| rest.strip_suffix("'>"));
    name.ok_or_else(|| json.error(format!("expected the name of a class, found {text:?}")))
}

fn check_actions(root: Json<'_>) -> Result<(), InputError> {
    let space = root.require("action_space")?;
    let kind = space.require(":type:")?;
    let name = class(kind)?;
    if !DISCRETE.contains(&name) {
        return Err(
            kind.error(format!("the actions are a space of the kind {name:?}, expected \"Discrete\""))
        );
    }
    // Spaces of old versions have no such attribute.
    match space.get("start") {
        Some(start) if start.as_str() != Some("0") && start.i64().ok() != Some(0) => {
            let hint = "train on `Discrete(n)`: the policy's outputs are counted from 0";
            Err(start.error("the actions are not counted from 0").with_hint(hint))
        }
        _ => Ok(()),
    }
}

/// Whether observations have half precision. The network computes in single precision, but reads what an observation holds.
fn is_half(root: Json<'_>) -> Result<bool, InputError> {
    let Some(kind) = root.require("observation_space")?.get("dtype") else { return Ok(false) };
    Ok(kind.str()?.contains("float16"))
}

/// The bounds of observations, if they are readable. The space must be a vector of numbers: others are encoded before
/// they reach the network.
fn observations(root: Json<'_>) -> Result<Option<Vec<(f64, f64)>>, InputError> {
    let space = root.require("observation_space")?;
    let kind = space.require(":type:")?;
    let name = class(kind)?;
    if !VECTORS.contains(&name) {
        let message = format!("the observations are a space of the kind {name:?}, expected \"Box\"");
        return Err(kind.error(message).with_hint(
            "other spaces are encoded before they reach the network; train on a `Box` with one number per variable",
        ));
    }
    if let Some(shape) = space.get("_shape")
        && shape.array()?.count() != 1
    {
        return Err(shape.error("expected observations that are vectors"));
    }
    let numbers = |key: &str| -> Option<Vec<f64>> {
        let text = space.get(key)?.as_str()?;
        let items = text.trim_start_matches('[').trim_end_matches(']').split_whitespace();
        items.map(|item| item.parse().ok()).collect()
    };
    let bounds = numbers("low").zip(numbers("high")).filter(|(low, high)| low.len() == high.len());
    Ok(bounds.map(|(low, high)| low.into_iter().zip(high).collect()))
}

/// Algorithms that learn from their own runs keep observations as they were before a `VecNormalize`, and nothing if there was none.
/// DQN keeps them anyway.
fn refuse_normalisation(root: Json<'_>, kind: &Kind) -> Result<(), InputError> {
    match root.get("_last_original_obs").filter(|kept| kind.head.is_some() && !kept.is_null()) {
        None => Ok(()),
        Some(kept) => Err(kept
            .error("the policy was trained in a `VecNormalize`, which is not part of the file")
            .with_hint("if it left observations as they were (`norm_obs=False`), load the algorithm in Python with its environment and call `from_sb3`")),
    }
}

fn activation(root: Json<'_>, kind: &Kind) -> Result<Activation, InputError> {
    let settings = root.require("policy_kwargs")?;
    for (key, value) in settings.object()?.members() {
        if !HARMLESS.contains(&key) {
            return Err(
                value.error(format!("the setting {key:?} of the policy is not known to change nothing"))
            );
        }
    }
    if let Some(extractor) = settings.get("features_extractor_class") {
        let name = class(extractor)?;
        if name != FLATTEN {
            return Err(extractor.error(format!("features are extracted by {name:?}, which is not read")));
        }
    }
    let Some(function) = settings.get("activation_fn") else { return Ok(kind.activation) };
    let name = class(function)?;
    let known = name.strip_prefix(ACTIVATIONS).and_then(activation_of_class);
    known.ok_or_else(|| function.error(format!("the activation {name:?} is not read")))
}

/// The names of the layers between observations and scores, checked against all others that could matter.
fn layers(path: &Path, tensors: &Tensors, kind: &Kind) -> Result<Vec<String>, InputError> {
    // The critic and the target network have no influence on choices.
    const OTHERS: [&str; 4] = ["mlp_extractor.value_net.", "value_net.", "q_net_target.q_net.", "log_std"];
    let mut numbers: Vec<u32> = Vec::new();
    for tensor in &tensors.list {
        let name = tensor.name.as_str();
        let unknown = || {
            let message = format!("the tensor {name:?} is no part of an `MlpPolicy`");
            InputError::in_file(path, message)
                .with_hint("policies with other features than the observation are not read")
        };
        if let Some(rest) = name.strip_prefix(kind.body) {
            let number = rest.strip_suffix(".weight").or_else(|| rest.strip_suffix(".bias"));
            let number: u32 = number.and_then(|number| number.parse().ok()).ok_or_else(unknown)?;
            numbers.push(number);
        } else if kind
            .head
            .is_none_or(|head| !name.strip_prefix(head).is_some_and(|rest| rest.starts_with('.')))
            && !OTHERS.iter().any(|other| name.starts_with(other))
        {
            return Err(unknown());
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    // Linear layers and activations in turns.
    if let Some((place, number)) = (0..).zip(&numbers).find(|(place, number)| 2 * place != **number) {
        let message =
            format!("layer {place} of {:?} has the number {number}, expected {}", kind.body, 2 * place);
        return Err(InputError::in_file(path, message));
    }
    let body = numbers.iter().map(|number| format!("{}{number}", kind.body));
    Ok(body.chain(kind.head.map(String::from)).collect())
}
