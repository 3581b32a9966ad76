//! Archives of Stable-Baselines3 whose settings say something else than those of the corpus.

use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;

use surefoot_model::{InputError, Label, TransitionSystem, Variable, VariableType};
use surefoot_policy::{Policy, ReadOptions, parse};
use zip::write::SimpleFileOptions;

const ARCHIVE: &[u8] = include_bytes!("../../../../fuzz/corpus/archive/ppo.zip");

/// The archive with one text of its settings replaced.
fn changed(from: &str, to: &str) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(ARCHIVE)).expect("an archive");
    let mut part = |name: &str| {
        let mut contents = Vec::new();
        archive.by_name(name).expect("it is there").read_to_end(&mut contents).expect("readable");
        contents
    };
    let data = String::from_utf8(part("data")).expect("text");
    assert!(data.contains(from), "{data}");
    let files = [("data", data.replacen(from, to, 1).into_bytes()), ("policy.pth", part("policy.pth"))];
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in files {
        writer.start_file(name, options).expect("memory is writable");
        writer.write_all(&contents).expect("memory is writable");
    }
    writer.finish().expect("memory is writable").into_inner()
}

/// Reads a policy over two variables with these bounds.
fn read(contents: &[u8], lower: i32, upper: i32) -> Result<Policy, InputError> {
    let variables = ["x", "y"].map(|name| Variable::new(name, VariableType::Int { lower, upper })).to_vec();
    let labels = ["left", "right"].map(|name| Label { name: name.into() }).to_vec();
    let system = TransitionSystem { variables, labels, ..TransitionSystem::default() };
    let interface = r#"{"file": "policy.zip", "output": ["left", "right"],
        "input": [{"name": "x", "automaton": null}, {"name": "y", "automaton": null}]}"#;
    let open = |_: &Path| Ok(contents.to_vec());
    parse(Path::new("i.json"), interface, &system, &ReadOptions::default(), open, &mut Vec::new())
}

#[test]
fn actions_that_are_not_counted_from_0_are_refused() {
    for start in ["1", "-1", "0.5", "zero"] {
        let archive = changed(r#""start": "0""#, &format!(r#""start": "{start}""#));
        let error = read(&archive, -2, 5).expect_err("refused").to_string();
        assert!(error.contains("the actions are not counted from 0"), "{error}");
        assert!(error.contains("$.action_space.start") && error.contains("hint: train on"), "{error}");
    }
    assert!(read(&changed(r#""start": "0""#, r#""start": 0"#), -2, 5).is_ok());
}

#[test]
fn observations_that_half_precision_rounds_are_refused() {
    let half = changed(r#""dtype": "float32""#, r#""dtype": "float16""#);
    for (lower, upper) in [(0, 2049), (-2049, 0)] {
        let error = read(&half, lower, upper).expect_err("refused").to_string();
        let words = [format!("\"x\", has values from {lower} to {upper}"), "float16, which rounds".into()];
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
        assert!(read(ARCHIVE, lower, upper).is_ok());
    }
    assert!(read(&half, -2048, 2048).is_ok());
}
