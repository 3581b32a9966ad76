//! Regions that grow forward from the start states until no step leads out of them.
//!
//! Frames approach an invariant from above: they take away what is shown to be safe. This file approaches it from below. States that agree in
//! some variables, the *keys*, share a region, the hull of all that was found to be reachable among them. A step of the policy from a region gives a box
//! of successors, and the regions of these grow. When nothing grows any more, regions from which no step leads to a bad region are closed: their
//! states never become unsafe. They are reasons for any number of steps, and if they hold all start states, they are the invariant.
//!
//! Keys are taken from coarse to fine: no variable, then those with the smallest domains, and so on. Each time, only states outside of the reasons that
//! earlier keys gave are looked at.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use surefoot_model::enumerate::narrow;

use super::frames::FOREVER;
use super::image::Images;
use super::reason::Reason;
use super::steps::Choice;
use super::{Run, Stop};

/// Regions that one step may lead to.
const CELLS: usize = 64;

/// Boxes that may be bounded to answer a policy test.
const BOXES: u64 = 500;

/// How often a region grows by what is needed; afterwards it grows by more than that.
const PATIENCE: u32 = 32;

/// States that agree in the keys.
struct Region {
    states: Reason,
    /// How often it has grown.
    grown: u32,
    is_queued: bool,
    /// Whether a state of it is unsafe, or the model is wrong there.
    is_bad: bool,
    /// Regions from which steps lead here.
    from: FxHashSet<usize>,
}

/// All regions of some keys.
#[derive(Default)]
struct Growth {
    keys: Vec<usize>,
    regions: Vec<Region>,
    of_key: FxHashMap<Vec<i32>, usize>,
    queue: VecDeque<usize>,
    /// Questions that may still be asked.
    effort: usize,
}

impl Run<'_> {
    /// Finds reasons that hold for any number of steps.
    pub(super) fn grow(&mut self) -> Result<(), Stop> {
        let mut images = Images::new(self.problem);
        for keys in self.keys() {
            if self.is_closed()? {
                break;
            }
            let Some(growth) = self.grow_regions(keys, &mut images)? else { break };
            for reason in growth.closed() {
                self.tell(&reason, FOREVER);
                self.frames.add(reason, FOREVER);
            }
        }
        Ok(())
    }

    /// Whether reasons that hold for any number of steps have all start states.
    pub(super) fn is_closed(&mut self) -> Result<bool, Stop> {
        let listed = &self.problem.task.property.start.listed;
        Ok(listed.iter().all(|state| self.frames.blocks(state, FOREVER))
            && self.states.start(FOREVER)?.is_none())
    }

    /// Keys from coarse to fine.
    fn keys(&self) -> Vec<Vec<usize>> {
        let domain = &self.problem.domain;
        let size = |index: usize| i64::from(domain.upper[index]) - i64::from(domain.lower[index]);
        let mut sizes: Vec<i64> = (0..domain.lower.len()).map(size).collect();
        sizes.push(-1);
        sizes.sort_unstable();
        sizes.dedup();
        let keys = |most: &i64| (0..domain.lower.len()).filter(|&index| size(index) <= *most).collect();
        sizes.iter().map(keys).collect()
    }

    /// Grows regions until nothing is left to do; `None` if that is too much.
    fn grow_regions(&mut self, keys: Vec<usize>, images: &mut Images<'_>) -> Result<Option<Growth>, Stop> {
        let mut growth = Growth { keys, effort: self.options.growth, ..Growth::default() };
        if !self.grow_starts(&mut growth)? {
            return Ok(None);
        }
        while let Some(index) = growth.queue.pop_front() {
            self.look_around()?;
            if !self.grow_successors(&mut growth, index, images)? {
                return Ok(None);
            }
        }
        Ok(Some(growth))
    }

    /// Regions for all start states.
    fn grow_starts(&mut self, growth: &mut Growth) -> Result<bool, Stop> {
        let start = &self.problem.task.property.start;
        for state in &start.listed {
            if !self.frames.blocks(state, FOREVER)
                && !growth.add(&Reason::of_state(state), None, self.domain())
            {
                return Ok(false);
            }
        }
        let Some(condition) = start.condition else { return Ok(true) };
        let frame = self.states.scratch();
        while let Some(state) = self.states.start_in(frame)? {
            let cell = growth.cell(&state, self.domain());
            let exprs = &self.problem.task.system.exprs;
            let (lower, upper) =
                narrow(exprs, condition, &cell.lower, &cell.upper).expect("a start state is in it");
            let states = Reason { lower, upper };
            if !growth.add(&states, None, self.domain()) {
                return Ok(false);
            }
            self.states.add_to(frame, &states);
        }
        Ok(true)
    }

    /// Follows the steps of a region; whether it was within the budget.
    fn grow_successors(
        &mut self,
        growth: &mut Growth,
        index: usize,
        images: &mut Images<'_>,
    ) -> Result<bool, Stop> {
        growth.regions[index].is_queued = false;
        let states = growth.regions[index].states.clone();
        if self.states.bad(&states)?.is_some() {
            growth.regions[index].is_bad = true;
            return Ok(true);
        }
        if images.end(&states) {
            return Ok(true);
        }
        for command in 0..self.problem.commands.len() {
            let Some(part) = images.enabled(command, &states) else { continue };
            if !growth.spend() {
                return Ok(false);
            }
            if let Some(output) = self.problem.commands[command].output
                && matches!(self.steps.policy(&part, output, BOXES)?, Choice::Never)
            {
                continue;
            }
            if self.states.error(command, &part)?.is_some() {
                growth.regions[index].is_bad = true;
                return Ok(true);
            }
            for image in images.successors(command, &part) {
                if !self.frames.holds(&image, FOREVER) && !growth.add(&image, Some(index), self.domain()) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn domain(&self) -> &Reason {
        &self.problem.domain
    }
}

impl Growth {
    /// All states that agree with one in the keys.
    fn cell(&self, state: &[i32], domain: &Reason) -> Reason {
        let mut cell = domain.clone();
        for &key in &self.keys {
            (cell.lower[key], cell.upper[key]) = (state[key], state[key]);
        }
        cell
    }

    /// Takes one question from the budget, if one is left.
    fn spend(&mut self) -> bool {
        self.effort = self.effort.saturating_sub(1);
        self.effort > 0
    }

    /// Lets regions grow until they hold the states of a box; whether that was within the budget.
    fn add(&mut self, states: &Reason, from: Option<usize>, domain: &Reason) -> bool {
        let size = |&key: &usize| (i64::from(states.upper[key]) - i64::from(states.lower[key]) + 1) as usize;
        let cells = self.keys.iter().map(size).fold(1, usize::saturating_mul);
        if cells > CELLS || !self.spend() {
            return false;
        }
        let mut corner = states.lower.clone();
        for _ in 0..cells {
            let cell = self.cell(&corner, domain);
            let part = states.intersection(&cell).expect("the corner is in both");
            self.add_to_cell(part, from, domain);
            for &key in &self.keys {
                if corner[key] < states.upper[key] {
                    corner[key] += 1;
                    break;
                }
                corner[key] = states.lower[key];
            }
        }
        true
    }

    fn add_to_cell(&mut self, states: Reason, from: Option<usize>, domain: &Reason) {
        let key: Vec<i32> = self.keys.iter().map(|&key| states.lower[key]).collect();
        let next = self.regions.len();
        let index = *self.of_key.entry(key).or_insert(next);
        let mut is_new = index == next;
        if is_new {
            let from = FxHashSet::default();
            self.regions.push(Region { states, grown: 0, is_queued: false, is_bad: false, from });
        } else if !self.regions[index].states.includes(&states) {
            let region = &mut self.regions[index];
            region.states = if region.grown < PATIENCE {
                region.states.hull(&states)
            } else {
                region.states.stretch(&states, domain)
            };
            region.grown += 1;
            is_new = true;
        }
        let region = &mut self.regions[index];
        region.from.extend(from);
        if is_new && !region.is_queued && !region.is_bad {
            region.is_queued = true;
            self.queue.push_back(index);
        }
    }

    /// The regions from which no step leads to a bad one.
    fn closed(mut self) -> Vec<Reason> {
        let mut bad: Vec<usize> =
            (0..self.regions.len()).filter(|&index| self.regions[index].is_bad).collect();
        while let Some(index) = bad.pop() {
            for from in std::mem::take(&mut self.regions[index].from) {
                if !std::mem::replace(&mut self.regions[from].is_bad, true) {
                    bad.push(from);
                }
            }
        }
        self.regions.into_iter().filter(|region| !region.is_bad).map(|region| region.states).collect()
    }
}
