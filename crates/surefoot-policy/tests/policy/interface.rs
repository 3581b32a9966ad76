//! Reading policy interfaces: how inputs and outputs are found in the model, and where each mistake is reported.

use std::path::{Path, PathBuf};

use surefoot_model::{InputError, LabelId, Sources, VarId};
use surefoot_policy::{Policy, PolicyInput, ReadOptions, Scorer, parse, read_with};

use crate::fixture::{assert_error, read, system};

/// A network with this many inputs, no hidden layer, and two outputs.
fn nnet(inputs: usize) -> String {
    let row = |n: usize, value: &str| vec![value; n].join(",") + "\n";
    let mut text = format!("1,{inputs},2,{inputs},\n{inputs},2,\n0,\n");
    text += &row(inputs, "0");
    text += &row(inputs, "0");
    text += &row(inputs + 1, "0");
    text += &row(inputs + 1, "1");
    text += &row(inputs, "1");
    text += &row(inputs, "2");
    text += "0\n0\n";
    text
}

fn interface(inputs: &str) -> String {
    format!("{{\"file\": \"n.nnet\", \"output\": [\"right\", \"left\"], \"input\": [\n{inputs}]}}")
}

fn read_inputs(inputs: &str, count: usize) -> Result<Policy, InputError> {
    read(&interface(inputs), &nnet(count)).0
}

const X: &str = r#"{"name": "x", "automaton": null}"#;

#[test]
fn all_kinds_of_inputs_are_found() {
    let inputs = r#"{"name": "robot", "index": 1}, {"name": "y", "automaton": {"name": "robot", "index": 1}},
        {"name": "a", "index": 2, "automaton": null}, {"name": "b", "automaton": null}, {"automaton": null, "name": "x"}"#;
    let policy = read_inputs(inputs, 5).expect("good");
    let variables = [7, 6, 4, 1, 0].map(|index| PolicyInput::Variable(VarId(index)));
    assert_eq!(policy.inputs, variables);
    assert_eq!(policy.outputs, [LabelId(1), LabelId(0)]);
    assert!(!policy.filter);
    assert_eq!(policy.describe(), "neural network 5-2, choosing among all its labels");
}

#[test]
fn optional_keys_are_read() {
    let text = format!(
        r#"{{"file": "n.nnet", "torch-file": "n.pt", "filter": true, "elements": [], "comment": "", "metadata": {{}},
        "output": ["left", "stay"], "input": [{X}]}}"#
    );
    let (policy, warnings) = read(&text, &nnet(1));
    assert!(policy.expect("good").filter);
    assert_eq!(warnings, []);
}

#[test]
fn unknown_keys_are_warned_about() {
    let text = r#"{"file": "n.nnet", "output": ["left", "stay"],
        "input": [{"name": "x", "automaton": null, "scale": 2}], "fliter": true}"#;
    let (policy, warnings) = read(text, &nnet(1));
    assert!(policy.is_ok());
    assert_eq!(warnings.len(), 2);
    assert_error(&warnings[0], 2, 76, &["\"fliter\" is unknown", "$.fliter"]);
    assert_error(&warnings[1], 2, 61, &["\"scale\" is unknown", "$.input[0].scale"]);
}

#[test]
fn unknown_variables_are_explained() {
    let error = |inputs: &str| read_inputs(inputs, 1).expect_err("unknown");
    assert_error(
        &error(r#"{"name": "B1", "automaton": null}"#),
        2,
        10,
        &["no variable \"B1\"", "did you mean \"b\"?", "$.input[0].name"],
    );
    assert_error(
        &error(r#"{"name": "y", "automaton": null}"#),
        2,
        10,
        &["no variable \"y\"", "is local: write \"automaton\": {\"name\": \"robot\", \"index\": 1}"],
    );
    assert_error(
        &error(r#"{"name": "x", "automaton": {"name": "robot", "index": 1}}"#),
        2,
        10,
        &["no variable \"x\" in instance 1 of \"robot\"", "is a global variable"],
    );
    assert_error(&error(r#"{"name": "a", "automaton": null}"#), 2, 1, &["is an array", "\"index\": 0"]);
    assert_error(
        &error(r#"{"name": "a", "index": 3, "automaton": null}"#),
        2,
        1,
        &["element 3 of the array \"a\" does not exist", "0 to 2"],
    );
    assert_error(&error(r#"{"name": "x", "index": 0, "automaton": null}"#), 2, 1, &["\"x\" is no array"]);
    assert_error(
        &error(r#"{"name": "A", "index": 0, "automaton": null}"#),
        2,
        10,
        &["no array \"A\"", "did you mean \"a\"?"],
    );
    assert_error(
        &error(r#"{"name": "speed", "automaton": null}"#),
        2,
        1,
        &["the variable \"speed\" is real-valued", "$.input[0]"],
    );
}

#[test]
fn unknown_automata_are_explained() {
    let error = |inputs: &str| read_inputs(inputs, 1).expect_err("unknown");
    assert_error(
        &error(r#"{"name": "robots", "index": 1}"#),
        2,
        1,
        &["no automaton", "did you mean \"robot\"?"],
    );
    assert_error(
        &error(r#"{"name": "robot", "index": 0}"#),
        2,
        1,
        &["element 0 of the composition is no instance", "have index 1"],
    );
    assert_error(&error(r#"{"name": "robot", "index": -1}"#), 2, 28, &["an index is a number from 0"]);
    assert_error(&error(r#"{"name": "x"}"#), 2, 1, &["\"automaton\" or \"index\" is missing"]);
    assert_error(&error(r#"{"automaton": null}"#), 2, 1, &["\"name\" is missing"]);
    assert_error(
        &error(r#"{"name": "y", "automaton": {"name": "robot"}}"#),
        2,
        28,
        &["\"index\" is missing"],
    );
    assert_error(&error(r#"{"name": "y", "automaton": "robot"}"#), 2, 28, &["expected an object"]);
    assert_error(&error("3"), 2, 1, &["expected an object, found 3"]);
}

#[test]
fn outputs_are_checked() {
    let error = |outputs: &str| {
        let text = format!("{{\"file\": \"n\", \"input\": [{X}], \"output\":\n{outputs}}}");
        read(&text, &nnet(1)).0.expect_err("wrong")
    };
    assert_error(
        &error(r#"["left", "rihgt"]"#),
        2,
        10,
        &["no label \"rihgt\"", "did you mean \"right\"?", "$.output[1]"],
    );
    assert_error(&error(r#"["left", "left"]"#), 2, 10, &["\"left\" is listed twice", "already output 0"]);
    assert_error(&error("[]"), 2, 1, &["at least one output"]);
    assert_error(&error("[null]"), 2, 2, &["expected a string"]);
    assert_error(&error(r#"["left"]"#), 2, 1, &["lists 1 outputs, but folder/n has 2 (neural network 1-2)"]);
}

#[test]
fn sizes_must_be_those_of_the_network() {
    let error = read_inputs(X, 2).expect_err("too few inputs");
    assert_error(&error, 1, 58, &["lists 1 inputs, but folder/n.nnet has 2", "$.input"]);
    let with_elements = |elements: &str| {
        let text = format!(
            "{{\"file\": \"n\", \"input\": [{X}], \"output\": [\"left\", \"right\"],\n\"elements\": {elements}}}"
        );
        let network = "2,1,2,2\n1,2,2\n0\n0\n0\n0,0\n1,1\n1\n1\n0\n0\n1,1\n1,1\n0\n0\n";
        read(&text, network).0
    };
    assert!(with_elements("[2]").is_ok());
    assert_error(&with_elements("[3]").unwrap_err(), 2, 13, &["sizes [3], but folder/n has [2]"]);
    assert_error(&with_elements("[2, 2]").unwrap_err(), 2, 13, &["lists 2 hidden layers", "has 1"]);
    assert_error(&with_elements("[0]").unwrap_err(), 2, 14, &["at least one neuron"]);
    assert_error(&with_elements("[2.5]").unwrap_err(), 2, 14, &["expected an integer"]);
    assert_error(&with_elements("2").unwrap_err(), 2, 13, &["expected an array"]);
}

#[test]
fn missing_keys_are_explained() {
    let error = |text: &str| read(text, &nnet(1)).0.expect_err("incomplete");
    assert_error(
        &error(r#"{"file": "n", "output": ["left"]}"#),
        1,
        1,
        &["\"input\" is missing", "policy interface is"],
    );
    assert_error(&error(&format!("{{\"input\": [{X}]}}")), 1, 1, &["\"output\" is missing"]);
    let text = format!("{{\"input\": [{X}], \"output\": [\"left\", \"stay\"]}}");
    assert_error(&error(&text), 1, 1, &["\"file\" is missing", "name the file"]);
    assert_error(&error("[]"), 1, 1, &["expected an object"]);
    assert_error(&error("nonsense"), 1, 1, &["JSON"]);
}

#[test]
fn scorers_instead_of_interfaces_are_recognised() {
    let direct = |path: &str, text: &str| {
        let open = |_: &Path| panic!("nothing to open");
        let mut warnings = Vec::new();
        parse(Path::new(path), text, &system(), &ReadOptions::default(), open, &mut warnings)
            .expect_err("refused")
    };
    let words = ["this is a network", "policy interface is a JSON file"];
    assert_error(&direct("n.nnet", &nnet(1)), 1, 1, &words);
    assert_error(&direct("n.txt", &format!("// network\n{}", nnet(1))), 1, 1, &words);
    let trees = r#"{"at_type": "REGR", "base_scores": [0, 0], "trees": []}"#;
    assert_error(
        &direct("e.json", trees),
        1,
        1,
        &["this is a tree ensemble", "policy interface is a JSON file"],
    );
    let boosted = include_str!("../../../../fuzz/corpus/lightgbm/boosted.txt");
    assert_error(
        &direct("e.txt", boosted),
        1,
        1,
        &["this is a tree ensemble", "policy interface is a JSON file"],
    );
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/onnx/trees.onnx");
    let error =
        read_with(&model, &system(), &ReadOptions::default(), &mut Sources::default(), &mut Vec::new())
            .expect_err("refused");
    assert!(error.message.contains("this is an ONNX model, but a policy interface was expected"), "{error}");
    let text = interface(X);
    let error = read(&text, &text).0.unwrap_err();
    assert_error(&error, 1, 1, &["this is a policy interface, a network or tree ensemble was expected"]);
}

#[test]
fn files_are_found_beside_the_interface_unless_told_otherwise() {
    let folder = std::env::temp_dir().join(format!("surefoot-policy-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("temporary file");
        path
    };
    let file = write("policy.jani2nnet", &interface(X));
    let network = write("n.nnet", &nnet(1));
    let other = write("other.nnet", &nnet(1));
    let read = |options: &ReadOptions, sources: &mut Sources| {
        read_with(&file, &system(), options, sources, &mut Vec::new())
    };
    let mut sources = Sources::default();
    assert!(read(&ReadOptions::default(), &mut sources).is_ok());
    let paths: Vec<PathBuf> = sources.files.iter().map(|source| source.path.clone()).collect();
    assert_eq!(paths, [file.clone(), network.clone()]);

    let mut sources = Sources::default();
    let options = ReadOptions { scorer_file: Some(other.clone()), ..ReadOptions::default() };
    assert!(matches!(read(&options, &mut sources).expect("good").scorer, Scorer::Network(_)));
    assert_eq!(sources.files[1].path, other);

    std::fs::remove_file(&network).expect("it exists");
    let error = read(&ReadOptions::default(), &mut Sources::default()).expect_err("missing");
    assert_eq!((error.path, error.message.as_str()), (network, "no such file"));
    std::fs::remove_dir_all(&folder).expect("it exists");
}
