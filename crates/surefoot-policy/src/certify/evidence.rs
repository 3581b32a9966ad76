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
    /// The part is split in two by the phases of a neuron. The tree of this phase comes first.
    Phases {
        /// The phase.
        first: Phase,
    },
    /// In this part, a competing output beats the one in question in every state where the facts hold.
    Dominated {
        /// The competing output.
        by: u32,
    },
    /// There is no state in this part: the facts hold nowhere, or the phases exclude each other.
    Empty,
    /// The part has few states. In each of them some competing output wins, not the same in all.
    Enumerated,
}

/// The sign of the argument of a `ReLU` or leaky `ReLU`, evaluated in real numbers with the parameters of the arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// The node of the network, a layer.
    pub node: u32,
    /// The neuron of that layer.
    pub neuron: u32,
    /// Active: the argument is not negative. Else it is not positive.
    pub active: bool,
}

impl Phase {
    /// The other phase of the neuron. An argument of 0 has both.
    #[must_use]
    pub fn other(self) -> Phase {
        Phase { active: !self.active, ..self }
    }
}

/// A part of a box that the evidence gives one reason for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf<'e> {
    /// The least value of each variable.
    pub lower: &'e [i32],
    /// The greatest value of each variable.
    pub upper: &'e [i32],
    /// The phases that states of the part have.
    pub phases: &'e [Phase],
    /// The reason, which is no split.
    pub step: Step,
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

    /// Visits the parts of a box. `false` if the tree is malformed: it lacks nodes, has too many, or splits where nothing is
    /// left to split.
    pub fn leaves(&self, lower: &[i32], upper: &[i32], mut visit: impl FnMut(Leaf<'_>)) -> bool {
        let mut open = vec![(lower.to_vec(), upper.to_vec(), Vec::new())];
        for &step in &self.steps {
            let Some((lower, upper, phases)) = open.pop() else { return false };
            match step {
                Step::Split { variable, at, low_first } => {
                    let index = variable.index();
                    if index >= lower.len() || at < lower[index] || at >= upper[index] {
                        return false;
                    }
                    let mut low = (lower.clone(), upper.clone(), phases.clone());
                    let mut high = (lower, upper, phases);
                    low.1[index] = at;
                    high.0[index] = at + 1;
                    open.extend(if low_first { [high, low] } else { [low, high] });
                }
                Step::Phases { first } => {
                    for phase in [first.other(), first] {
                        let mut phases = phases.clone();
                        phases.push(phase);
                        open.push((lower.clone(), upper.clone(), phases));
                    }
                }
                Step::Dominated { .. } | Step::Empty | Step::Enumerated => {
                    visit(Leaf { lower: &lower, upper: &upper, phases: &phases, step });
                }
            }
        }
        open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Part = (Vec<i32>, Vec<i32>, Vec<Phase>);

    fn leaves(steps: &[Step]) -> Option<Vec<Part>> {
        let evidence = Evidence { steps: steps.to_vec() };
        let mut found = Vec::new();
        let whole = evidence.leaves(&[0, 0], &[3, 1], |leaf| {
            found.push((leaf.lower.to_vec(), leaf.upper.to_vec(), leaf.phases.to_vec()));
        });
        whole.then_some(found)
    }

    #[test]
    fn parts_come_in_preorder() {
        let split = |variable, at, low_first| Step::Split { variable: VarId(variable), at, low_first };
        let steps = [split(0, 1, false), Step::Empty, split(1, 0, true), Step::Enumerated, Step::Empty];
        let expected = vec![
            (vec![2, 0], vec![3, 1], vec![]),
            (vec![0, 0], vec![1, 0], vec![]),
            (vec![0, 1], vec![1, 1], vec![]),
        ];
        assert_eq!(leaves(&steps), Some(expected));
    }

    #[test]
    fn phases_are_those_of_the_path() {
        let split = Step::Split { variable: VarId(0), at: 1, low_first: true };
        let first = Phase { node: 0, neuron: 3, active: false };
        let steps = [split, Step::Phases { first }, Step::Enumerated, Step::Empty, Step::Empty];
        let expected = vec![
            (vec![0, 0], vec![1, 1], vec![first]),
            (vec![0, 0], vec![1, 1], vec![first.other()]),
            (vec![2, 0], vec![3, 1], vec![]),
        ];
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
