//! Policy tests: whether the policy chooses an output somewhere in a box (by certification), and where to split a box so that more can be said.

use std::time::Instant;

use surefoot_model::expr::{Enclosure, Truth};
use surefoot_policy::certify::{Budget, CachedCertifier, CachedPossibility, Fact, OutputSet, Question};
use surefoot_solve::Poll;

use super::applicability::Applicability;
use super::problem::Problem;
use super::split::{Split, cut, halve, separate};
use super::state_box::StateBox;
use super::stop::Stop;
use super::tally::Tally;

/// Boxes that may be bounded to answer a test.
pub const POLICY_BOXES: u64 = 10_000;

/// Whether the policy chooses an output in a box.
pub enum Choice {
    /// Nowhere.
    Never,
    /// In this state, as far as the labels tell that are applicable everywhere.
    At(Vec<i32>),
    /// The question was too hard.
    Perhaps,
}

/// Tests of a task's policy.
pub struct PolicyTests<'p> {
    problem: &'p Problem,
    certifier: Option<CachedCertifier>,
    /// Which guards cover a box together; made when it is asked for.
    applicability: Option<Applicability<'p>>,
    /// The box that was last looked at like this, and what competes in it.
    covered: Option<(StateBox, OutputSet)>,
    slots: Vec<Enclosure>,
    poll: Poll,
    /// Whether labels that are applicable in all states of a box take choices away, not only in single states.
    pub over_boxes: bool,
    /// Tests so far.
    pub asked: Tally,
}

impl<'p> PolicyTests<'p> {
    /// Prepares for a task. The decision cache takes at most `cache` bytes.
    pub fn new(problem: &'p Problem, cache: usize, poll: Poll) -> PolicyTests<'p> {
        let certifier = problem.task.policy.as_ref().map(|policy| {
            let StateBox { lower, upper } = &problem.domain;
            CachedCertifier::new(policy, problem.task.semantics.arithmetic, lower, upper, cache)
        });
        PolicyTests {
            problem,
            certifier,
            applicability: None,
            covered: None,
            slots: Vec::new(),
            poll,
            over_boxes: true,
            asked: Tally::default(),
        }
    }

    /// Tests that the decision cache answered.
    pub fn known(&self) -> u64 {
        self.certifier.as_ref().map_or(0, |certifier| certifier.cache().statistics().hits())
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        let cache = self.certifier.as_ref().map_or(0, |certifier| certifier.cache().bytes() as u64);
        cache + self.applicability.as_ref().map_or(0, Applicability::memory)
    }

    /// The outputs that the policy may choose in a box.
    pub fn choices(&mut self, source: &StateBox) -> Result<OutputSet, Stop> {
        let outputs = self.problem.commands_of.len();
        let mut choices = OutputSet::new();
        for output in 0..outputs {
            if !matches!(self.test(source, output, POLICY_BOXES)?, Choice::Never) {
                choices.insert(output);
            }
        }
        Ok(choices)
    }

    /// Splits a box, given a state from which a command leads into a target and one where the policy may choose that command, so that the tests of the
    /// parts say more. `None` if the box has only one state.
    pub fn divide(&mut self, source: &StateBox, from: &[i32], chosen: &[i32]) -> Option<Split> {
        self.isolate(source, from).or_else(|| separate(source, from, chosen)).or_else(|| halve(source))
    }

    /// Under a filter: splits a box towards the part in which the labels that are applicable in one of its states are applicable everywhere, as far as
    /// hulls of guards tell. They take choices away there.
    fn isolate(&mut self, source: &StateBox, state: &[i32]) -> Option<Split> {
        if !self.problem.task.semantics.filter {
            return None;
        }
        let point = StateBox::of_state(state);
        for command in self.problem.commands_of.iter().flatten() {
            let info = &self.problem.commands[*command];
            let Some(hull) = info.hull.as_ref().filter(|hull| hull.includes(&point)) else { continue };
            if info.guard.over_box(state, state, &mut self.slots).truth() != Truth::True {
                continue;
            }
            for index in 0..state.len() {
                if source.lower[index] < hull.lower[index] {
                    return Some(cut(source, index, hull.lower[index]));
                }
                if source.upper[index] > hull.upper[index] {
                    return Some(cut(source, index, hull.upper[index] + 1));
                }
            }
        }
        None
    }

    /// Whether the policy chooses an output in a box, as far as so many boxes tell.
    pub fn test(&mut self, source: &StateBox, output: usize, boxes: u64) -> Result<Choice, Stop> {
        let problem = self.problem;
        self.test_with(source, &problem.facts, output, boxes)
    }

    /// The same, where labels also take choices away that several guards make applicable in a box only together: `A` of the
    /// paper (000, §3.3.2), by solving.
    pub fn test_covered(&mut self, source: &StateBox, output: usize, boxes: u64) -> Result<Choice, Stop> {
        let competing = self.covered(source);
        let problem = self.problem;
        self.ask(source, &problem.facts, output, boxes, &competing)
    }

    /// The same about the states of a box in which facts hold.
    pub fn test_with(
        &mut self,
        source: &StateBox,
        facts: &[Fact],
        output: usize,
        boxes: u64,
    ) -> Result<Choice, Stop> {
        let competing = self.competing(source);
        self.ask(source, facts, output, boxes, &competing)
    }

    /// The outputs whose labels are applicable in all states of a box, as far as single guards tell; all without a filter.
    fn competing(&mut self, source: &StateBox) -> OutputSet {
        let outputs = self.problem.commands_of.len();
        if !self.problem.task.semantics.filter {
            return OutputSet::all(outputs);
        }
        let slots = &mut self.slots;
        let is_looked_at = self.over_boxes || source.lower == source.upper;
        let applies = |&rival: &usize| is_looked_at && self.problem.is_applicable(rival, source, slots);
        (0..outputs).filter(applies).collect()
    }

    /// The same, as a solver tells.
    fn covered(&mut self, source: &StateBox) -> OutputSet {
        if let Some((states, competing)) = &self.covered
            && states == source
        {
            return competing.clone();
        }
        let mut competing = self.competing(source);
        for rival in 0..self.problem.commands_of.len() {
            if !competing.contains(rival) && self.is_covered(source, rival) {
                competing.insert(rival);
            }
        }
        self.covered = Some((source.clone(), competing.clone()));
        competing
    }

    /// Whether several guards make the label of an output applicable in all states of a box.
    fn is_covered(&mut self, source: &StateBox, output: usize) -> bool {
        let Self { problem, slots, poll, .. } = self;
        let problem = *problem;
        let corners = [&source.lower, &source.upper].map(|corner| StateBox::of_state(corner));
        if problem.commands_of[output].len() < 2
            || !corners.iter().all(|corner| problem.is_applicable(output, corner, slots))
        {
            return false;
        }
        let applicability =
            self.applicability.get_or_insert_with(|| Applicability::new(&problem.task, poll.clone()));
        matches!(applicability.find_without(source, &[output]), Ok(None))
    }

    fn ask(
        &mut self,
        source: &StateBox,
        facts: &[Fact],
        output: usize,
        boxes: u64,
        competing: &OutputSet,
    ) -> Result<Choice, Stop> {
        let question = Question { lower: &source.lower, upper: &source.upper, facts, output, competing };
        let stop = || (self.poll)();
        let budget = Budget { boxes, stop: Some(&stop) };
        let certifier = self.certifier.as_mut().expect("outputs are those of a policy");
        let asked = Instant::now();
        let answer = certifier.possible(&question, &budget);
        self.asked.add(asked);
        match answer {
            CachedPossibility::Never(_) => Ok(Choice::Never),
            CachedPossibility::Possible(state) => Ok(Choice::At(state.to_vec())),
            CachedPossibility::Unknown if (self.poll)() => Err(Stop::Limit),
            CachedPossibility::Unknown => Ok(Choice::Perhaps),
        }
    }

    /// Whether the policy may choose an output in a state, in which its label is applicable.
    pub fn chooses(&mut self, state: &[i32], output: usize) -> bool {
        let task = &self.problem.task;
        let policy = task.policy.as_ref().expect("outputs are those of a policy");
        let point = StateBox::of_state(state);
        let slots = &mut self.slots;
        let competes = |rival: usize| {
            !task.semantics.filter || rival == output || self.problem.is_applicable(rival, &point, slots)
        };
        let competing: Vec<bool> = (0..policy.outputs.len()).map(competes).collect();
        policy.possible(task.semantics.arithmetic, state, |output| competing[output]).contains(&output)
    }
}
