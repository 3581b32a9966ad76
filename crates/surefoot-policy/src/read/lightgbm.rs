//! Tree ensembles of `LightGBM`, as `Booster.save_model("….txt")` writes them.
//!
//! The file begins with a section of `key=value` lines, one section per tree follows, each beginning with `Tree=…`,
//! then the line `end of trees`. What comes after it (importances, training parameters) is not needed.
//!
//! **Scores** are those of `Booster.predict(…, raw_score=True)`, bit for bit in the arithmetic `f64`: the leaves of the
//! trees of an output, added in double precision in their order. Trees take turns: of `K` outputs, tree `i` counts for
//! output `i mod K`. Random forests divide sums by the number of trees only after that (`average_output`), and
//! objectives turn them into probabilities; neither changes their order.
//!
//! **Two classes** of `objective=binary` share one score, the log-odds of the second, up to a factor. It is the score of
//! output 1, and that of output 0 is zero: the second class is chosen where it is the likelier one, as by
//! `LGBMClassifier.predict`.
//!
//! **Splits** send `x ≤ t` left, ours send `x < t'`. Inputs are integers, so `t' = ⌊t⌋ + 1` is the same split. That
//! also moves the thresholds `±10⁻³⁵`, with which `LightGBM` divides zero from its neighbours, away from where
//! `any-f32` would have to think of numbers that are flushed to zero.
//!
//! **Missing values.** States have none, so that most of `decision_type` does not matter. With `zero_as_missing`
//! however, 0 goes into a default direction. Such a split is read if that is the direction of its threshold too.

use std::collections::HashMap;
use std::path::Path;

use surefoot_model::{InputError, Position};

use super::line::Line;
use super::one_output::{self, Node};
use crate::ensemble::{Ensemble, Tree};
use crate::parameter::Parameter;

const END: &str = "end of trees";

/// What is refused, and what to do about it.
type Refusal = (&'static str, &'static str);
const LINEAR: Refusal =
    ("trees with linear models in their leaves are not supported", "train with `linear_tree=false`");
const CATEGORICAL: Refusal = (
    "splits by category are not supported",
    "train on numbers: categorical features have no order that a threshold could divide",
);

/// Keys of the first section. Those that are not read do not change scores.
const HEADER: [&str; 11] = [
    "version",
    "num_class",
    "num_tree_per_iteration",
    "label_index",
    "max_feature_idx",
    "objective",
    "average_output",
    "feature_names",
    "monotone_constraints",
    "feature_infos",
    "tree_sizes",
];

/// Keys of a tree. Those that are not read do not change scores: `shrinkage` is part of the leaf values already.
const TREE: [&str; 16] = [
    "num_leaves",
    "num_cat",
    "split_feature",
    "split_gain",
    "threshold",
    "decision_type",
    "left_child",
    "right_child",
    "leaf_value",
    "leaf_weight",
    "leaf_count",
    "internal_value",
    "internal_weight",
    "internal_count",
    "is_linear",
    "shrinkage",
];

/// Whether the text is a model of `LightGBM`.
pub(super) fn is_model(text: &str) -> bool {
    let mut lines =
        text.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next() == Some("tree") && lines.next().is_some_and(|line| line.starts_with("version="))
}

/// Reads the model in `text`, the contents of the file at `path`, whose interface has these numbers of inputs and
/// outputs.
pub(super) fn read(
    path: &Path,
    text: &str,
    (inputs, outputs): (usize, usize),
    warnings: &mut Vec<InputError>,
) -> Result<Ensemble, InputError> {
    let (header, sections) = sections(path, text)?;
    let scores = check_header(&header, &sections, (inputs, outputs))?;
    let mut trees = Vec::new();
    let mut warned_of_range = false;
    for (index, section) in sections.iter().enumerate() {
        let nodes = Nodes::read(section, inputs)?;
        if !warned_of_range
            && let Some(leaf) = nodes.values.iter().position(|value| value.single.is_infinite())
        {
            warned_of_range = true;
            let message = "this number exceeds the range of f32: it is infinite in single precision";
            warnings.push(section.require("leaf_value")?.error_at(leaf, message));
        }
        trees.push(nodes.tree((outputs - scores + index % scores, outputs))?);
    }
    Ensemble::new(inputs, vec![Parameter::from(0.0_f64); outputs], trees)
        .map_err(|error| InputError::in_file(path, error.to_string()))
}

/// What the features are called, if the model says it.
pub(super) fn feature_names(path: &Path, text: &str) -> Result<Vec<String>, InputError> {
    let (header, _) = sections(path, text)?;
    header
        .get("feature_names")
        .map_or(Ok(Vec::new()), |line| line.values(line.len(), "a name", |name| Some(name.to_string())))
}

/// Lines `key=value`. A line without `=` is a key without value.
struct Section<'t> {
    path: &'t Path,
    /// The line with which the section begins.
    first: u64,
    name: String,
    entries: HashMap<&'t str, (u64, &'t str)>,
}

impl<'t> Section<'t> {
    fn new(path: &'t Path, first: u64, name: String) -> Self {
        Section { path, first, name, entries: HashMap::new() }
    }

    fn add(&mut self, number: u64, text: &'t str, known: &[&str]) -> Result<(), InputError> {
        let key = text.split('=').next().unwrap_or(text).trim();
        let error = |message| InputError::at(self.path, Position { line: number, column: 1 }, message);
        if !known.contains(&key) {
            let (message, hint) = match key {
                "leaf_const" | "num_features" | "leaf_features" | "leaf_coeff" => (LINEAR.0.into(), LINEAR.1),
                "cat_boundaries" | "cat_threshold" => (CATEGORICAL.0.into(), CATEGORICAL.1),
                _ => (
                    format!("{key:?} is unknown in {}, it could change what the trees mean", self.name),
                    "versions 2.3 to 4.7 of LightGBM are known; save the model with one of its versions",
                ),
            };
            return Err(error(message).with_hint(hint));
        }
        if self.entries.insert(key, (number, text)).is_some() {
            return Err(error(format!("{key:?} stands twice in {}", self.name)));
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<Line<'t>> {
        let &(number, text) = self.entries.get(key)?;
        let start = text.find('=').map_or(text.len(), |at| at + 1);
        Some(Line::separated_by_blanks(self.path, number, (text, start), key))
    }

    fn require(&self, key: &str) -> Result<Line<'t>, InputError> {
        self.get(key).ok_or_else(|| self.error(format!("{key:?} is missing in {}", self.name)))
    }

    fn error(&self, message: String) -> InputError {
        InputError::at(self.path, Position { line: self.first, column: 1 }, message)
    }
}

/// The first section, and those of the trees.
fn sections<'t>(path: &'t Path, text: &'t str) -> Result<(Section<'t>, Vec<Section<'t>>), InputError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut header = Section::new(path, 1, "the first section".into());
    let mut trees: Vec<Section<'t>> = Vec::new();
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    // The line `tree`, by which the format was recognised.
    lines.next();
    let mut last = 1;
    for (number, line) in lines {
        last = number;
        if line.trim() == END {
            return Ok((header, trees));
        }
        if let Some(index) = line.trim().strip_prefix("Tree=") {
            let expected = trees.len();
            if index.parse() != Ok(expected) {
                let message = format!("expected `Tree={expected}`, found `Tree={index}`");
                return Err(InputError::at(path, Position { line: number, column: 1 }, message));
            }
            trees.push(Section::new(path, number, format!("tree {expected}")));
        } else {
            match trees.last_mut() {
                None => header.add(number, line, &HEADER)?,
                Some(tree) => tree.add(number, line, &TREE)?,
            }
        }
    }
    let message = format!("the file ends, but `{END}` must follow");
    Err(InputError::at(path, Position { line: last + 1, column: 1 }, message)
        .with_hint("the file may be truncated"))
}

/// The number of scores that the trees count for: one per output, or one for two classes.
fn check_header(
    header: &Section<'_>,
    trees: &[Section<'_>],
    (inputs, outputs): (usize, usize),
) -> Result<usize, InputError> {
    header.require("version")?.values(1, "v3 or v4", |field| ["v3", "v4"].contains(&field).then_some(()))?;
    let line = header.require("num_tree_per_iteration")?;
    let scores = line.count()?;
    let is_binary = header.get("objective").is_some_and(|objective| objective.first() == Some("binary"));
    let (possible, what) = match scores {
        1 if is_binary => (2, "classes"),
        1 => {
            return Err(line
                .error_at(0, "a model with one score per state is no action policy")
                .with_hint("train it with `objective=multiclass` and one class per action, or `objective=binary` for two actions"));
        }
        _ => (scores, "scores"),
    };
    if possible != outputs {
        let message = format!("the model has {possible} {what}, but the interface lists {outputs} outputs");
        return Err(line.error_at(0, message));
    }
    let classes = header.require("num_class")?;
    if classes.count()? != scores {
        return Err(classes.error_at(0, format!("the model has {scores} scores, expected as many classes")));
    }
    let line = header.require("max_feature_idx")?;
    let features = line.values(1, "an index", |field| field.parse::<u32>().ok())?[0] as usize + 1;
    if features != inputs {
        let message = format!("the model has {features} features, but the interface lists {inputs} inputs");
        return Err(line.error_at(0, message).with_hint("list the features in the order of training"));
    }
    let total = trees.len();
    if let Some(sizes) = header.get("tree_sizes")
        && sizes.len() != total
    {
        let message = format!("{} trees are announced, but there are {total}", sizes.len());
        return Err(sizes.error_at(0, message));
    }
    if !total.is_multiple_of(scores) {
        let message = format!("there are {total} trees, expected a multiple of the {scores} scores");
        return Err(header.error(message).with_hint("the file may be truncated"));
    }
    Ok(scores)
}

/// The nodes of a tree. Splits come first, leaves after them.
struct Nodes<'s, 't> {
    section: &'s Section<'t>,
    features: Vec<u32>,
    thresholds: Vec<Parameter>,
    /// Left and right child of each split.
    children: Vec<[usize; 2]>,
    values: Vec<Parameter>,
}

impl<'s, 't> Nodes<'s, 't> {
    fn read(section: &'s Section<'t>, inputs: usize) -> Result<Self, InputError> {
        let line = section.require("num_leaves")?;
        let leaves = line.count()?;
        for (key, (message, hint)) in [("num_cat", CATEGORICAL), ("is_linear", LINEAR)] {
            if let Some(line) = section.get(key)
                && line.values(1, "a number from 0", |field| field.parse::<u32>().ok())? != [0]
            {
                return Err(line.error_at(0, message).with_hint(hint));
            }
        }
        let values = section.require("leaf_value")?.numbers(leaves)?;
        let mut nodes =
            Nodes { section, features: Vec::new(), thresholds: Vec::new(), children: Vec::new(), values };
        if leaves > 1 {
            nodes.read_splits(leaves - 1, inputs)?;
        }
        Ok(nodes)
    }

    fn read_splits(&mut self, count: usize, inputs: usize) -> Result<(), InputError> {
        let expected = format!("an input from 0 to {}", inputs.saturating_sub(1));
        self.features = self.section.require("split_feature")?.values(count, &expected, |field| {
            field.parse::<u32>().ok().filter(|&feature| (feature as usize) < inputs)
        })?;
        let thresholds = self.section.require("threshold")?.values(count, "a finite number", |field| {
            field.parse::<f64>().ok().filter(|threshold| threshold.is_finite())
        })?;
        let types = self.section.require("decision_type")?;
        let kinds = types.values(count, "a number from 0 to 255", |field| field.parse::<u8>().ok())?;
        for (index, (&kind, &threshold)) in kinds.iter().zip(&thresholds).enumerate() {
            check_decision(kind, threshold, |message| types.error_at(index, message))?;
        }
        self.thresholds = thresholds.into_iter().map(up_to).collect();
        let left = self.children(count, "left_child")?;
        let right = self.children(count, "right_child")?;
        self.children = left.into_iter().zip(right).map(|(left, right)| [left, right]).collect();
        Ok(())
    }

    /// The children on one side: `i` is split `i`, `-1 - i` is leaf `i`.
    fn children(&self, count: usize, key: &str) -> Result<Vec<usize>, InputError> {
        let leaves = self.values.len();
        let expected = format!("a split from 0 to {} or a leaf from -{leaves} to -1", count - 1);
        self.section.require(key)?.values(count, &expected, |field| {
            let child: i64 = field.parse().ok()?;
            match usize::try_from(child) {
                Ok(split) => (split < count).then_some(split),
                Err(_) => usize::try_from(!child).ok().filter(|&leaf| leaf < leaves).map(|leaf| count + leaf),
            }
        })
    }

    fn tree(&self, outputs: (usize, usize)) -> Result<Tree, InputError> {
        let splits = self.children.len();
        let node = |index: usize| {
            let Some(&[left, right]) = self.children.get(index) else {
                return Ok(Node::Leaf(self.values[index - splits]));
            };
            Ok(Node::Split { feature: self.features[index], threshold: self.thresholds[index], left, right })
        };
        let repeated = |index: usize| {
            let (kind, index) = if index < splits { ("split", index) } else { ("leaf", index - splits) };
            self.section.error(format!("{kind} {index} of this tree is reached on two ways"))
        };
        one_output::tree(splits + self.values.len(), outputs, node, repeated)
    }
}

/// Refuses splits that do more than compare with the threshold. The bits of `kind` are: category (1), default
/// direction left (2), and what counts as missing (4 and 8: nothing, zero or NaN).
fn check_decision(kind: u8, threshold: f64, error: impl Fn(String) -> InputError) -> Result<(), InputError> {
    if kind & 1 != 0 {
        return Err(error(CATEGORICAL.0.into()).with_hint(CATEGORICAL.1));
    }
    let default_left = kind & 2 != 0;
    match kind >> 2 {
        0 | 2 => Ok(()),
        1 if default_left == (0.0 <= threshold) => Ok(()),
        1 => Err(error("this split sends 0, which counts as missing, against its threshold".into())
            .with_hint("train with `zero_as_missing=false`")),
        _ => Err(error(format!("the decision type {kind} is unknown"))),
    }
}

/// The threshold `t'` with `x ≤ t` if and only if `x < t'`, for each integer of 32 bits, also if it is rounded to
/// single precision.
fn up_to(threshold: f64) -> Parameter {
    // Exact below 2⁵³; beyond, all integers of 32 bits lie on one side.
    let double = threshold.floor() + 1.0;
    let nearest = double as f32;
    // No single lies between the two: `x < double` if and only if `x < single`, for each single `x`.
    let single = if f64::from(nearest) < double { nearest.next_up() } else { nearest };
    Parameter { double, single }
}
