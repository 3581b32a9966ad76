//! The policy interface (`.jani2nnet`): which variables a scorer reads and which labels it chooses from.

use std::path::{Path, PathBuf};

use surefoot_model::jani::ConstantValue;
use surefoot_model::json::Json;
use surefoot_model::{
    InputError, LabelId, Origin, Position, Scope, Symbol, TransitionSystem, Value, VariableType,
};

use super::lightgbm;
use super::request::{Request, read_activation, read_layers};
use super::suggestion::did_you_mean;
use crate::policy::{Policy, PolicyInput, Scorer};

const EXAMPLE: &str = "a policy interface is a JSON file such as {\"file\": \"policy.nnet\", \
     \"input\": [{\"name\": \"x\", \"automaton\": null}], \"output\": [\"left\", \"right\"]}: \
     it says which variables the policy reads and which labels its outputs are. Instead, `--inputs` and `--outputs` can \
     list them";

/// An interface whose names are resolved in a transition system.
pub(super) struct Interface<'d> {
    root: Json<'d>,
    input: Json<'d>,
    output: Json<'d>,
    inputs: Vec<PolicyInput>,
    outputs: Vec<LabelId>,
    filter: Option<bool>,
    hidden: Option<(Json<'d>, Vec<usize>)>,
    request: Request,
}

/// Refuses a file that holds a scorer where the interface was expected.
pub(super) fn refuse_scorer(path: &Path, text: &str) -> Result<(), InputError> {
    let extension = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("nnet"));
    let comment = text.trim_start().starts_with("//");
    let kind = if lightgbm::is_model(text) {
        "a tree ensemble"
    } else if !super::is_json(text) && (extension || comment) {
        "a network"
    } else {
        return Ok(());
    };
    let start = Some(Position { line: 1, column: 1 });
    Err(InputError { position: start, ..refused_scorer(path, kind) })
}

/// What to say about a scorer of some kind where the interface was expected.
pub(super) fn refused_scorer(path: &Path, kind: &str) -> InputError {
    let message = format!("this is {kind}, but a policy interface was expected");
    InputError::in_file(path, message).with_hint(EXAMPLE)
}

impl<'d> Interface<'d> {
    pub(super) fn read(
        root: Json<'d>,
        system: &TransitionSystem,
        constants: &[ConstantValue],
        warnings: &mut Vec<InputError>,
    ) -> Result<Self, InputError> {
        root.object().map_err(|error| error.with_hint(EXAMPLE))?;
        let is_ensemble = ["trees", "learner"].iter().any(|&key| root.get(key).is_some());
        if is_ensemble && root.get("input").is_none() {
            let message = "this is a tree ensemble, but a policy interface was expected";
            return Err(root.error(message).with_hint(EXAMPLE));
        }
        root.warn_unknown_keys(
            &[
                "file",
                "torch-file",
                "filter",
                "input",
                "elements",
                "activation",
                "layers",
                "output",
                "metadata",
                "comment",
            ],
            warnings,
        );
        if let Some(file) = root.get("torch-file") {
            file.str()?;
        }
        let filter = root.get("filter").map(Json::bool).transpose()?;
        let input = root.require("input").map_err(|error| error.with_hint(EXAMPLE))?;
        let output = root.require("output").map_err(|error| error.with_hint(EXAMPLE))?;
        let mut inputs = Vec::new();
        for item in input.array()? {
            inputs.push(read_input(item, system, constants, warnings)?);
        }
        let outputs = read_outputs(output, system)?;
        let hidden = root.get("elements").map(read_sizes).transpose()?;
        let request = Request {
            sizes: (inputs.len(), outputs.len()),
            activation: root.get("activation").map(read_activation).transpose()?,
            layers: root.get("layers").map(read_layers).transpose()?,
        };
        Ok(Interface { root, input, output, inputs, outputs, filter, hidden, request })
    }

    /// The file that holds the scorer.
    pub(super) fn scorer_file(&self) -> Result<PathBuf, InputError> {
        let file = self.root.require("file").map_err(|error| {
            error.with_hint("name the file of the network or tree ensemble, relative to the interface file")
        })?;
        let name = file.str()?;
        if name.is_empty() {
            return Err(file.error("the name of the file is empty"));
        }
        Ok(self.root.file().parent().unwrap_or(Path::new("")).join(name))
    }

    /// What the scorer must be.
    pub(super) fn request(&self) -> &Request {
        &self.request
    }

    /// Refuses to say about a scorer what its file says itself.
    pub(super) fn refuse_state_dict_keys(&self) -> Result<(), InputError> {
        let key = ["activation", "layers"].iter().find_map(|key| self.root.get(key).zip(Some(key)));
        key.map_or(Ok(()), |(json, key)| {
            let message = format!("{key:?} is for state dicts, which do not say it themselves");
            Err(json.error(message).with_hint("leave it out for this format"))
        })
    }

    /// Refuses inputs with values that half precision rounds.
    pub(super) fn refuse_rounded_inputs(&self, system: &TransitionSystem) -> Result<(), InputError> {
        // The largest number up to which it has all integers: it has 11 binary digits.
        const END: i32 = 1 << 11;
        for (number, &input) in self.inputs.iter().enumerate() {
            let Some((name, bounds)) = domain(input, system) else { continue };
            let (lower, upper) = bounds;
            if lower < -END || upper > END {
                let message = format!(
                    "input {number}, {name:?}, has values from {lower} to {upper}, but the policy was trained on \
                     observations of the type float16, which rounds integers beyond {END}"
                );
                let hint = "train on observations of the type float32, or bound the variable";
                return Err(self.input.error(message).with_hint(hint));
            }
        }
        Ok(())
    }

    /// Compares what the policy has seen in training with the domains of its inputs.
    pub(super) fn compare_observations(
        &self,
        observed: &[(f64, f64)],
        system: &TransitionSystem,
        warnings: &mut Vec<InputError>,
    ) {
        for (number, (&input, &(low, high))) in self.inputs.iter().zip(observed).enumerate() {
            let Some((name, (lower, upper))) = domain(input, system) else { continue };
            if f64::from(lower) < low || f64::from(upper) > high {
                let message = format!(
                    "input {number}, {name:?}, has values from {lower} to {upper}, but the policy was trained on \
                     observations from {low} to {high}"
                );
                let hint = "check that the inputs are in the order of the observations";
                warnings.push(self.input.error(message).with_hint(hint));
            }
        }
    }

    /// Refuses another order of inputs than that of the features in training, as far as they have names of the model.
    pub(super) fn compare_features(
        &self,
        features: &[String],
        file: &Path,
        system: &TransitionSystem,
        constants: &[ConstantValue],
    ) -> Result<(), InputError> {
        for (number, (name, input)) in features.iter().zip(&self.inputs).enumerate() {
            let is_constant = || constants.iter().any(|constant| constant.name == *name);
            let agrees = match (system.variable(name), input) {
                (Some(id), input) => *input == PolicyInput::Variable(id),
                (None, PolicyInput::Variable(_)) => !is_constant(),
                (None, PolicyInput::Constant(_)) => true,
            };
            if !agrees {
                let message =
                    format!("input {number} is another one than the feature {name:?} of {}", file.display());
                let hint = format!("list the inputs in the order of the features: {}", features.join(", "));
                return Err(self.input.error(message).with_hint(hint));
            }
        }
        Ok(())
    }

    /// Refuses another order of outputs than that of the classes in training, as far as they are labels of the model.
    pub(super) fn compare_classes(
        &self,
        classes: &[String],
        file: &Path,
        system: &TransitionSystem,
    ) -> Result<(), InputError> {
        for (number, (name, &output)) in classes.iter().zip(&self.outputs).enumerate() {
            if system.label(name).is_some_and(|label| label != output) {
                let message =
                    format!("output {number} is another one than the class {name:?} of {}", file.display());
                let hint = format!("list the outputs in the order of the classes: {}", classes.join(", "));
                return Err(self.output.error(message).with_hint(hint));
            }
        }
        Ok(())
    }

    /// The policy with this scorer, which was read from `file`, if their sizes agree. Whether it chooses among applicable
    /// labels is said by the interface, else by its training.
    pub(super) fn attach(
        self,
        scorer: Scorer,
        is_masked: bool,
        file: &Path,
        warnings: &mut Vec<InputError>,
    ) -> Result<Policy, InputError> {
        let shape = scorer.shape();
        let compare = |list: Json<'_>, what: &str, here: usize, there: usize| {
            if here == there {
                return Ok(());
            }
            let message =
                format!("the interface lists {here} {what}, but {} has {there} ({shape})", file.display());
            Err(list.error(message))
        };
        compare(self.input, "inputs", self.inputs.len(), scorer.inputs())?;
        compare(self.output, "outputs", self.outputs.len(), scorer.outputs())?;
        if let Some((elements, sizes)) = &self.hidden {
            match &scorer {
                Scorer::Network(network) => {
                    let hidden = network.hidden_sizes();
                    let sizes_differ = || {
                        let message = format!(
                            "the interface gives hidden layers of sizes {sizes:?}, but {} has {hidden:?}",
                            file.display()
                        );
                        elements.error(message)
                    };
                    if network.chain().is_some() {
                        compare(*elements, "hidden layers", sizes.len(), hidden.len())?;
                        if *sizes != hidden {
                            return Err(sizes_differ());
                        }
                    } else if *sizes != hidden {
                        // What a layer is in a graph is open to interpretation: sums of nodes are layers here.
                        warnings.push(sizes_differ());
                    }
                }
                Scorer::Ensemble(_) => {
                    warnings.push(elements.error("a tree ensemble has no layers: \"elements\" is ignored"));
                }
            }
        }
        let root = self.root;
        Policy::new(self.inputs, self.outputs, self.filter.unwrap_or(is_masked), scorer)
            .map_err(|error| root.error(error.to_string()))
    }
}

/// What an input is called, and its smallest and largest value; `None` if it has no bounds.
fn domain(input: PolicyInput, system: &TransitionSystem) -> Option<(&str, (i32, i32))> {
    match input {
        PolicyInput::Constant(value) => Some(("a constant", (value, value))),
        PolicyInput::Variable(id) => {
            let variable = &system.variables[id.index()];
            Some((variable.name.as_str(), variable.ty.bounds()?))
        }
    }
}

fn read_sizes(elements: Json<'_>) -> Result<(Json<'_>, Vec<usize>), InputError> {
    let size = |item: Json<'_>| {
        usize::try_from(item.i64()?)
            .ok()
            .filter(|&size| size > 0)
            .ok_or_else(|| item.error("a layer has at least one neuron"))
    };
    Ok((elements, elements.array()?.map(size).collect::<Result<_, _>>()?))
}

fn read_outputs(output: Json<'_>, system: &TransitionSystem) -> Result<Vec<LabelId>, InputError> {
    let mut outputs: Vec<LabelId> = Vec::new();
    for item in output.array()? {
        let name = item.str()?;
        let Some(label) = system.label(name) else {
            let error = item.error(format!("the model has no label {name:?}"));
            let known = system.labels.iter().map(|label| label.name.as_str());
            return Err(hinted(error, did_you_mean(name, known)));
        };
        if let Some(first) = outputs.iter().position(|&other| other == label) {
            return Err(item
                .error(format!("the label {name:?} is listed twice"))
                .with_hint(format!("it is already output {first}; each output needs a label of its own")));
        }
        outputs.push(label);
    }
    if outputs.is_empty() {
        return Err(output.error("a policy needs at least one output"));
    }
    Ok(outputs)
}

/// One input: `{"name": v, "automaton": null | {"name", "index"}, "index"?: k}` is a variable or an element of an
/// array, `{"name": a, "index": i}` without `automaton` is the location of an automaton instance.
fn read_input(
    item: Json<'_>,
    system: &TransitionSystem,
    constants: &[ConstantValue],
    warnings: &mut Vec<InputError>,
) -> Result<PolicyInput, InputError> {
    let name = item.require("name")?;
    item.warn_unknown_keys(&["name", "automaton", "index", "metadata", "comment"], warnings);
    let index = item.get("index").map(read_index).transpose()?;
    let origin = match item.get("automaton") {
        None => {
            let instance = index.ok_or_else(|| {
                item.error("the key \"automaton\" or \"index\" is missing here").with_hint(
                    "write \"automaton\": null for a global variable, or \"index\" for the location of an automaton",
                )
            })?;
            let scope = Scope { automaton: name.str()?.to_string(), instance };
            Origin { scope: Some(scope), symbol: Symbol::Location }
        }
        Some(automaton) => {
            let variable = name.str()?.to_string();
            let symbol = match index {
                Some(index) => Symbol::Element(variable, index),
                None => Symbol::Scalar(variable),
            };
            Origin { scope: read_scope(automaton, warnings)?, symbol }
        }
    };
    let Some(id) = system.variable_at(&origin) else {
        return match constant(item, &origin, constants)? {
            Some(value) => Ok(PolicyInput::Constant(value)),
            None => Err(unknown_input(item, name, &origin, system)),
        };
    };
    let variable = &system.variables[id.index()];
    if let VariableType::Real { .. } = variable.ty {
        return Err(item
            .error(format!(
                "the variable {:?} is real-valued, policies read integers and Booleans",
                variable.name
            ))
            .with_hint("make the variable a bounded integer, or remove it from the inputs"));
    }
    Ok(PolicyInput::Variable(id))
}

/// The value of a constant of the model, if there is one of this name.
fn constant(item: Json<'_>, origin: &Origin, constants: &[ConstantValue]) -> Result<Option<i32>, InputError> {
    let (name, index) = match (&origin.scope, &origin.symbol) {
        (None, Symbol::Scalar(name)) => (name, None),
        (None, Symbol::Element(name, index)) => (name, Some(*index as usize)),
        _ => return Ok(None),
    };
    let Some(constant) = constants.iter().find(|constant| constant.name == *name) else { return Ok(None) };
    if index.is_some() == constant.dimensions.is_empty() {
        let message =
            if index.is_some() { "is no array" } else { "is an array, a policy reads single values" };
        return Err(item.error(format!("the constant {name:?} {message}")));
    }
    let value = constant.values.get(index.unwrap_or(0)).copied();
    let value = value.ok_or_else(|| item.error(format!("the constant {name:?} has no such element")))?;
    let integer = match value {
        Value::Bool(value) => Some(i32::from(value)),
        Value::Int(value) => i32::try_from(value).ok(),
        Value::Real(_) => None,
    };
    let message =
        || format!("the constant {name:?} is {value}, policies read integers of 32 bits and Booleans");
    integer.map(Some).ok_or_else(|| item.error(message()))
}

fn read_index(index: Json<'_>) -> Result<u32, InputError> {
    u32::try_from(index.i64()?).map_err(|_| index.error("an index is a number from 0"))
}

fn read_scope(automaton: Json<'_>, warnings: &mut Vec<InputError>) -> Result<Option<Scope>, InputError> {
    if automaton.is_null() {
        return Ok(None);
    }
    let name = automaton.require("name")?.str()?.to_string();
    let instance = read_index(automaton.require("index")?)?;
    automaton.warn_unknown_keys(&["name", "index", "metadata", "comment"], warnings);
    Ok(Some(Scope { automaton: name, instance }))
}

/// The error for an input that is nothing in the model, with the likeliest reason.
fn unknown_input(item: Json<'_>, name: Json<'_>, origin: &Origin, system: &TransitionSystem) -> InputError {
    let origins = || system.variables.iter().map(|variable| &variable.origin);
    let scopes = || origins().filter_map(|origin| origin.scope.as_ref());
    if let Some(scope) = &origin.scope {
        let Scope { automaton, instance } = scope;
        if !scopes().any(|known| known.automaton == *automaton) {
            let error =
                item.error(format!("the model has no automaton {automaton:?} with variables or locations"));
            let known = scopes().map(|known| known.automaton.as_str());
            return hinted(error, did_you_mean(automaton, known));
        }
        if !scopes().any(|known| known == scope) {
            let instances: Vec<_> = scopes()
                .filter(|known| known.automaton == *automaton)
                .map(|known| known.instance.to_string())
                .fold(Vec::new(), |mut all, instance| {
                    if !all.contains(&instance) {
                        all.push(instance);
                    }
                    all
                });
            return item
                .error(format!(
                    "element {instance} of the composition is no instance of the automaton {automaton:?}"
                ))
                .with_hint(format!("its instances have index {}", instances.join(", ")));
        }
    }
    let place = match &origin.scope {
        None => String::new(),
        Some(scope) => format!(" in instance {} of {:?}", scope.instance, scope.automaton),
    };
    let siblings = || origins().filter(|other| other.scope == origin.scope);
    match &origin.symbol {
        Symbol::Location => item
            .error(format!("the location{place} is not part of the state"))
            .with_hint("an automaton with a single location has no location variable"),
        Symbol::Scalar(wanted) => {
            if siblings().any(|other| matches!(&other.symbol, Symbol::Element(array, _) if array == wanted)) {
                return item
                    .error(format!("{wanted:?}{place} is an array, a policy reads single values"))
                    .with_hint("add \"index\": 0 for its first element");
            }
            let known = siblings().filter_map(|other| match &other.symbol {
                Symbol::Scalar(name) => Some(name.as_str()),
                _ => None,
            });
            let hint = owner_hint(wanted, origin, system).or_else(|| did_you_mean(wanted, known));
            hinted(name.error(format!("the model has no variable {wanted:?}{place}")), hint)
        }
        Symbol::Element(wanted, index) => {
            let length = siblings()
                .filter(|other| matches!(&other.symbol, Symbol::Element(array, _) if array == wanted))
                .count();
            if length > 0 {
                return item
                    .error(format!("element {index} of the array {wanted:?}{place} does not exist"))
                    .with_hint(format!("it has the elements 0 to {}", length - 1));
            }
            if siblings().any(|other| other.symbol == Symbol::Scalar(wanted.clone())) {
                return item.error(format!("{wanted:?}{place} is no array")).with_hint("remove \"index\"");
            }
            let known = siblings().filter_map(|other| match &other.symbol {
                Symbol::Element(name, _) => Some(name.as_str()),
                _ => None,
            });
            let hint = did_you_mean(wanted, known);
            hinted(name.error(format!("the model has no array {wanted:?}{place}")), hint)
        }
    }
}

/// A hint for a variable that exists in another scope.
fn owner_hint(wanted: &str, origin: &Origin, system: &TransitionSystem) -> Option<String> {
    let symbol = Symbol::Scalar(wanted.to_string());
    let elsewhere = system.variables.iter().map(|variable| &variable.origin);
    let owner = elsewhere.filter(|other| other.scope != origin.scope).find(|other| other.symbol == symbol)?;
    Some(match &owner.scope {
        None => format!("{wanted:?} is a global variable: write \"automaton\": null"),
        Some(Scope { automaton, instance }) => format!(
            "{wanted:?} is local: write \"automaton\": {{\"name\": {automaton:?}, \"index\": {instance}}}"
        ),
    })
}

fn hinted(error: InputError, hint: Option<String>) -> InputError {
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}
