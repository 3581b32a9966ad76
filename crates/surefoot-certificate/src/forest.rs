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

/// Bounds an ensemble.
#[derive(Debug)]
pub(crate) struct Bounds<'p> {
    policy: &'p Policy,
    ensemble: &'p Ensemble,
    arithmetic: Arithmetic,
    single: bool,
    /// Whether all sums are exact.
    exact: bool,
    /// Whether a leaf may depend on what is flushed to zero.
    in_doubt: bool,
}

/// The leaves in which a tree can end, and the first split that has states on both sides.
struct Reach {
    leaves: Vec<u32>,
    cut: Option<Cut>,
}

impl<'p> Bounds<'p> {
    pub fn new(policy: &'p Policy, ensemble: &'p Ensemble, arithmetic: Arithmetic) -> Self {
        let single = matches!(arithmetic, Arithmetic::F32 | Arithmetic::AnyF32);
        let mut bounds = Bounds { policy, ensemble, arithmetic, single, exact: false, in_doubt: false };
        bounds.in_doubt = bounds.is_in_doubt();
        bounds.exact = arithmetic != Arithmetic::AnyF32 && bounds.is_exact();
        bounds
    }

    fn number(&self, parameter: Parameter) -> f64 {
        if self.single { parameter.single.into() } else { parameter.double }
    }

    fn is_exact(&self) -> bool {
        let mut sum = 0.0;
        let mut whole = true;
        let mut see = |values: &mut dyn Iterator<Item = f64>| {
            let largest = values.fold(0.0, |largest: f64, value| {
                whole &= value.is_finite() && (value * 1024.0).fract() == 0.0;
                largest.max(value.abs())
            });
            sum += largest;
        };
        see(&mut self.ensemble.base().iter().map(|&value| self.number(value)));
        for tree in self.ensemble.trees() {
            let leaves = tree.nodes().iter().filter_map(|node| match node {
                TreeNode::Leaf(leaf) => Some(*leaf),
                TreeNode::Split { .. } => None,
            });
            see(&mut leaves.flat_map(|leaf| tree.values(leaf)).map(|&value| self.number(value)));
        }
        whole && sum < 8192.0
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
        let (unit, smallest, limit) = if self.single {
            (2.0_f64.powi(-24), 2.0_f64.powi(-126), 2.0_f64.powi(100))
        } else {
            (2.0_f64.powi(-53), 2.0_f64.powi(-900), 2.0_f64.powi(300))
        };
        let error = 4.0 * (count + 16.0) * unit * magnitude + 32.0 * smallest * (count + 8.0);
        magnitude <= limit && reaches.len() <= 1 << 19 && !self.in_doubt && difference > error
    }

    /// Whether a threshold may be flushed to zero; only `any-f32` allows that, but it costs little to be careful in
    /// `f32` too.
    fn is_in_doubt(&self) -> bool {
        let subnormal = |node: &TreeNode| match node {
            TreeNode::Split { threshold, .. } => {
                self.single && threshold.single > 0.0 && threshold.single < f32::MIN_POSITIVE
            }
            TreeNode::Leaf(_) => false,
        };
        self.ensemble.trees().iter().flat_map(Tree::nodes).any(subnormal)
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
                        if self.single {
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
