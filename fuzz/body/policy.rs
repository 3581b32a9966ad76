//! What the fuzz targets `nnet`, `interface`, `ensemble`, `xgboost`, `lightgbm` and `onnx` do with a file. The test
//! `corpus` of `surefoot-policy` does it too.

use std::path::Path;

use surefoot_model::{Label, Origin, Scope, Symbol, TransitionSystem, Variable, VariableType};
use surefoot_policy::{Arithmetic, Policy, ReadOptions, parse};

const INTERFACE: &str = include_str!("../corpus/interface/globals.json");
const NETWORK: &str = include_str!("../corpus/nnet/small.nnet");
const ENSEMBLE: &str = include_str!("../corpus/ensemble/forest.json");

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
    let options = ReadOptions { scorer_file: Some("policy.onnx".into()) };
    check_file(INTERFACE, bytes, &options)
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
