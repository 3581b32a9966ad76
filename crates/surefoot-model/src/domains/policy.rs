//! Small random policies for tests: neural networks and tree ensembles with their interface files.
//!
//! The same seed gives the same bytes on every platform: the numbers come from `SplitMix64` and from correctly rounded
//! operations only, and are written with at most 8 decimals.

use std::fmt::Write;

use serde_json::{Value, json};

use super::build::render;
use super::parameter::{self, ParameterError};
use super::{Generated, GeneratedFile, InputVariable};

/// What a policy reads and chooses from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Name of the policy, from which the file names are made.
    pub name: String,
    /// The observed variables, at least one.
    pub inputs: Vec<InputVariable>,
    /// The labels that the policy scores, at least two.
    pub outputs: Vec<String>,
    /// Whether the policy chooses among the applicable labels only.
    pub filter: bool,
}

/// A random network has no more weights; its file would have a hundred megabytes.
const MOST_WEIGHTS: usize = 10_000_000;

/// Shape of a random ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnsembleShape {
    /// Number of trees, at least 1; boosted: per output.
    pub trees: usize,
    /// Splits on the way to a leaf, at least 1; fewer where the variables' domains are used up.
    pub depth: usize,
    /// Whether each tree scores a single output (as gradient boosting does) or all of them (as random forests do).
    pub boosted: bool,
}

/// The two files of a policy; the interface refers to the other by name, so they belong into one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFiles {
    /// The network (`.nnet`) or the ensemble (`.ensemble.json`).
    pub policy: GeneratedFile,
    /// The interface (`.jani2nnet` or `.interface.json`).
    pub interface: GeneratedFile,
}

impl Interface {
    /// The interface of a policy that observes all variables of a generated instance and chooses from all its labels.
    pub fn of(generated: &Generated, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            inputs: generated.variables.clone(),
            outputs: generated.labels.clone(),
            filter: false,
        }
    }

    fn check(&self) -> Result<(), ParameterError> {
        parameter::count("inputs", self.inputs.len(), 1..=100_000)?;
        parameter::count("outputs", self.outputs.len(), 2..=100_000)?;
        for input in &self.inputs {
            if input.lower > input.upper {
                let given = format!("`{}` over {}..{}", input.name, input.lower, input.upper);
                return Err(ParameterError::new("inputs", given, "variables with a nonempty domain"));
            }
        }
        Ok(())
    }

    fn to_json(&self, file: &str) -> Value {
        let input = |input: &InputVariable| json!({"name": input.name, "automaton": null});
        json!({
            "file": file,
            "filter": self.filter,
            "input": self.inputs.iter().map(input).collect::<Vec<_>>(),
            "output": self.outputs,
        })
    }
}

/// A random feed-forward network with `ReLU` layers of the given `hidden` sizes.
///
/// Weights are uniform (He initialisation); those of the first layer are scaled by the inputs' domains, so that every
/// variable matters about as much as any other.
pub fn random_network(
    interface: &Interface,
    hidden: &[usize],
    seed: u64,
) -> Result<PolicyFiles, ParameterError> {
    interface.check()?;
    parameter::count("hidden", hidden.len(), 1..=1_000)?;
    for &size in hidden {
        parameter::count("hidden", size, 1..=1_000_000)?;
    }
    let inputs = &interface.inputs;
    let sizes: Vec<usize> =
        [inputs.len()].into_iter().chain(hidden.iter().copied()).chain([interface.outputs.len()]).collect();
    let widest = sizes.iter().max().expect("there are at least three layers");
    let weights: usize =
        sizes.windows(2).map(|layer| layer[0].saturating_mul(layer[1])).fold(0, usize::saturating_add);
    if weights > MOST_WEIGHTS {
        let given: Vec<String> = hidden.iter().map(ToString::to_string).collect();
        let allowed = format_args!("a shape with at most {MOST_WEIGHTS} weights, not {weights}");
        return Err(ParameterError::new("hidden", given.join(","), allowed));
    }

    let mut text = String::from("// random policy for tests\n");
    write_row(&mut text, [sizes.len() - 1, inputs.len(), interface.outputs.len(), *widest]);
    write_row(&mut text, &sizes);
    write_row(&mut text, [0]);
    write_row(&mut text, inputs.iter().map(|input| input.lower));
    write_row(&mut text, inputs.iter().map(|input| input.upper));
    write_row(&mut text, std::iter::repeat_n(0, inputs.len() + 1));
    write_row(&mut text, std::iter::repeat_n(1, inputs.len() + 1));

    let mut random = SplitMix64(seed);
    let mut scale = Some(inputs);
    for layer in sizes.windows(2) {
        let [from, to] = [layer[0], layer[1]];
        let limit = (6.0 / from as f64).sqrt();
        let mut biases = Vec::with_capacity(to);
        for _ in 0..to {
            let mut weights: Vec<f64> = (0..from).map(|_| random.symmetric(limit)).collect();
            let mut bias = random.symmetric(limit);
            if let Some(inputs) = scale {
                bias += normalise(&mut weights, inputs);
            }
            write_row(&mut text, weights.into_iter().map(decimal));
            biases.push(bias);
        }
        for bias in biases {
            write_row(&mut text, [decimal(bias)]);
        }
        scale = None;
    }

    let file = format!("{}.nnet", interface.name);
    let mut description = interface.to_json(&file);
    description["elements"] = hidden.into();
    Ok(PolicyFiles {
        policy: GeneratedFile { name: file, contents: text },
        interface: GeneratedFile {
            name: format!("{}.jani2nnet", interface.name),
            contents: render(&description),
        },
    })
}

/// Turns weights for inputs in [−1, 1] into weights for the inputs' own domains; the result is the bias to add.
fn normalise(weights: &mut [f64], inputs: &[InputVariable]) -> f64 {
    let mut bias = 0.0;
    for (weight, input) in weights.iter_mut().zip(inputs) {
        let half = ((input.upper - input.lower) as f64 / 2.0).max(0.5);
        *weight /= half;
        bias -= *weight * (input.lower + input.upper) as f64 / 2.0;
    }
    bias
}

fn write_row<T: std::fmt::Display>(text: &mut String, entries: impl IntoIterator<Item = T>) {
    for entry in entries {
        write!(text, "{entry},").expect("writing to a string does not fail");
    }
    text.push('\n');
}

/// Eight decimals, without a negative zero.
fn decimal(value: f64) -> String {
    format!("{:.8}", rounded(value))
}

/// The nearest number with eight decimals; adding zero turns −0 into 0.
fn rounded(value: f64) -> f64 {
    (value * 1e8).round() / 1e8 + 0.0
}

/// A random tree ensemble in the JSON format of Veritas.
///
/// Splits stand halfway between two values of a variable that are both possible at the node.
pub fn random_ensemble(
    interface: &Interface,
    shape: EnsembleShape,
    seed: u64,
) -> Result<PolicyFiles, ParameterError> {
    interface.check()?;
    parameter::count("trees", shape.trees, 1..=100_000)?;
    parameter::count("depth", shape.depth, 1..=20)?;
    let outputs = interface.outputs.len();
    // Boosted ensembles list the trees of the first output first.
    let scored: Vec<Option<usize>> = if shape.boosted {
        (0..outputs).flat_map(|output| std::iter::repeat_n(Some(output), shape.trees)).collect()
    } else {
        vec![None; shape.trees]
    };
    let mut random = SplitMix64(seed);
    let domain: Vec<_> = interface.inputs.iter().map(|input| (input.lower, input.upper)).collect();
    let mut tree = |scored: Option<usize>| {
        let mut grower = Grower { random: &mut random, outputs, scored };
        json!({
            "num_leaf_values": outputs,
            "split_type": "LtSplit",
            "value_type": "FloatT",
            "structure": grower.node(&domain, shape.depth),
        })
    };
    let ensemble = json!({
        "at_type": if shape.boosted { "CLF_SOFTMAX" } else { "REGR_MEAN" },
        "base_scores": vec![0.0; outputs],
        "trees": scored.into_iter().map(&mut tree).collect::<Vec<_>>(),
    });

    let file = format!("{}.ensemble.json", interface.name);
    Ok(PolicyFiles {
        interface: GeneratedFile {
            name: format!("{}.interface.json", interface.name),
            contents: render(&interface.to_json(&file)),
        },
        policy: GeneratedFile { name: file, contents: render(&ensemble) },
    })
}

/// Grows one tree.
struct Grower<'r> {
    random: &'r mut SplitMix64,
    outputs: usize,
    /// The only output that the tree scores, or none: all.
    scored: Option<usize>,
}

impl Grower<'_> {
    /// A node for the given domains of the inputs with up to `depth` splits below.
    fn node(&mut self, domain: &[(i64, i64)], depth: usize) -> Value {
        let divisible: Vec<usize> = (0..domain.len()).filter(|&i| domain[i].0 < domain[i].1).collect();
        if depth == 0 || divisible.is_empty() {
            return json!({"leaf_value": self.leaf()});
        }
        let feature = divisible[self.random.below(divisible.len() as u64) as usize];
        let (low, high) = domain[feature];
        let right_from = low + 1 + self.random.below((high - low) as u64) as i64;
        let with = |bounds| {
            let mut part = domain.to_vec();
            part[feature] = bounds;
            part
        };
        let left = self.node(&with((low, right_from - 1)), depth - 1);
        let right = self.node(&with((right_from, high)), depth - 1);
        json!({"feat_id": feature, "split_value": right_from as f64 - 0.5, "left": left, "right": right})
    }

    fn leaf(&mut self) -> Vec<f64> {
        let Some(output) = self.scored else {
            return (0..self.outputs).map(|_| rounded(self.random.symmetric(1.0))).collect();
        };
        let mut leaf = vec![0.0; self.outputs];
        leaf[output] = rounded(self.random.symmetric(1.0));
        leaf
    }
}

/// The generator of Steele, Lea and Flood (2014): a counter and a mixing function.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [−limit, limit).
    fn symmetric(&mut self, limit: f64) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (2.0 * unit - 1.0) * limit
    }

    /// Uniform in 0..bound, up to a bias of bound / 2^64.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface() -> Interface {
        let input = |name: &str, lower, upper| InputVariable { name: name.to_owned(), lower, upper };
        Interface {
            name: "test".to_owned(),
            inputs: vec![input("x", 0, 9), input("flag", 0, 1), input("fixed", 3, 3)],
            outputs: vec!["left".to_owned(), "right".to_owned()],
            filter: true,
        }
    }

    #[test]
    fn the_generator_is_splitmix() {
        // The first values of the published reference implementation for the seed 1234567.
        let mut random = SplitMix64(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_network_has_the_announced_layout() {
        let files = random_network(&interface(), &[4, 5], 7).expect("valid parameters");
        assert_eq!(files.policy.name, "test.nnet");
        let lines: Vec<&str> = files.policy.contents.lines().collect();
        assert_eq!(lines[1..8], ["3,3,2,5,", "3,4,5,2,", "0,", "0,0,3,", "9,1,3,", "0,0,0,0,", "1,1,1,1,"]);
        assert_eq!(lines.len(), 8 + 2 * (4 + 5 + 2));
        let columns = |line: &str| line.trim_end_matches(',').split(',').count();
        let widths: Vec<_> = lines[8..].iter().map(|line| columns(line)).collect();
        let expected = [vec![3; 4], vec![1; 4], vec![4; 5], vec![1; 5], vec![5; 2], vec![1; 2]].concat();
        assert_eq!(widths, expected);

        let description: Value = serde_json::from_str(&files.interface.contents).expect("JSON");
        assert_eq!(description["elements"], json!([4, 5]));
        assert_eq!(description["file"], "test.nnet");
        assert_eq!(description["filter"], true);
        assert_eq!(description["input"][1], json!({"name": "flag", "automaton": null}));
        assert_eq!(description["output"], json!(["left", "right"]));
    }

    /// Number of leaves, and whether each leaf scores the given output alone.
    fn inspect(node: &Value, output: Option<usize>, leaves: &mut usize) {
        if let Some(leaf) = node["leaf_value"].as_array() {
            *leaves += 1;
            let scored = |i: &usize| leaf[*i].as_f64() != Some(0.0);
            let expected = output.map_or(vec![0, 1], |output| vec![output]);
            assert_eq!((0..leaf.len()).filter(scored).collect::<Vec<_>>(), expected);
        } else {
            assert_ne!(node["feat_id"], 2, "the fixed variable cannot be split");
            inspect(&node["left"], output, leaves);
            inspect(&node["right"], output, leaves);
        }
    }

    #[test]
    fn ensembles_score_all_outputs_or_one_per_tree() {
        for boosted in [false, true] {
            let shape = EnsembleShape { trees: 3, depth: 2, boosted };
            let files = random_ensemble(&interface(), shape, 11).expect("valid parameters");
            let ensemble: Value = serde_json::from_str(&files.policy.contents).expect("JSON");
            let trees = ensemble["trees"].as_array().expect("a list");
            assert_eq!(trees.len(), if boosted { 6 } else { 3 });
            for (position, tree) in trees.iter().enumerate() {
                let mut leaves = 0;
                inspect(&tree["structure"], boosted.then_some(position / 3), &mut leaves);
                assert!((2..=4).contains(&leaves));
            }
            let description: Value = serde_json::from_str(&files.interface.contents).expect("JSON");
            assert_eq!(description["file"], files.policy.name);
        }
    }

    #[test]
    fn the_seed_decides() {
        let network = |seed| random_network(&interface(), &[8], seed).expect("valid parameters");
        assert_eq!(network(1), network(1));
        assert_ne!(network(1), network(2));
        let shape = EnsembleShape { trees: 2, depth: 3, boosted: false };
        let ensemble = |seed| random_ensemble(&interface(), shape, seed).expect("valid parameters");
        assert_eq!(ensemble(1), ensemble(1));
        assert_ne!(ensemble(1), ensemble(2));
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let refused = |interface: &Interface, hidden: &[usize]| {
            random_network(interface, hidden, 0).expect_err("refused").parameter
        };
        assert_eq!(refused(&interface(), &[]), "hidden");
        assert_eq!(refused(&interface(), &[4, 0]), "hidden");
        assert_eq!(refused(&interface(), &[1_000_000, 1_000_000]), "hidden", "memory ran out");
        let without_inputs = Interface { inputs: Vec::new(), ..interface() };
        assert_eq!(refused(&without_inputs, &[4]), "inputs");
        let one_output = Interface { outputs: vec!["left".to_owned()], ..interface() };
        assert_eq!(refused(&one_output, &[4]), "outputs");
        let mut empty_domain = interface();
        empty_domain.inputs[0].upper = -1;
        assert_eq!(refused(&empty_domain, &[4]), "inputs");
        for (trees, depth, parameter) in [(0, 2, "trees"), (2, 0, "depth")] {
            let shape = EnsembleShape { trees, depth, boosted: true };
            let error = random_ensemble(&interface(), shape, 0).expect_err("refused");
            assert_eq!(error.parameter, parameter);
        }
    }
}
