//! Checks that hold for the output of every generator, whatever the options.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

use super::line::Direction;
use super::racetrack::Track;
use super::{Generated, beluga, blocksworld, line, npuzzle, racetrack, transport};

/// The parsed model file.
pub(super) fn model(generated: &Generated) -> Value {
    serde_json::from_str(&generated.files[0].contents).expect("the model is JSON")
}

/// The parsed edges of the only automaton.
pub(super) fn edges(generated: &Generated) -> Vec<Value> {
    model(generated)["automata"][0]["edges"].as_array().expect("edges are a list").clone()
}

/// Instances of all domains with all options.
static INSTANCES: LazyLock<Vec<Generated>> = LazyLock::new(instances);

fn instances() -> Vec<Generated> {
    let mut instances = Vec::new();
    for flag in [false, true] {
        let parameters = blocksworld::Parameters {
            cost_terminal: flag,
            encoding: if flag { blocksworld::Encoding::Direct } else { blocksworld::Encoding::Legacy },
            probabilistic: flag,
            ..blocksworld::Parameters::default()
        };
        instances.push(blocksworld::generate(&parameters));
        let parameters = npuzzle::Parameters {
            cost_terminal: flag,
            row_check: flag,
            probabilistic: flag,
            ..npuzzle::Parameters::default()
        };
        instances.push(npuzzle::generate(&parameters));
        let parameters = transport::Parameters {
            probabilistic: flag,
            tank_capacity: flag.then_some(9),
            ..transport::Parameters::default()
        };
        instances.push(transport::generate(&parameters));
        let probability = if flag { 0.25 } else { 0.0 };
        for direction in [Direction::OneWay, Direction::TwoWay] {
            let parameters = line::Parameters {
                direction,
                icy_locations: vec![1, 9],
                icy_probability: probability,
                dropping_probability: probability,
                slipping_probability: probability,
                parking: flag,
                tank_capacity: flag.then_some(9),
                ..line::Parameters::default()
            };
            instances.push(line::generate(&parameters));
        }
        let hazard = if flag { beluga::Hazard::LastRackFree(9) } else { beluga::Hazard::Swaps };
        let line_probability = if flag { 1.0 } else { 0.5 };
        let parameters = beluga::Parameters { line_probability, hazard, ..beluga::Parameters::default() };
        instances.push(beluga::generate(&parameters));
        for name in Track::NAMES {
            let parameters = racetrack::Parameters {
                track: Track::named(name).expect("built in"),
                failing_probability: probability,
                start_anywhere: flag,
                ..racetrack::Parameters::default()
            };
            instances.push(racetrack::generate(&parameters));
        }
    }
    instances.into_iter().map(|instance| instance.expect("valid parameters")).collect()
}

/// Adds all names and operators that occur in an expression.
fn collect(expression: &Value, names: &mut BTreeSet<String>, operators: &mut BTreeSet<String>) {
    match expression {
        Value::String(name) => {
            names.insert(name.clone());
        }
        Value::Object(members) => {
            operators.insert(members["op"].as_str().expect("an operator is a string").to_owned());
            for (key, member) in members.iter().filter(|(key, _)| *key != "op") {
                assert!(["left", "right", "exp"].contains(&key.as_str()), "unexpected operand `{key}`");
                collect(member, names, operators);
            }
        }
        Value::Number(_) | Value::Bool(_) => {}
        _ => panic!("no expression: {expression}"),
    }
}

/// The value of a probability under the constants of its model.
fn evaluate(expression: &Value, model: &Value) -> f64 {
    match expression {
        Value::Number(number) => number.as_f64().expect("a finite number"),
        Value::String(name) => {
            let constants = model["constants"].as_array().expect("constants are a list");
            let constant = constants.iter().find(|constant| constant["name"] == name.as_str());
            constant.expect("the constant is declared")["value"].as_f64().expect("a number")
        }
        _ => {
            let [left, right] = ["left", "right"].map(|side| evaluate(&expression[side], model));
            match expression["op"].as_str() {
                Some("-") => left - right,
                Some("*") => left * right,
                operator => panic!("unexpected operator {operator:?}"),
            }
        }
    }
}

fn declared(model: &Value, lists: &[&str]) -> BTreeSet<String> {
    let elements = lists.iter().flat_map(|list| model[*list].as_array().expect("a list"));
    let names: Vec<_> =
        elements.map(|element| element["name"].as_str().expect("a name").to_owned()).collect();
    let set: BTreeSet<_> = names.iter().cloned().collect();
    assert_eq!(set.len(), names.len(), "a name is declared twice");
    set
}

#[test]
fn equal_parameters_give_equal_bytes() {
    assert_eq!(*INSTANCES, instances());
}

#[test]
fn files_are_named_after_the_model() {
    for generated in INSTANCES.iter() {
        let model = model(generated);
        let name = model["name"].as_str().expect("a name");
        let files: Vec<_> = generated.files.iter().map(|file| file.name.clone()).collect();
        assert_eq!(files, [format!("{name}.jani"), format!("{name}.property.jani")]);
    }
}

#[test]
fn everything_mentioned_is_declared() {
    for generated in INSTANCES.iter() {
        let model = model(generated);
        let variables = declared(&model, &["variables"]);
        let names = declared(&model, &["constants", "variables"]);
        let labels = declared(&model, &["actions"]);
        assert_eq!(labels.len(), generated.labels.len());
        assert_eq!(variables.len(), generated.variables.len());

        let (mut used, mut operators, mut used_labels) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for edge in edges(generated) {
            used_labels.insert(edge["action"].as_str().expect("a label").to_owned());
            collect(&edge["guard"]["exp"], &mut used, &mut operators);
            for destination in edge["destinations"].as_array().expect("a list") {
                let mut written = BTreeSet::new();
                for assignment in destination["assignments"].as_array().expect("a list") {
                    let reference = assignment["ref"].as_str().expect("a name").to_owned();
                    assert!(variables.contains(&reference), "`{reference}` is not declared");
                    assert!(written.insert(reference), "a variable is written twice: {edge}");
                    collect(&assignment["value"], &mut used, &mut operators);
                }
            }
        }
        assert_eq!(used_labels, labels, "a label has no edge, or the reverse");

        let property: Value =
            serde_json::from_str(&generated.files[1].contents).expect("the property is JSON");
        let expression = &property["properties"][0]["expression"];
        for condition in [
            &expression["start"]["exp"]["expression"],
            &expression["reach"]["exp"],
            &expression["objective"]["goal"]["exp"],
        ] {
            collect(condition, &mut used, &mut operators);
        }
        assert!(used.is_subset(&names), "{:?}", used.difference(&names));
        let known = ["∧", "∨", "¬", "⇒", "=", "≠", "≤", "+", "-"].map(str::to_owned);
        assert!(operators.is_subset(&known.into_iter().collect()), "{operators:?}");
    }
}

#[test]
fn probabilities_of_an_edge_sum_to_one() {
    for generated in INSTANCES.iter() {
        let model = model(generated);
        let mut choices = 0;
        for edge in edges(generated) {
            let destinations = edge["destinations"].as_array().expect("a list");
            choices += usize::from(destinations.len() > 1);
            let probabilities: Vec<f64> = destinations
                .iter()
                .map(|destination| match &destination["probability"]["exp"] {
                    Value::Null => 1.0,
                    expression => evaluate(expression, &model),
                })
                .collect();
            assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{edge}");
            assert!(probabilities.iter().all(|&probability| probability > 0.0), "{edge}");
        }
        assert_eq!(model["type"], if choices > 0 { "mdp" } else { "lts" });
    }
}

#[test]
fn initial_values_lie_within_the_bounds() {
    for generated in INSTANCES.iter() {
        let model = model(generated);
        let variables = model["variables"].as_array().expect("a list");
        for (declaration, variable) in variables.iter().zip(&generated.variables) {
            assert_eq!(declaration["name"], variable.name.as_str());
            let initial = declaration["initial-value"].as_i64().expect("an integer");
            assert!((variable.lower..=variable.upper).contains(&initial), "{declaration}");
        }
    }
}

#[test]
fn long_parts_are_broken_into_lines() {
    for generated in INSTANCES.iter() {
        let longest = generated.files[0].contents.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(115), "{longest:?}");
    }
}
