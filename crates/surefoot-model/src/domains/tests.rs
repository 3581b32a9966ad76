//! Access to generated files for the tests of the generators.

use serde_json::Value;

use super::Generated;

/// The parsed model file.
pub(super) fn model(generated: &Generated) -> Value {
    serde_json::from_str(&generated.files[0].contents).expect("the model is JSON")
}

/// The parsed edges of the only automaton.
pub(super) fn edges(generated: &Generated) -> Vec<Value> {
    model(generated)["automata"][0]["edges"].as_array().expect("edges are a list").clone()
}
