//! Few reachable states are listed: then they are an invariant.
//!
//! Many policies reach a few thousand states of a huge space, for instance since they often choose a label that is not applicable. No region says this
//! better than the states themselves, and the explicit engine lists them faster than anything here. So the search begins with that.
//!
//! If there are many, they are listed without variables that neither the policy nor the property reads.
//!
//! The certificate has boxes of states in which the policy chooses the same.

use rustc_hash::FxHashMap;
use surefoot_certificate::{Region, TreeNode};

use super::reason::Reason;
use super::{Run, Stop};
use crate::explicit::list::{Listed, States};
use crate::symbolic::list_reachable;
use crate::task::TaskError;

/// States between looks at the limits.
const PATIENCE: usize = 1024;

impl Run<'_> {
    /// Lists reachable states, if they are not too many.
    pub(super) fn list(&mut self) -> Result<Listed, Stop> {
        let listed = list_reachable(&self.problem.task, self.options.list, self.control);
        self.look_around()?;
        listed
    }

    /// The regions of all reachable states.
    pub(super) fn listed_regions(&mut self, listed: &States) -> Result<Vec<Region>, Stop> {
        let mut classes: FxHashMap<Vec<u32>, Vec<Reason>> = FxHashMap::default();
        for (index, state) in listed.states.iter().enumerate() {
            if index % PATIENCE == 0 {
                self.look_around()?;
            }
            let mut states = Reason::of_state(state);
            for (variable, (lower, upper)) in &listed.free {
                (states.lower[variable.index()], states.upper[variable.index()]) = (*lower, *upper);
            }
            classes.entry(self.outputs(state)?).or_default().push(states);
        }
        let mut regions = Vec::new();
        for (outputs, states) in classes {
            self.look_around()?;
            let tree =
                if self.problem.task.policy.is_some() { vec![TreeNode::Leaf(outputs)] } else { Vec::new() };
            regions.extend(merge(states).iter().map(|states| Region {
                bounds: states.certificate_bounds(&self.problem.domain),
                facts: Vec::new(),
                tree: tree.clone(),
            }));
        }
        Ok(regions)
    }

    /// What the policy may choose in a state, nothing if runs end there.
    fn outputs(&mut self, state: &[i32]) -> Result<Vec<u32>, Stop> {
        if self.status(state)?.ends_run {
            return Ok(Vec::new());
        }
        // Only with a filter do choices depend on what is enabled.
        let enabled = if self.problem.task.semantics.filter {
            self.stepper.enabled(state).map_err(|error| Stop::Error(TaskError::Model(error)))?
        } else {
            Vec::new()
        };
        let choice = self.stepper.choice(state, &enabled);
        Ok(choice.outputs.into_iter().map(|output| output as u32).collect())
    }
}

/// Boxes for the same states, fewer if boxes stand side by side.
fn merge(mut boxes: Vec<Reason>) -> Vec<Reason> {
    for variable in 0..boxes.first().map_or(0, |states| states.lower.len()) {
        let others = |ends: &[i32]| [&ends[..variable], &ends[variable + 1..]].concat();
        boxes.sort_by_cached_key(|states| {
            (others(&states.lower), others(&states.upper), states.lower[variable])
        });
        let mut merged: Vec<Reason> = Vec::with_capacity(boxes.len());
        for states in boxes {
            let is_beside = |last: &&mut Reason| {
                i64::from(last.upper[variable]) + 1 == i64::from(states.lower[variable])
                    && (0..states.lower.len()).all(|index| {
                        index == variable
                            || last.lower[index] == states.lower[index]
                                && last.upper[index] == states.upper[index]
                    })
            };
            match merged.last_mut().filter(is_beside) {
                Some(last) => last.upper[variable] = states.upper[variable],
                None => merged.push(states),
            }
        }
        boxes = merged;
    }
    boxes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn merged_boxes_hold_the_same_states(states in proptest::collection::btree_set(proptest::array::uniform3(-2..3_i32), 0..60)) {
            let boxes = merge(states.iter().map(|state| Reason::of_state(state)).collect());
            prop_assert!(boxes.len() <= states.len());
            for code in 0..125 {
                let state = [code % 5 - 2, code / 5 % 5 - 2, code / 25 - 2];
                let holding = boxes.iter().filter(|states| states.contains(&state)).count();
                prop_assert_eq!(holding, usize::from(states.contains(&state)));
            }
        }
    }

    #[test]
    fn neighbours_are_merged() {
        let states = [[0, 0], [0, 1], [1, 0], [1, 1], [3, 1]];
        let boxes = merge(states.iter().map(|state| Reason::of_state(state)).collect());
        assert_eq!(boxes.len(), 2);
    }
}
