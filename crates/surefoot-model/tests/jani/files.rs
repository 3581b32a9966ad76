//! Files on disk: the corpus, references between files, and what can be wrong with files.

use std::path::{Path, PathBuf};

use surefoot_model::jani::{ModelType, read};

use crate::*;

pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jani/corpus")
}

fn options() -> ReadOptions {
    ReadOptions { constants: vec![("slip".into(), "0.25".into())], ..ReadOptions::default() }
}

fn warehouse() -> Loaded {
    let properties = corpus().join("warehouse.property.jani");
    read(&corpus().join("warehouse.jani"), Some(&properties), &options())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_model_with_a_property_file_is_read() {
    let loaded = warehouse();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert_eq!(loaded.model_type, ModelType::Mdp);
    let names: Vec<&str> = loaded.properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(names, ["overload", "eventually", "listed starts", "condition"]);
    let files: Vec<&Path> = loaded
        .sources
        .files
        .iter()
        .map(|file| file.path.strip_prefix(corpus()).expect("in the corpus"))
        .collect();
    let expected = [
        "warehouse.jani",
        "warehouse.property.jani",
        "conditions/reach.jani",
        "conditions/start.jani",
        "conditions/listed.jani",
    ];
    assert_eq!(files, expected.map(Path::new));
    assert!(loaded.sources.files.iter().all(|file| file.sha256.len() == 64));
}

#[test]
fn the_model_moves_as_written() {
    let loaded = warehouse();
    assert_eq!(
        steps(&loaded, "belt_1.items=2 belt_2.items=2"),
        [
            "right 0.75: robot.location=1 place=1",
            "right 0.25:",
            "τ 1: ready=1 belt_1.items=1",
            "τ 1: ready=1 belt_2.items=1",
        ]
    );
    assert_eq!(
        steps(&loaded, "place=1 ready=1 stock[1]=2"),
        ["left 1: robot.location=1 place=0", "load 1: stock[1]=3 ready=0"]
    );
    assert_eq!(steps(&loaded, "robot.location=1 ready=1"), ["τ 1: robot.location=0"]);
}

#[test]
fn properties_refer_to_files_relative_to_the_top_or_to_their_own_folder() {
    let loaded = warehouse();
    let listed = property(&loaded, "listed starts");
    let starts = [
        state(&loaded, "place=1 stock[0]=3 belt_1.items=2 belt_2.items=2"),
        state(&loaded, "robot.location=1 ready=1 stock[0]=1 stock[1]=2 belt_1.items=2"),
    ];
    assert_eq!(listed.start.listed, starts);
    assert_eq!(listed.start.condition, loaded.system.initial);
    assert_eq!(listed.policy_file.as_deref(), Some(corpus().join("policies/robot.jani2nnet").as_path()));
    assert_eq!(listed.predicates.len(), 2);
    assert!(holds(&loaded, "belt_1.items=0 belt_2.items=1", listed.goal.expect("a goal")));
    assert!(holds(&loaded, "stock[0]=3", listed.unsafe_states));
}

#[test]
fn missing_files_and_directories_are_named() {
    let error = read(&corpus().join("nothing.jani"), None, &options()).expect_err("not there");
    assert_eq!((error.message.as_str(), error.position), ("no such file", None));
    assert_eq!(error.path, corpus().join("nothing.jani"));
    let error = read(&corpus(), None, &options()).expect_err("a directory");
    assert_eq!(error.message, "this is a directory, a file was expected");
    let missing = corpus().join("nothing.jani");
    let error = read(&corpus().join("warehouse.jani"), Some(&missing), &options()).expect_err("not there");
    assert_eq!(error.path, missing);
}

/// A model whose only property is this; other files are given.
fn with_files(expression: &str, files: &[(&str, &str)]) -> Loaded {
    let more = format!(r#""properties": [{{"name": "p", "expression": {expression}}}],"#);
    let text = model_text(&more, &int("x", 0, 9, 0), "");
    let mut all = vec![("models/test.jani", text.as_str())];
    all.extend(files);
    read_text(&all, "models/test.jani", None, &ReadOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_reference_to_a_missing_file_is_a_mistake_of_its_property_only() {
    let loaded = with_files(r#"{"op": "PA", "reach": {"file": "nothing.jani"}}"#, &[]);
    let error = refusal(&loaded, "p");
    assert_eq!(error.message, "cannot open models/nothing.jani: no such file");
    assert_eq!(error.json_path, "$.properties[0].expression.reach.file");
    assert_eq!(
        loaded.warnings[0].message,
        "the property \"p\" cannot be used: cannot open models/nothing.jani: no such file"
    );
}

#[test]
fn mistakes_in_referred_files_are_placed_there() {
    let loaded = with_files(
        r#"{"op": "PA", "reach": {"file": "../reach.jani"}}"#,
        &[("reach.jani", "{\"op\": \"<\",\n \"left\": \"z\", \"right\": 1}")],
    );
    let error = refusal(&loaded, "p");
    assert_eq!(error.path, Path::new("reach.jani"));
    assert_eq!(error.position, Some(Position { line: 2, column: 10 }));
    let loaded =
        with_files(r#"{"op": "PA", "reach": {"file": "r.jani"}}"#, &[("models/r.jani", "{\"op\": ")]);
    assert!(refusal(&loaded, "p").message.contains("truncated"));
}

#[test]
fn files_that_refer_to_each_other_in_a_circle_are_refused() {
    let loaded = with_files(
        r#"{"op": "PA", "reach": {"file": "a.jani"}}"#,
        &[("models/a.jani", r#"{"file": "b.jani"}"#), ("models/b.jani", r#"{"file": "a.jani"}"#)],
    );
    assert_eq!(refusal(&loaded, "p").message, "files refer to each other in a circle, through models/a.jani");
    let loaded = with_files(r#"{"op": "PA", "reach": {"label": "r"}}"#, &[]);
    assert_eq!(refusal(&loaded, "p").message, "references to labels are not supported");
}
