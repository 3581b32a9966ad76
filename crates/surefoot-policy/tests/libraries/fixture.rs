//! Reads the fixtures, whose format `README.md` describes.

use std::fs;
use std::path::{Path, PathBuf};

use surefoot_model::json::{Document, Json};
use surefoot_model::{Label, TransitionSystem, Variable, VariableType};
use surefoot_policy::{Arithmetic, Policy, ReadOptions, parse};

/// A policy, and what its library computes.
pub struct Fixture {
    pub name: String,
    pub arithmetic: Arithmetic,
    /// Whether our scores must have the same bits.
    pub exact: bool,
    pub policy: Policy,
    pub cases: Vec<Case>,
}

pub struct Case {
    pub state: Vec<i32>,
    /// One score per output, unless the library derives it from another one.
    pub scores: Vec<Option<f64>>,
    /// What the library chooses, if the scores do not say it.
    pub choice: Option<usize>,
}

/// All fixtures, in the order of their names.
pub fn all() -> Vec<Fixture> {
    let folder = folder();
    let mut folders: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.join("cases.json").exists())
        .collect();
    folders.sort();
    assert!(!folders.is_empty(), "there are no fixtures in {}", folder.display());
    folders.iter().map(|folder| read(folder)).collect()
}

/// The fixture of this name.
pub fn named(name: &str) -> Fixture {
    read(&folder().join(name))
}

fn folder() -> PathBuf {
    std::env::var_os("SUREFOOT_LIBRARIES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/libraries"), PathBuf::from)
}

fn read(folder: &Path) -> Fixture {
    let path = folder.join("cases.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let document = Document::parse(&path, &text).expect("JSON");
    let root = document.root();
    let arithmetic = get(root, "arithmetic").str().expect("a name").parse().expect("an arithmetic");
    let [inputs, outputs] = ["inputs", "outputs"].map(|key| count(get(root, key)));
    let cases: Vec<_> = list(get(root, "cases"), |json| case(json, arithmetic));
    let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
    let shape = |case: &Case| case.state.len() == inputs && case.scores.len() == outputs;
    assert!(!cases.is_empty() && cases.iter().all(shape), "{name}");
    let (policy, warnings) = policy(folder, inputs, outputs, &state_dict_keys(root));
    assert_eq!(warnings, root.get("warnings").map_or(0, count), "warnings of {name}");
    let exact = root.get("exact").is_none_or(|json| json.bool().expect("a truth value"));
    Fixture { name, arithmetic, exact, policy, cases }
}

fn get<'d>(json: Json<'d>, key: &str) -> Json<'d> {
    json.require(key).unwrap_or_else(|error| panic!("{error}"))
}

fn count(json: Json<'_>) -> usize {
    usize::try_from(json.i64().expect("an integer")).expect("a count")
}

fn list<T>(json: Json<'_>, item: impl Fn(Json<'_>) -> T) -> Vec<T> {
    json.array().expect("a list").map(item).collect()
}

fn case(json: Json<'_>, arithmetic: Arithmetic) -> Case {
    let score = |json: Json<'_>| {
        if json.is_null() {
            return None;
        }
        let bits = u64::from_str_radix(json.str().expect("hexadecimal digits"), 16).expect("bits");
        Some(match arithmetic {
            Arithmetic::F64 => f64::from_bits(bits),
            _ => f64::from(f32::from_bits(u32::try_from(bits).expect("32 bits"))),
        })
    };
    let integer = |json: Json<'_>| i32::try_from(json.i64().expect("an integer")).expect("32 bits");
    Case {
        state: list(get(json, "state"), integer),
        scores: list(get(json, "scores"), score),
        choice: json.get("choice").map(count),
    }
}

/// What the interface must say about a state dict, as more members of a JSON object.
fn state_dict_keys(root: Json<'_>) -> String {
    let activation =
        root.get("activation").map(|name| format!(", \"activation\": {:?}", name.str().expect("a name")));
    let names = |layers| list(layers, |name| name.str().expect("a name").to_string());
    let layers = root.get("layers").map(|layers| format!(", \"layers\": {:?}", names(layers)));
    [activation, layers].into_iter().flatten().collect()
}

/// The policy over variables `x0`, `x1`, … and labels `a0`, `a1`, …, and the number of warnings.
fn policy(folder: &Path, inputs: usize, outputs: usize, more: &str) -> (Policy, usize) {
    let any = VariableType::Int { lower: i32::MIN, upper: i32::MAX };
    let system = TransitionSystem {
        variables: (0..inputs).map(|input| Variable::new(format!("x{input}"), any)).collect(),
        labels: (0..outputs).map(|output| Label { name: format!("a{output}") }).collect(),
        ..TransitionSystem::default()
    };
    let list = |count: usize, item: fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(", ");
    let input = list(inputs, |input| format!(r#"{{"name": "x{input}", "automaton": null}}"#));
    let output = list(outputs, |output| format!("\"a{output}\""));
    let interface = format!(r#"{{"input": [{input}], "output": [{output}]{more}}}"#);
    let options = ReadOptions { scorer_file: Some(scorer(folder)), ..ReadOptions::default() };
    let open = |file: &Path| Ok(fs::read(file).expect("readable"));
    let mut warnings = Vec::new();
    let policy = parse(Path::new("interface.json"), &interface, &system, &options, open, &mut warnings);
    (policy.unwrap_or_else(|error| panic!("{}: {error}", folder.display())), warnings.len())
}

/// The file that is called `policy`, whatever its extension.
fn scorer(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    files
        .find(|file| file.file_stem().is_some_and(|stem| stem == "policy"))
        .unwrap_or_else(|| panic!("there is no policy in {}", folder.display()))
}
