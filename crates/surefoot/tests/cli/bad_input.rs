//! Whatever is wrong with a file, the program says where and what, with exit code 3, and never panics.

use crate::support::{Folder, INTERFACE, WALK, network};

/// Verifies after `walk.jani` was changed.
#[track_caller]
fn model_error(from: &str, to: &str, message: &[&str]) {
    let folder = Folder::walk("4.5");
    folder.replace("walk.jani", from, to);
    folder.verify(&[]).exits(3).complains(&[&["error: walk.jani:"], message].concat());
}

/// Verifies after `policy.jani2nnet` was changed.
#[track_caller]
fn interface_error(from: &str, to: &str, message: &[&str]) {
    let folder = Folder::walk("4.5");
    folder.replace("policy.jani2nnet", from, to);
    folder.verify(&[]).exits(3).complains(&[&["error: policy.jani2nnet:"], message].concat());
}

/// Whether stderr begins with `error: FILE:LINE:COLUMN: `.
fn has_place(stderr: &str, file: &str) -> bool {
    let rest = stderr.strip_prefix(&format!("error: {file}:")).unwrap_or_default();
    let mut parts = rest.splitn(3, ':');
    let is_number =
        |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok_and(|number| number > 0));
    is_number(parts.next())
        && is_number(parts.next())
        && parts.next().is_some_and(|rest| rest.starts_with(' '))
}

#[test]
fn models_truncated_anywhere_are_errors_with_a_place() {
    let folder = Folder::walk("4.5");
    let ends: Vec<usize> = (0..WALK.trim_end().len()).filter(|&end| WALK.is_char_boundary(end)).collect();
    for &end in ends.iter().step_by(97) {
        folder.write("walk.jani", &WALK[..end]);
        let run = folder.verify(&[]).exits(3);
        assert!(has_place(&run.stderr, "walk.jani"), "cut at {end}: {}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn malformed_json_is_an_error_with_a_place() {
    for (from, to) in [
        ("\"x\", \"type\"", "\"x\" \"type\""),
        ("0.25", "0.2.5"),
        ("[{\"name\": \"on\"}]", "[{name: \"on\"}]"),
    ] {
        let folder = Folder::walk("4.5");
        folder.replace("walk.jani", from, to);
        let run = folder.verify(&[]).exits(3).complains(&["JSON syntax error"]);
        assert!(has_place(&run.stderr, "walk.jani"), "{}", run.stderr);
    }
    let folder = Folder::walk("4.5");
    folder.write("policy.jani2nnet", &INTERFACE[..40]);
    assert!(has_place(&folder.verify(&[]).exits(3).stderr, "policy.jani2nnet"));
    std::fs::write(folder.path("policy.jani2nnet"), b"{\"file\": \"\xff\"}").expect("writable");
    folder.verify(&[]).exits(3).complains(&["policy.jani2nnet:1:11: the file is not UTF-8 text"]);
}

#[test]
fn sizes_of_networks_must_fit() {
    interface_error(r#""elements": [1]"#, r#""elements": [2]"#, &["hidden layers"]);
    interface_error(r#"["up", "down"]"#, r#"["up"]"#, &["outputs"]);
    let two = r#"[{"name": "x", "automaton": null}, {"name": "moved", "automaton": null}]"#;
    interface_error(r#"[{"name": "x", "automaton": null}]"#, two, &["inputs"]);
    let network = network("4.5");
    let cases = [
        network.replacen("1,1,2,\n", "1,1,3,\n", 1),
        network.replacen("2,1,2,2,", "3,1,2,2,", 1),
        network.lines().take(10).collect::<Vec<_>>().join("\n"),
        String::new(),
        format!("{network}1,\n"),
    ];
    for (i, text) in cases.iter().enumerate() {
        let folder = Folder::walk("4.5");
        folder.write("policy.nnet", text);
        let run = folder.verify(&[]).exits(3);
        assert!(run.stderr.starts_with("error: policy"), "case {i}: {}", run.stderr);
    }
}

#[test]
fn weights_must_be_finite_numbers() {
    for weight in ["NaN", "nan", "Inf", "-inf", "1e999", "abc", ""] {
        let folder = Folder::walk(weight);
        let run = folder.verify(&[]).exits(3);
        assert!(has_place(&run.stderr, "policy.nnet"), "{weight}: {}", run.stderr);
    }
}

#[test]
fn domains_must_not_be_empty() {
    model_error(
        r#""lower-bound": 0"#,
        r#""lower-bound": 10"#,
        &["domain of x is empty", "at $.variables[0]"],
    );
    let folder = Folder::walk("4.5");
    folder.verify(&["--const", "top=-1"]).exits(3).complains(&["error: walk.jani:", "domain of x is empty"]);
}

#[test]
fn probabilities_must_sum_to_one() {
    model_error(r#"{"exp": 0.75}"#, r#"{"exp": 0.7}"#, &["0.95", "at $.automata[0].edges[0]"]);
    model_error(r#"{"exp": 0.75}"#, r#"{"exp": -0.75}"#, &["at $.automata[0].edges[0]"]);
    // Where they depend on the state, that shows only in a reachable state.
    let folder = Folder::walk("4.5");
    folder.replace("walk.jani", r#"{"exp": 0.75}"#, r#"{"exp": {"op": "/", "left": "x", "right": 4}}"#);
    folder.verify(&[]).exits(3).complains(&["the probabilities sum to", "command: up", "state: ", "x = "]);
}

#[test]
fn outputs_must_be_labels_of_the_model() {
    interface_error(
        r#"["up", "down"]"#,
        r#"["upp", "down"]"#,
        &["no label \"upp\"", "at $.output[0]", "hint: ", "up"],
    );
    interface_error(r#"["up", "down"]"#, r#"["up", "up"]"#, &["listed twice", "at $.output[1]"]);
    interface_error(r#""name": "x""#, r#""name": "z""#, &["no variable \"z\"", "at $.input[0].name"]);
}

#[test]
fn files_that_are_referred_to_must_exist() {
    model_error(
        r#""reach": {"op": "=", "left": "x", "right": "top"}"#,
        r#""reach": {"file": "unsafe.jani"}"#,
        &["unsafe.jani"],
    );
    interface_error(r#""file": "policy.nnet""#, r#""files": "policy.nnet""#, &["\"file\" is missing"]);
    let folder = Folder::walk("4.5");
    folder.replace("policy.jani2nnet", "policy.nnet", "other.nnet");
    folder.verify(&[]).exits(3).complains(&["error: ", "other.nnet: no such file"]);
    folder.replace("walk.jani", r#""op": "PA","#, r#""op": "PA", "file": "gone.jani2nnet","#);
    folder
        .run(&["verify", "walk.jani"])
        .exits(3)
        .complains(&["error: gone.jani2nnet: no such file", "hint: the property names this file"]);
    folder.run(&["verify", "missing.jani"]).exits(3).complains(&["error: missing.jani: no such file"]);
}

#[test]
fn folders_are_not_files() {
    let folder = Folder::walk("4.5");
    std::fs::create_dir(folder.path("folder")).expect("writable");
    folder.run(&["verify", "folder", "--no-policy"]).exits(3).complains(&["folder: this is a directory"]);
    folder
        .run(&["verify", "walk.jani", "--policy", "folder"])
        .exits(3)
        .complains(&["folder: this is a directory"]);
    folder.verify(&["--scorer", "folder"]).exits(3).complains(&["folder: this is a directory"]);
    folder.verify(&["--property", "folder"]).exits(3).complains(&["folder: this is a directory"]);
    folder.run(&["replay", "folder", "walk.jani"]).exits(3).complains(&["folder: this is a directory"]);
}

#[test]
fn deep_nesting_is_refused() {
    let deep = |open: &str, close: &str| format!("{}{}{}", open.repeat(10_000), "true", close.repeat(10_000));
    let not = deep(r#"{"op": "¬", "exp": "#, "}");
    model_error(r#"{"op": "=", "left": "x", "right": "top"}"#, &not, &["nested"]);
    let folder = Folder::walk("4.5");
    folder.write("walk.jani", &deep("[", "]"));
    folder.verify(&[]).exits(3).complains(&["nested"]);
    folder.write("policy.jani2nnet", &deep("{\"a\":", "}"));
    folder.write("walk.jani", WALK);
    folder.verify(&[]).exits(3).complains(&["nested"]);
    let tree = deep(r#"{"feat_id": 0, "split_value": 1, "right": {"leaf_value": [0, 0]}, "left": "#, "}");
    folder.write("policy.jani2nnet", INTERFACE);
    folder.write(
        "policy.nnet",
        &format!(r#"{{"at_type": "REGR", "base_scores": [0, 0], "trees": [{{"structure": {tree}}}]}}"#),
    );
    folder.verify(&[]).exits(3).complains(&["nested"]);
}

#[test]
fn nesting_below_the_limit_is_no_trouble() {
    let folder = Folder::walk("4.5");
    let not = format!(
        "{}{{\"op\": \"=\", \"left\": \"x\", \"right\": 9}}{}",
        "{\"op\": \"¬\", \"exp\": ".repeat(8_000),
        "}".repeat(8_000)
    );
    folder.replace("walk.jani", r#"{"op": "=", "left": "x", "right": "top"}"#, &not);
    folder.verify(&[]).exits(0);
}

#[test]
fn constants_must_not_be_cyclic() {
    model_error(
        r#"{"name": "top", "type": "int", "value": 9}"#,
        r#"{"name": "top", "type": "int", "value": {"op": "+", "left": "tip", "right": 1}}, {"name": "tip", "type": "int", "value": "top"}"#,
        &["at $.constants["],
    );
}

#[test]
fn real_variables_are_named() {
    let folder = Folder::walk("4.5");
    let real = r#"{"name": "speed", "type": {"kind": "bounded", "base": "real", "lower-bound": 0, "upper-bound": 1}, "initial-value": 0.5},
      {"name": "moved""#;
    folder.replace("walk.jani", r#"{"name": "moved""#, real);
    folder
        .verify(&[])
        .exits(3)
        .complains(&["error: the variable `speed` is real-valued; the explicit engine takes"]);
    folder.run(&["simulate", "walk.jani", "--no-policy"]).exits(3).complains(&["`speed` is real-valued"]);
}

#[test]
fn undefined_expressions_are_errors_with_a_state() {
    let folder = Folder::walk("4.5");
    let division = r#"{"exp": {"op": "≤", "left": {"op": "/", "left": 12, "right": "x"}, "right": 7}}"#;
    folder.replace("walk.jani", r#"{"exp": {"op": "≤", "left": "x", "right": 7}}"#, division);
    folder.verify(&[]).exits(3).complains(&[
        "the guard has no value: a division by zero",
        "command: up",
        "x = 0",
    ]);
    folder.verify(&["--out-of-domain", "block"]).exits(0);
}
