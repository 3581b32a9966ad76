//! Compares scores with those of the libraries that made the policies, bit for bit.
//!
//! The fixtures lie next to this file, see `README.md`. The environment variable `SUREFOOT_LIBRARIES` names another
//! folder with fixtures; `bench/libraries` makes one.

use std::fs;
use std::path::{Path, PathBuf};

use surefoot_model::json::{Document, Json};
use surefoot_model::{InputError, Label, TransitionSystem, Variable, VariableType};
use surefoot_policy::{Arithmetic, Policy, ReadOptions, parse};

/// A policy, and what its library computes.
struct Fixture {
    folder: PathBuf,
    arithmetic: Arithmetic,
    policy: Policy,
    cases: Vec<Case>,
}

struct Case {
    state: Vec<i32>,
    scores: Vec<f64>,
}

fn fixtures() -> Vec<Fixture> {
    let folder = std::env::var_os("SUREFOOT_LIBRARIES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/libraries"), PathBuf::from);
    let mut folders: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.join("cases.json").exists() && !path.join("policy.onnx").exists())
        .collect();
    folders.sort();
    assert!(!folders.is_empty(), "there are no fixtures in {}", folder.display());
    folders.into_iter().map(fixture).collect()
}

fn fixture(folder: PathBuf) -> Fixture {
    let path = folder.join("cases.json");
    let text = fs::read_to_string(&path).expect("readable");
    let document = Document::parse(&path, &text).expect("JSON");
    let root = document.root();
    let arithmetic = get(root, "arithmetic").str().expect("a name").parse().expect("an arithmetic");
    let sizes = ["inputs", "outputs"].map(|key| get(root, key).i64().expect("a count") as usize);
    let cases = get(root, "cases").array().expect("cases").map(|json| case(json, arithmetic)).collect();
    let policy = policy(&folder, sizes).unwrap_or_else(|error| panic!("{error}"));
    Fixture { folder, arithmetic, policy, cases }
}

fn get<'d>(json: Json<'d>, key: &str) -> Json<'d> {
    json.require(key).unwrap_or_else(|error| panic!("{error}"))
}

fn case(json: Json<'_>, arithmetic: Arithmetic) -> Case {
    let score = |json: Json<'_>| {
        let bits = u64::from_str_radix(json.str().expect("hexadecimal digits"), 16).expect("bits");
        match arithmetic {
            Arithmetic::F64 => f64::from_bits(bits),
            _ => f64::from(f32::from_bits(u32::try_from(bits).expect("32 bits"))),
        }
    };
    let integer = |json: Json<'_>| i32::try_from(json.i64().expect("an integer")).expect("32 bits");
    Case {
        state: get(json, "state").array().expect("a list").map(integer).collect(),
        scores: get(json, "scores").array().expect("a list").map(score).collect(),
    }
}

/// The policy over variables `x0`, `x1`, … and labels `a0`, `a1`, …
fn policy(folder: &Path, [inputs, outputs]: [usize; 2]) -> Result<Policy, InputError> {
    let any = VariableType::Int { lower: i32::MIN, upper: i32::MAX };
    let system = TransitionSystem {
        variables: (0..inputs).map(|input| Variable::new(format!("x{input}"), any)).collect(),
        labels: (0..outputs).map(|output| Label { name: format!("a{output}") }).collect(),
        ..TransitionSystem::default()
    };
    let list = |count: usize, item: fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(", ");
    let input = list(inputs, |input| format!(r#"{{"name": "x{input}", "automaton": null}}"#));
    let output = list(outputs, |output| format!("\"a{output}\""));
    let interface = format!(r#"{{"input": [{input}], "output": [{output}]}}"#);
    let options = ReadOptions { scorer_file: Some(scorer(folder)) };
    let open = |file: &Path| Ok(fs::read(file).expect("readable"));
    let mut warnings = Vec::new();
    let policy = parse(Path::new("interface.json"), &interface, &system, &options, open, &mut warnings)?;
    assert_eq!(warnings, [], "{}", folder.display());
    Ok(policy)
}

/// The file that is called `policy`, whatever its extension.
fn scorer(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    files
        .find(|file| file.file_stem().is_some_and(|stem| stem == "policy"))
        .unwrap_or_else(|| panic!("there is no policy in {}", folder.display()))
}

#[test]
fn scores_are_those_of_the_library() {
    for Fixture { folder, arithmetic, policy, cases } in fixtures() {
        assert!(!cases.is_empty(), "{}", folder.display());
        for Case { state, scores } in cases {
            let ours: Vec<f64> = policy.scores(arithmetic, &state).iter().map(|score| score.lower).collect();
            let bits = |scores: &[f64]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
            assert_eq!(
                bits(&ours),
                bits(&scores),
                "{} at {state:?}: {ours:?} instead of {scores:?}",
                folder.display()
            );
        }
    }
}

#[test]
fn choices_are_those_of_the_library() {
    for Fixture { folder, arithmetic, policy, cases } in fixtures() {
        let column = |input: usize| cases.iter().map(|case| case.state[input]).collect::<Vec<_>>();
        let columns: Vec<_> = (0..policy.inputs.len()).map(column).collect();
        let mut evaluator = policy.evaluator(arithmetic);
        for (from, chunk) in (0..).step_by(8).zip(cases.chunks(8)) {
            evaluator.run(chunk.len(), |input| &columns[input][from..from + chunk.len()]);
            for (index, Case { state, scores }) in chunk.iter().enumerate() {
                let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let expected = scores.iter().position(|&score| score == best);
                assert_eq!(evaluator.best(index, |_| true), expected, "{} at {state:?}", folder.display());
            }
        }
    }
}

#[test]
fn enclosures_hold_the_scores_of_libraries_in_single_precision() {
    for Fixture { folder, arithmetic, policy, cases } in fixtures() {
        if arithmetic == Arithmetic::F64 {
            continue;
        }
        for Case { state, scores } in cases {
            let enclosures = policy.scores(Arithmetic::AnyF32, &state);
            let holds = scores.iter().zip(&enclosures).all(|(&s, e)| e.lower <= s && s <= e.upper);
            assert!(holds, "{} at {state:?}: {scores:?} in {enclosures:?}", folder.display());
        }
    }
}
