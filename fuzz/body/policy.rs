//! What the fuzz targets of policies (`nnet`, `interface`, `ensemble`, `xgboost`, `lightgbm`, `onnx`, `safetensors`,
//! `archive`, `pickle`, `sb3`) do with a file. The test `corpus` of `surefoot-policy` does it too.

use std::io::{Cursor, Write};
use std::path::Path;

use surefoot_model::{Label, Origin, Scope, Symbol, TransitionSystem, Variable, VariableType};
use surefoot_policy::{Arithmetic, Policy, ReadOptions, parse};

const INTERFACE: &str = include_str!("../corpus/interface/globals.json");
const NETWORK: &str = include_str!("../corpus/nnet/small.nnet");
const ENSEMBLE: &str = include_str!("../corpus/ensemble/forest.json");

/// The interface of a state dict.
const STATE_DICT: &str = r#"{"file": "policy", "activation": "relu", "output": ["left", "right"],
 "input": [{"name": "x", "automaton": null}, {"name": "y", "automaton": null}]}"#;
/// That of a file which says itself what stands between its layers.
const PLAIN: &str = r#"{"file": "policy", "output": ["left", "right"],
 "input": [{"name": "x", "automaton": null}, {"name": "y", "automaton": null}]}"#;
const PPO: &[u8] = include_bytes!("../corpus/archive/ppo.zip");

/// Reads `text` as a network with two inputs and two outputs; whether it is one.
pub fn nnet(text: &str) -> bool {
    check(INTERFACE, text)
}

/// Reads `text` as a tree ensemble with two inputs and two outputs; whether it is one.
pub fn ensemble(text: &str) -> bool {
    check(INTERFACE, text)
}

/// Reads `bytes` as an ONNX model with two inputs and two outputs; whether it is one.
pub fn onnx(bytes: &[u8]) -> bool {
    let options = ReadOptions { scorer_file: Some("policy.onnx".into()), ..ReadOptions::default() };
    check_file(INTERFACE, bytes, &options)
}

/// Reads `bytes` as a network in the safetensors format with two inputs and two outputs; whether it is one.
pub fn safetensors(bytes: &[u8]) -> bool {
    check_file(STATE_DICT, bytes, &ReadOptions::default())
}

/// Reads `bytes` as an archive of `PyTorch` or Stable-Baselines3 with two inputs and two outputs; whether it is one.
pub fn archive(bytes: &[u8]) -> bool {
    [STATE_DICT, PLAIN].map(|interface| check_file(interface, bytes, &ReadOptions::default())).contains(&true)
}

/// Reads `bytes` as the pickle in an archive of `PyTorch`; whether it describes a network.
pub fn pickle(bytes: &[u8]) -> bool {
    let numbers: Vec<u8> = (0..6_u8).flat_map(|number| f32::from(number).to_le_bytes()).collect();
    let storages = ["a/data/0", "a/data/1", "a/data/2", "a/data/3"].map(|name| (name, numbers.as_slice()));
    let zip = zipped(&[&[("a/data.pkl", bytes)], storages.as_slice()].concat());
    check_file(STATE_DICT, &zip, &ReadOptions::default())
}

/// Reads `text` as the settings in an archive of Stable-Baselines3 with the weights of `ppo.zip`; whether they fit.
pub fn sb3(text: &str) -> bool {
    let mut archive = zip::ZipArchive::new(Cursor::new(PPO)).expect("an archive");
    let mut weights = Vec::new();
    let file = archive.by_name("policy.pth").expect("the archive has weights");
    std::io::copy(&mut { file }, &mut weights).expect("the archive is sound");
    let zip = zipped(&[("data", text.as_bytes()), ("policy.pth", &weights)]);
    check_file(PLAIN, &zip, &ReadOptions::default())
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in files {
        writer.start_file(*name, options).expect("memory is writable");
        writer.write_all(contents).expect("memory is writable");
    }
    writer.finish().expect("memory is writable").into_inner()
}

/// Reads `text` as a model of `XGBoost` with two inputs and two outputs; whether it is one.
pub fn xgboost(text: &str) -> bool {
    check(INTERFACE, text)
}

/// Reads `text` as a model of `LightGBM` with two inputs and two outputs; whether it is one.
pub fn lightgbm(text: &str) -> bool {
    check(INTERFACE, text)
}

/// Reads `text` as the interface of a network and of a tree ensemble; whether it fits one of them.
pub fn interface(text: &str) -> bool {
    let fits = [NETWORK, ENSEMBLE].map(|scorer| check(text, scorer));
    fits.contains(&true)
}

/// Globals `x` and `y`, an array, a local variable and the locations of an automaton that stands in the composition twice.
fn system() -> TransitionSystem {
    let int = |name: &str| Variable::new(name, VariableType::Int { lower: -2, upper: 5 });
    let mut variables = vec![int("x"), int("y"), Variable::new("flag", VariableType::Bool)];
    for index in 0..2 {
        let origin = Origin { scope: None, symbol: Symbol::Element("a".into(), index) };
        variables.push(Variable { origin, ..int(&format!("a[{index}]")) });
    }
    for instance in 0..2 {
        let scope = Some(Scope { automaton: "robot".into(), instance });
        let location = Origin { scope: scope.clone(), symbol: Symbol::Location };
        let local = Origin { scope, symbol: Symbol::Scalar("load".into()) };
        variables.push(Variable { origin: location, ..int(&format!("robot_{instance}.location")) });
        variables.push(Variable { origin: local, ..int(&format!("robot_{instance}.load")) });
    }
    variables.push(Variable::new("real", VariableType::Real { lower: 0.0, upper: 1.0 }));
    let labels = ["left", "right", "stay"].map(|name| Label { name: name.into() }).to_vec();
    TransitionSystem { variables, labels, ..TransitionSystem::default() }
}

/// What is refused must say why, and what is read must evaluate alike at a point and in a batch.
fn check(interface: &str, scorer: &str) -> bool {
    check_file(interface, scorer.as_bytes(), &ReadOptions::default())
}

fn check_file(interface: &str, scorer: &[u8], options: &ReadOptions) -> bool {
    let mut warnings = Vec::new();
    let open = |_: &Path| Ok(scorer.to_vec());
    let path = Path::new("policy.json");
    let policy = parse(path, interface, &system(), options, open, &mut warnings);
    match &policy {
        Err(error) => assert!(!error.message.is_empty() && !error.to_string().is_empty()),
        Ok(policy) => check_policy(policy),
    }
    assert!(warnings.iter().all(|warning| !warning.to_string().is_empty()));
    policy.is_ok()
}

fn check_policy(policy: &Policy) {
    let states = [vec![0; 10], vec![1, -2, 1, 3, 5, 1, 4, 0, 2, 0]];
    for arithmetic in Arithmetic::ALL {
        let mut evaluator = policy.evaluator(arithmetic);
        for state in &states {
            let inputs: Vec<[i32; 1]> = policy.input_values(state).into_iter().map(|value| [value]).collect();
            evaluator.run(1, |input| &inputs[input]);
            let mut batch = Vec::new();
            evaluator.possible(0, |_| true, |output| batch.push(output));
            let point = policy.possible(arithmetic, state, |_| true);
            assert!(!point.is_empty());
            assert_eq!(point, batch, "{arithmetic}");
            if arithmetic.has_single_choice() {
                assert_eq!(point.len(), 1);
            }
        }
    }
}
