//! Regions that grow forward from the start states until no step leads out of them.
//!
//! Frames approach an invariant from above: they take away what is shown to be safe. This folder approaches it from below. States are divided into
//! cells (`partition.rs`); each cell has a region (`regions.rs`), the hull of all that was found to be reachable there. A step of the policy from a region
//! leads to a box of successors, and the regions of these grow. When nothing grows any more, regions from which no step leads to a bad region are
//! closed: their states never become unsafe. They are reasons for any number of steps, and if they hold all start states, they are the invariant.
//!
//! Cells are the states that agree in some variables, the keys: no variable, those with the smallest domains, and so on, up to all. The
//! finest keys for which nothing grows any more are kept, and their cells are cut where that helps (`refine.rs`). Each time, only states outside of the regions
//! that were closed before are looked at. What takes too long is tried again later, with more patience, in turn with the work on frames.

mod partition;
mod pursue;
mod refine;
mod regions;

use surefoot_model::enumerate::narrow;

use super::frames::FOREVER;
use super::reason::Reason;
use super::{Run, Stop};
use crate::outcome::Trace;
use crate::symbolic::Choice;
use crate::symbolic::Images;
use crate::symbolic::Problem;
use partition::Partition;
use regions::Regions;

/// Questions that the first attempts may ask.
const FIRST: usize = 60_000;

/// How many questions a start state counts for: finding one becomes harder with their number.
const START: usize = 8;

/// Boxes that may be bounded to answer a policy test.
const BOXES: u64 = 100;

/// Times that cells are cut before finer keys are tried again.
const CUTS: usize = 16;

/// What has been tried.
pub struct Growth<'p> {
    images: Images<'p>,
    /// Keys for which regions did not stop growing yet, from coarse to fine.
    keys: Vec<Vec<usize>>,
    /// What comes next: one of the keys, or else cuts.
    next: usize,
    /// Questions that one attempt may ask.
    patience: usize,
    /// Questions that may be asked at all.
    left: usize,
    /// The finest cells whose regions stopped growing.
    grown: Option<Grown>,
    /// Bytes of the regions that are growing.
    growing: u64,
}

/// Regions that stopped growing.
struct Grown {
    regions: Regions,
    /// Which regions may lead to a bad one.
    doomed: Vec<bool>,
}

impl<'p> Growth<'p> {
    /// Nothing tried yet, and so many questions to ask.
    pub fn new(problem: &'p Problem, left: usize) -> Growth<'p> {
        let images = Images::new(problem);
        let keys = keys(&problem.domain);
        Growth { images, keys, next: 0, patience: FIRST, left, grown: None, growing: 0 }
    }

    /// Whether all keys were tried once.
    pub fn is_warm(&self) -> bool {
        self.patience > FIRST || self.is_over()
    }

    /// Whether there is nothing left to try.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        self.growing + self.grown.as_ref().map_or(0, |grown| grown.regions.memory())
    }

    /// Takes questions from the budget of an attempt, if there are so many.
    fn spend(&mut self, attempt: &mut usize, questions: usize) -> bool {
        self.left = self.left.saturating_sub(questions);
        *attempt = attempt.saturating_sub(questions);
        self.left > 0 && *attempt > 0
    }
}

/// Keys from coarse to fine.
fn keys(domain: &Reason) -> Vec<Vec<usize>> {
    let size = |index: usize| i64::from(domain.upper[index]) - i64::from(domain.lower[index]);
    let mut sizes: Vec<i64> = (0..domain.lower.len()).map(size).collect();
    sizes.push(-1);
    sizes.sort_unstable();
    sizes.dedup();
    let keys = |most: &i64| (0..domain.lower.len()).filter(|&index| size(index) <= *most).collect();
    sizes.iter().map(keys).collect()
}

impl Run<'_> {
    /// Makes one attempt to find reasons that hold for any number of steps; a run to an unsafe state, if one is met.
    pub(super) fn grow(&mut self) -> Result<Option<Trace>, Stop> {
        let position = self.growth.next;
        if let Some(keys) = self.growth.keys.get(position) {
            let partition = Partition::new(&self.problem.domain, keys.clone());
            if !self.attempt(partition)? {
                self.growth.next += 1;
                return Ok(None);
            }
            // Coarser keys have nothing to say any more.
            self.growth.keys.drain(..=position);
            self.growth.next = 0;
            return self.pursue();
        }
        self.growth.next = 0;
        self.growth.patience *= 2;
        for _ in 0..CUTS {
            let Some(grown) = self.growth.grown.take() else { break };
            let Some(partition) = self.refine(grown)? else { break };
            if !self.attempt(partition)? || self.is_closed()? {
                break;
            }
            if let Some(trace) = self.pursue()? {
                return Ok(Some(trace));
            }
        }
        if self.growth.keys.is_empty() && self.growth.grown.is_none() {
            self.growth.left = 0;
        }
        Ok(None)
    }

    /// Whether reasons that hold for any number of steps have all start states.
    pub(super) fn is_closed(&mut self) -> Result<bool, Stop> {
        let listed = &self.problem.task.property.start.listed;
        Ok(listed.iter().all(|state| self.frames.blocks(state, FOREVER))
            && self.states.start(FOREVER)?.is_none())
    }

    /// Grows the regions of a partition, and makes reasons of those that are closed; `false` if regions do not stop growing soon enough.
    fn attempt(&mut self, partition: Partition) -> Result<bool, Stop> {
        let mut regions = Regions::new(partition);
        let mut left = self.growth.patience;
        if !self.grow_starts(&mut regions, &mut left)? {
            return Ok(false);
        }
        while let Some(index) = regions.next() {
            self.growth.growing = regions.memory();
            self.look_around()?;
            if !self.grow_successors(&mut regions, index, &mut left)? {
                return Ok(false);
            }
        }
        let doomed = regions.doomed();
        for (region, _) in regions.all().iter().zip(&doomed).filter(|(_, is_doomed)| !**is_doomed) {
            self.tell(&region.states, FOREVER);
            self.frames.add(region.states.clone(), FOREVER);
        }
        self.growth.growing = 0;
        self.growth.grown = Some(Grown { regions, doomed });
        Ok(true)
    }

    /// Regions for all start states; whether there were not too many.
    fn grow_starts(&mut self, regions: &mut Regions, left: &mut usize) -> Result<bool, Stop> {
        let start = &self.problem.task.property.start;
        for state in &start.listed {
            self.samples.start(state.clone());
            if !self.frames.blocks(state, FOREVER) && !regions.add(&Reason::of_state(state), None) {
                return Ok(false);
            }
        }
        let Some(condition) = start.condition else { return Ok(true) };
        let frame = self.states.scratch();
        while let Some(state) = self.states.start_in(frame)? {
            let cell = regions.partition().cell(&state);
            let exprs = &self.problem.task.system.exprs;
            let (lower, upper) =
                narrow(exprs, condition, &cell.lower, &cell.upper).expect("a start state is in it");
            let states = Reason { lower, upper };
            self.samples.start(state);
            if !self.growth.spend(left, START) || !regions.add(&states, None) {
                return Ok(false);
            }
            self.states.add_to(frame, &states);
        }
        Ok(true)
    }

    /// Follows the steps of a region; whether it was within the budget.
    fn grow_successors(
        &mut self,
        regions: &mut Regions,
        index: usize,
        left: &mut usize,
    ) -> Result<bool, Stop> {
        let states = regions.all()[index].states.clone();
        if let Some(state) = self.states.bad(&states)? {
            regions.set_bad(index, state, None);
            return Ok(true);
        }
        if self.growth.images.end(&states) {
            return Ok(true);
        }
        for command in 0..self.problem.commands.len() {
            let Some(part) = self.growth.images.enabled(command, &states) else { continue };
            if !self.growth.spend(left, 1) {
                return Ok(false);
            }
            if let Some(output) = self.problem.commands[command].output
                && matches!(self.steps.policy.test(&part, output, BOXES)?, Choice::Never)
            {
                continue;
            }
            if let Some(state) = self.states.error(command, &part)? {
                regions.set_bad(index, state, Some(command));
                return Ok(true);
            }
            for image in self.growth.images.successors(command, &part) {
                if !self.frames.holds(&image, FOREVER) && !regions.add(&image, Some((index, command))) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
