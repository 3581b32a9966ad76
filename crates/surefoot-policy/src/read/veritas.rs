//! Tree ensembles in the JSON dump of Veritas: base scores and nested trees with one value per output in each leaf.
//!
//! The type of the ensemble (`at_type`) says how its scores become probabilities or predictions. All these maps are
//! monotone in each state, so the choice is that of the raw sums, whatever the type.

use surefoot_model::InputError;
use surefoot_model::json::Json;

use crate::ensemble::{Ensemble, Tree, TreeNode};
use crate::parameter::Parameter;

const TYPES: [&str; 5] = ["REGR", "CLF", "REGR_MEAN", "CLF_MEAN", "CLF_SOFTMAX"];

/// Reads an ensemble whose interface has these numbers of inputs and outputs.
pub(super) fn read(
    root: Json<'_>,
    (inputs, outputs): (usize, usize),
    warnings: &mut Vec<InputError>,
) -> Result<Ensemble, InputError> {
    root.object()?;
    refuse_other_files(root)?;
    root.warn_unknown_keys(&["at_type", "base_scores", "trees", "metadata", "comment"], warnings);
    let kind = root.require("at_type")?;
    if !TYPES.contains(&kind.str()?) {
        let message = format!("expected one of {}, found {}", TYPES.join(", "), kind.describe());
        return Err(kind.error(message));
    }
    let scores = root.require("base_scores")?;
    let found = scores.array()?.len();
    if found == 1 {
        return Err(scores
            .error("an ensemble with one score per state is no action policy")
            .with_hint("train it with one output per action, also if there are only two actions"));
    }
    if found != outputs {
        let message = format!("expected {outputs} numbers, one per output of the interface, found {found}");
        return Err(scores.error(message));
    }
    let mut reader = Reader { inputs, outputs, warnings, warned_of_range: false };
    let base = scores.array()?.map(|score| reader.number(score)).collect::<Result<_, _>>()?;
    let trees = root.require("trees")?.array()?.map(|tree| reader.tree(tree)).collect::<Result<_, _>>()?;
    Ensemble::new(inputs, base, trees).map_err(|error| root.error(error.to_string()))
}

fn refuse_other_files(root: Json<'_>) -> Result<(), InputError> {
    if let Some(old) = root.get("base_score") {
        return Err(old
            .error("this is an ensemble in the old dump format of Veritas, with one value per leaf")
            .with_hint("write it again with a current version: it has \"at_type\" and \"base_scores\""));
    }
    if let Some(dump) = root.get("tree_info") {
        return Err(dump
            .error("this is a dump of a LightGBM model, a model was expected")
            .with_hint("write it with `Booster.save_model(\"policy.txt\")` instead of `dump_model`"));
    }
    if root.get("input").is_some() && root.get("output").is_some() {
        return Err(root
            .error("this is a policy interface, a network or tree ensemble was expected")
            .with_hint("\"file\" in an interface names the file with the weights or trees"));
    }
    Ok(())
}

struct Reader<'w> {
    inputs: usize,
    outputs: usize,
    warnings: &'w mut Vec<InputError>,
    warned_of_range: bool,
}

impl Reader<'_> {
    fn number(&mut self, json: Json<'_>) -> Result<Parameter, InputError> {
        // Explains what is wrong, if anything is.
        json.f64()?;
        let parameter = json
            .as_number()
            .and_then(Parameter::parse)
            .ok_or_else(|| json.error(format!("expected a number, found {}", json.describe())))?;
        if parameter.single.is_infinite() && !self.warned_of_range {
            self.warned_of_range = true;
            let message = "this number exceeds the range of f32: it is infinite in single precision";
            self.warnings.push(json.error(message));
        }
        Ok(parameter)
    }

    fn tree(&mut self, tree: Json<'_>) -> Result<Tree, InputError> {
        if tree.object()?.get("structure").is_none()
            && (tree.get("lt").is_some() || tree.get("gteq").is_some())
        {
            return Err(tree.error("this is a tree in the old dump format of Veritas").with_hint(
                "write the ensemble again with a current version: its trees have a \"structure\"",
            ));
        }
        tree.warn_unknown_keys(
            &["num_leaf_values", "split_type", "value_type", "structure", "metadata", "comment"],
            self.warnings,
        );
        let values = tree.require("num_leaf_values")?;
        let count = values.i64()?;
        if usize::try_from(count) != Ok(self.outputs) {
            let message = format!("the leaves have {count} values, but there are {} outputs", self.outputs);
            return Err(values.error(message));
        }
        if let Some(split) = tree.get("split_type")
            && split.str()? != "LtSplit"
        {
            let message = format!("expected \"LtSplit\" (input < threshold), found {}", split.describe());
            return Err(split.error(message));
        }
        if let Some(value) = tree.get("value_type")
            && value.str()? != "FloatT"
        {
            let message = format!("the value type {} is ignored, values are numbers", value.describe());
            self.warnings.push(value.error(message));
        }
        let structure = tree.require("structure")?;
        let (nodes, values) = self.nodes(structure)?;
        Tree::new(self.outputs, nodes, values).map_err(|error| structure.error(error.to_string()))
    }

    /// The nodes in preorder, with an explicit stack: trees may be deep.
    fn nodes(&mut self, root: Json<'_>) -> Result<(Vec<TreeNode>, Vec<Parameter>), InputError> {
        let mut nodes: Vec<TreeNode> = Vec::new();
        let mut values = Vec::new();
        let mut leaves = 0;
        // Nodes to read, each with the split whose left or right child it is.
        let mut open: Vec<(Json<'_>, Option<(usize, bool)>)> = vec![(root, None)];
        while let Some((json, parent)) = open.pop() {
            let index = nodes.len();
            match parent.and_then(|(parent, is_left)| Some((nodes.get_mut(parent)?, is_left))) {
                Some((TreeNode::Split { left, .. }, true)) => *left = index as u32,
                Some((TreeNode::Split { right, .. }, false)) => *right = index as u32,
                _ => {}
            }
            if let Some(leaf) = json.object()?.get("leaf_value") {
                json.warn_unknown_keys(&["leaf_value", "metadata", "comment"], self.warnings);
                self.leaf(leaf, &mut values)?;
                nodes.push(TreeNode::Leaf(leaves));
                leaves += 1;
            } else {
                nodes.push(self.split(json)?);
                open.push((json.require("right")?, Some((index, false))));
                open.push((json.require("left")?, Some((index, true))));
            }
        }
        Ok((nodes, values))
    }

    fn leaf(&mut self, leaf: Json<'_>, values: &mut Vec<Parameter>) -> Result<(), InputError> {
        let numbers = leaf.array()?;
        if numbers.len() != self.outputs {
            let message =
                format!("expected {} numbers, one per output, found {}", self.outputs, numbers.len());
            return Err(leaf.error(message));
        }
        for number in numbers {
            values.push(self.number(number)?);
        }
        Ok(())
    }

    /// A split whose children are not known yet.
    fn split(&mut self, json: Json<'_>) -> Result<TreeNode, InputError> {
        json.warn_unknown_keys(
            &["feat_id", "split_value", "left", "right", "metadata", "comment"],
            self.warnings,
        );
        let Some(feature) = json.get("feat_id") else {
            return Err(json.error("expected a split (\"feat_id\") or a leaf (\"leaf_value\")"));
        };
        let number = feature.i64()?;
        let feature =
            usize::try_from(number).ok().filter(|&feature| feature < self.inputs).ok_or_else(|| {
                feature.error(format!(
                    "the tree tests input {number}, but the interface lists {} inputs",
                    self.inputs
                ))
            })?;
        let threshold = self.number(json.require("split_value")?)?;
        Ok(TreeNode::Split { feature: feature as u32, threshold, left: 0, right: 0 })
    }
}
