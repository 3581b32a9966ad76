//! Tree ensembles.

use super::*;
use crate::ensemble::Ensemble;

/// One stump per tree, `x[feature] mode threshold`: attributes of the nodes.
fn stumps(modes: &[&str], thresholds: &[f32]) -> Vec<Attribute> {
    let trees = modes.len() as i64;
    let repeated = |numbers: [i64; 3]| numbers.repeat(modes.len());
    let modes: Vec<&str> = modes.iter().flat_map(|mode| [*mode, "LEAF", "LEAF"]).collect();
    let values: Vec<f32> = thresholds.iter().flat_map(|&threshold| [threshold, 0.0, 0.0]).collect();
    vec![
        ints("nodes_treeids", &(0..trees).flat_map(|tree| [tree; 3]).collect::<Vec<_>>()),
        ints("nodes_nodeids", &repeated([0, 1, 2])),
        ints("nodes_featureids", &repeated([0, 0, 0])),
        ints("nodes_truenodeids", &repeated([1, 0, 0])),
        ints("nodes_falsenodeids", &repeated([2, 0, 0])),
        texts("nodes_modes", &modes),
        floats("nodes_values", &values),
    ]
}

/// Weights: tree, node, output, weight.
fn weights(kind: &str, list: &[(i64, i64, i64, f32)]) -> Vec<Attribute> {
    let column = |name: &str, pick: fn(&(i64, i64, i64, f32)) -> i64| {
        ints(&format!("{kind}_{name}"), &list.iter().map(pick).collect::<Vec<_>>())
    };
    vec![
        column("treeids", |it| it.0),
        column("nodeids", |it| it.1),
        column("ids", |it| it.2),
        floats(&format!("{kind}_weights"), &list.iter().map(|it| it.3).collect::<Vec<_>>()),
    ]
}

fn learned(operator: &str, outputs: &str, attributes: Vec<Attribute>) -> Draft {
    Draft::new(17, &[0, 2]).node_of("ai.onnx.ml", operator, "x", outputs, attributes)
}

fn regressor(mode: &str, threshold: f32, more: Vec<Attribute>) -> Draft {
    let list = [(0, 1, 0, 1.0), (0, 2, 1, 2.0)];
    let attributes =
        [stumps(&[mode], &[threshold]), weights("target", &list), vec![int("n_targets", 2)], more];
    learned("TreeEnsembleRegressor", "y", attributes.concat())
}

#[test]
fn every_comparison_becomes_tests_below() {
    // (1, 0) where the comparison holds, (0, 2) elsewhere.
    type Holds = fn(i32) -> bool;
    let modes: [(&str, Holds); 6] = [
        ("BRANCH_LEQ", |x| x <= 2),
        ("BRANCH_LT", |x| x < 2),
        ("BRANCH_GTE", |x| x >= 2),
        ("BRANCH_GT", |x| x > 2),
        ("BRANCH_EQ", |x| x == 2),
        ("BRANCH_NEQ", |x| x != 2),
    ];
    for (mode, holds) in modes {
        for x in 0..5 {
            let expected = if holds(x) { [1.0, 0.0] } else { [0.0, 2.0] };
            assert_eq!(regressor(mode, 2.0, vec![]).values(&[x, 0], 2), expected, "{mode} {x}");
            assert_eq!(regressor(mode, 2.0, vec![]).singles(&[x, 0], 2), expected.map(|it| it as f32));
        }
        let between = regressor(mode, 2.5, vec![]).values(&[3, 0], 2);
        let high = matches!(mode, "BRANCH_GTE" | "BRANCH_GT" | "BRANCH_NEQ");
        assert_eq!(between, if high { [1.0, 0.0] } else { [0.0, 2.0] });
    }
    assert!(regressor("BRANCH_MEMBER", 2.0, vec![]).refused(2, 2).contains("the mode BRANCH_MEMBER"));
}

#[test]
fn large_inputs_are_compared_after_rounding_in_single_precision() {
    // 2^24 + 1 rounds to 2^24, which is at most the threshold.
    let model = || regressor("BRANCH_LEQ", 16_777_216.0, vec![]);
    assert_eq!(model().values(&[16_777_217, 0], 2), [0.0, 2.0]);
    assert_eq!(model().singles(&[16_777_217, 0], 2), [1.0, 0.0]);
}

#[test]
fn base_values_are_added_last() {
    let model = |more| regressor("BRANCH_LT", 1.0, more);
    assert_eq!(model(vec![floats("base_values", &[0.5, 0.25])]).values(&[0, 0], 2), [1.5, 0.25]);
    // 1 + 1e8 - 1e8 in this order is 0 in single precision.
    let list = [(0, 1, 0, 1.0), (1, 1, 0, 1e8)];
    let attributes = [
        stumps(&["BRANCH_LT"; 2], &[1.0; 2]),
        weights("target", &list),
        vec![int("n_targets", 2), floats("base_values", &[-1e8, 0.0])],
    ];
    let ordered = learned("TreeEnsembleRegressor", "y", attributes.concat());
    assert_eq!(ordered.singles(&[0, 0], 2), [0.0, 0.0]);
    assert!(model(vec![floats("base_values", &[0.5])]).refused(2, 2).contains("1 base values for 2 outputs"));
}

#[test]
fn averages_rank_as_sums() {
    let average = || text("aggregate_function", "AVERAGE");
    assert_eq!(regressor("BRANCH_LT", 1.0, vec![average()]).values(&[0, 0], 2), [1.0, 0.0]);
    let different = vec![average(), floats("base_values", &[0.5, 0.25])];
    assert!(regressor("BRANCH_LT", 1.0, different).refused(2, 2).contains("different base values"));
    let least = vec![text("aggregate_function", "MIN")];
    assert!(regressor("BRANCH_LT", 1.0, least).refused(2, 2).contains("the aggregate function MIN"));
    let zero = vec![text("post_transform", "SOFTMAX_ZERO")];
    assert!(regressor("BRANCH_LT", 1.0, zero).refused(2, 2).contains("SOFTMAX_ZERO does not keep the order"));
}

fn classifier(list: &[(i64, i64, i64, f32)], labels: i64, more: Vec<Attribute>) -> Draft {
    let labels: Vec<i64> = (0..labels).collect();
    let attributes = [
        stumps(&["BRANCH_LT"], &[1.0]),
        weights("class", list),
        vec![ints("classlabels_int64s", &labels)],
        more,
    ];
    learned("TreeEnsembleClassifier", "label p", attributes.concat())
        .node_of("ai.onnx.ml", "ZipMap", "p", "y", vec![])
        .node("Cast", "label", "l", vec![int("to", 7)])
        .outputs(&["l", "y"])
}

#[test]
fn classifiers_have_a_label_and_scores() {
    let list = [(0, 1, 0, 0.25), (0, 1, 2, 0.75), (0, 2, 1, 1.0)];
    let model = || classifier(&list, 3, vec![text("post_transform", "SOFTMAX")]);
    assert_eq!(model().values(&[0, 0], 3), [0.25, 0.0, 0.75]);
    assert_eq!(model().values(&[1, 0], 3), [0.0, 1.0, 0.0]);
    let message = classifier(&list, 2, vec![]).refused(2, 2);
    assert!(message.contains("a leaf weighs output 2, but there are 2 outputs"), "{message}");
}

#[test]
fn classes_may_have_names() {
    let list = [(0, 1, 0, 0.25), (0, 1, 1, 0.5), (0, 2, 1, 1.0)];
    let attributes = [
        stumps(&["BRANCH_LT"], &[1.0]),
        weights("class", &list),
        vec![texts("classlabels_strings", &["down", "up"])],
    ];
    let named = learned("TreeEnsembleClassifier", "label p", attributes.concat()).outputs(&["p"]);
    for (model, names) in [(named, &["down", "up"][..]), (classifier(&list, 2, vec![]), &[])] {
        let read = super::super::read(Path::new("m.onnx"), &model.bytes(), (2, 2), &mut Vec::new());
        assert_eq!(read.expect("good").1, names);
    }
}

#[test]
fn two_classes_with_one_weight_choose_as_the_runtime_does() {
    let choice = |weights: [f32; 2], base: &[f32], x: i32| {
        let list = [(0, 1, 0, weights[0]), (0, 2, 0, weights[1])];
        let more = if base.is_empty() { vec![] } else { vec![floats("base_values", base)] };
        let scores = classifier(&list, 2, more).singles(&[x, 0], 2);
        usize::from(scores[1] > scores[0])
    };
    // Probabilities: above one half.
    assert_eq!((choice([0.5, 0.75], &[], 0), choice([0.5, 0.75], &[], 1)), (0, 1));
    assert_eq!(choice([0.375, 0.75], &[0.25], 0), 1);
    // Margins: above 0.
    assert_eq!((choice([-0.5, 0.25], &[], 0), choice([-0.5, 0.25], &[], 1)), (0, 1));
    assert_eq!((choice([0.0, -0.25], &[], 0), choice([0.25, -0.25], &[0.5], 1)), (0, 1));
}

#[test]
fn unclear_scores_of_two_classes_are_refused() {
    let one = |id| [(0, 1, id, 0.25), (0, 2, id, 0.75)];
    let logistic = || vec![text("post_transform", "LOGISTIC")];
    let base = || vec![floats("base_values", &[0.5, 0.5])];
    assert!(classifier(&one(0), 2, logistic()).refused(2, 2).contains("compare with one half"));
    assert!(classifier(&one(1), 2, vec![]).refused(2, 2).contains("belong to the second class"));
    assert!(classifier(&one(0), 2, base()).refused(2, 2).contains("base values"));
    let both = [(0, 1, 0, 0.25), (0, 1, 1, 0.75), (0, 2, 1, 0.5)];
    assert!(classifier(&both, 2, base()).refused(2, 2).contains("base values"));
    assert_eq!(classifier(&both, 2, logistic()).values(&[0, 0], 2), [0.25, 0.75]);
}

#[test]
fn thresholds_in_double_precision() {
    let threshold = 0.1 + 3.0;
    let doubles = vec![threshold, 0.0, 0.0];
    let tensor = Tensor { doubles, ..tensor("", data_type::DOUBLE, &[3]) };
    let mut attributes = [
        stumps(&["BRANCH_LEQ"], &[0.0]),
        weights("target", &[(0, 1, 0, 1.0)]),
        vec![int("n_targets", 2), with_tensor("nodes_values_as_tensor", tensor)],
    ]
    .concat();
    attributes.retain(|attribute| attribute.name != "nodes_values");
    let Ok(Scorer::Ensemble(ensemble)) = learned("TreeEnsembleRegressor", "y", attributes).read(2, 2) else {
        panic!("trees");
    };
    let split = ensemble.trees()[0].nodes()[0];
    let crate::ensemble::TreeNode::Split { threshold: read, .. } = split else { panic!("a split") };
    assert_eq!((read.double, read.single), (threshold.next_up(), (threshold as f32).next_up()));
}

/// A tree of tests for equality of input 0 with 0, 1, 2, …, each on the failing side of the one before.
fn chain(length: i64) -> Ensemble {
    let mut attributes = vec![
        ints("nodes_treeids", &vec![0; 2 * length as usize + 1]),
        ints("nodes_nodeids", &(0..=2 * length).collect::<Vec<_>>()),
        ints("nodes_featureids", &vec![0; 2 * length as usize + 1]),
        int("n_targets", 2),
    ];
    // Node 2k tests for k, its leaf is 2k + 1.
    let even = |node: i64, then: i64| if node % 2 == 0 && node < 2 * length { then } else { 0 };
    let column = |pick: &dyn Fn(i64) -> i64| (0..=2 * length).map(pick).collect::<Vec<_>>();
    attributes.push(ints("nodes_truenodeids", &column(&|node| even(node, node + 1))));
    attributes.push(ints("nodes_falsenodeids", &column(&|node| even(node, node + 2))));
    let modes: Vec<&str> =
        (0..=2 * length).map(|node| if even(node, 1) == 1 { "BRANCH_EQ" } else { "LEAF" }).collect();
    attributes.push(texts("nodes_modes", &modes));
    attributes
        .push(floats("nodes_values", &(0..=2 * length).map(|node| (node / 2) as f32).collect::<Vec<_>>()));
    let list: Vec<_> = (0..length).map(|test| (0, 2 * test + 1, test % 2, 1.0 + test as f32)).collect();
    attributes.extend(weights("target", &list));
    match learned("TreeEnsembleRegressor", "y", attributes).read(2, 2) {
        Ok(Scorer::Ensemble(ensemble)) => ensemble,
        other => panic!("{other:?}"),
    }
}

#[test]
fn chains_of_tests_for_equality_stay_small() {
    let ensemble = chain(40);
    assert!(ensemble.trees()[0].leaves() <= 2 * 40 + 1, "{}", ensemble.trees()[0].leaves());
    for x in -1..42 {
        let value = if (0..40).contains(&x) { f64::from(x) + 1.0 } else { 0.0 };
        let expected = if x % 2 == 0 { [value, 0.0] } else { [0.0, value] };
        assert_eq!(ensemble_values::<f64>(&ensemble, &[x, 0]), expected, "{x}");
    }
}

#[test]
fn damaged_trees_are_refused() {
    let damaged = |name: &str, list: &[i64]| {
        let mut attributes =
            [stumps(&["BRANCH_LT"], &[1.0]), weights("target", &[(0, 1, 0, 1.0)]), vec![int("n_targets", 2)]]
                .concat();
        let attribute = attributes.iter_mut().find(|attribute| attribute.name == name).expect("it is there");
        attribute.ints = list.to_vec();
        learned("TreeEnsembleRegressor", "y", attributes).refused(2, 2)
    };
    assert!(damaged("nodes_truenodeids", &[7, 0, 0]).contains("tree 0 has no node 7"));
    assert!(damaged("nodes_truenodeids", &[0, 0, 0]).contains("belongs to no root"));
    assert!(damaged("nodes_truenodeids", &[2, 0, 0]).contains("no root or several"));
    assert!(damaged("nodes_nodeids", &[0, 1, 1]).contains("tree 0 has two nodes 1"));
    assert!(damaged("nodes_featureids", &[2, 0, 0]).contains("a tree tests input 2, but there are 2"));
    assert!(damaged("nodes_featureids", &[-1, 0, 0]).contains("holds -1"));
    assert!(damaged("nodes_featureids", &[0]).contains("needs 3 numbers, it has 1"));
    assert!(damaged("target_nodeids", &[0]).contains("it is no leaf"));
    assert!(damaged("target_ids", &[i64::MAX]).contains("but there are 2 outputs"));
    let computed = Draft::new(17, &[0, 2]).node("Relu", "x", "r", vec![]).node_of(
        "ai.onnx.ml",
        "TreeEnsembleRegressor",
        "r",
        "y",
        [stumps(&["BRANCH_LT"], &[1.0]), weights("target", &[]), vec![int("n_targets", 2)]].concat(),
    );
    assert!(computed.refused(2, 2).contains("trees must read the inputs"));
}

#[test]
fn trees_in_the_newer_operator() {
    let doubles = |list: &[f64]| Tensor {
        doubles: list.to_vec(),
        ..tensor("", data_type::DOUBLE, &[list.len() as i64])
    };
    let modes =
        |modes: &[u8]| Tensor { raw: modes.to_vec(), ..tensor("", data_type::UINT8, &[modes.len() as i64]) };
    // x[1] ≤ 1 ? (x[0] > 3 ? leaf 0 : leaf 1) : leaf 2; and a tree that is leaf 3.
    let attributes = || {
        vec![
            int("n_targets", 2),
            ints("tree_roots", &[0, 2]),
            ints("nodes_featureids", &[1, 0, 0]),
            with_tensor("nodes_splits", doubles(&[1.0, 3.0, 0.0])),
            with_tensor("nodes_modes", modes(&[0, 3, 0])),
            ints("nodes_truenodeids", &[1, 0, 3]),
            ints("nodes_trueleafs", &[0, 1, 1]),
            ints("nodes_falsenodeids", &[2, 1, 3]),
            ints("nodes_falseleafs", &[1, 1, 1]),
            ints("leaf_targetids", &[0, 0, 1, 1]),
            with_tensor("leaf_weights", doubles(&[1.0, 2.0, 4.0, 8.0])),
        ]
    };
    let model = || learned("TreeEnsemble", "y", attributes());
    assert_eq!(model().values(&[4, 1], 2), [1.0, 8.0]);
    assert_eq!(model().values(&[3, 1], 2), [2.0, 8.0]);
    assert_eq!(model().values(&[3, 2], 2), [0.0, 12.0]);
    let mut circle = attributes();
    let children = circle.iter_mut().find(|attribute| attribute.name == "nodes_trueleafs").expect("there");
    children.ints = vec![0, 0, 1];
    assert!(learned("TreeEnsemble", "y", circle).refused(2, 2).contains("two parents"));
}

#[test]
fn subnormal_thresholds_that_runtimes_may_flush_are_refused() {
    let model = |mode| regressor(mode, -1e-40, vec![]);
    for mode in ["BRANCH_LEQ", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"] {
        assert!(model(mode).refused(2, 2).contains("is subnormal"), "{mode}");
    }
    assert_eq!(model("BRANCH_LT").values(&[0, 0], 2), model("BRANCH_LT").values(&[1, 0], 2));
}

#[test]
fn a_class_without_weight_is_no_label_of_the_runtime() {
    let refused = |list: &[(i64, i64, i64, f32)]| {
        let message = classifier(list, 3, vec![]).outputs(&["l"]).refused(2, 3);
        assert!(
            message.contains("class 0 has no weight in some leaves")
                && message.contains("hint: give each class")
        );
    };
    // ONNX Runtime 1.31: label 1, scores 0, -1, -2.
    refused(&[(0, 1, 1, -1.0), (0, 1, 2, -2.0), (0, 2, 0, 3.0), (0, 2, 1, 0.5), (0, 2, 2, 0.5)]);
    // Label 1, scores 0, 0, 0.
    refused(&[(0, 1, 1, 0.0), (0, 2, 0, 3.0)]);
    // A leaf that weighs nothing: the runtime fails.
    refused(&[(0, 1, 1, 1.0)]);
}

#[test]
fn classes_that_always_have_a_score_may_have_negative_weights() {
    let all = [(0, 1, 0, -3.0), (0, 1, 1, -1.0), (0, 1, 2, -2.0)];
    let other = all.map(|(tree, _, class, weight)| (tree, 2, class, weight));
    let both = [all, other].concat();
    assert_eq!(classifier(&both, 3, vec![]).values(&[0, 0], 3), [-3.0, -1.0, -2.0]);
    let few = [(0, 1, 1, -1.0), (0, 2, 2, 3.0)];
    let base = vec![floats("base_values", &[-3.0; 3])];
    assert_eq!(classifier(&few, 3, base).values(&[0, 0], 3), [-3.0, -4.0, -3.0]);
    // A tree per class, as the converters of XGBoost and LightGBM write it.
    let list: Vec<_> = (0..3).flat_map(|tree| [(tree, 1, tree, -1.0), (tree, 2, tree, 0.5)]).collect();
    let attributes = [
        stumps(&["BRANCH_LT"; 3], &[1.0; 3]),
        weights("class", &list),
        vec![ints("classlabels_int64s", &[0, 1, 2])],
    ];
    let model = learned("TreeEnsembleClassifier", "l y", attributes.concat());
    assert_eq!(model.values(&[0, 0], 3), [-1.0; 3]);
}

#[test]
fn a_leaf_without_weight_for_the_second_class_makes_its_score_the_negated_first() {
    // ONNX Runtime 1.31: scores -0.6, 0.6 where the leaf weighs class 0 with 0.6.
    let list = [(0, 1, 0, 0.25), (0, 1, 1, 0.75), (0, 2, 0, 0.6)];
    assert!(classifier(&list, 2, vec![]).refused(2, 2).contains("no weight for the second class"));
}

#[test]
fn the_label_of_two_weighed_classes_is_not_taken_for_the_highest_score() {
    // ONNX Runtime 1.31: label 1, since its score is above 0.
    let list = [(0, 1, 0, 0.75), (0, 1, 1, 0.25), (0, 2, 0, 0.25), (0, 2, 1, 0.75)];
    let message = classifier(&list, 2, vec![]).outputs(&["l"]).refused(2, 2);
    assert!(message.contains("`l` need not be the class with the highest score"), "{message}");
    assert_eq!(classifier(&list, 2, vec![]).values(&[0, 0], 2), [0.75, 0.25]);
}

#[test]
fn classes_must_be_listed_once_and_differ() {
    let list: Vec<_> = (0..3).flat_map(|class| [(0, 1, class, 1.0), (0, 2, class, 0.5)]).collect();
    let trees = |labels: &[i64]| {
        [stumps(&["BRANCH_LT"], &[1.0]), weights("class", &list), vec![ints("classlabels_int64s", labels)]]
            .concat()
    };
    let twice = learned("TreeEnsembleClassifier", "l y", trees(&[4, 5, 4]));
    assert!(twice.refused(2, 3).contains("two classes are called the same"));
    let named = learned("TreeEnsembleClassifier", "l p", trees(&[4, 5, 6])).node_of(
        "ai.onnx.ml",
        "ZipMap",
        "p",
        "y",
        vec![ints("classlabels_int64s", &[6, 5, 4])],
    );
    assert!(named.refused(2, 3).contains("others than those of another operator"));
}
