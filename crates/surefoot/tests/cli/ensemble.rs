//! Tree ensembles of the training libraries as policies.

use crate::support::Folder;

/// Goes up while `x < limit`, and down from there.
fn xgboost(limit: u32) -> String {
    let tree = format!(
        r#"{{"id": 0, "left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_conditions": [{limit}, 1E0, -1E0],
"split_indices": [0, 0, 0], "split_type": [0, 0, 0], "tree_param": {{"num_nodes": "3", "size_leaf_vector": "1"}}}}"#
    );
    format!(
        r#"{{"learner": {{"gradient_booster": {{"name": "gbtree", "model": {{"gbtree_model_param": {{"num_trees": "1"}},
"tree_info": [0], "trees": [{tree}]}}}}, "learner_model_param": {{"base_score": "[0E0,0E0]", "num_class": "2",
"num_feature": "1"}}, "objective": {{"name": "multi:softprob"}}}}, "version": [3, 2, 0]}}"#
    )
}

/// Goes up while `x ≤ limit`, and down from there.
fn lightgbm(limit: u32) -> String {
    let split = format!(
        "num_leaves=2\nsplit_feature=0\nthreshold={limit}\ndecision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=1 -1"
    );
    format!(
        "tree\nversion=v4\nnum_class=2\nnum_tree_per_iteration=2\nmax_feature_idx=0\n\nTree=0\n{split}\n\n\
         Tree=1\nnum_leaves=1\nleaf_value=0\n\nend of trees\n"
    )
}

fn folder(name: &str, text: &str) -> Folder {
    let folder = Folder::walk("4.5");
    folder.write(name, text);
    folder.replace("policy.jani2nnet", "policy.nnet", name);
    folder.replace("policy.jani2nnet", "  \"elements\": [1],\n", "");
    folder
}

#[test]
fn models_of_xgboost_are_policies() {
    let safe = folder("policy.json", &xgboost(7));
    let shape = "tree ensemble 1-2 with 1 trees, 2 leaves, depth 1";
    safe.run(&["info", "walk.jani", "--policy", "policy.jani2nnet"]).exits(0).prints(&[shape]);
    // Up at x = 6: at most 8.
    safe.verify(&["--arithmetic", "f32"]).exits(0).prints(&[shape]);
    // Up at x = 7: 9 is reached.
    folder("policy.json", &xgboost(8)).verify(&[]).exits(10);
}

#[test]
fn models_of_lightgbm_are_policies() {
    let safe = folder("policy.txt", &lightgbm(6));
    let shape = "tree ensemble 1-2 with 2 trees, 3 leaves, depth 1";
    safe.run(&["info", "walk.jani", "--policy", "policy.jani2nnet"]).exits(0).prints(&[shape]);
    safe.verify(&[]).exits(0).prints(&[shape]);
    folder("policy.txt", &lightgbm(7)).verify(&[]).exits(10);
    let broken = lightgbm(6).replace("threshold=6", "threshold=nan");
    folder("policy.txt", &broken)
        .verify(&[])
        .exits(3)
        .complains(&["error: policy.txt:10:11: expected a finite number (threshold), found `nan`"]);
}
