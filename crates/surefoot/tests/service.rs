//! The commands as functions, with files in memory.

use std::path::Path;

use surefoot::{Failure, Host, service};
use surefoot_model::MemoryFile;

fn texts(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(ToString::to_string).collect()
}

/// Blocksworld with its property and a random policy, in memory only.
fn blocks() -> Host<'static> {
    let generate = |arguments: &[&str], host: &Host<'_>| {
        let made = service::generate(&texts(arguments), host).expect("valid parameters");
        made.into_iter()
            .map(|file| MemoryFile { path: file.name.into(), contents: file.contents.into_bytes() })
    };
    let mut host = Host::default();
    host.memory.extend(generate(&["blocksworld", "--blocks", "4", "--table-limit", "3"], &Host::default()));
    let policy = ["policy", "blocksworld_4_3.jani", "--kind", "network", "--filter", "--name", "policy"];
    let policy: Vec<MemoryFile> = generate(&policy, &host).collect();
    host.memory.extend(policy);
    host
}

const TASK: [&str; 4] =
    ["blocksworld_4_3.jani", "--property", "blocksworld_4_3.property.jani", "--policy=policy.jani2nnet"];

#[test]
fn files_in_memory_give_the_result_of_the_same_files_on_disk() {
    let host = blocks();
    assert!(host.memory.iter().all(|file| !file.path.exists()));
    let folder = tempfile::tempdir().expect("a folder");
    for file in &host.memory {
        std::fs::write(folder.path().join(&file.path), &file.contents).expect("writable");
    }
    let on_disk = |text: &str| match text.strip_prefix("--policy=") {
        Some(name) => format!("--policy={}", folder.path().join(name).display()),
        None if Path::new(text).extension().is_some() => folder.path().join(text).display().to_string(),
        None => text.to_string(),
    };
    for engine in ["--engine=explicit", "--engine=ic3"] {
        let arguments = [&TASK[..], &[engine]].concat();
        let here = service::verify(&texts(&arguments), &host).expect("valid");
        let there: Vec<String> = arguments.iter().map(|argument| on_disk(argument)).collect();
        let there = service::verify(&there, &Host::default()).expect("valid");
        for member in ["verdict", "trace", "counts", "semantics"] {
            assert_eq!(here.document[member], there.document[member], "{member}");
        }
        let hashes = |document: &serde_json::Value| -> Vec<serde_json::Value> {
            document["files"].as_array().expect("a list").iter().map(|file| file["sha256"].clone()).collect()
        };
        assert_eq!(hashes(&here.document), hashes(&there.document));
        assert_eq!(here.trace.is_some(), here.document["verdict"] == "UNSAFE");
    }
}

#[test]
fn a_question_has_scores() {
    let host = blocks();
    let question = service::question(&texts(&TASK), &host).expect("valid");
    let state: Vec<i32> =
        question.task.system.variables.iter().filter_map(|v| Some(v.ty.bounds()?.0)).collect();
    assert_eq!(question.scores(&state).expect("there is a policy").len(), 5);
    let without = [TASK[0], TASK[1], TASK[2], "--no-policy"];
    let question = service::question(&texts(&without), &host).expect("valid");
    assert!(matches!(question.scores(&state), Err(Failure::Task(_))));
}

#[test]
fn failures_are_values() {
    let host = blocks();
    let missing = service::info(&texts(&["nowhere.jani"]), &host).expect_err("there is no such file");
    assert!(matches!(missing, Failure::Input(error) if error.path == Path::new("nowhere.jani")));
    let wrong = service::verify(&texts(&[TASK[0], "--engine=magic"]), &host).expect_err("no such engine");
    assert!(matches!(wrong, Failure::Usage(_)));
}

/// A document of all episodes was made after they were stopped, and thrown away, which took seconds.
#[test]
fn episodes_that_were_stopped_have_no_document() {
    let host = blocks();
    let arguments = texts(&[&TASK[..], &["--episodes=3"]].concat());
    let document = service::simulate(&arguments, &host).expect("valid");
    assert_eq!(document["episodes"].as_array().map(Vec::len), Some(3));
    host.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(service::simulate(&arguments, &host).expect("valid").is_null());
}
