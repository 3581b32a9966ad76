//! Witness splitting (paper 004): predicates between a state in which the policy takes a step of an abstract path, its witness, and a state of a run where it does not.
//!
//! Either state may be one of many, and predicates do not remove the path for sure, only tell these two states apart.

use surefoot_model::VarId;

use super::Run;
use super::options::{SplitPoint, Variables};
use crate::explain::{Explainer, Neighbourhood};
use crate::symbolic::Stop;

impl Run<'_> {
    /// The bounds that split a witness from a state of a run: variables and least values of the upper part.
    pub(super) fn split_witness(
        &mut self,
        witness: &[i32],
        state: &[i32],
        variables: Variables,
        split: SplitPoint,
    ) -> Result<Vec<(VarId, i64)>, Stop> {
        let (variables, epsilon) = self.variables_to_split(witness, state, variables)?;
        let random = &mut self.random;
        let at = |variable: VarId| {
            let (from, to) = (i64::from(witness[variable.index()]), i64::from(state[variable.index()]));
            let way = (to - from).abs() - 1;
            // How far to go from the witness: the split point is still on its side.
            let part = match (split, epsilon) {
                (SplitPoint::Witness, _) => 0,
                (SplitPoint::Epsilon, Some(epsilon)) => ((way + 1) as f64 * epsilon) as i64,
                (SplitPoint::Middle | SplitPoint::Epsilon, _) => (way + 1) / 2,
                (SplitPoint::Random, _) => random.below(way as u64 + 1) as i64,
            };
            let part = part.clamp(0, way);
            (variable, if from < to { from + part + 1 } else { from - part })
        };
        Ok(variables.into_iter().map(at).collect())
    }

    /// The variables to split on, among those on which the states differ, and ε if they were found by it.
    fn variables_to_split(
        &mut self,
        witness: &[i32],
        state: &[i32],
        variables: Variables,
    ) -> Result<(Vec<VarId>, Option<f64>), Stop> {
        let differing: Vec<VarId> = (0..state.len())
            .filter(|&index| witness[index] != state[index])
            .map(|index| VarId(index as u32))
            .collect();
        if let Variables::Random = variables {
            let count = 1 + self.random.below(differing.len().max(1) as u64) as usize;
            let mut left = differing;
            while left.len() > count {
                left.swap_remove(self.random.below(left.len() as u64) as usize);
            }
            return Ok((left, None));
        }
        let mut explainer = Explainer::new(&self.problem.task, self.control).map_err(Stop::Error)?;
        let relevant = |explainer: &mut Explainer<'_>, epsilon, order| {
            let within = Neighbourhood::Towards { other: state, epsilon };
            explainer.relevant(witness, within, order).relevant
        };
        let (found, epsilon) = match variables {
            Variables::All | Variables::Random => (differing.clone(), None),
            Variables::Sensitive => {
                let sensitivity = |v: &VarId| explainer.sensitivity(witness, *v);
                let most = differing.iter().max_by(|a, b| sensitivity(a).total_cmp(&sensitivity(b)));
                (most.copied().into_iter().collect(), None)
            }
            Variables::Verix { epsilon, order } => (relevant(&mut explainer, epsilon, order), Some(epsilon)),
            Variables::Bsearch { tau, order } => {
                let least = explainer.epsilon(witness, state, tau).map_err(|_| Stop::Limit)?;
                let epsilon = least.unwrap_or(1.0);
                (relevant(&mut explainer, epsilon, order), Some(epsilon))
            }
        };
        let found: Vec<VarId> = found.into_iter().filter(|v| differing.contains(v)).collect();
        // Without relevant variables up to ε, all are as good.
        Ok(if found.is_empty() { (differing, None) } else { (found, epsilon) })
    }
}
