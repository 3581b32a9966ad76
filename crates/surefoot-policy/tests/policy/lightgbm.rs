//! Reading tree ensembles of `LightGBM`.

use std::fmt::Write;

use surefoot_model::InputError;
use surefoot_policy::{Arithmetic, Policy, Scorer, Shape, Tree, TreeNode};

use crate::fixture::{assert_error, read};

const INTERFACE: &str = r#"{"file": "e.txt", "input": [{"name": "x", "automaton": null}, {"name": "b", "automaton": null}],
"output": ["left", "right"]}"#;

/// Tree 0: `x ≤ 2.5` is leaf 0, else `b ≤ 10⁻³⁵` is leaf 2, else leaf 1. Tree 1 is a leaf.
const GOOD: &str = "tree
version=v4
num_class=2
num_tree_per_iteration=2
label_index=0
max_feature_idx=1
objective=multiclass num_class:2
feature_names=x b
feature_infos=[0:5] [0:1]
tree_sizes=10 10

Tree=0
num_leaves=3
num_cat=0
split_feature=0 1
split_gain=1 1
threshold=2.5000000000000004 1.0000000180025095e-35
decision_type=2 8
left_child=-1 -3
right_child=1 -2
leaf_value=1 -1e-2 0.5
leaf_weight=1 1 1
is_linear=0
shrinkage=0.1

Tree=1
num_leaves=1
num_cat=0
split_feature=
threshold=
decision_type=
left_child=
right_child=
leaf_value=0.25

end of trees

parameters:
[boosting: gbdt]
";

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
    assert_eq!(scores(&read, Arithmetic::F64, [2, 1]), [1.0, 0.25]);
    assert_eq!(scores(&read, Arithmetic::F64, [3, 0]), [0.5, 0.25]);
    assert_eq!(scores(&read, Arithmetic::F64, [3, 1]), [-0.01, 0.25]);
    assert_eq!(scores(&read, Arithmetic::F32, [3, 1]), [f64::from(-0.01_f32), 0.25]);
    let windows = GOOD.replace('\n', "\r\n");
    assert_eq!(policy(&windows).0, Ok(read.clone()));
    assert_eq!(policy(&format!("\u{feff}{GOOD}")).0, Ok(read.clone()));
    // Random forests average after the choice, and their file says so.
    assert_eq!(policy(&changed("tree_sizes", "average_output\ntree_sizes")).0, Ok(read));
}

#[test]
fn equality_goes_left_in_both_precisions() {
    // Singles beyond 2^24 are integers with gaps: 2^24 + 1 is none of them, and 2^24 + 3 becomes 2^24 + 4.
    let cases: [(&str, i32, [bool; 2]); 11] = [
        ("3", 3, [true, true]),
        ("3", 4, [false, false]),
        ("-3.5", -4, [true, true]),
        ("-3.5", -3, [false, false]),
        ("0", 0, [true, true]),
        ("-1.0000000180025095e-35", 0, [false, false]),
        ("-1.0000000180025095e-35", -1, [true, true]),
        ("16777216", 16_777_216, [true, true]),
        ("16777217", 16_777_217, [true, true]),
        ("16777219", 16_777_219, [true, false]),
        ("-1e300", i32::MIN, [false, false]),
    ];
    for (threshold, x, left) in cases {
        let read = policy(&changed("2.5000000000000004", threshold)).0.expect("good");
        for (arithmetic, left) in [Arithmetic::F64, Arithmetic::F32].into_iter().zip(left) {
            let score = scores(&read, arithmetic, [x, 1])[0];
            assert_eq!(score == 1.0, left, "{x} <= {threshold} in {arithmetic}");
        }
    }
    let read = policy(&changed("2.5000000000000004", "1.7976931348623157e308")).0.expect("good");
    assert_eq!(scores(&read, Arithmetic::F32, [i32::MAX, 1])[0], 1.0);
}

#[test]
fn thresholds_near_zero_are_not_flushed() {
    let read = policy(&changed("2.5000000000000004", "0")).0.expect("good");
    let Scorer::Ensemble(ensemble) = &read.scorer else { panic!("an ensemble") };
    let subnormal = |node: &TreeNode| matches!(node, TreeNode::Split { threshold, .. } if threshold.single.is_subnormal());
    assert!(!ensemble.trees().iter().flat_map(Tree::nodes).any(subnormal));
    assert_eq!(read.possible(Arithmetic::AnyF32, &[0, 1], |_| true), [0]);
}

#[test]
fn zero_may_be_missing_if_that_changes_nothing() {
    let hint = "zero_as_missing=false";
    // 0 is up to 2.5: its default direction must be left.
    assert_eq!(policy(&changed("decision_type=2 8", "decision_type=6 8")).0, policy(GOOD).0);
    assert_error(&error("decision_type=2 8", "decision_type=4 8"), 18, 15, &["sends 0", hint]);
    let above = changed("2.5000000000000004", "-0.5");
    assert!(policy(&above.replace("decision_type=2 8", "decision_type=4 8")).0.is_ok());
    assert_error(&policy(&above.replace("=2 8", "=6 8")).0.unwrap_err(), 18, 15, &["sends 0", hint]);
    // NaN never occurs.
    assert_eq!(policy(&changed("decision_type=2 8", "decision_type=10 0")).0, policy(GOOD).0);
}

#[test]
fn what_is_not_supported_is_refused() {
    assert_error(&error("decision_type=2 8", "decision_type=2 1"), 18, 17, &["by category"]);
    assert_error(&error("decision_type=2 8", "decision_type=2 12"), 18, 17, &["decision type 12 is unknown"]);
    assert_error(&error("decision_type=2 8", "decision_type=2 18"), 18, 17, &["decision type 18 is unknown"]);
    assert_error(&error("num_cat=0", "num_cat=1"), 14, 9, &["by category", "train on numbers"]);
    assert_error(&error("is_linear=0", "is_linear=1"), 23, 11, &["linear models", "linear_tree=false"]);
    assert_error(&error("is_linear=0", "leaf_const=1 1 1"), 23, 1, &["linear models"]);
    assert_error(&error("is_linear=0", "cat_threshold=1"), 23, 1, &["by category"]);
    assert_error(&error("is_linear=0", "leaf_twist=1"), 23, 1, &["\"leaf_twist\" is unknown in tree 0"]);
    assert_error(&error("label_index=0", "link=cube"), 5, 1, &["\"link\" is unknown in the first section"]);
    assert_error(&error("version=v4", "version=v9"), 2, 9, &["expected v3 or v4", "`v9`"]);
    let dump = r#"{"name": "tree", "version": "v4", "tree_info": []}"#;
    assert_error(&policy(dump).0.unwrap_err(), 1, 48, &["dump of a LightGBM model", "save_model"]);
}

#[test]
fn sizes_are_checked() {
    assert_error(
        &error("num_tree_per_iteration=2", "num_tree_per_iteration=1"),
        4,
        24,
        &["one score per state is no action policy", "`objective=binary` for two actions"],
    );
    assert_error(
        &error("num_tree_per_iteration=2", "num_tree_per_iteration=3"),
        4,
        24,
        &["3 scores, but the interface lists 2 outputs"],
    );
    assert_error(&error("num_class=2", "num_class=3"), 3, 11, &["expected as many classes"]);
    assert_error(
        &error("max_feature_idx=1", "max_feature_idx=2"),
        6,
        17,
        &["3 features, but the interface lists 2", "order of training"],
    );
    assert_error(&error("tree_sizes=10 10", "tree_sizes=10"), 10, 12, &["1 trees are announced", "are 2"]);
    let one = changed("tree_sizes=10 10\n", "").replace("Tree=1", "Tree=0").split_once("Tree=0").map(
        |(head, trees)| {
            format!("{head}Tree=0{}", trees.split_once("Tree=0").map_or("", |(_, second)| second))
        },
    );
    assert_error(&policy(&one.unwrap()).0.unwrap_err(), 1, 1, &["1 trees, expected a multiple of the 2"]);
    assert_error(&error("Tree=1", "Tree=2"), 26, 1, &["expected `Tree=1`, found `Tree=2`"]);
}

#[test]
fn two_classes_share_a_score() {
    let binary = changed("num_tree_per_iteration=2", "num_tree_per_iteration=1")
        .replace("objective=multiclass num_class:2", "objective=binary sigmoid:1")
        .replace("num_class=2", "num_class=1");
    let read = policy(&binary).0.expect("good");
    assert_eq!(scores(&read, Arithmetic::F64, [2, 0]), [0.0, 1.25]);
    assert_eq!(scores(&read, Arithmetic::F64, [3, 1]), [0.0, -0.01 + 0.25]);
    let unlikely = policy(&binary.replace("-1e-2", "-0.25")).0.expect("good");
    // As likely as the other one: the first.
    assert_eq!(unlikely.possible(Arithmetic::F64, &[3, 1], |_| true), [0]);
    assert_eq!(unlikely.possible(Arithmetic::F64, &[2, 1], |_| true), [1]);

    let three = INTERFACE.replace("\"right\"]", "\"right\", \"stay\"]");
    let error = crate::fixture::read(&three, &binary).0.unwrap_err();
    assert_error(&error, 4, 24, &["the model has 2 classes, but the interface lists 3 outputs"]);
    let error = policy(&binary.replace("num_class=1", "num_class=2")).0.unwrap_err();
    assert_error(&error, 3, 11, &["expected as many classes"]);
    let error = policy(&binary.replace("=binary", "=cross_entropy")).0.unwrap_err();
    assert_error(&error, 4, 24, &["one score per state is no action policy"]);
}

#[test]
fn nodes_are_checked() {
    assert_error(
        &error("num_leaves=3", "num_leaves=4"),
        21,
        23,
        &["expected 4 numbers (leaf_value), found 3"],
    );
    assert_error(&error("num_leaves=3", "num_leaves=0"), 13, 12, &["expected a positive integer"]);
    assert_error(&error("split_feature=0 1", "split_feature=0"), 15, 16, &["expected 2 numbers", "found 1"]);
    assert_error(&error("split_feature=0 1", "split_feature=0 2"), 15, 17, &["input from 0 to 1", "`2`"]);
    assert_error(&error("left_child=-1 -3", "left_child=-1 -4"), 19, 15, &["leaf from -3 to -1", "`-4`"]);
    assert_error(&error("right_child=1 -2", "right_child=2 -2"), 20, 13, &["split from 0 to 1", "`2`"]);
    assert_error(&error("right_child=1 -2", "right_child=0 -2"), 12, 1, &["split 0", "reached on two ways"]);
    assert_error(&error("left_child=-1 -3", "left_child=-1 -1"), 12, 1, &["leaf 0", "reached on two ways"]);
    assert_error(&error("threshold=2.5", "Threshold=2.5"), 17, 1, &["\"Threshold\" is unknown"]);
    assert_error(&error("shrinkage=0.1", "num_cat=0"), 24, 1, &["\"num_cat\" stands twice in tree 0"]);
    assert_error(&error("left_child=-1 -3\n", ""), 12, 1, &["\"left_child\" is missing in tree 0"]);
}

#[test]
fn numbers_are_checked() {
    for text in ["nan", "inf", "-inf", "1e999", "0x1", "1,5"] {
        let words = ["expected a finite number (threshold)", &format!("`{text}`")];
        assert_error(&error("2.5000000000000004", text), 17, 11, &words);
        assert_error(&error("-1e-2", text), 21, 14, &["expected a finite number (leaf_value)"]);
    }
    let (read, warnings) = policy(&changed("-1e-2", "1e50"));
    assert!(read.is_ok());
    assert_error(&warnings[0], 21, 14, &["exceeds the range of f32"]);
}

#[test]
fn truncated_files_are_refused() {
    let end = GOOD.find("end of trees").expect("it is there");
    let header = "tree\nversion=v4\n".len();
    for length in (header..end).filter(|&length| GOOD.is_char_boundary(length)) {
        assert!(policy(&GOOD[..length]).0.is_err(), "{}", &GOOD[..length]);
    }
    let error = policy(&GOOD[..end]).0.unwrap_err();
    assert_error(&error, 35, 1, &["the file ends, but `end of trees` must follow", "truncated"]);
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
    let list = |item: &dyn Fn(usize) -> String| {
        (0..DEPTH).fold(String::new(), |mut text, index| {
            write!(text, " {}", item(index)).expect("strings grow");
            text
        })
    };
    let tree = format!(
        "Tree=0\nnum_leaves={}\nsplit_feature={}\nthreshold={}\ndecision_type={}\nleft_child={}\nright_child={}\nleaf_value=7{}\n\n",
        DEPTH + 1,
        list(&|_| "0".into()),
        list(&|index| index.to_string()),
        list(&|_| "2".into()),
        list(&|index| format!("-{}", index + 2)),
        list(&|index| if index + 1 < DEPTH { (index + 1).to_string() } else { "-1".into() }),
        list(&|index| (index % 5).to_string()),
    );
    let start = GOOD.find("Tree=0").expect("it is there");
    let end = GOOD.find("Tree=1").expect("it is there");
    let read = policy(&format!("{}{tree}{}", &GOOD[..start], &GOOD[end..])).0.expect("good");
    assert!(matches!(read.scorer.shape(), Shape::Ensemble { depth: DEPTH, .. }));
    assert_eq!(scores(&read, Arithmetic::F64, [3, 0])[0], 3.0);
    assert_eq!(scores(&read, Arithmetic::F64, [99_998, 0])[0], 3.0);
    assert_eq!(scores(&read, Arithmetic::F64, [100_000, 0])[0], 7.0);
}
