//! Obligation 2: no state of a region is unsafe, and the model is not wrong at any of them.
//!
//! Every condition of the property must have a value. Where runs go on, and undefined guards are mistakes, every guard
//! must have one too.

use surefoot_policy::Goal;

use crate::check::{Checker, Obligation, Rejection, Tried, split};
use crate::expression::Expression;
use crate::part::Part;
use crate::point::Wrong;

const SAFE: Obligation = Obligation::Safe;

impl Checker<'_, '_> {
    pub fn check_status(&mut self, region: usize) -> Result<(), Rejection> {
        let all = Part::of_region(&self.certificate.variables, &self.certificate.regions[region]);
        let mut open = vec![all];
        while let Some(part) = open.pop() {
            self.count(SAFE)?;
            if self.is_excluded(region, &part) {
                continue;
            }
            let Tried::Split(cut) = self.status_over(&part) else { continue };
            let state = part.corner();
            let fact_cut = self.fact_cut(region, &part, &state);
            if fact_cut.is_none() {
                self.status_at(region, &state)?;
            }
            open.extend(split(part, fact_cut.or(cut)));
        }
        Ok(())
    }

    /// Decides a part by bounds.
    fn status_over(&mut self, part: &Part) -> Tried {
        let (task, slots) = (&self.task, &mut self.slots);
        let bad = task.unsafe_states.over(part, slots);
        let goal = task.goal.as_ref().map(|goal| (goal, goal.over(part, slots)));
        let hold = task.hold.as_ref().map(|hold| (hold, hold.over(part, slots)));
        let is_goal = goal.is_some_and(|(_, values)| !values.no() && !values.undefined);
        let spared = is_goal && task.semantics.goal == Goal::Strict;
        let mut doubt: Option<&Expression> = None;
        if bad.undefined || bad.yes() && !spared {
            doubt = Some(&task.unsafe_states);
        }
        for (condition, values) in [goal, hold].into_iter().flatten() {
            if values.undefined {
                doubt = Some(condition);
            }
        }
        if doubt.is_none() && !task.blocks() && !task.ends_over(part, slots) {
            let guards = task.commands.iter().map(|command| &command.guard);
            doubt = guards.into_iter().find(|guard| guard.over(part, slots).undefined);
        }
        let Some(doubt) = doubt else { return Tried::Done };
        let variable = doubt.open_variable(part, slots);
        // A state that is both a goal and unsafe may be safe: the goal decides.
        let variable = variable.or_else(|| goal.and_then(|(goal, _)| goal.open_variable(part, slots)));
        let variable = variable.or_else(|| hold.and_then(|(hold, _)| hold.open_variable(part, slots)));
        Tried::Split(variable.map(|variable| part.half(variable)))
    }

    fn status_at(&mut self, region: usize, state: &[i32]) -> Result<(), Rejection> {
        self.report.points += 1;
        let what = match self.wrong_at(state) {
            Ok(false) => return Ok(()),
            Ok(true) => "is unsafe".to_string(),
            Err(Wrong(text)) => format!("is wrong in the model: {text}"),
        };
        self.failed(SAFE, Some(region), state, &what)
    }

    /// Whether a state is unsafe, unless the model is wrong there.
    fn wrong_at(&mut self, state: &[i32]) -> Result<bool, Wrong> {
        let (task, slots) = (&self.task, &mut self.slots);
        let status = task.status(state, slots)?;
        if !status.ends_run {
            for command in 0..task.commands.len() {
                task.enabled(command, state, slots)?;
            }
        }
        Ok(status.is_unsafe)
    }
}
