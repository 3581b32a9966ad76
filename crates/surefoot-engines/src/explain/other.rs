//! The one question that explanations are made of: is there a state in a box with another choice?
//!
//! Let `L` be the outputs that can be chosen in the state that is explained (one, as a rule). Another state `t` has *another
//! choice* if an output outside of `L` can be chosen in it, or if one of both states has no choice.
//!
//! **Filter off.** All outputs compete. An output can be chosen if no other one certainly beats it. Certainly beating is
//! transitive: it compares exact scores or intervals. So if no output outside of `L` is left in `t`, each of them is beaten by one of `L`.
//! Hence `t` has another choice if and only if some output outside of `L` can win against `L` alone: that is a question for the
//! certifier, which answers it completely.
//!
//! **Filter on.** A state in which no output of `L` is applicable has another choice; the solver finds one. If there is none, the argument above holds among the
//! applicable outputs: is there a state in which a guard of a rival is true, and the rival can win against those outputs of `L` that are applicable there? The certifier
//! gets what is linear of the guard as facts, and as competitors the outputs of `L` that are applicable in the whole box. Its *never* is final. Its witness may violate the rest of the guard, or lose against
//! an output of `L` that is applicable in a part of the box only. Then the box is split: between the witness and a state in which the guard is true, or in which that output is
//! not applicable. Boxes are finite, so this ends.

use surefoot_policy::certify::{Budget, Fact, OutputSet, Possibility, Question};

use super::{Explainer, Stopped};
use crate::symbolic::{Applicability, StateBox};

/// Outputs that are applicable in a part of a box, each with a state in which it is not.
type Partly = Vec<(usize, Vec<i32>)>;

impl<'t> Explainer<'t> {
    /// The outputs that can be chosen in a state.
    pub fn choice(&mut self, state: &[i32]) -> Vec<usize> {
        let applicable: Vec<bool> = match &mut self.applicability {
            None => vec![true; self.policy.outputs.len()],
            Some(applicability) => {
                (0..self.policy.outputs.len()).map(|output| applicability.holds(output, state)).collect()
            }
        };
        self.policy.possible(self.task.semantics.arithmetic, state, |output| applicable[output])
    }

    /// Whether a state has another choice than one in which these outputs can be chosen.
    pub(super) fn is_other(&mut self, state: &[i32], chosen: &[usize]) -> bool {
        let found = self.choice(state);
        found.is_empty() != chosen.is_empty() || found.iter().any(|output| !chosen.contains(output))
    }

    /// A state of a box with another choice than the one that [`Explainer::begin`] gave, if there is one. With facts, `None` speaks of the states in which they hold; a
    /// state that is found need not be one of them.
    pub(super) fn other(
        &mut self,
        states: &StateBox,
        facts: &[Fact],
        chosen: &[usize],
    ) -> Result<Option<Vec<i32>>, Stopped> {
        if let Some(known) = self.known.find(states, facts) {
            return Ok(Some(known.clone()));
        }
        let found = if self.applicability.is_some() {
            self.other_filtered(states, facts, chosen)?
        } else {
            let competing = chosen.iter().copied().collect();
            self.first_rival(chosen, |explainer, rival| explainer.winner(states, facts, rival, &competing))?
        };
        if let Some(state) = &found {
            debug_assert!(self.is_other(state, chosen), "{state:?} has the same choice");
            self.known.add(state.clone());
        }
        Ok(found)
    }

    fn other_filtered(
        &mut self,
        states: &StateBox,
        facts: &[Fact],
        chosen: &[usize],
    ) -> Result<Option<Vec<i32>>, Stopped> {
        if chosen.is_empty() {
            return self
                .first_rival(chosen, |explainer, rival| explainer.applicability().find_with(states, rival));
        }
        if let Some(without) = self.applicability().find_without(states, chosen)? {
            return Ok(Some(without));
        }
        self.first_rival(chosen, |explainer, rival| explainer.applicable_winner(states, facts, rival, chosen))
    }

    /// The first answer about an output outside of `chosen`.
    fn first_rival(
        &mut self,
        chosen: &[usize],
        mut ask: impl FnMut(&mut Self, usize) -> Result<Option<Vec<i32>>, Stopped>,
    ) -> Result<Option<Vec<i32>>, Stopped> {
        for rival in (0..self.policy.outputs.len()).filter(|output| !chosen.contains(output)) {
            let found = ask(self, rival)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// A state of a box in which a rival is applicable and can win against what is chosen. In each state of the box, something of that is
    /// applicable.
    fn applicable_winner(
        &mut self,
        states: &StateBox,
        facts: &[Fact],
        rival: usize,
        chosen: &[usize],
    ) -> Result<Option<Vec<i32>>, Stopped> {
        // Most rivals win nowhere, whether they are applicable or not.
        let (competing, _) = self.competing(states, chosen)?;
        match self.winner(states, facts, rival, &competing)? {
            None => return Ok(None),
            Some(state) if self.is_other(&state, chosen) => return Ok(Some(state)),
            Some(_) => {}
        }
        for guard in 0..self.applicability().guards(rival).len() {
            let mut facts = facts.to_vec();
            facts.extend_from_slice(&self.applicability().guards(rival)[guard].facts);
            let mut parts = vec![states.clone()];
            while let Some(part) = parts.pop() {
                let Some(enabled) = self.applicability().find_true(&part, rival, guard)? else { continue };
                if self.is_other(&enabled, chosen) {
                    return Ok(Some(enabled));
                }
                let (competing, partly) = self.competing(&part, chosen)?;
                let Some(winner) = self.winner(&part, &facts, rival, &competing)? else { continue };
                if self.is_other(&winner, chosen) {
                    return Ok(Some(winner));
                }
                let applicability = self.applicability();
                if !applicability.is_true(rival, guard, &winner) {
                    let variables = &applicability.guards(rival)[guard].variables;
                    parts.extend(part.split_between(&enabled, &winner, variables));
                    continue;
                }
                let (output, without) = partly
                    .into_iter()
                    .find(|(output, _)| applicability.holds(*output, &winner))
                    .expect("the rival loses against an output that does not compete in the whole part");
                parts.extend(part.split_between(&winner, &without, applicability.variables(output)));
            }
        }
        Ok(None)
    }

    /// The outputs among these that are applicable in all of a box, and the others, each with a state in which it is not. One output alone is known to be
    /// applicable.
    fn competing(&mut self, states: &StateBox, chosen: &[usize]) -> Result<(OutputSet, Partly), Stopped> {
        let (mut competing, mut partly) = (OutputSet::new(), Vec::new());
        for &output in chosen {
            let without = match chosen {
                [_] => None,
                _ => self.applicability().find_without(states, &[output])?,
            };
            match without {
                None => _ = competing.insert(output),
                Some(without) => partly.push((output, without)),
            }
        }
        Ok((competing, partly))
    }

    /// A state of a box in which an output can win against others.
    fn winner(
        &mut self,
        states: &StateBox,
        facts: &[Fact],
        output: usize,
        competing: &OutputSet,
    ) -> Result<Option<Vec<i32>>, Stopped> {
        let question = Question { lower: &states.lower, upper: &states.upper, facts, output, competing };
        let poll = &self.poll;
        let stop = || poll();
        let budget = Budget { stop: Some(&stop), ..Budget::UNLIMITED };
        match self.certifier.possible(&question, &budget) {
            Possibility::Never(_) => Ok(None),
            Possibility::Possible(state) => Ok(Some(state.to_vec())),
            Possibility::Unknown => Err(Stopped),
        }
    }

    fn applicability(&mut self) -> &mut Applicability<'t> {
        self.applicability.as_mut().expect("the policy filters")
    }
}
