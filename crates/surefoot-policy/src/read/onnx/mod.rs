//! ONNX models: networks, and the tree ensembles of `ai.onnx.ml`.
//!
//! The nodes of the graph are read in their order. What a name stands for is known exactly ([`value`]): constants are
//! folded, computed values are followed one by one, and a symbolic batch counts as 1. A node that cannot be read
//! matters only if the scores depend on it.
//!
//! Rounding is part of a network's meaning, so operators are never merged where that would change it: see
//! [`builder`]. Of the order of summation, which runtimes choose differently, surefoot takes its own.

mod builder;
mod call;
mod classes;
mod graph;
mod message;
mod operator;
mod output;
mod shape;
mod tensor;
#[cfg(test)]
mod tests;
mod tree;
mod value;

use std::path::Path;

use prost::Message;
use surefoot_model::InputError;

use crate::policy::Scorer;
pub use classes::{Classes, onnx_classes};

/// Whether a file is an ONNX model: by its extension, or because it begins with the field that these files begin with
/// and no text does. A text in a file with that extension is not taken for a model.
pub(super) fn recognise(path: &Path, contents: &[u8]) -> bool {
    const FIRST_FIELD: u8 = 0x08;
    let extension = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"));
    let text = contents.trim_ascii_start();
    let text = text.starts_with(b"{") || text.starts_with(b"//");
    (extension && !text) || contents.first() == Some(&FIRST_FIELD)
}

/// Reads the scorer whose interface has these numbers of inputs and outputs, and what its classes are called; nothing if
/// they have no names.
pub(super) fn read(
    path: &Path,
    contents: &[u8],
    sizes: (usize, usize),
    warnings: &mut Vec<InputError>,
) -> Result<(Scorer, Vec<String>), InputError> {
    let model = message::Model::decode(contents).map_err(|error| {
        InputError::in_file(path, format!("this is no ONNX model: {error}"))
            .with_hint("the file may be truncated")
    })?;
    let scorer = graph::read(path, &model, contents.len(), sizes, warnings)?;
    Ok((scorer, classes::of_model(&model).map_or_else(Vec::new, Classes::names)))
}
