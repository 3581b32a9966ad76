//! Readers of policy files.
//!
//! A policy is given by its *interface*, a JSON file that says which variables the scorer reads, which labels it
//! chooses from, and which file holds the scorer: a neural network in the `NNet` format or as a state dict (safetensors,
//! `PyTorch`, Stable-Baselines3), a tree ensemble as a Veritas dump, an `XGBoost` model in JSON or a `LightGBM` model as
//! text, or either of them in an ONNX model. The contents tell which it is. Instead of an interface, the caller may
//! [list](Lists) the inputs and outputs.

mod archive;
mod features;
mod interface;
mod lightgbm;
mod line;
mod listed;
mod nnet;
mod one_output;
mod onnx;
mod request;
mod safetensors;
mod sb3;
mod state_dict;
mod suggestion;
mod torch;
mod veritas;
mod xgboost;

use std::path::{Path, PathBuf};

use surefoot_model::jani::ConstantValue;
use surefoot_model::json::Document;
use surefoot_model::{InputError, Sources, TransitionSystem, utf8_text};

use crate::policy::{Policy, Scorer};
use archive::Archive;
use interface::Interface;
pub use listed::Lists;
pub use onnx::{Classes, onnx_classes};
use request::Request;

/// What the caller may decide against the files, and what is known beside them.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Read the scorer from this file instead of the one that the interface names.
    pub scorer_file: Option<PathBuf>,
    /// The model's constants, which may be inputs too.
    pub constants: Vec<ConstantValue>,
}

/// Reads a policy for `system` from its interface file and the file that it names.
///
/// Whatever is odd but harmless is appended to `warnings`.
pub fn read(
    interface: &Path,
    system: &TransitionSystem,
    sources: &mut Sources,
    warnings: &mut Vec<InputError>,
) -> Result<Policy, InputError> {
    read_with(interface, system, &ReadOptions::default(), sources, warnings)
}

/// Like [`read()`], with options.
pub fn read_with(
    interface: &Path,
    system: &TransitionSystem,
    options: &ReadOptions,
    sources: &mut Sources,
    warnings: &mut Vec<InputError>,
) -> Result<Policy, InputError> {
    let bytes = sources.read_contents(interface)?;
    if let Some(kind) = binary(interface, &bytes) {
        return Err(interface::refused_scorer(interface, kind));
    }
    let text = utf8_text(interface, bytes)?;
    parse(interface, &text, system, options, |file| sources.read_contents(file), warnings)
}

/// Reads the policy whose scorer is in a file and whose inputs and outputs are listed. The lists count as one of the
/// files that were read: they have a hash among the `sources`.
pub fn read_listed(
    scorer: &Path,
    lists: &Lists,
    system: &TransitionSystem,
    options: &ReadOptions,
    sources: &mut Sources,
    warnings: &mut Vec<InputError>,
) -> Result<Policy, InputError> {
    // Names are read ahead, by a reader that is forgotten: the lists come before the scorer among the sources.
    let text = if lists.asks_for_names(system, &options.constants)? {
        let inputs = features::required(scorer, sources.clone().read_contents(scorer)?)?;
        Lists { inputs, ..lists.clone() }.interface(system, &options.constants)?
    } else {
        lists.interface(system, &options.constants)?
    };
    sources.record(listed::place(), text.as_bytes());
    let options = ReadOptions { scorer_file: Some(scorer.to_path_buf()), ..options.clone() };
    let before = warnings.len();
    let open = |file: &Path| sources.read_contents(file);
    let policy = parse(listed::place(), &text, system, &options, open, warnings);
    let new = warnings.split_off(before).into_iter().map(listed::without_place);
    warnings.extend(new);
    policy.map_err(listed::without_place)
}

/// Like [`read_with`], from contents in memory: `text` is the interface, and `open` gives the contents of the scorer's
/// file, whose path is relative to the folder of `interface`.
pub fn parse(
    interface: &Path,
    text: &str,
    system: &TransitionSystem,
    options: &ReadOptions,
    open: impl FnOnce(&Path) -> Result<Vec<u8>, InputError>,
    warnings: &mut Vec<InputError>,
) -> Result<Policy, InputError> {
    interface::refuse_scorer(interface, text)?;
    let document = Document::parse(interface, text)?;
    let interface = Interface::read(document.root(), system, &options.constants, warnings)?;
    let file = match &options.scorer_file {
        Some(file) => file.clone(),
        None => interface.scorer_file()?,
    };
    let found = read_scorer(&file, open(&file)?, interface.request(), warnings)?;
    if !found.is_state_dict {
        interface.refuse_state_dict_keys()?;
    }
    if found.is_half {
        interface.refuse_rounded_inputs(system)?;
    }
    if let Some(observed) = &found.observed {
        interface.compare_observations(observed, system, warnings);
    }
    interface.compare_features(&found.features, &file, system, &options.constants)?;
    interface.compare_classes(&found.classes, &file, system)?;
    interface.attach(found.scorer, found.is_masked, &file, warnings)
}

/// A scorer and what its file says about it.
struct Found {
    scorer: Scorer,
    /// Whether the interface had to say how the network is made of its weights.
    is_state_dict: bool,
    /// Smallest and largest value of each input in training.
    observed: Option<Vec<(f64, f64)>>,
    /// Whether the policy reads its inputs rounded to half precision.
    is_half: bool,
    /// What the inputs were called in training; empty if the file does not say it.
    features: Vec<String>,
    /// What the outputs were called in training, likewise.
    classes: Vec<String>,
    /// Whether it was trained to choose among applicable labels only.
    is_masked: bool,
}

impl From<Scorer> for Found {
    fn from(scorer: Scorer) -> Self {
        Found {
            scorer,
            is_state_dict: false,
            observed: None,
            is_half: false,
            features: Vec::new(),
            classes: Vec::new(),
            is_masked: false,
        }
    }
}

/// What a file is that is no text, if it is a scorer.
fn binary(file: &Path, contents: &[u8]) -> Option<&'static str> {
    if archive::recognise(contents) || torch::is_pickle(contents) {
        Some("a network of PyTorch or Stable-Baselines3")
    } else if safetensors::recognise(contents) {
        Some("a network in the safetensors format")
    } else if onnx::recognise(file, contents) {
        Some("an ONNX model")
    } else {
        None
    }
}

/// Reads a scorer for an interface. Its format is seen from its contents.
fn read_scorer(
    file: &Path,
    contents: Vec<u8>,
    request: &Request,
    warnings: &mut Vec<InputError>,
) -> Result<Found, InputError> {
    if archive::recognise(&contents) {
        return read_archive(file, &contents, request);
    }
    if torch::is_pickle(&contents) {
        return Err(torch::refused_pickle(file));
    }
    if safetensors::recognise(&contents) {
        let tensors = safetensors::read(file, &contents)?;
        let network = state_dict::network(file, &tensors, request)?;
        return Ok(Found { is_state_dict: true, ..Scorer::Network(network).into() });
    }
    let sizes = request.sizes;
    if onnx::recognise(file, &contents) {
        let (scorer, classes) = onnx::read(file, &contents, sizes, warnings)?;
        return Ok(Found { classes, ..scorer.into() });
    }
    let text = utf8_text(file, contents)?;
    if is_json(&text) {
        let document = Document::parse(file, &text)?;
        let root = document.root();
        if root.get("learner").is_none() {
            return Ok(Scorer::Ensemble(veritas::read(root, sizes, warnings)?).into());
        }
        let ensemble = xgboost::read(root, sizes, warnings)?;
        return Ok(Found { features: xgboost::feature_names(root)?, ..Scorer::Ensemble(ensemble).into() });
    }
    xgboost::refuse_dump(file, &text)?;
    if lightgbm::is_model(&text) {
        let ensemble = lightgbm::read(file, &text, sizes, warnings)?;
        return Ok(Found {
            features: lightgbm::feature_names(file, &text)?,
            ..Scorer::Ensemble(ensemble).into()
        });
    }
    Ok(Scorer::Network(nnet::read(file, &text, warnings)?).into())
}

/// Reads a zip archive: that of Stable-Baselines3, or a state dict of `PyTorch`.
fn read_archive(file: &Path, contents: &[u8], request: &Request) -> Result<Found, InputError> {
    let mut archive = Archive::open(file, contents)?;
    let found: Found = if sb3::recognise(&archive) {
        let sb3::Stored { network, observed, is_half, is_masked } = sb3::read(file, &mut archive, request)?;
        Found { observed, is_half, is_masked, ..Scorer::Network(network).into() }
    } else if let Some(folder) = torch::folder(&archive) {
        let tensors = torch::read(file, &mut archive, &folder)?;
        Scorer::Network(state_dict::network(file, &tensors, request)?).into()
    } else {
        let message = "this is a zip archive, but neither one of PyTorch (`data.pkl`) nor of Stable-Baselines3 (`policy.pth`)";
        return Err(InputError::in_file(file, message));
    };
    Ok(Found { is_state_dict: true, ..found })
}

/// Whether the text can only be JSON, as opposed to the text of an `.nnet` file or of `LightGBM`.
fn is_json(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
}
