//! Trees with tests `x < t` from trees with any comparison.
//!
//! `x ≤ t` is `x < u` where `u` is the next number above `t`, in each precision its own. A test for equality becomes
//! two tests, and what follows if it fails is copied. Chains of such tests (one per category) would grow
//! exponentially, so for the inputs concerned the bounds on the way are known, and tests that they decide are left
//! out.

use std::collections::HashSet;

use surefoot_model::InputError;

use super::forest::{Entry, Forest, Mode};
use crate::ensemble::{Tree, TreeNode};
use crate::parameter::Parameter;
use crate::read::onnx::call::Call;

/// What is to be converted: an entry, or the second test of an entry that tests for equality.
#[derive(Clone, Copy)]
enum Work {
    Entry(usize),
    Second(usize),
}

/// What is known about an input: `low ≤ x < high`.
#[derive(Clone, Copy)]
struct Bounds {
    feature: usize,
    low: Option<Parameter>,
    high: Option<Parameter>,
}

/// A test `x < threshold`.
struct Test {
    feature: usize,
    threshold: Parameter,
    below: Work,
    above: Work,
}

/// One tree per root.
pub(super) fn trees(
    call: &mut Call<'_>,
    forest: &Forest,
    outputs: usize,
    features: &[u32],
) -> Result<Vec<Tree>, InputError> {
    let equality = |entry: &Entry| match *entry {
        Entry::Branch { feature, mode: Mode::Equal | Mode::Different, .. } => Some(feature),
        _ => None,
    };
    let tracked: HashSet<usize> = forest.entries.iter().filter_map(equality).collect();
    forest.roots.iter().map(|&root| tree(call, forest, (root, outputs), features, &tracked)).collect()
}

/// A subtree to convert, and where its parent names it.
struct Open {
    work: Work,
    bounds: Vec<Bounds>,
    parent: Option<(usize, bool)>,
}

fn tree(
    call: &mut Call<'_>,
    forest: &Forest,
    (root, outputs): (usize, usize),
    features: &[u32],
    tracked: &HashSet<usize>,
) -> Result<Tree, InputError> {
    let mut nodes: Vec<TreeNode> = Vec::new();
    let mut values = Vec::new();
    let mut leaves = 0;
    let mut open = vec![Open { work: Work::Entry(root), bounds: Vec::new(), parent: None }];
    while let Some(Open { mut work, bounds, parent }) = open.pop() {
        call.pay(Some(1 + bounds.len()))?;
        let test = loop {
            let Some(test) = test_of(forest, work) else { break None };
            match decided(&bounds, &test) {
                Some(true) => work = test.below,
                Some(false) => work = test.above,
                None => break Some(test),
            }
            call.pay(Some(1))?;
        };
        let index = nodes.len();
        match parent.and_then(|(parent, below)| Some((nodes.get_mut(parent)?, below))) {
            Some((TreeNode::Split { left, .. }, true)) => *left = index as u32,
            Some((TreeNode::Split { right, .. }, false)) => *right = index as u32,
            _ => {}
        }
        if let Some(test) = test {
            let Some(&feature) = features.get(test.feature) else {
                let message =
                    format!("a tree tests input {}, but there are {}", test.feature, features.len());
                return Err(call.error(message));
            };
            nodes.push(TreeNode::Split { feature, threshold: test.threshold, left: 0, right: 0 });
            let track = tracked.contains(&test.feature);
            for (work, below) in [(test.above, false), (test.below, true)] {
                let bounds = if track { narrowed(&bounds, &test, below) } else { bounds.clone() };
                open.push(Open { work, bounds, parent: Some((index, below)) });
            }
        } else {
            let (Work::Entry(entry) | Work::Second(entry)) = work;
            call.pay(Some(outputs))?;
            let mut row = vec![Parameter::from(0.0); outputs];
            for (output, weight) in forest.leaf(entry) {
                row[output] = weight;
            }
            values.extend(row);
            nodes.push(TreeNode::Leaf(leaves));
            leaves += 1;
        }
    }
    Tree::new(outputs, nodes, values).map_err(|error| call.error(error.to_string()))
}

/// The test to make; `None` at a leaf.
fn test_of(forest: &Forest, work: Work) -> Option<Test> {
    let (Work::Entry(entry) | Work::Second(entry)) = work;
    let Entry::Branch { feature, mode, threshold, yes, no } = forest.entries[entry] else { return None };
    let (yes, no) = (Work::Entry(yes), Work::Entry(no));
    let next = above(threshold);
    let (threshold, below, above) = match (mode, work) {
        (Mode::Below, _) => (threshold, yes, no),
        (Mode::AtMost, _) | (Mode::Equal, Work::Second(_)) => (next, yes, no),
        (Mode::AtLeast, _) => (threshold, no, yes),
        (Mode::Above, _) | (Mode::Different, Work::Second(_)) => (next, no, yes),
        (Mode::Equal, Work::Entry(_)) => (threshold, no, Work::Second(entry)),
        (Mode::Different, Work::Entry(_)) => (threshold, yes, Work::Second(entry)),
    };
    Some(Test { feature, threshold, below, above })
}

/// The next number above a threshold. No integer lies between the largest number and infinity, so the former stays.
///
/// Above 0 the next number is subnormal. Where such numbers are flushed to zero, `x < u` would differ from `x ≤ 0`, so
/// it is ½ there, which is the same for integers.
fn above(threshold: Parameter) -> Parameter {
    if threshold.double >= 0.0 && threshold.double < f64::from(f32::MIN_POSITIVE) {
        return Parameter::from(0.5);
    }
    let double = threshold.double.next_up();
    let double = if double.is_finite() { double } else { threshold.double };
    Parameter { double, single: threshold.single.next_up() }
}

/// How a test ends in both precisions, if the bounds say so.
fn decided(bounds: &[Bounds], test: &Test) -> Option<bool> {
    let at_most =
        |left: Parameter, right: Parameter| left.double <= right.double && left.single <= right.single;
    let bounds = bounds.iter().find(|bounds| bounds.feature == test.feature)?;
    if bounds.high.is_some_and(|high| at_most(high, test.threshold)) {
        return Some(true);
    }
    bounds.low.is_some_and(|low| at_most(test.threshold, low)).then_some(false)
}

/// The bounds after a test that nothing decided before.
fn narrowed(bounds: &[Bounds], test: &Test, below: bool) -> Vec<Bounds> {
    let mut bounds = bounds.to_vec();
    let position = bounds.iter().position(|bounds| bounds.feature == test.feature).unwrap_or_else(|| {
        bounds.push(Bounds { feature: test.feature, low: None, high: None });
        bounds.len() - 1
    });
    let end = if below { &mut bounds[position].high } else { &mut bounds[position].low };
    *end = Some(test.threshold);
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_differs_by_precision() {
        let next = above(Parameter::from(2.0));
        assert_eq!(next.double, 2.0 + 2.0 * f64::EPSILON);
        assert_eq!(next.single, 2.0 + 2.0 * f32::EPSILON);
        assert_eq!(above(Parameter::from(-1.0)).single, -1.0 + 0.5 * f32::EPSILON);
        assert_eq!(above(Parameter::from(f64::MAX)).double, f64::MAX);
        assert_eq!(above(Parameter::from(f64::from(f32::MAX))).single, f32::INFINITY);
    }

    #[test]
    fn no_threshold_becomes_subnormal() {
        for threshold in [0.0, -0.0, 1e-310, 1e-40] {
            assert_eq!(above(Parameter::from(threshold)), Parameter::from(0.5));
        }
    }
}
