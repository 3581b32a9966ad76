//! `generalizeReason` (paper 000, §3.2 and §3.3.3): widens a state to a box in which the reason for its safety still holds.
//!
//! A box is a reason at level `n` if (i) none of its states is unsafe, and (ii) no step that the policy takes leads from it into the frame
//! of level `n − 1`, except back into the box. The paper drops variables one by one. Here each bound of a variable that cannot be dropped is widened as
//! far as bisection gets it.

use super::reason::Reason;
use super::steps::{Leads, Target};
use super::{Order, Reasons, Run, Stop};

impl Run<'_> {
    /// A box around a state none of whose steps leads into the frame of a level.
    pub(super) fn generalize_reason(&mut self, state: &[i32], level: usize) -> Result<Reason, Stop> {
        let mut reason = Reason::of_state(state);
        if self.options.generalize {
            for index in self.order() {
                self.widen(&mut reason, index, level)?;
            }
        }
        Ok(reason)
    }

    /// The order in which variables are widened.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.problem.domain.lower.len()).collect();
        let size = |&index: &usize| {
            i64::from(self.problem.domain.upper[index]) - i64::from(self.problem.domain.lower[index])
        };
        match self.options.order {
            Order::Widest => order.sort_by_key(|index| std::cmp::Reverse(size(index))),
            Order::Narrowest => order.sort_by_key(size),
            Order::Declared => {}
        }
        order
    }

    /// Widens a reason in one variable.
    fn widen(&mut self, reason: &mut Reason, index: usize, level: usize) -> Result<(), Stop> {
        let (least, greatest) = (self.problem.domain.lower[index], self.problem.domain.upper[index]);
        if self.accept(reason, index, (least, greatest), level)?
            || self.options.reasons == Reasons::Assignment
        {
            return Ok(());
        }
        // Bisection: `good` is the widest bound that is known to do, `bad` the narrowest that does not.
        let (mut good, mut bad) = (i64::from(reason.lower[index]), i64::from(least) - 1);
        while good - bad > 1 {
            let middle = if bad < i64::from(least) { i64::from(least) } else { i64::midpoint(good, bad) };
            if self.accept(reason, index, (middle as i32, reason.upper[index]), level)? {
                good = middle;
            } else {
                bad = middle;
            }
        }
        let (mut good, mut bad) = (i64::from(reason.upper[index]), i64::from(greatest) + 1);
        while bad - good > 1 {
            let middle =
                if bad > i64::from(greatest) { i64::from(greatest) } else { i64::midpoint(good, bad) };
            if self.accept(reason, index, (reason.lower[index], middle as i32), level)? {
                good = middle;
            } else {
                bad = middle;
            }
        }
        Ok(())
    }

    /// Gives a variable of a reason new ends if it remains a reason.
    fn accept(
        &mut self,
        reason: &mut Reason,
        index: usize,
        (lower, upper): (i32, i32),
        level: usize,
    ) -> Result<bool, Stop> {
        let before = (reason.lower[index], reason.upper[index]);
        if before == (lower, upper) {
            return Ok(true);
        }
        (reason.lower[index], reason.upper[index]) = (lower, upper);
        if self.is_reason(reason, level)? {
            self.steps.keep();
            return Ok(true);
        }
        (reason.lower[index], reason.upper[index]) = before;
        Ok(false)
    }

    /// Whether a box is a reason for not reaching the frame of a level in one step.
    pub(super) fn is_reason(&mut self, reason: &Reason, level: usize) -> Result<bool, Stop> {
        if self.states.bad(reason)?.is_some() {
            return Ok(false);
        }
        let target = Target { level, except: self.options.relative.then_some(reason) };
        Ok(self.steps.leads(&mut self.states, &self.frames, reason, target)? == Leads::No)
    }
}
