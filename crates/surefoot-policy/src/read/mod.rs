//! Readers of policy files.
//!
//! A policy is given by its *interface*, a JSON file that says which variables the scorer reads, which labels it
//! chooses from, and which file holds the scorer: a neural network in the `NNet` format, or a tree ensemble as a
//! Veritas dump, an `XGBoost` model in JSON or a `LightGBM` model as text. The contents tell which it is.

mod interface;
mod lightgbm;
mod line;
mod nnet;
mod one_output;
mod suggestion;
mod veritas;
mod xgboost;

use std::path::{Path, PathBuf};

use surefoot_model::json::Document;
use surefoot_model::{InputError, Sources, TransitionSystem};

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
    let text = sources.read(interface)?;
    parse(interface, &text, system, options, |file| sources.read(file), warnings)
}

/// Like [`read_with`], from texts in memory: `text` is the interface, and `open` gives the contents of the scorer's
/// file, whose path is relative to the folder of `interface`.
pub fn parse(
    interface: &Path,
    text: &str,
    system: &TransitionSystem,
    options: &ReadOptions,
    open: impl FnOnce(&Path) -> Result<String, InputError>,
    warnings: &mut Vec<InputError>,
) -> Result<Policy, InputError> {
    interface::refuse_scorer(interface, text)?;
    let document = Document::parse(interface, text)?;
    let interface = Interface::read(document.root(), system, warnings)?;
    let file = match &options.scorer_file {
        Some(file) => file.clone(),
        None => interface.scorer_file()?,
    };
    let text = open(&file)?;
    let scorer = read_scorer(&file, &text, interface.sizes(), warnings)?;
    interface.attach(scorer, &file, warnings)
}

/// Reads the scorer in `text`, the contents of the file at `path`, whose interface has these numbers of inputs and
/// outputs.
fn read_scorer(
    path: &Path,
    text: &str,
    sizes: (usize, usize),
    warnings: &mut Vec<InputError>,
) -> Result<Scorer, InputError> {
    if is_json(text) {
        let document = Document::parse(path, text)?;
        let root = document.root();
        let read = if root.get("learner").is_some() { xgboost::read } else { veritas::read };
        return Ok(Scorer::Ensemble(read(root, sizes, warnings)?));
    }
    xgboost::refuse_dump(path, text)?;
    if lightgbm::is_model(text) {
        return Ok(Scorer::Ensemble(lightgbm::read(path, text, sizes, warnings)?));
    }
    Ok(Scorer::Network(nnet::read(path, text, warnings)?))
}

/// Whether the text can only be JSON, as opposed to the text of an `.nnet` file or of `LightGBM`.
fn is_json(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
}
