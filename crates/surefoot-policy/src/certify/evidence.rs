//! Why an output is never chosen: a tree that splits the box into parts where the reason is simple.
//!
//! A certificate keeps this tree, and its checker visits the parts. The tree is stored in preorder: a split is
//! followed by the tree of its first part, then by that of its second.

use surefoot_model::VarId;

/// One node of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The part is split in two: `variable ≤ at` and `variable > at`.
    Split {
        /// The variable.
        variable: VarId,
        /// Its greatest value in the low part.
        at: i32,
        /// Whether the tree of the low part comes first.
        low_first: bool,
    },
    /// The part is split in two by the sign of the argument of a `ReLU`, evaluated in real numbers: not negative, and not
    /// positive.
    Phase {
        /// The node of the network.
        node: u32,
        /// The neuron of that layer.
        neuron: u32,
        /// Whether the tree of the active part, where the argument is not negative, comes first.
        active_first: bool,
    },
    /// In this part, a competing output beats the one in question in every state.
    Dominated {
        /// The competing output.
        by: u32,
    },
    /// There is no state in this part: the facts hold nowhere, or the phases exclude each other.
    Empty,
    /// The part has few states. In each of them some competing output wins, not the same in all.
    Enumerated,
}

/// The tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evidence {
    steps: Vec<Step>,
}

impl Evidence {
    /// The nodes in preorder.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
    }

    pub(super) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Visits the parts of a box: the lower and upper ends of each, and its step, which is no split. `false` if the
    /// tree is malformed: it lacks nodes, has too many, or splits where nothing is left to split.
    pub fn leaves(&self, lower: &[i32], upper: &[i32], mut visit: impl FnMut(&[i32], &[i32], Step)) -> bool {
        let mut open = vec![(lower.to_vec(), upper.to_vec())];
        for &step in &self.steps {
            let Some((lower, upper)) = open.pop() else { return false };
            let Step::Split { variable, at, low_first } = step else {
                visit(&lower, &upper, step);
                continue;
            };
            let index = variable.index();
            if index >= lower.len() || at < lower[index] || at >= upper[index] {
                return false;
            }
            let (mut low, mut high) = ((lower.clone(), upper.clone()), (lower, upper));
            low.1[index] = at;
            high.0[index] = at + 1;
            open.extend(if low_first { [high, low] } else { [low, high] });
        }
        open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(steps: &[Step]) -> Option<Vec<(Vec<i32>, Vec<i32>)>> {
        let evidence = Evidence { steps: steps.to_vec() };
        let mut found = Vec::new();
        let whole =
            evidence.leaves(&[0, 0], &[3, 1], |lower, upper, _| found.push((lower.to_vec(), upper.to_vec())));
        whole.then_some(found)
    }

    #[test]
    fn parts_come_in_preorder() {
        let split = |variable, at, low_first| Step::Split { variable: VarId(variable), at, low_first };
        let steps = [split(0, 1, false), Step::Empty, split(1, 0, true), Step::Enumerated, Step::Empty];
        let expected = vec![(vec![2, 0], vec![3, 1]), (vec![0, 0], vec![1, 0]), (vec![0, 1], vec![1, 1])];
        assert_eq!(leaves(&steps), Some(expected));
    }

    #[test]
    fn malformed_trees_are_noticed() {
        let split = |at| Step::Split { variable: VarId(0), at, low_first: true };
        assert_eq!(leaves(&[]), None);
        assert_eq!(leaves(&[split(1), Step::Empty]), None);
        assert_eq!(leaves(&[Step::Empty, Step::Empty]), None);
        assert_eq!(leaves(&[split(3), Step::Empty, Step::Empty]), None);
        assert_eq!(leaves(&[split(-1), Step::Empty, Step::Empty]), None);
    }
}
