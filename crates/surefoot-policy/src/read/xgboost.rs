//! Tree ensembles of `XGBoost`, as `Booster.save_model("….json")` writes them.
//!
//! **Scores** are those of `Booster.predict(…, output_margin=True)` with all trees, bit for bit in the arithmetic
//! `f32`: the base score of the output, then the leaves of its trees in their order, added in single precision. What
//! objectives make of the scores (softmax, a sigmoid per output, an exponential) keeps their order, so the choice is
//! that of the scores.
//!
//! **Two classes** of `binary:logistic` share one score, the log-odds of the second. It is the score of output 1, and
//! that of output 0 is zero: the second class is chosen where it is the likelier one, as by `XGBClassifier.predict`.
//!
//! **Numbers.** `XGBoost` stores singles; their text is the shortest that gives them back. So a number of the file *is*
//! that single, in all arithmetics: `f64` differs from `f32` only in how sums are rounded. The leaves of DART are
//! products of two singles, rounded in `f32` as `XGBoost` does, and exact in `f64`.
//!
//! **Missing values.** `default_left` says where an input without value goes. States have no such inputs: an integer is
//! never missing, 0 neither.
//!
//! **Unknown keys** are errors where they could change what trees mean: a newer version may have written them.

use std::path::Path;

use surefoot_model::json::Json;
use surefoot_model::{InputError, Position};

use super::one_output::{self, Node};
use crate::ensemble::{Ensemble, Tree};
use crate::parameter::Parameter;

const SAVE: &str = "write the model with `Booster.save_model(\"policy.json\")`";

/// How the base score in the file becomes the score with which sums begin.
#[derive(Clone, Copy, PartialEq)]
enum Link {
    Identity,
    /// The file has a probability, sums begin with its log-odds.
    Logit,
    /// The file has a mean, sums begin with its logarithm.
    Log,
}

/// The objective of two classes, which have one score together.
const BINARY: &str = "binary:logistic";

/// The objectives that can have several scores per state, or one for two classes, and mean the same in all versions.
const OBJECTIVES: [(&str, Link); 11] = [
    ("multi:softprob", Link::Identity),
    ("multi:softmax", Link::Identity),
    ("reg:squarederror", Link::Identity),
    ("reg:squaredlogerror", Link::Identity),
    ("reg:absoluteerror", Link::Identity),
    ("reg:pseudohubererror", Link::Identity),
    ("reg:logistic", Link::Logit),
    (BINARY, Link::Logit),
    ("reg:gamma", Link::Log),
    ("reg:tweedie", Link::Log),
    ("count:poisson", Link::Log),
];

/// Refuses what `Booster.dump_model` writes: a list of trees without what is needed to add them up.
pub(super) fn refuse_dump(path: &Path, text: &str) -> Result<(), InputError> {
    if !text.trim_start_matches('\u{feff}').trim_start().starts_with('[') {
        return Ok(());
    }
    let message = "this is a JSON array, a network or tree ensemble was expected";
    let hint = format!("if it is a dump of XGBoost: {SAVE} instead of `dump_model`");
    Err(InputError::at(path, Position { line: 1, column: 1 }, message).with_hint(hint))
}

/// Reads a model whose interface has these numbers of inputs and outputs.
pub(super) fn read(
    root: Json<'_>,
    (inputs, outputs): (usize, usize),
    warnings: &mut Vec<InputError>,
) -> Result<Ensemble, InputError> {
    known(root, &["learner", "version"])?;
    let learner = known(
        root.require("learner")?,
        &[
            "attributes",
            "feature_names",
            "feature_types",
            "gradient_booster",
            "learner_model_param",
            "objective",
        ],
    )?;
    let parameters = known(
        learner.require("learner_model_param")?,
        &["base_score", "boost_from_average", "num_class", "num_feature", "num_target"],
    )?;
    let objective = learner.require("objective")?;
    let scores = check_sizes(parameters, objective, (inputs, outputs))?;
    let link = link(objective)?;
    let mut base = vec![Parameter::from(0.0_f64); outputs - scores];
    base.extend(base_scores(parameters, link, scores)?);
    let (model, weights) = booster(learner.require("gradient_booster")?)?;
    let trees = Model { inputs, outputs, scores, weights }.trees(model)?;
    // What the library makes of the base score depends on how an untrained model came about.
    if trees.is_empty() && link != Link::Identity {
        return Err(model.error("the model has no trees").with_hint("train it for at least one round"));
    }
    warn_of_best_iteration(learner, model, scores, warnings);
    Ensemble::new(inputs, base, trees).map_err(|error| root.error(error.to_string()))
}

/// What the features are called, if the model says it.
pub(super) fn feature_names(root: Json<'_>) -> Result<Vec<String>, InputError> {
    let names = root.get("learner").and_then(|learner| learner.get("feature_names"));
    names.map_or(Ok(Vec::new()), |names| names.array()?.map(|name| Ok(name.str()?.to_string())).collect())
}

/// The object, if all its keys are known.
fn known<'d>(object: Json<'d>, keys: &[&str]) -> Result<Json<'d>, InputError> {
    for (key, value) in object.object()?.members() {
        if !keys.contains(&key) && !["metadata", "comment"].contains(&key) {
            return Err(value
                .error(format!("the key {key:?} is unknown here, it could change what the trees mean"))
                .with_hint("versions 1.6 to 3.2 of XGBoost are known; save the model with one of them"));
        }
    }
    Ok(object)
}

/// A count that is written as a string.
fn count(json: Json<'_>) -> Result<usize, InputError> {
    let parsed = json.str()?.parse::<u32>();
    let message = || format!("expected a number in quotes, found {}", json.describe());
    parsed.map(|number| number as usize).map_err(|_| json.error(message()))
}

/// The number of scores that the trees count for: one per output, or one for two classes.
fn check_sizes(
    parameters: Json<'_>,
    objective: Json<'_>,
    (inputs, outputs): (usize, usize),
) -> Result<usize, InputError> {
    let classes = parameters.require("num_class")?;
    let targets = parameters.get("num_target");
    let counts = (count(classes)?.max(1), targets.map_or(Ok(1), count)?.max(1));
    let is_binary = objective.require("name")?.str()? == BINARY;
    let (place, scores, possible) = match (counts, targets) {
        ((1, 1), _) if is_binary => (classes, 1, 2),
        ((1, 1), _) => {
            return Err(classes.error("a model with one score per state is no action policy").with_hint(
                "train it with \"objective\": \"multi:softprob\" and one class per action, or \"binary:logistic\" for two actions",
            ));
        }
        ((1, found), Some(targets)) => (targets, found, found),
        ((found, 1), _) => (classes, found, found),
        _ => return Err(classes.error("a model with several classes and several targets is not supported")),
    };
    if possible != outputs {
        let what = if scores == possible { "scores" } else { "classes" };
        let message = format!("the model has {possible} {what}, but the interface lists {outputs} outputs");
        return Err(place.error(message));
    }
    let features = parameters.require("num_feature")?;
    let found = count(features)?;
    if found != inputs {
        let message = format!("the model has {found} features, but the interface lists {inputs} inputs");
        return Err(features.error(message).with_hint("list the features in the order of training"));
    }
    Ok(scores)
}

fn link(objective: Json<'_>) -> Result<Link, InputError> {
    let name = objective.require("name")?;
    let text = name.str()?;
    let found = OBJECTIVES.iter().find(|(known, _)| *known == text);
    found.map(|&(_, link)| link).ok_or_else(|| {
        let names: Vec<_> = OBJECTIVES.iter().map(|&(known, _)| known).collect();
        name.error(format!("the objective {text:?} is not supported"))
            .with_hint(format!("supported are {}", names.join(", ")))
    })
}

/// With what each score begins. The text is a number up to version 3.0 and a list in brackets after it.
fn base_scores(parameters: Json<'_>, link: Link, count: usize) -> Result<Vec<Parameter>, InputError> {
    let json = parameters.require("base_score")?;
    let text = json.str()?.trim();
    let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let scores = list.split(',').map(|item| {
        let value = item.trim().parse::<f32>().ok().filter(|value| value.is_finite());
        let margin = link.margin(value.ok_or_else(|| {
            json.error(format!("expected a number or a list of numbers in quotes, found {}", json.describe()))
        })?);
        margin.map(Parameter::from).ok_or_else(|| {
            json.error(format!("the base score {} is out of range for the objective", item.trim()))
        })
    });
    let mut scores: Vec<Parameter> = scores.collect::<Result<_, _>>()?;
    if scores.len() == 1 {
        scores = vec![scores[0]; count];
    }
    if scores.len() != count {
        let message = format!("expected 1 or {count} base scores, found {}", scores.len());
        return Err(json.error(message));
    }
    Ok(scores)
}

impl Link {
    /// The operations of `XGBoost` in single precision. Both use the logarithm of the platform, which need not be
    /// correctly rounded.
    fn margin(self, score: f32) -> Option<f32> {
        let margin = match self {
            Link::Identity => score,
            Link::Logit => -(1.0 / score - 1.0).ln(),
            Link::Log => score.ln(),
        };
        margin.is_finite().then_some(margin)
    }
}

/// The model of a booster, and the weights of its trees if it has any.
fn booster(booster: Json<'_>) -> Result<(Json<'_>, Option<Json<'_>>), InputError> {
    let name = booster.require("name")?;
    match name.str()? {
        "gbtree" => Ok((known(booster, &["name", "model"])?.require("model")?, None)),
        "dart" => {
            known(booster, &["name", "gbtree", "weight_drop"])?;
            let inner = known(booster.require("gbtree")?, &["name", "model"])?;
            Ok((inner.require("model")?, Some(booster.require("weight_drop")?)))
        }
        other => Err(name
            .error(format!("the booster {other:?} is not supported"))
            .with_hint("train with \"booster\": \"gbtree\" or \"dart\"")),
    }
}

/// `Booster.predict` uses all trees, and so do we. The wrapper for scikit-learn stops at the best iteration.
fn warn_of_best_iteration(learner: Json<'_>, model: Json<'_>, scores: usize, warnings: &mut Vec<InputError>) {
    let best = learner.get("attributes").and_then(|attributes| attributes.get("best_iteration"));
    let Some((best, text)) = best.and_then(|best| Some((best, best.as_str()?))) else { return };
    let length = |key| model.get(key).and_then(Json::as_array).map(|items| items.len() as i64);
    let iterations = if let Some(starts) = length("iteration_indptr") {
        starts - 1
    } else {
        // Files of versions before 2.0 have no such list. Each iteration has a forest per score.
        let forest = model.get("gbtree_model_param").and_then(|sizes| sizes.get("num_parallel_tree"));
        let size = forest.and_then(|size| count(size).ok()).unwrap_or(1).max(1);
        length("tree_info").unwrap_or(0) / size as i64 / scores as i64
    };
    // Those versions always name an iteration: the last one, and -1 if there is none.
    if text.parse::<i64>().is_ok_and(|best| best >= iterations - 1) {
        return;
    }
    let message = format!("the best iteration of early stopping is {text}, but all trees count");
    warnings.push(best.error(message).with_hint(
        "`Booster.predict` uses all trees, `XGBClassifier.predict` does not; \
         save `booster[:best_iteration + 1]` to verify the policy without the later trees",
    ));
}

struct Model<'d> {
    inputs: usize,
    outputs: usize,
    /// Scores of trees. If there are fewer of them than outputs, they are those of the last ones.
    scores: usize,
    /// Weights of the trees (DART).
    weights: Option<Json<'d>>,
}

impl Model<'_> {
    fn trees(&self, model: Json<'_>) -> Result<Vec<Tree>, InputError> {
        known(model, &["gbtree_model_param", "trees", "tree_info", "iteration_indptr", "cats"])?;
        let trees = model.require("trees")?;
        let total = trees.array()?.len();
        let announced = model.require("gbtree_model_param")?.require("num_trees")?;
        let expected = count(announced)?;
        if expected != total {
            return Err(announced.error(format!("{expected} trees are announced, but there are {total}")));
        }
        if let Some(last) =
            model.get("iteration_indptr").map(Json::array).transpose()?.and_then(Iterator::last)
            && usize::try_from(last.i64()?) != Ok(total)
        {
            return Err(last.error(format!("the last iteration must end at the number of trees, {total}")));
        }
        let information = items(model.require("tree_info")?, total, "tree")?;
        let weights = self.weights.map(|weights| items(weights, total, "tree")).transpose()?;
        let tree = |(index, tree)| {
            let output = self.output(information[index])?;
            let weight = weights.as_ref().map_or(Ok(1.0), |weights| single(weights[index]))?;
            self.tree((index, tree), output, weight)
        };
        trees.array()?.enumerate().map(tree).collect()
    }

    /// The output that a tree counts for.
    fn output(&self, json: Json<'_>) -> Result<usize, InputError> {
        let number = json.i64()?;
        let score = usize::try_from(number).ok().filter(|&score| score < self.scores).ok_or_else(|| {
            json.error(format!("the tree counts for score {number}, but there are {} scores", self.scores))
        })?;
        Ok(self.outputs - self.scores + score)
    }

    fn tree(&self, (index, tree): (usize, Json<'_>), output: usize, weight: f32) -> Result<Tree, InputError> {
        let nodes = Nodes::read(index, tree)?;
        let node = |index| self.node(&nodes, index, weight);
        let repeated = |index: usize| {
            let message = format!("node {index} is reached on two ways: these are not the nodes of a tree");
            nodes.left[index].error(message)
        };
        one_output::tree(nodes.left.len(), (output, self.outputs), node, repeated)
    }

    fn node(&self, nodes: &Nodes<'_>, index: usize, weight: f32) -> Result<Node, InputError> {
        let value = single(nodes.conditions[index])?;
        let (left, right) = (nodes.left[index], nodes.right[index]);
        if left.i64()? == -1 && right.i64()? == -1 {
            return leaf(nodes.conditions[index], value, weight).map(Node::Leaf);
        }
        if let Some(kind) = nodes.types.get(index).filter(|kind| kind.as_number() != Some("0")) {
            return Err(kind.error("splits by category are not supported").with_hint(
                "train on numbers: categorical features have no order that a threshold could divide",
            ));
        }
        let feature = nodes.features[index];
        let number = feature.i64()?;
        let input = u32::try_from(number).ok().filter(|&input| (input as usize) < self.inputs);
        let feature = input.ok_or_else(|| {
            let inputs = self.inputs;
            feature.error(format!("the tree tests input {number}, but the interface lists {inputs} inputs"))
        })?;
        Ok(Node::Split {
            feature,
            threshold: value.into(),
            left: nodes.child(left)?,
            right: nodes.child(right)?,
        })
    }
}

/// The nodes of a tree: arrays with one entry per node.
struct Nodes<'d> {
    left: Vec<Json<'d>>,
    right: Vec<Json<'d>>,
    features: Vec<Json<'d>>,
    /// Thresholds of splits, values of leaves.
    conditions: Vec<Json<'d>>,
    /// Whether splits compare or test for categories; empty if the file does not say.
    types: Vec<Json<'d>>,
}

impl<'d> Nodes<'d> {
    fn read(index: usize, tree: Json<'d>) -> Result<Self, InputError> {
        known(
            tree,
            &[
                "base_weights",
                "categories",
                "categories_nodes",
                "categories_segments",
                "categories_sizes",
                "default_left",
                "id",
                "leaf_weights",
                "left_children",
                "loss_changes",
                "parents",
                "right_children",
                "split_conditions",
                "split_indices",
                "split_type",
                "sum_hessian",
                "tree_param",
            ],
        )?;
        let parameters = known(
            tree.require("tree_param")?,
            &["num_deleted", "num_feature", "num_nodes", "size_leaf_vector"],
        )?;
        if let Some(size) = parameters.get("size_leaf_vector")
            && count(size)? > 1
        {
            return Err(size
                .error("leaves with one value per output are not supported")
                .with_hint("train with \"multi_strategy\": \"one_output_per_tree\""));
        }
        // The library orders trees by this number.
        if let Some(id) = tree.get("id")
            && usize::try_from(id.i64()?) != Ok(index)
        {
            return Err(id.error(format!("expected trees in their order, here {index}")));
        }
        let nodes = parameters.require("num_nodes")?;
        let count = count(nodes)?;
        if count == 0 {
            return Err(nodes.error("a tree has at least one node"));
        }
        let array = |key| items(tree.require(key)?, count, "node");
        Ok(Nodes {
            left: array("left_children")?,
            right: array("right_children")?,
            features: array("split_indices")?,
            conditions: array("split_conditions")?,
            types: if tree.get("split_type").is_some() { array("split_type")? } else { Vec::new() },
        })
    }

    /// The index of a node that is a child.
    fn child(&self, json: Json<'_>) -> Result<usize, InputError> {
        let number = json.i64()?;
        usize::try_from(number).ok().filter(|&child| child < self.left.len()).ok_or_else(|| {
            json.error(format!("there is no node {number}, the tree has {} nodes", self.left.len()))
        })
    }
}

/// The items of an array that must have one per tree or node.
fn items<'d>(array: Json<'d>, expected: usize, what: &str) -> Result<Vec<Json<'d>>, InputError> {
    let items: Vec<_> = array.array()?.collect();
    if items.len() != expected {
        let message = format!("expected {expected} numbers, one per {what}, found {}", items.len());
        return Err(array.error(message));
    }
    Ok(items)
}

/// A number in single precision.
fn single(json: Json<'_>) -> Result<f32, InputError> {
    // Explains what is wrong, if anything is.
    json.f64()?;
    let number =
        json.as_number().and_then(|text| text.parse::<f32>().ok()).filter(|number| number.is_finite());
    number.ok_or_else(|| json.error(format!("the number {} exceeds the range of f32", json.describe())))
}

/// The value that a leaf adds. A weight of 1 changes nothing.
fn leaf(json: Json<'_>, value: f32, weight: f32) -> Result<Parameter, InputError> {
    let single = value * weight;
    if !single.is_finite() {
        return Err(json.error("this leaf times the weight of its tree exceeds the range of f32"));
    }
    // 24 bits times 24 bits fit into 53.
    Ok(Parameter { double: f64::from(value) * f64::from(weight), single })
}
