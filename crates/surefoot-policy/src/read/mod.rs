//! Readers of policy files.
//!
//! A policy is given by its *interface*, a JSON file that says which variables the scorer reads, which labels it
//! chooses from, and which file holds the scorer: a neural network in the `NNet` format, a tree ensemble as a
//! Veritas dump, an `XGBoost` model in JSON or a `LightGBM` model as text, or either of them in an ONNX model. The
//! contents tell which it is.

mod interface;
mod lightgbm;
mod line;
mod nnet;
mod one_output;
mod onnx;
mod suggestion;
mod veritas;
mod xgboost;

use std::path::{Path, PathBuf};

use surefoot_model::json::Document;
use surefoot_model::{InputError, Sources, TransitionSystem, utf8_text};

use crate::policy::{Policy, Scorer};
use interface::Interface;

/// What the caller may decide against the files.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Read the scorer from this file instead of the one that the interface names.
    pub scorer_file: Option<PathBuf>,
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
    let bytes = sources.read_bytes(interface)?;
    if onnx::recognise(interface, &bytes) {
        return Err(interface::refused_scorer(interface, "an ONNX model"));
    }
    let text = utf8_text(interface, bytes)?;
    parse(interface, &text, system, options, |file| sources.read_bytes(file), warnings)
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
    let interface = Interface::read(document.root(), system, warnings)?;
    let file = match &options.scorer_file {
        Some(file) => file.clone(),
        None => interface.scorer_file()?,
    };
    let scorer = read_scorer(&file, open(&file)?, interface.sizes(), warnings)?;
    interface.attach(scorer, &file, warnings)
}

/// Reads a scorer whose interface has these numbers of inputs and outputs. Its format is seen from its contents.
fn read_scorer(
    file: &Path,
    contents: Vec<u8>,
    sizes: (usize, usize),
    warnings: &mut Vec<InputError>,
) -> Result<Scorer, InputError> {
    if onnx::recognise(file, &contents) {
        return onnx::read(file, &contents, sizes, warnings);
    }
    let text = utf8_text(file, contents)?;
    if is_json(&text) {
        let document = Document::parse(file, &text)?;
        let root = document.root();
        let read = if root.get("learner").is_some() { xgboost::read } else { veritas::read };
        return Ok(Scorer::Ensemble(read(root, sizes, warnings)?));
    }
    xgboost::refuse_dump(file, &text)?;
    if lightgbm::is_model(&text) {
        return Ok(Scorer::Ensemble(lightgbm::read(file, &text, sizes, warnings)?));
    }
    Ok(Scorer::Network(nnet::read(file, &text, warnings)?))
}

/// Whether the text can only be JSON, as opposed to the text of an `.nnet` file or of `LightGBM`.
fn is_json(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
}
