//! Reading tree ensembles of `XGBoost`.

use surefoot_model::InputError;
use surefoot_policy::{Arithmetic, Policy, Shape};

use crate::fixture::{assert_error, read};

const INTERFACE: &str = r#"{"file": "e.json", "input": [{"name": "x", "automaton": null}, {"name": "b", "automaton": null}],
"output": ["left", "right"]}"#;

/// Tree 0, for output 1: `x < 2.5` is 0.1, else `b < 1` is 0.5, else -2. Tree 1, for output 0, is 0.25.
const GOOD: &str = r#"{"learner": {"attributes": {}, "feature_names": [], "feature_types": [],
"gradient_booster": {"model": {"gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "2"},
"iteration_indptr": [0, 2],
"tree_info": [1, 0], "trees": [
{"base_weights": [9, 9, 9, 9, 9], "default_left": [0, 0, 0, 0, 0], "id": 0,
"left_children": [1, -1, 3, -1, -1],
"right_children": [2, -1, 4, -1, -1],
"split_conditions": [2.5E0, 1E-1, 1, 5E-1, -2E0],
"split_indices": [0, 0, 1, 0, 0],
"split_type": [0, 0, 0, 0, 0],
"tree_param": {"num_deleted": "0", "num_feature": "2", "num_nodes": "5", "size_leaf_vector": "1"}},
{"id": 1, "left_children": [-1], "right_children": [-1], "split_conditions": [2.5E-1], "split_indices": [0],
"tree_param": {"num_nodes": "1"}}]},
"name": "gbtree"},
"learner_model_param": {"base_score": "[5E-1,1E-1]", "num_class": "2", "num_feature": "2", "num_target": "1"},
"objective": {"name": "multi:softprob"}}, "version": [3, 2, 0]}"#;

fn policy(text: &str) -> (Result<Policy, InputError>, Vec<InputError>) {
    read(INTERFACE, text)
}

#[track_caller]
fn changed(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from:?} is not in the text");
    GOOD.replacen(from, to, 1)
}

#[track_caller]
fn error(from: &str, to: &str) -> InputError {
    policy(&changed(from, to)).0.expect_err("a mistake")
}

fn scores(policy: &Policy, arithmetic: Arithmetic, state: [i32; 2]) -> Vec<f64> {
    policy.scores(arithmetic, &state).iter().map(|score| score.lower).collect()
}

#[test]
fn a_good_file_is_read() {
    let (read, warnings) = policy(GOOD);
    let read = read.expect("good");
    assert_eq!(warnings, []);
    assert_eq!(read.scorer.shape(), Shape::Ensemble { inputs: 2, outputs: 2, trees: 2, leaves: 4, depth: 2 });
    let tenth = 0.1_f32;
    assert_eq!(scores(&read, Arithmetic::F32, [2, 1]), [0.75, f64::from(tenth + tenth)]);
    assert_eq!(scores(&read, Arithmetic::F32, [3, 0]), [0.75, f64::from(tenth + 0.5)]);
    assert_eq!(scores(&read, Arithmetic::F32, [3, 1]), [0.75, f64::from(tenth - 2.0)]);
    // Equality goes right.
    let read = policy(&changed("2.5E0", "2")).0.expect("good");
    assert_eq!(scores(&read, Arithmetic::F32, [2, 1]), [0.75, f64::from(tenth - 2.0)]);
}

#[test]
fn numbers_are_singles_in_every_arithmetic() {
    let read = policy(GOOD).0.expect("good");
    let tenth = f64::from(0.1_f32);
    assert_eq!(scores(&read, Arithmetic::F64, [3, 1]), [0.75, tenth - 2.0]);
    // The nearest single to this text is 3.
    let read = policy(&changed("2.5E0", "3.00000001")).0.expect("good");
    assert_eq!(scores(&read, Arithmetic::F64, [3, 1]), [0.75, tenth - 2.0]);
}

#[test]
fn base_scores_are_read_in_all_spellings() {
    let base = |text: &str| {
        let read = policy(&changed("\"[5E-1,1E-1]\"", text)).0.expect("good");
        let leaves = [0.25, -2.0];
        let scores = scores(&read, Arithmetic::F64, [3, 1]);
        [scores[0] - leaves[0], scores[1] - leaves[1]]
    };
    assert_eq!(base("\"5E-1\""), [0.5, 0.5]);
    assert_eq!(base("\"0.5\""), [0.5, 0.5]);
    assert_eq!(base("\"[5E-1]\""), [0.5, 0.5]);
    assert_eq!(base("\"[-0E0, 2E0]\""), [0.0, 2.0]);
    let at = |to: &str, words: &[&str]| assert_error(&error("\"[5E-1,1E-1]\"", to), 15, 39, words);
    at("\"[1,2,3]\"", &["expected 1 or 2 base scores, found 3"]);
    at("\"half\"", &["expected a number or a list of numbers in quotes"]);
    at("\"nan\"", &["expected a number or a list"]);
    at("\"[1E40]\"", &["expected a number or a list"]);
    at("\"\"", &["expected a number or a list"]);
    at("0.5", &["expected a string"]);
}

#[test]
fn base_scores_go_through_the_link_of_the_objective() {
    let read = |objective: &str, base: &str| {
        let text = changed("multi:softprob", objective).replace("[5E-1,1E-1]", base);
        policy(&text.replace("2.5E-1", "0").replace("-2E0", "0"))
    };
    let base = |objective: &str, base: &str| {
        let policy = read(objective, base).0.expect("good");
        scores(&policy, Arithmetic::F32, [3, 1])
    };
    assert_eq!(base("binary:logistic", "[5E-1,2E-1]"), [0.0, f64::from(-4.0_f32.ln())]);
    assert_eq!(base("reg:gamma", "[1,2]"), [0.0, f64::from(2.0_f32.ln())]);
    assert_eq!(base("reg:squarederror", "[1,2]"), [1.0, 2.0]);
    for (objective, score) in [("reg:logistic", "1"), ("reg:logistic", "0"), ("reg:tweedie", "-1")] {
        let error = read(objective, score).0.unwrap_err();
        assert!(error.message.contains("out of range for the objective"), "{error}");
    }
    assert_error(
        &error("multi:softprob", "survival:cox"),
        16,
        23,
        &["\"survival:cox\" is not", "multi:softmax"],
    );
}

#[test]
fn two_classes_share_a_score() {
    // Both trees count for the second class: log-odds of 0.2, then 0.1, 0.5 or -2, then 0.25.
    let binary = changed("\"num_class\": \"2\"", "\"num_class\": \"0\"")
        .replace("multi:softprob", "binary:logistic")
        .replace("[5E-1,1E-1]", "[2E-1]")
        .replace("[1, 0]", "[0, 0]");
    let (read, warnings) = policy(&binary);
    let read = read.expect("good");
    assert_eq!(warnings, []);
    let begin = -4.0_f32.ln();
    assert_eq!(scores(&read, Arithmetic::F32, [2, 1]), [0.0, f64::from(begin + 0.1 + 0.25)]);
    assert_eq!(scores(&read, Arithmetic::F32, [3, 1]), [0.0, f64::from(begin - 2.0 + 0.25)]);
    assert_eq!(read.possible(Arithmetic::F32, &[3, 1], |_| true), [0]);
    let likely = policy(&binary.replace("[2E-1]", "7E-1")).0.expect("good");
    assert_eq!(likely.possible(Arithmetic::F32, &[2, 1], |_| true), [1]);
    // As likely as the other one: the first.
    let even = binary.replace("[2E-1]", "5E-1").replace("1E-1", "-2.5E-1");
    assert_eq!(policy(&even).0.expect("good").possible(Arithmetic::F32, &[2, 1], |_| true), [0]);

    let three = INTERFACE.replace("\"right\"]", "\"right\", \"stay\"]");
    let error = crate::fixture::read(&three, &binary).0.unwrap_err();
    assert_error(&error, 15, 62, &["the model has 2 classes, but the interface lists 3 outputs"]);
    let error = policy(&binary.replace("[0, 0], \"trees", "[0, 1], \"trees")).0.unwrap_err();
    assert_error(&error, 4, 18, &["counts for score 1, but there are 1 scores"]);
    // A regression has no classes.
    let error = policy(&binary.replace("binary:logistic", "reg:logistic")).0.unwrap_err();
    assert_error(&error, 15, 62, &["one score per state is no action policy"]);
}

#[test]
fn dart_multiplies_leaves_by_weights() {
    let dart = GOOD.replace("\"gradient_booster\": {", "\"gradient_booster\": {\"gbtree\": {").replace(
        "\"gbtree\"},\n\"learner",
        "\"gbtree\"}, \"name\": \"dart\", \"weight_drop\": [3E-1, 2]},\n\"learner",
    );
    let read = policy(&dart).0.expect("good");
    let (tenth, weight) = (0.1_f32, 0.3_f32);
    assert_eq!(scores(&read, Arithmetic::F32, [2, 0]), [1.0, f64::from(tenth + tenth * weight)]);
    let exact = f64::from(tenth) * f64::from(weight);
    assert_eq!(scores(&read, Arithmetic::F64, [2, 0]), [1.0, f64::from(tenth) + exact]);
    let error = policy(&dart.replace("[3E-1, 2]", "[3E-1]")).0.unwrap_err();
    assert_error(&error, 14, 51, &["expected 2 numbers, one per tree, found 1"]);
    let error = policy(&dart.replace("2.5E-1", "3E38")).0.unwrap_err();
    assert_error(&error, 12, 79, &["exceeds the range of f32"]);
}

#[test]
fn nodes_may_come_in_any_order() {
    let shuffled = changed("[1, -1, 3, -1, -1]", "[4, -1, -1, 1, -1]")
        .replace("[2, -1, 4, -1, -1]", "[3, -1, -1, 2, -1]")
        .replace("[2.5E0, 1E-1, 1, 5E-1, -2E0]", "[2.5, 0.5, -2, 1, 0.1]")
        .replace("[0, 0, 1, 0, 0]", "[0, 0, 0, 1, 0]");
    assert_eq!(policy(&shuffled).0, policy(GOOD).0);
    // A node that was deleted is not reached.
    let deleted = GOOD
        .replace(", -1, -1]", ", -1, -1, -1]")
        .replace("-2E0]", "-2E0, 7]")
        .replace("1, 0, 0]", "1, 0, 0, 0]")
        .replace("[0, 0, 0, 0, 0],\n\"tree", "[0, 0, 0, 0, 0, 0],\n\"tree")
        .replace("\"5\"", "\"6\"");
    assert_eq!(policy(&deleted).0, policy(GOOD).0);
}

#[test]
fn an_empty_model_has_base_scores_only() {
    let start = GOOD.find("{\"base_weights").expect("it is there");
    let end = GOOD.find("]},\n\"name\"").expect("it is there");
    let empty = format!("{}{}", &GOOD[..start], &GOOD[end..])
        .replace("[1, 0]", "[]")
        .replace("[0, 2]", "[0]")
        .replace("\"num_trees\": \"2\"", "\"num_trees\": \"0\"");
    let read = policy(&empty).0.expect("good");
    assert_eq!(read.possible(Arithmetic::F32, &[0, 0], |_| true), [0]);
    // What the library computes without trees does not follow from the file.
    let error = policy(&empty.replace("multi:softprob", "reg:logistic")).0.unwrap_err();
    assert_error(&error, 2, 31, &["the model has no trees"]);
}

#[test]
fn sizes_are_checked() {
    let single = error("\"num_class\": \"2\"", "\"num_class\": \"0\"");
    assert_error(
        &single,
        15,
        67,
        &["one score per state is no action policy", "\"binary:logistic\" for two actions"],
    );
    assert_error(
        &error("\"num_class\": \"2\"", "\"num_class\": \"3\""),
        15,
        67,
        &["3 scores, but the interface lists 2 outputs"],
    );
    let both = error("\"num_target\": \"1\"", "\"num_target\": \"2\"");
    assert_error(&both, 15, 67, &["several classes and several targets"]);
    let targets =
        changed("\"num_class\": \"2\"", "\"num_class\": \"0\"").replace("target\": \"1", "target\": \"2");
    assert_eq!(policy(&targets).0, policy(GOOD).0);
    assert_error(
        &error("\"num_feature\": \"2\", \"num_target", "\"num_feature\": \"3\", \"num_target"),
        15,
        87,
        &["3 features, but the interface lists 2 inputs"],
    );
    assert_error(&error("\"num_trees\": \"2\"", "\"num_trees\": \"3\""), 2, 94, &["3 trees are announced"]);
    assert_error(&error("[0, 2]", "[0, 1]"), 3, 25, &["must end at the number of trees, 2"]);
    assert_error(&error("[1, 0]", "[1]"), 4, 14, &["expected 2 numbers, one per tree, found 1"]);
    assert_error(&error("[1, 0]", "[2, 0]"), 4, 15, &["counts for score 2, but there are 2 scores"]);
    assert_error(
        &error("\"num_nodes\": \"5\"", "\"num_nodes\": \"4\""),
        6,
        18,
        &["expected 4 numbers, one per node"],
    );
    assert_error(&error("\"num_nodes\": \"1\"", "\"num_nodes\": \"0\""), 13, 29, &["at least one node"]);
    assert_error(&error("\"num_nodes\": \"1\"", "\"num_nodes\": 1"), 13, 29, &["expected a string"]);
    assert_error(&error("\"num_nodes\": \"1\"", "\"num_nodes\": \"-1\""), 13, 29, &["a number in quotes"]);
    assert_error(&error("\"id\": 1", "\"id\": 0"), 12, 8, &["expected trees in their order"]);
}

#[test]
fn nodes_are_checked() {
    let path = "$.learner.gradient_booster.model.trees[0].split_indices[2]";
    assert_error(&error("[0, 0, 1, 0, 0]", "[0, 0, 2, 0, 0]"), 9, 25, &["tests input 2", path]);
    assert_error(&error("[0, 0, 1, 0, 0]", "[0, 0, -1, 0, 0]"), 9, 25, &["tests input -1"]);
    assert_error(&error("[1, -1, 3,", "[5, -1, 3,"), 6, 19, &["there is no node 5, the tree has 5 nodes"]);
    assert_error(&error("[1, -1, 3,", "[-1, -1, 3,"), 6, 19, &["there is no node -1"]);
    assert_error(&error("[1, -1, 3,", "[0, -1, 3,"), 6, 19, &["node 0 is reached on two ways"]);
    assert_error(&error("[1, -1, 3,", "[3, -1, 3,"), 6, 29, &["node 3 is reached on two ways"]);
    assert_error(&error("2.5E0", "1E39"), 8, 22, &["1E39 exceeds the range of f32"]);
    assert_error(&error("2.5E0", "null"), 8, 22, &["expected a number"]);
    assert_error(&error("2.5E0", "1E999"), 8, 22, &["too large"]);
    assert!(error("2.5E0", "NaN").position.is_some_and(|place| place.line == 8));
    assert_error(
        &error("\"split_indices\": [0]", "\"parents\": [0]"),
        12,
        1,
        &["\"split_indices\" is missing"],
    );
}

#[test]
fn what_is_not_supported_is_refused() {
    let category = error("\"split_type\": [0, 0, 0", "\"split_type\": [0, 0, 1");
    assert_error(&category, 10, 22, &["by category", "train on numbers"]);
    assert_error(
        &error("\"size_leaf_vector\": \"1\"", "\"size_leaf_vector\": \"2\""),
        11,
        94,
        &["one value per output", "one_output_per_tree"],
    );
    assert_error(
        &error("\"name\": \"gbtree\"", "\"name\": \"gblinear\""),
        14,
        9,
        &["\"gblinear\" is not supported"],
    );
    for (from, to) in [
        ("\"version\": [", "\"link\": ["),
        ("\"feature_types\"", "\"link\""),
        ("\"iteration_indptr\"", "\"link\""),
        ("\"default_left\"", "\"link\""),
        ("\"num_deleted\"", "\"link\""),
        ("\"name\": \"gbtree\"", "\"name\": \"gbtree\", \"link\": 1"),
        ("\"num_target\"", "\"link\""),
    ] {
        let error = error(from, to);
        assert!(error.message.contains("\"link\" is unknown here"), "{error}");
    }
    let dump = r#"[{"nodeid": 0, "leaf": 1}]"#;
    assert_error(&policy(dump).0.unwrap_err(), 1, 1, &["a JSON array", "dump_model"]);
}

#[test]
fn early_stopping_is_warned_about() {
    let attributes = |best: &str| {
        let attributes = format!("\"attributes\": {{\"best_iteration\": \"{best}\"}}");
        policy(&changed("\"attributes\": {}", &attributes).replace("[0, 2]", "[0, 1, 2]"))
    };
    let (read, warnings) = attributes("0");
    assert_eq!(read, policy(GOOD).0);
    assert_eq!(warnings.len(), 1);
    assert_error(&warnings[0], 1, 47, &["best iteration of early stopping is 0", "all trees count"]);
    assert_eq!(attributes("1"), policy(GOOD));
    // Nonsense is no reason to fail.
    for best in ["18446744073709551615", "9223372036854775807", "-9223372036854775808", "first"] {
        assert_eq!(attributes(best).0, policy(GOOD).0, "{best}");
    }
}

#[test]
fn the_last_iteration_of_old_files_is_no_early_stopping() {
    let old = changed("\"iteration_indptr\": [0, 2],\n", "");
    let with_best =
        |text: &str, best: &str| {
            policy(&text.replace(
                "\"attributes\": {}",
                &format!("\"attributes\": {{\"best_iteration\": \"{best}\"}}"),
            ))
        };
    assert_eq!(with_best(&old, "0"), policy(GOOD));
    assert_eq!(with_best(&old, "-1").1.len(), 1);
    // Two trees per output and iteration: four trees are one iteration.
    let trees =
        old.find("{\"base_weights").expect("it is there")..old.find("]},\n\"name\"").expect("it is there");
    let twice = old[trees.clone()].replace("\"id\": 0", "\"id\": 2").replace("\"id\": 1", "\"id\": 3");
    let forest = format!("{},\n{twice}{}", &old[..trees.end], &old[trees.end..])
        .replace("[1, 0]", "[1, 0, 1, 0]")
        .replace(
            "\"num_parallel_tree\": \"1\", \"num_trees\": \"2\"",
            "\"num_parallel_tree\": \"2\", \"num_trees\": \"4\"",
        );
    let (read, warnings) = with_best(&forest, "0");
    assert!(matches!(read.expect("good").scorer.shape(), Shape::Ensemble { trees: 4, .. }));
    assert_eq!(warnings, []);
    assert_eq!(
        with_best(&forest.replace("\"num_parallel_tree\": \"2\"", "\"num_parallel_tree\": \"1\""), "0")
            .1
            .len(),
        1
    );
}

#[test]
fn truncated_files_are_refused() {
    for length in 1..GOOD.len() {
        assert!(policy(&GOOD[..length]).0.is_err(), "{}", &GOOD[..length]);
    }
}

#[test]
fn a_model_in_place_of_the_interface_is_recognised() {
    assert_error(
        &read(GOOD, GOOD).0.unwrap_err(),
        1,
        1,
        &["this is a tree ensemble, but a policy interface"],
    );
}

#[test]
fn deep_trees_are_read() {
    const DEPTH: usize = 100_000;
    let list = |item: &dyn Fn(usize) -> i64| {
        (0..=2 * DEPTH).map(|node| item(node).to_string()).collect::<Vec<_>>().join(",")
    };
    // Splits are even: a leaf on the left, the next split on the right.
    let is_split = |node: usize| node.is_multiple_of(2) && node < 2 * DEPTH;
    let child = |node: usize, step: usize| if is_split(node) { (node + step) as i64 } else { -1 };
    let conditions = |node: usize| if is_split(node) { node as i64 / 2 } else { node as i64 };
    let tree = format!(
        r#""id": 1, "left_children": [{}], "right_children": [{}], "split_conditions": [{}], "split_indices": [{}],
"tree_param": {{"num_nodes": "{}"}}"#,
        list(&|node| child(node, 1)),
        list(&|node| child(node, 2)),
        list(&conditions),
        list(&|_| 0),
        2 * DEPTH + 1
    );
    let start = GOOD.find("\"id\": 1").expect("it is there");
    let end = GOOD.find("}]},\n\"name\"").expect("it is there");
    let read = policy(&format!("{}{tree}{}", &GOOD[..start], &GOOD[end..])).0.expect("good");
    assert!(matches!(read.scorer.shape(), Shape::Ensemble { depth: DEPTH, .. }));
    assert_eq!(scores(&read, Arithmetic::F64, [3, 0])[0], 9.5);
    assert_eq!(scores(&read, Arithmetic::F64, [100_000, 0])[0], 200_000.5);
}
