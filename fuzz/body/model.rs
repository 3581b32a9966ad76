//! What the fuzz targets `jani` and `property` do with a text. The test `corpus` of `surefoot-model` does it too.

use surefoot_model::jani::{Loaded, ReadOptions, read_text};
use surefoot_model::{InputError, Program, TransitionSystem, Type};

/// A model for properties: two locations, a Boolean, an integer, an array, and an action to choose.
const MODEL: &str = include_str!("../corpus/jani/arrays.jani");

/// Reads `text` as a model; whether it is one.
pub fn jani(text: &str) -> bool {
    check(read_text(&[("model.jani", text)], "model.jani", None, &ReadOptions::default())).is_some()
}

/// Reads `text` as a file of properties, and as the start condition that another file refers to; whether one of the two
/// gives a property that can be used.
pub fn property(text: &str) -> bool {
    let reference = r#"{"properties": [{"name": "p", "expression":
        {"op": "PA", "start": {"file": "text.jani"}, "reach": {"file": "text.jani"}}}]}"#;
    let files = [("model.jani", MODEL), ("text.jani", text), ("reference.jani", reference)];
    let mut usable = false;
    for file in ["text.jani", "reference.jani"] {
        let loaded = check(read_text(&files, "model.jani", Some(file), &ReadOptions::default()));
        usable |= loaded.is_some_and(|loaded| loaded.properties.iter().any(|p| p.question.is_ok()));
    }
    usable
}

/// What is read must be sound in itself, and what is refused must say why.
fn check(result: Result<Loaded, InputError>) -> Option<Loaded> {
    match result {
        Err(error) => {
            assert!(!error.message.is_empty() && !error.to_string().is_empty());
            None
        }
        Ok(loaded) => {
            for property in &loaded.properties {
                if let Err(error) = &property.question {
                    assert!(!error.to_string().is_empty());
                }
            }
            assert!(loaded.warnings.iter().all(|warning| !warning.to_string().is_empty()));
            check_system(&loaded.system);
            check_properties(&loaded);
            Some(loaded)
        }
    }
}

/// Everything is of the right type, refers to what exists, and can be evaluated.
fn check_system(system: &TransitionSystem) {
    let first: Option<Vec<i32>> =
        system.variables.iter().map(|variable| variable.ty.bounds().map(|(lower, _)| lower)).collect();
    for command in &system.commands {
        assert_eq!(system.exprs.ty(command.guard), Type::Bool);
        assert!(!command.outcomes.is_empty());
        assert!(command.label.is_none_or(|label| label.index() < system.labels.len()));
        let mut roots = vec![command.guard];
        for outcome in &command.outcomes {
            assert!(system.exprs.ty(outcome.probability).is_numeric());
            roots.push(outcome.probability);
            for assignment in &outcome.assignments {
                let variable = &system.variables[assignment.variable.index()];
                assert_eq!(system.exprs.ty(assignment.value), variable.ty.ty(), "{}", variable.name);
                roots.push(assignment.value);
            }
            for requirement in &outcome.requirements {
                assert_eq!(system.exprs.ty(requirement.condition), Type::Bool);
                roots.push(requirement.condition);
            }
        }
        let variables = system.exprs.variables_of(roots.iter().copied());
        assert!(variables.iter().all(|variable| variable.index() < system.variables.len()));
        if let Some(state) = &first {
            Program::new(&system.exprs, &roots).run_state(state, &mut Vec::new());
        }
    }
}

fn check_properties(loaded: &Loaded) {
    let system = &loaded.system;
    for property in loaded.properties.iter().filter_map(|property| property.question.as_ref().ok()) {
        let start = &property.start;
        let conditions = [Some(property.unsafe_states), property.hold, property.goal, start.condition];
        let conditions = conditions.into_iter().flatten().chain(property.predicates.iter().copied());
        for condition in conditions.chain(system.initial) {
            assert_eq!(system.exprs.ty(condition), Type::Bool);
            let variables = system.exprs.variables_of([condition]);
            assert!(variables.iter().all(|variable| variable.index() < system.variables.len()));
        }
        for state in &start.listed {
            assert_eq!(state.len(), system.variables.len());
            for (variable, value) in system.variables.iter().zip(state) {
                let (lower, upper) = variable.ty.bounds().expect("states are listed over discrete variables");
                assert!((lower..=upper).contains(value), "{}", variable.name);
            }
        }
    }
}
