//! That one output of a tree ensemble beats another one everywhere in a part.
//!
//! In a part each tree can end in some of its leaves. The exact difference of two scores is at least the sum, over the
//! trees, of the least difference among these leaves. A computed score, and each end of an enclosure, is off from the
//! exact sum of its `n` leaves and base by at most `κ·M + 16η·(n + 8)`, where `κ = 4·(n + 16)·u` and `M` is the sum of
//! magnitudes; constants and argument are those of [`crate::network`], with all weights and values 1. Doubles sum up
//! the differences, which `κ` has room for.
//!
//! If all numbers are multiples of `2⁻¹⁰` and `M < 2¹³`, every partial sum in every order is exact in either precision.
//! Then ties are ties, and the lower index wins them. Enclosures of `any-f32` are wider than their sums, so it has no
//! such exception.
//!
//! Where each tree is down to one leaf all states of the part have the same scores, and one of them is evaluated.

use surefoot_policy::{Arithmetic, Ensemble, Parameter, Policy, PolicyInput, Tree, TreeNode};

use crate::part::{Cut, Part};
use crate::precision::Precision;

/// Bounds an ensemble.
#[derive(Debug)]
pub(crate) struct Bounds<'p> {
    policy: &'p Policy,
    ensemble: &'p Ensemble,
    arithmetic: Arithmetic,
    precision: Precision,
    /// Whether all sums are exact.
    exact: bool,
    /// Whether a leaf may depend on what is flushed to zero. Only `any-f32` allows that, but it costs little to be
    /// careful in `f32` too.
    in_doubt: bool,
}

/// The leaves in which a tree can end, and the first split that has states on both sides.
struct Reach {
    leaves: Vec<u32>,
    cut: Option<Cut>,
}

impl<'p> Bounds<'p> {
    pub fn new(policy: &'p Policy, ensemble: &'p Ensemble, arithmetic: Arithmetic) -> Self {
        let precision = Precision::of(arithmetic);
        let size = |values: &[Parameter]| {
            values.iter().fold(0.0, |largest: f64, &value| {
                let value = precision.number(value);
                let whole = value.is_finite() && (value * 1024.0).fract() == 0.0;
                largest.max(if whole { value.abs() } else { f64::INFINITY })
            })
        };
        let largest = ensemble.trees().iter().map(|tree| {
            tree.nodes().iter().fold(0.0, |largest: f64, node| match node {
                TreeNode::Leaf(leaf) => largest.max(size(tree.values(*leaf))),
                TreeNode::Split { .. } => largest,
            })
        });
        let sum = size(ensemble.base()) + largest.sum::<f64>();
        let is_flushed = |node: &TreeNode| match node {
            TreeNode::Split { threshold, .. } => {
                threshold.single > 0.0 && threshold.single < f32::MIN_POSITIVE
            }
            TreeNode::Leaf(_) => false,
        };
        Bounds {
            policy,
            ensemble,
            arithmetic,
            precision,
            exact: arithmetic != Arithmetic::AnyF32 && sum < 8192.0,
            in_doubt: precision.single && ensemble.trees().iter().flat_map(Tree::nodes).any(is_flushed),
        }
    }

    fn number(&self, parameter: Parameter) -> f64 {
        self.precision.number(parameter)
    }

    /// Removes from `open` the outputs that are beaten everywhere in a part by one that competes there. Suggests where
    /// to split the part for the others.
    pub fn beaten(&self, part: &Part, open: &mut Vec<usize>, competes: &[bool]) -> Option<Cut> {
        let reaches: Vec<Reach> = self.ensemble.trees().iter().map(|tree| self.reach(tree, part)).collect();
        if reaches.iter().all(|reach| reach.cut.is_none()) {
            open.retain(|&output| {
                let competes = |other: usize| other == output || competes[other];
                self.policy.possible(self.arithmetic, &part.state(), competes).contains(&output)
            });
            return None;
        }
        open.retain(|&output| {
            let mut rivals = (0..competes.len()).filter(|&rival| competes[rival] && rival != output);
            !rivals.any(|rival| self.beats(rival, output, &reaches))
        });
        // Split the tree whose leaves differ most.
        let &output = open.first()?;
        let spread = |(tree, reach): &(&Tree, &Reach)| {
            let values = reach.leaves.iter().map(|&leaf| self.number(tree.values(leaf)[output]));
            values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
        };
        let split = self.ensemble.trees().iter().zip(&reaches).filter(|(_, reach)| reach.cut.is_some());
        split.max_by(|a, b| spread(a).total_cmp(&spread(b))).and_then(|(_, reach)| reach.cut)
    }

    fn beats(&self, rival: usize, output: usize, reaches: &[Reach]) -> bool {
        let base = self.ensemble.base();
        let pair = |values: &[Parameter]| (self.number(values[rival]), self.number(values[output]));
        let (a, b) = pair(base);
        let (mut difference, mut magnitude) = (a - b, a.abs() + b.abs());
        for (tree, reach) in self.ensemble.trees().iter().zip(reaches) {
            let (mut least, mut largest) = (f64::INFINITY, 0.0_f64);
            for &leaf in &reach.leaves {
                let (a, b) = pair(tree.values(leaf));
                if !(a - b).is_finite() {
                    return false;
                }
                least = least.min(a - b);
                largest = largest.max(a.abs() + b.abs());
            }
            difference += least;
            magnitude += largest;
        }
        if self.exact {
            return difference > 0.0 || difference == 0.0 && rival < output;
        }
        let count = reaches.len() as f64;
        let Precision { unit, smallest, limit, .. } = self.precision;
        let error = 4.0 * (count + 16.0) * unit * magnitude + 32.0 * smallest * (count + 8.0);
        magnitude <= limit && reaches.len() <= 1 << 19 && !self.in_doubt && difference > error
    }

    fn reach(&self, tree: &Tree, part: &Part) -> Reach {
        let mut reach = Reach { leaves: Vec::new(), cut: None };
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            match tree.nodes()[node as usize] {
                TreeNode::Leaf(leaf) => reach.leaves.push(leaf),
                TreeNode::Split { feature, threshold, left, right } => {
                    let (range, variable) = match self.policy.inputs[feature as usize] {
                        PolicyInput::Constant(value) => ((value, value), None),
                        PolicyInput::Variable(variable) => (part.0[variable.index()], Some(variable.index())),
                    };
                    let goes_left = |value: i32| {
                        if self.precision.single {
                            (value as f32) < threshold.single
                        } else {
                            f64::from(value) < threshold.double
                        }
                    };
                    match (goes_left(range.0), goes_left(range.1)) {
                        (true, true) => open.push(left),
                        (false, _) => open.push(right),
                        (true, false) => {
                            open.extend([right, left]);
                            reach.cut =
                                reach.cut.or(variable
                                    .map(|variable| Cut { variable, at: first_right(range, goes_left) }));
                        }
                    }
                }
            }
        }
        reach
    }
}

/// The first value of a range that does not go left; the lower end does, the upper one does not.
fn first_right((mut left, mut right): (i32, i32), goes_left: impl Fn(i32) -> bool) -> i32 {
    while i64::from(right) - i64::from(left) > 1 {
        let middle = i64::midpoint(left.into(), right.into()) as i32;
        if goes_left(middle) { left = middle } else { right = middle }
    }
    right
}
