//! State dicts: which network they are, and where that is not clear. The files are in the safetensors format, which is
//! the simplest to write; `tests/libraries` has those of real libraries.

use std::fmt::Write as _;
use std::path::Path;

use surefoot_model::InputError;
use surefoot_policy::{Activation, Arithmetic, Layer, Policy, ReadOptions, Scorer, parse};

use crate::fixture::system;

/// The contents of a safetensors file with these tensors, whose numbers are 1, 2, 3, ….
fn file(tensors: &[(&str, &[usize])]) -> Vec<u8> {
    let mut header = String::from("{\"__metadata__\": {\"format\": \"pt\"}");
    let mut numbers: Vec<u8> = Vec::new();
    for (name, shape) in tensors {
        let count: usize = shape.iter().product();
        let from = numbers.len();
        numbers.extend((1..=count).flat_map(|number| (number as f32).to_le_bytes()));
        let to = numbers.len();
        let _ = write!(
            header,
            ", {name:?}: {{\"dtype\": \"F32\", \"shape\": {shape:?}, \"data_offsets\": [{from}, {to}]}}"
        );
    }
    header += "}";
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &numbers].concat()
}

/// Reads a policy over `x` and `b` for `left` and `right`, with more members of the interface.
fn read(contents: &[u8], more: &str) -> Result<Policy, InputError> {
    let input = r#"[{"name": "x", "automaton": null}, {"name": "b", "automaton": null}]"#;
    let interface = format!(r#"{{"file": "policy", "input": {input}, "output": ["left", "right"]{more}}}"#);
    let open = |_: &Path| Ok(contents.to_vec());
    parse(Path::new("i.json"), &interface, &system(), &ReadOptions::default(), open, &mut Vec::new())
}

const RELU: &str = r#", "activation": "relu""#;

#[track_caller]
fn layers(contents: &[u8], more: &str) -> Vec<Layer> {
    let policy = read(contents, more).unwrap_or_else(|error| panic!("{error}"));
    match policy.scorer {
        Scorer::Network(network) => network.layers().cloned().collect(),
        Scorer::Ensemble(_) => panic!("a state dict is a network"),
    }
}

#[track_caller]
fn sizes(tensors: &[(&str, &[usize])], more: &str) -> Vec<usize> {
    layers(&file(tensors), more).iter().map(Layer::neurons).collect()
}

#[track_caller]
fn refused(contents: &[u8], more: &str, words: &[&str]) {
    let error = read(contents, more).expect_err("refused").to_string();
    for word in words {
        assert!(error.contains(word), "{error}\ndoes not mention {word:?}");
    }
}

#[test]
fn numbers_in_names_order_layers() {
    let (first, second, third): (&[usize], &[usize], &[usize]) = (&[3, 2], &[3, 3], &[2, 3]);
    for names in [
        ["0", "2", "4"],
        ["net.0", "net.2", "net.10"],
        ["fc1", "fc2", "fc3"],
        ["l.0.lin", "l.1.lin", "l.2.lin"],
    ] {
        let [a, b, c] = names.map(|name| format!("{name}.weight"));
        // In the order of the file, and in another one.
        assert_eq!(sizes(&[(&a, first), (&b, second), (&c, third)], RELU), [3, 3, 2], "{names:?}");
        assert_eq!(sizes(&[(&c, third), (&b, second), (&a, first)], RELU), [3, 3, 2], "{names:?}");
    }
}

#[test]
fn shapes_order_layers_with_other_names_if_there_is_one_way() {
    let body: [(&str, &[usize]); 3] =
        [("head.weight", &[2, 4]), ("body.0.weight", &[3, 2]), ("body.2.weight", &[4, 3])];
    assert_eq!(sizes(&body, RELU), [3, 4, 2]);
    let words = &["the order of the layers", "is unclear", "several orders fit", "--layers"];
    refused(&file(&[("input.weight", &[2, 2]), ("hidden.weight", &[2, 2])]), RELU, words);
    // Two networks of the same sizes: neither is chosen.
    let twins: [(&str, &[usize]); 4] = [
        ("actor.0.weight", &[3, 2]),
        ("actor.2.weight", &[2, 3]),
        ("critic.0.weight", &[3, 2]),
        ("critic.2.weight", &[2, 3]),
    ];
    refused(&file(&twins), RELU, words);
    assert_eq!(sizes(&twins, r#", "activation": "relu", "layers": ["critic.0", "critic.2"]"#), [3, 2]);
    // A critic that has no place in the chain.
    refused(
        &file(&[("pi.weight", &[2, 2]), ("value.weight", &[1, 2])]),
        RELU,
        &["no order leads from 2 inputs"],
    );
}

#[test]
fn numbers_that_leave_the_order_open_are_refused() {
    let twice: [(&str, &[usize]); 2] = [("net1.0.weight", &[2, 2]), ("net2.2.weight", &[2, 2])];
    refused(&file(&twice), RELU, &["differ in several numbers"]);
    // Nothing between 0 and 1: an activation there would be invented.
    let gap: [(&str, &[usize]); 3] = [("0.weight", &[3, 2]), ("1.weight", &[3, 3]), ("3.weight", &[2, 3])];
    refused(&file(&gap), RELU, &["something between some of them, and nothing between others"]);
    refused(&file(&[("00.weight", &[2, 2]), ("0.weight", &[2, 2])]), RELU, &["is unclear"]);
}

#[test]
fn layers_must_chain() {
    let words = &["the layer \"0\" has 3 neurons, but the next one, \"2\", reads 4 values"];
    refused(&file(&[("0.weight", &[3, 2]), ("2.weight", &[2, 4])]), RELU, words);
}

#[test]
fn the_activation_is_never_guessed() {
    let tensors: [(&str, &[usize]); 4] =
        [("0.weight", &[3, 2]), ("0.bias", &[3]), ("2.weight", &[2, 3]), ("2.bias", &[2])];
    refused(
        &file(&tensors),
        "",
        &["does not say which activation", "\"activation\": \"relu\"", "--activation relu"],
    );
    for (name, activation) in
        [("tanh", Activation::Tanh), ("sigmoid", Activation::Sigmoid), ("relu", Activation::Relu)]
    {
        let layers = layers(&file(&tensors), &format!(r#", "activation": {name:?}"#));
        assert_eq!(layers[0].activation(), activation);
        assert_eq!(layers[1].activation(), Activation::Identity);
    }
    refused(
        &file(&tensors),
        r#", "activation": "rely""#,
        &["the activation \"rely\" is unknown", "did you mean \"relu\"?"],
    );
    // Without a hidden layer there is none.
    assert_eq!(layers(&file(&[("weight", &[2, 2])]), "")[0].activation(), Activation::Identity);
}

#[test]
fn weights_are_rows_of_neurons() {
    let policy = read(&file(&[("weight", &[2, 2]), ("bias", &[2])]), "").expect("a network");
    // Weights 1 2 / 3 4, biases 1 2, at x = 5 and b = 1.
    let state = [5, 1, 0, 0, 0, 0, 0, 0];
    let scores: Vec<f64> = policy.scores(Arithmetic::F64, &state).iter().map(|score| score.lower).collect();
    assert_eq!(scores, [8.0, 21.0]);
}

#[test]
fn other_tensors_are_refused() {
    let other = |name, shape: &'static [usize]| file(&[("0.weight", &[2, 2]), (name, shape)]);
    refused(&other("1.running_mean", &[2]), RELU, &["\"1.running_mean\" belongs to no linear layer"]);
    refused(&other("1.weight", &[2]), RELU, &["\"1.weight\" has the shape [2]", "a matrix"]);
    refused(&other("1.weight", &[2, 2, 3, 3]), RELU, &["export others to ONNX"]);
    refused(&other("1.bias", &[2]), RELU, &["the layer \"1\" has a bias, but no weight"]);
    refused(&other("0.bias", &[3]), RELU, &["\"0.bias\" has the shape [3]", "has 2 rows"]);
    refused(&file(&[]), RELU, &["no tensors"]);
    refused(&file(&[("weight", &[2, 3])]), "", &["the interface lists 2 inputs", "has 3"]);
    refused(
        &file(&[("weight", &[2, 2])]),
        r#", "layers": ["net"]"#,
        &["there is no layer \"net\"", "it has \"\""],
    );
    refused(&file(&[("weight", &[2, 2])]), r#", "layers": []"#, &["at least one layer"]);
}

#[test]
fn numbers_must_be_finite() {
    let mut contents = file(&[("weight", &[2, 2])]);
    let end = contents.len();
    contents[end - 4..].copy_from_slice(&f32::INFINITY.to_le_bytes());
    refused(&contents, "", &["weight", "holds inf at row 1, column 1"]);
}

#[test]
fn what_a_file_says_itself_is_not_asked_for() {
    let network = b"1,2,2,2,\n2,2,\n0,\n0,0,\n1,1,\n0,0,0,\n1,1,1,\n1,0,\n0,1,\n0,\n0,\n";
    assert!(read(network, "").is_ok());
    refused(network, RELU, &["\"activation\" is for state dicts", "leave it out"]);
    refused(network, r#", "layers": ["0"]"#, &["\"layers\" is for state dicts"]);
}

#[test]
fn archives_that_hold_no_network_are_refused() {
    let corpus = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/archive").join(name);
        std::fs::read(path).expect("a seed")
    };
    let module = "asks for `torch.nn.modules.container.Sequential`; surefoot executes nothing";
    refused(&corpus("bad-module.pt"), RELU, &[module, "torch.save(model.state_dict()"]);
    refused(&corpus("bad-nested.pt"), RELU, &["\"epoch\" is a number, but a state dict holds tensors"]);
    refused(
        &corpus("bad-half.pt"),
        RELU,
        &["\"0.weight\"", "float16, but only float32 and float64 are read"],
    );
    refused(&corpus("bad-legacy.pt"), RELU, &["this is a pickle", "since version 1.6"]);
    refused(
        &corpus("ppo.zip"),
        RELU,
        &["the activation is \"tanh\" according to the file, but \"relu\" is asked for"],
    );
    let mut damaged = corpus("chain.pt");
    let middle = damaged.windows(4).position(|bytes| bytes == b"data").expect("a name") + 40;
    damaged[middle] ^= 0x55;
    refused(&damaged, RELU, &["data.pkl", "damaged"]);
    refused(b"PK\x03\x04", RELU, &["a damaged zip archive"]);
}
