//! Obligation 2: no state of a region is unsafe, and the model is not wrong at any of them.
//!
//! Every condition of the property must have a value. Where runs go on, and undefined guards are mistakes, every guard
//! must have one too.

use crate::check::{Checker, Tried};
use crate::part::Part;
use crate::verdict::{Obligation, Rejection};

impl Checker<'_, '_> {
    pub fn check_status(&mut self, region: usize) -> Result<(), Rejection> {
        let all = self.region(region).1;
        let attempt = |checker: &mut Self, part: &Part, (): &mut ()| checker.status(part);
        self.everywhere(Obligation::Safe, Some(region), all, (), attempt)
    }

    fn status(&mut self, part: &Part) -> Tried {
        let (task, slots) = (&self.task, &mut self.slots);
        let no_value = |what: &str| format!("is wrong in the model: {what} has no value");
        let bad = task.unsafe_states.over(part, slots);
        let spared = task.spares_goals && task.is_goal(part, slots);
        let mut doubt = None;
        if bad.yes() && !spared {
            doubt = Some((&task.unsafe_states, "is unsafe".into()));
        }
        for (condition, what) in [
            (Some(&task.unsafe_states), "the unsafe condition"),
            (task.goal.as_ref(), "the goal condition"),
            (task.hold.as_ref(), "the condition that must hold"),
        ] {
            if let Some(condition) = condition.filter(|condition| condition.over(part, slots).undefined) {
                doubt = Some((condition, no_value(what)));
            }
        }
        if doubt.is_none() && !task.blocks && !task.ends(part, slots) {
            let mut commands = task.commands.iter();
            let wrong = commands.find(|command| command.guard.over(part, slots).undefined);
            doubt =
                wrong.map(|command| (&command.guard, no_value(&format!("the guard of {}", command.name))));
        }
        let Some((doubt, what)) = doubt else { return Tried::Done };
        // A state that is both a goal and unsafe may be safe: the goal decides.
        let others = [task.goal.as_ref(), task.hold.as_ref()].into_iter().flatten();
        let mut cuts =
            std::iter::once(doubt).chain(others).filter_map(|condition| condition.cut(part, slots));
        Tried::Open(cuts.next(), what)
    }
}
