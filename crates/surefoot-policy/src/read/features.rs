//! What inputs were called in training, for policies without an interface file: `XGBoost` and `LightGBM` keep the names
//! of their features.

use std::path::Path;

use surefoot_model::json::Document;
use surefoot_model::{InputError, utf8_text};

use super::{is_json, lightgbm, xgboost};

/// The names in a file that must have some.
pub(super) fn required(file: &Path, contents: Vec<u8>) -> Result<Vec<String>, InputError> {
    // Formats that are no text have no names either.
    let text = utf8_text(file, contents).unwrap_or_default();
    let names = if is_json(&text) {
        let document = Document::parse(file, &text)?;
        xgboost::feature_names(document.root())?
    } else if lightgbm::is_model(&text) {
        lightgbm::feature_names(file, &text)?
    } else {
        Vec::new()
    };
    if names.is_empty() {
        let message = "the file does not say what the inputs are called";
        let hint = "models of XGBoost and LightGBM do if they were trained on named features; list the inputs with `--inputs`";
        return Err(InputError::in_file(file, message).with_hint(hint));
    }
    Ok(names)
}
