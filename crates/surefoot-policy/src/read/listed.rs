//! Policies without an interface file: the caller lists what the inputs and outputs are.
//!
//! The lists become the text of an interface, with all names resolved. It is read like a file, and its hash stands for
//! the lists in everything that is bound to files: another order is another interface.

use std::fmt::Write as _;
use std::path::Path;

use surefoot_model::jani::ConstantValue;
use surefoot_model::{InputError, Origin, Scope, Symbol, TransitionSystem};

use super::suggestion::did_you_mean;

/// Where messages say that the lists stand.
const PLACE: &str = "(command line)";

/// What a policy reads and chooses from, by names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lists {
    /// Variables and constants, as the model's description shows them (`x`, `robot.load`, `grid[3]`). The word `all`
    /// alone stands for all variables in their order, the word `names` for what the scorer's file calls its inputs.
    pub inputs: Vec<String>,
    /// Labels. The word `all` alone stands for all labels in their order.
    pub outputs: Vec<String>,
    /// What stands between the layers of a state dict.
    pub activation: Option<String>,
    /// The layers of a state dict, in their order.
    pub layers: Vec<String>,
}

/// Where the text of an interface stands that no file holds.
pub(super) fn place() -> &'static Path {
    Path::new(PLACE)
}

/// An error about what the caller said; the text of an interface that nobody wrote has no places.
pub(super) fn without_place(error: InputError) -> InputError {
    if error.path == place() {
        InputError { position: None, json_path: String::new(), ..error }
    } else {
        error
    }
}

impl Lists {
    /// Whether the scorer's file must say what the inputs are.
    pub(super) fn asks_for_names(
        &self,
        system: &TransitionSystem,
        constants: &[ConstantValue],
    ) -> Result<bool, InputError> {
        is_word(&self.inputs, "names", names(system, constants))
    }

    /// The text of the interface.
    pub(super) fn interface(
        &self,
        system: &TransitionSystem,
        constants: &[ConstantValue],
    ) -> Result<String, InputError> {
        let mut text = String::from("{\"input\": [");
        if is_word(&self.inputs, "all", names(system, constants))? {
            let all: Vec<String> = system.variables.iter().map(|variable| input(&variable.origin)).collect();
            text += &all.join(", ");
        } else {
            let all: Vec<String> =
                self.inputs.iter().map(|name| named(name, system, constants)).collect::<Result<_, _>>()?;
            text += &all.join(", ");
        }
        let labels: Vec<&str> =
            if is_word(&self.outputs, "all", system.labels.iter().map(|label| label.name.as_str()))? {
                system.labels.iter().map(|label| label.name.as_str()).collect()
            } else {
                self.outputs.iter().map(String::as_str).collect()
            };
        let _ = write!(text, "], \"output\": {}", strings(labels));
        if let Some(name) = &self.activation {
            let _ = write!(text, ", \"activation\": {}", string(name));
        }
        if !self.layers.is_empty() {
            let _ = write!(text, ", \"layers\": {}", strings(self.layers.iter().map(String::as_str)));
        }
        text += "}\n";
        Ok(text)
    }
}

/// All that can be inputs.
fn names<'n>(system: &'n TransitionSystem, constants: &'n [ConstantValue]) -> impl Iterator<Item = &'n str> {
    let variables = system.variables.iter().map(|variable| variable.name.as_str());
    variables.chain(constants.iter().map(|constant| constant.name.as_str()))
}

/// Whether a list is a word with a meaning of its own, which must not be a name of the model too.
fn is_word<'n>(
    list: &[String],
    word: &str,
    mut known: impl Iterator<Item = &'n str>,
) -> Result<bool, InputError> {
    if list != [word] {
        return Ok(false);
    }
    if known.any(|name| name == word) {
        let message =
            format!("the word `{word}` stands for several names, but the model has one that is called so");
        return Err(InputError::in_file(place(), message).with_hint("write an interface file"));
    }
    Ok(true)
}

/// The input of this name.
fn named(name: &str, system: &TransitionSystem, constants: &[ConstantValue]) -> Result<String, InputError> {
    if let Some(id) = system.variable(name) {
        return Ok(input(&system.variables[id.index()].origin));
    }
    let element = name.strip_suffix(']').and_then(|name| name.split_once('['));
    let symbol = match element.and_then(|(array, index)| Some((array, index.parse().ok()?))) {
        Some((array, index)) => Symbol::Element(array.into(), index),
        None => Symbol::Scalar(name.into()),
    };
    let (Symbol::Element(constant, _) | Symbol::Scalar(constant)) = &symbol else {
        unreachable!("made above")
    };
    if constants.iter().any(|known| known.name == *constant) {
        return Ok(input(&Origin { scope: None, symbol }));
    }
    let error = InputError::in_file(place(), format!("the model has no variable or constant {name:?}"));
    Err(match did_you_mean(name, names(system, constants)) {
        Some(hint) => error.with_hint(hint),
        None => error.with_hint("`surefoot info` shows the names of all variables and constants"),
    })
}

/// An input as the interface describes it.
fn input(origin: &Origin) -> String {
    let scope =
        |scope: &Scope| format!("{{\"name\": {}, \"index\": {}}}", string(&scope.automaton), scope.instance);
    let automaton = origin.scope.as_ref().map_or("null".to_string(), scope);
    match (&origin.symbol, &origin.scope) {
        (Symbol::Scalar(name), _) => format!("{{\"name\": {}, \"automaton\": {automaton}}}", string(name)),
        (Symbol::Element(name, index), _) => {
            format!("{{\"name\": {}, \"index\": {index}, \"automaton\": {automaton}}}", string(name))
        }
        (Symbol::Location, Some(scope)) => {
            format!("{{\"name\": {}, \"index\": {}}}", string(&scope.automaton), scope.instance)
        }
        (Symbol::Location, None) => unreachable!("locations belong to an automaton"),
    }
}

fn strings<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(string).collect();
    format!("[{}]", names.join(", "))
}

/// A JSON string.
fn string(text: &str) -> String {
    let mut escaped = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            '\u{0}'..='\u{1f}' => {
                let _ = write!(escaped, "\\u{:04x}", c as u32);
            }
            _ => escaped.push(c),
        }
    }
    escaped + "\""
}
