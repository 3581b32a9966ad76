//! Damaged input: whatever the text, the reader answers with a model or an error, never with a panic.

use crate::files::corpus;
use crate::random::Random;
use crate::*;

/// Pieces that often make a text wrong in an interesting way.
const PIECES: &[&str] = &[
    "0",
    "-1",
    "1e999",
    "99999999999999999999",
    "2147483648",
    "0.5",
    "true",
    "null",
    "\"place\"",
    "\"stock\"",
    "\"op\"",
    "[]",
    "{}",
    "\"aa\"",
    "\"ac\"",
    "\"av\"",
    "\"call\"",
    "\"ite\"",
    "\"¬\"",
    "\"%\"",
    ",",
    ":",
    "[",
    "}",
    "\"",
    "\"file\"",
    "\"robot\"",
    "\"busy\"",
];

/// The tokens of a JSON text.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            c if c.is_alphanumeric() || c == '-' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '.' && c != '-').unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn mutate(text: &str, random: &mut Random) -> String {
    let mut pieces: Vec<&str> = tokens(text);
    for _ in 0..=random.below(3) {
        let at = random.below(pieces.len());
        let other = random.below(pieces.len());
        match random.below(5) {
            0 => {
                pieces.remove(at);
            }
            1 => pieces.insert(at, pieces[other]),
            2 => pieces[at] = PIECES[random.below(PIECES.len())],
            3 => pieces.swap(at, other),
            _ => pieces[at] = pieces[other],
        }
        if pieces.is_empty() {
            break;
        }
    }
    pieces.concat()
}

fn damage(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = random.below(bytes.len());
    match random.below(4) {
        0 => {
            bytes.remove(at);
        }
        1 => bytes.insert(at, bytes[at]),
        2 => bytes[at] = random.next() as u8,
        _ => bytes.truncate(at),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn damaged_files_never_panic() {
    let read = |name: &str| std::fs::read_to_string(corpus().join(name)).expect("part of the corpus");
    let names = [
        "warehouse.jani",
        "warehouse.property.jani",
        "conditions/start.jani",
        "conditions/listed.jani",
        "conditions/reach.jani",
    ];
    let texts = names.map(read);
    let options = ReadOptions { constants: vec![("slip".into(), "0.25".into())], ..ReadOptions::default() };
    let mut random = Random(20_240_229);
    let (mut good, mut bad) = (0, 0);
    for round in 0..6000 {
        let mut texts = texts.clone();
        let victim = [0, 0, 0, 1, 3][random.below(5)];
        texts[victim] = if round % 3 == 0 {
            damage(&texts[victim], &mut random)
        } else {
            mutate(&texts[victim], &mut random)
        };
        let files: Vec<(&str, &str)> = names.iter().copied().zip(texts.iter().map(String::as_str)).collect();
        match read_text(&files, "warehouse.jani", Some("warehouse.property.jani"), &options) {
            Ok(loaded) => {
                good += 1;
                check(&loaded);
            }
            Err(error) => {
                bad += 1;
                assert!(!error.message.is_empty());
            }
        }
    }
    assert!(good > 300 && bad > 1000, "{good} good, {bad} bad");
}

/// What holds of every model that was read.
fn check(loaded: &Loaded) {
    let system = &loaded.system;
    let pool = &system.exprs;
    let mut conditions: Vec<ExprId> = system.initial.into_iter().collect();
    let mut others = Vec::new();
    for command in &system.commands {
        assert!(!command.outcomes.is_empty());
        conditions.push(command.guard);
        for outcome in &command.outcomes {
            others.push(outcome.probability);
            conditions.extend(outcome.requirements.iter().map(|requirement| requirement.condition));
            assert!(outcome.assignments.is_sorted_by(|a, b| a.variable < b.variable));
            for assignment in &outcome.assignments {
                assert_eq!(pool.ty(assignment.value), system.variables[assignment.variable.index()].ty.ty());
                others.push(assignment.value);
            }
        }
    }
    for property in loaded.properties.iter().filter_map(|property| property.question.as_ref().ok()) {
        conditions.extend([property.unsafe_states].into_iter().chain(property.hold).chain(property.goal));
        conditions.extend(property.predicates.iter().copied().chain(property.start.condition));
        for state in &property.start.listed {
            assert_eq!(state.len(), system.variables.len());
        }
    }
    assert!(conditions.iter().all(|&id| pool.ty(id) == surefoot_model::Type::Bool));
    let variables = pool.variables_of(conditions.into_iter().chain(others));
    assert!(variables.iter().all(|variable| variable.index() < system.variables.len()));
    let names: std::collections::HashSet<&str> = system.variables.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names.len(), system.variables.len(), "names are unique");
}
