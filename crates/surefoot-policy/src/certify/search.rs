//! Branch and bound over boxes of integers: complete, because boxes shrink to points.
//!
//! A box is clipped by the facts, bounded by a [`Bounder`], and if that does not decide it, cut, searched for a witness
//! and split. Small boxes are enumerated. Boxes are visited depth first, so that the working memory of a bounder is
//! that of one path: what it knows of a box can be reused in the parts of that box.

use super::evidence::{Evidence, Phase, Step};
use super::points::Points;
use super::question::{Budget, Question};
use super::space::{Cut, Space};

/// Bounds the scores of a policy over boxes.
///
/// Boxes are given by the ends of the policy's dimensions. A box at depth `d + 1` is part of the last box that was
/// examined at depth `d`, for the same question.
pub(super) trait Bounder {
    /// Boxes with at most this many points are enumerated instead of bounded.
    fn enumerated(&self) -> u64;

    /// Points of the question's box that are evaluated before it is bounded.
    fn samples(&self) -> usize;

    /// Prepares for a question, whose box (after clipping) this is.
    fn begin(&mut self, question: &Question<'_>, lower: &[i32], upper: &[i32]);

    /// Takes over the facts of the question, whose box has these ends in all dimensions. From here on, boxes stand for their states in
    /// which the facts hold.
    fn take_facts(&mut self, _space: &Space, _lower: &[i32], _upper: &[i32]) {}

    /// Whether facts may have been used for what was found since they were taken over.
    fn used_facts(&self) -> bool {
        false
    }

    /// A competing output that the bounds of the question's box show to win everywhere in it, also where facts do not hold.
    fn dominator(&mut self, lower: &[i32], upper: &[i32]) -> Option<usize>;

    /// Examines a box. Parts of it in which a competing output wins everywhere may be appended to `cuts`, together with that
    /// output; each cut is about the box that the cuts before it leave, and so is the finding. None of them may leave
    /// nothing. A box that comes from a split by phases has the phase in which it differs from its parent.
    fn examine(
        &mut self,
        depth: usize,
        lower: &[i32],
        upper: &[i32],
        phase: Option<Phase>,
        cuts: &mut Vec<(Cut, usize)>,
        candidates: &mut Candidates<'_>,
    ) -> Finding;
}

/// What a bounder found out about a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    /// A competing output wins everywhere.
    Dominated(usize),
    /// The output in question can be chosen everywhere.
    Won,
    /// The output in question can be chosen at this point: see [`Candidates::ask`].
    Witness(usize),
    /// All points have the same scores.
    Uniform,
    /// No state of the box has the phases that it was split by.
    Empty,
    /// Nothing certain. To be split here: the low part ends at `at`.
    Open { dimension: usize, at: i32, low_first: bool },
    /// Nothing certain. To be split by the phases of a neuron, this one first.
    Undecided(Phase),
}

/// Takes points at which the output in question might be chosen.
pub(super) struct Candidates<'s> {
    points: &'s mut Points,
    space: &'s Space,
    question: &'s Question<'s>,
    lower: &'s [i32],
}

impl Candidates<'_> {
    /// Suggests a point, given by its value in each dimension of the policy. Whether it is going to be evaluated: not
    /// if facts exclude it.
    pub(super) fn add(&mut self, point: impl Fn(usize) -> i32) -> bool {
        if self.points.is_full() {
            return false;
        }
        let of_policy = self.space.of_policy();
        let value = |dimension| if dimension < of_policy { point(dimension) } else { self.lower[dimension] };
        self.points.add(self.space, value)
    }

    /// Evaluates the points that were added, instead of after the examination. Gives the first at which the output in
    /// question can be chosen.
    pub(super) fn ask(&mut self) -> Option<usize> {
        self.points.ask(self.question)
    }
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Never,
    /// The witness is in [`Search::witness`].
    Possible,
    OutOfBudget,
}

/// What a box that was put aside has besides its ends.
#[derive(Debug, Clone, Copy)]
struct Part {
    depth: usize,
    phase: Option<Phase>,
}

/// The working memory of searches.
#[derive(Debug, Clone)]
pub(super) struct Search {
    pub(super) space: Space,
    pub(super) points: Points,
    pub(super) evidence: Evidence,
    /// The last witness, a value for each variable of the system.
    pub(super) witness: Vec<i32>,
    /// Boxes that were examined or enumerated for the last question.
    pub(super) boxes: u64,
    /// Whether the last answer *never* used the facts other than by clipping the box of the question.
    pub(super) used_facts: bool,
    lower: Vec<i32>,
    upper: Vec<i32>,
    /// In which phase the current box differs from its parent.
    phase: Option<Phase>,
    /// Boxes still to be visited: their ends, one after the other, and the rest.
    pending: Vec<i32>,
    parts: Vec<Part>,
    cuts: Vec<(Cut, usize)>,
    fact_cuts: Vec<Cut>,
    odometer: Vec<i32>,
}

impl Search {
    pub(super) fn new(space: Space, points: Points) -> Self {
        Search {
            space,
            points,
            evidence: Evidence::default(),
            witness: Vec::new(),
            boxes: 0,
            used_facts: false,
            lower: Vec::new(),
            upper: Vec::new(),
            phase: None,
            pending: Vec::new(),
            parts: Vec::new(),
            cuts: Vec::new(),
            fact_cuts: Vec::new(),
            odometer: Vec::new(),
        }
    }

    /// The current box, in the dimensions of the policy. After [`Search::load`], that is the box of the question, clipped by its
    /// facts.
    pub(super) fn ends(&self) -> (&[i32], &[i32]) {
        let of_policy = self.space.of_policy();
        (&self.lower[..of_policy], &self.upper[..of_policy])
    }

    /// Takes over the box of a question, clipped by its facts; `false` if nothing is left of it.
    pub(super) fn load(&mut self, question: &Question<'_>) -> bool {
        self.space.load(question);
        self.evidence.clear();
        self.boxes = 0;
        self.used_facts = false;
        self.lower.clear();
        self.upper.clear();
        for dimension in 0..self.space.size() {
            let variable = self.space.variable(dimension).index();
            self.lower.push(question.lower[variable]);
            self.upper.push(question.upper[variable]);
        }
        self.points.clear(&self.space);
        let is_box = question.lower.iter().zip(question.upper).all(|(lower, upper)| lower <= upper);
        if !is_box {
            self.evidence.push(Step::Empty);
        }
        is_box && self.clip_by_facts()
    }

    /// Decides whether the output in question can be chosen somewhere.
    pub(super) fn run(
        &mut self,
        bounder: &mut impl Bounder,
        question: &Question<'_>,
        budget: &Budget<'_>,
    ) -> End {
        if !self.load(question) {
            return End::Never;
        }
        let limit = bounder.enumerated();
        let is_large = self.point_count(limit).is_none();
        if is_large {
            let Search { space, points, lower, upper, .. } = &mut *self;
            if let Some(point) = points.sample(space, question, lower, upper, bounder.samples()) {
                return self.possible(point, question);
            }
            bounder.begin(
                question,
                &self.lower[..self.space.of_policy()],
                &self.upper[..self.space.of_policy()],
            );
            bounder.take_facts(&self.space, &self.lower, &self.upper);
        }
        self.pending.clear();
        self.parts.clear();
        self.phase = None;
        let mut depth = 0;
        loop {
            match self.visit(bounder, question, budget, limit, &mut depth) {
                Visit::Closed => {
                    let Some(next) = self.pop() else {
                        self.used_facts |= is_large && bounder.used_facts();
                        return End::Never;
                    };
                    depth = next;
                }
                Visit::Split => depth += 1,
                Visit::Witness(point) => return self.possible(point, question),
                Visit::OutOfBudget => return End::OutOfBudget,
            }
        }
    }

    /// Visits the current box: closes it, finds a witness, or continues with a part of it.
    fn visit(
        &mut self,
        bounder: &mut impl Bounder,
        question: &Question<'_>,
        budget: &Budget<'_>,
        limit: u64,
        depth: &mut usize,
    ) -> Visit {
        loop {
            let something = self.clip_by_facts();
            self.used_facts |= !something || !self.fact_cuts.is_empty();
            if !something {
                return Visit::Closed;
            }
            if self.boxes >= budget.boxes || budget.stop.is_some_and(|stop| stop()) {
                return Visit::OutOfBudget;
            }
            self.boxes += 1;
            if self.point_count(limit).is_some() {
                return self.enumerate(question);
            }
            self.cuts.clear();
            let finding = self.examine(bounder, question, *depth);
            if let Finding::Witness(point) = finding {
                return Visit::Witness(point);
            }
            if let Some(point) = self.points.ask(question) {
                return Visit::Witness(point);
            }
            let finding = if finding == Finding::Uniform { self.settle(question) } else { finding };
            let (dimension, at, low_first) = match finding {
                Finding::Uniform | Finding::Witness(_) => unreachable!("they are dealt with above"),
                Finding::Dominated(by) => {
                    self.cut();
                    self.evidence.push(Step::Dominated { by: by as u32 });
                    return Visit::Closed;
                }
                Finding::Empty => {
                    self.cut();
                    self.evidence.push(Step::Empty);
                    return Visit::Closed;
                }
                Finding::Won => match self.space.undecided(&self.lower, &self.upper) {
                    // Each fact holds everywhere or, where clipping ended too soon to see it, nowhere.
                    None => {
                        let Search { space, points, lower, .. } = &mut *self;
                        if !points.add(space, |dimension| lower[dimension]) {
                            self.used_facts = true;
                            self.evidence.push(Step::Empty);
                            return Visit::Closed;
                        }
                        let point = self.points.ask(question);
                        return Visit::Witness(point.expect("the output can be chosen everywhere"));
                    }
                    Some(dimension) => {
                        (dimension, i32::midpoint(self.lower[dimension], self.upper[dimension] - 1), true)
                    }
                },
                Finding::Open { dimension, at, low_first } => (dimension, at, low_first),
                Finding::Undecided(phase) => {
                    if !self.cut() {
                        self.split_phases(phase, *depth + 1);
                        return Visit::Split;
                    }
                    *depth += 1;
                    continue;
                }
            };
            if self.cut() {
                *depth += 1;
                continue;
            }
            let at = at.clamp(self.lower[dimension], self.upper[dimension]);
            if at < self.upper[dimension] {
                self.split(dimension, at, low_first, *depth + 1);
                return Visit::Split;
            }
            // The cuts took the other part away already.
            *depth += 1;
        }
    }

    /// Asks the bounder about the current box, unless it has one point of the policy: what is wide there is wide in
    /// variables that only facts mention.
    fn examine(&mut self, bounder: &mut impl Bounder, question: &Question<'_>, depth: usize) -> Finding {
        let of_policy = self.space.of_policy();
        let (lower, upper) = (&self.lower[..of_policy], &self.upper[..of_policy]);
        if lower == upper {
            return Finding::Uniform;
        }
        let mut candidates =
            Candidates { points: &mut self.points, space: &self.space, question, lower: &self.lower };
        bounder.examine(depth, lower, upper, self.phase.take(), &mut self.cuts, &mut candidates)
    }

    /// Evaluates a point of a box whose points have the same scores.
    fn settle(&mut self, question: &Question<'_>) -> Finding {
        let point = &self.lower[..self.space.of_policy()];
        match self.points.dominator(&self.space, point, question) {
            Some(by) => Finding::Dominated(by),
            None => Finding::Won,
        }
    }

    /// Applies the cuts of the bounder; whether they took away half of the box or more.
    fn cut(&mut self) -> bool {
        let mut left = 1.0;
        for index in 0..self.cuts.len() {
            let (cut, by) = self.cuts[index];
            let dimension = match cut {
                Cut::Above { dimension, .. } | Cut::Below { dimension, .. } => dimension,
            };
            let width = |search: &Search| {
                f64::from(search.upper[dimension]) - f64::from(search.lower[dimension]) + 1.0
            };
            let before = width(self);
            self.cut_off(cut, Step::Dominated { by: by as u32 });
            match cut {
                Cut::Above { at, .. } => self.upper[dimension] = at,
                Cut::Below { at, .. } => self.lower[dimension] = at,
            }
            left *= width(self) / before;
        }
        left <= 0.5
    }

    /// Clips the current box; `false` if nothing is left of it.
    fn clip_by_facts(&mut self) -> bool {
        self.fact_cuts.clear();
        if !self.space.has_facts() {
            return true;
        }
        let something = self.space.clip(&mut self.lower, &mut self.upper, &mut self.fact_cuts);
        if something {
            for index in 0..self.fact_cuts.len() {
                self.cut_off(self.fact_cuts[index], Step::Empty);
            }
        } else {
            self.evidence.push(Step::Empty);
        }
        something
    }

    /// Records that a part of the current box is done with.
    fn cut_off(&mut self, cut: Cut, step: Step) {
        let (dimension, at, low_first) = match cut {
            Cut::Above { dimension, at } => (dimension, at, false),
            Cut::Below { dimension, at } => (dimension, at - 1, true),
        };
        self.evidence.push(Step::Split { variable: self.space.variable(dimension), at, low_first });
        self.evidence.push(step);
    }

    /// Puts one part of the current box aside and continues with the other.
    fn split(&mut self, dimension: usize, at: i32, low_first: bool, depth: usize) {
        self.evidence.push(Step::Split { variable: self.space.variable(dimension), at, low_first });
        let [lower, upper] = [self.lower[dimension], self.upper[dimension]];
        let (first, second) =
            if low_first { ([lower, at], [at + 1, upper]) } else { ([at + 1, upper], [lower, at]) };
        [self.lower[dimension], self.upper[dimension]] = second;
        self.put_aside(Part { depth, phase: None });
        [self.lower[dimension], self.upper[dimension]] = first;
    }

    /// Puts the current box aside in one phase of a neuron and continues with it in the other.
    fn split_phases(&mut self, first: Phase, depth: usize) {
        self.evidence.push(Step::Phases { first });
        self.put_aside(Part { depth, phase: Some(first.other()) });
        self.phase = Some(first);
    }

    fn put_aside(&mut self, part: Part) {
        self.pending.extend_from_slice(&self.lower);
        self.pending.extend_from_slice(&self.upper);
        self.parts.push(part);
    }

    /// Continues with the box that was put aside last; its depth.
    fn pop(&mut self) -> Option<usize> {
        let Part { depth, phase } = self.parts.pop()?;
        self.phase = phase;
        let size = self.lower.len();
        let upper = self.pending.len() - size;
        let lower = upper - size;
        self.upper.copy_from_slice(&self.pending[upper..]);
        self.lower.copy_from_slice(&self.pending[lower..upper]);
        self.pending.truncate(lower);
        Some(depth)
    }

    /// Number of points of the current box if there are at most `limit`.
    fn point_count(&self, limit: u64) -> Option<u64> {
        let mut count = 1_u64;
        for (&lower, &upper) in self.lower.iter().zip(&self.upper) {
            count = count.checked_mul((i64::from(upper) - i64::from(lower) + 1) as u64)?;
            if count > limit {
                return None;
            }
        }
        (count <= limit).then_some(count)
    }

    /// Evaluates all points of the current box.
    fn enumerate(&mut self, question: &Question<'_>) -> Visit {
        let Search { space, points, lower, upper, odometer, .. } = &mut *self;
        odometer.clear();
        odometer.extend_from_slice(lower);
        loop {
            points.add(space, |dimension| odometer[dimension]);
            let moved = (0..odometer.len()).find(|&dimension| odometer[dimension] < upper[dimension]);
            if (points.is_full() || moved.is_none())
                && let Some(point) = points.ask(question)
            {
                return Visit::Witness(point);
            }
            let Some(moved) = moved else { break };
            odometer[moved] += 1;
            odometer[..moved].copy_from_slice(&lower[..moved]);
        }
        self.used_facts |= self.space.undecided(&self.lower, &self.upper).is_some();
        self.evidence.push(Step::Enumerated);
        Visit::Closed
    }

    fn possible(&mut self, point: usize, question: &Question<'_>) -> End {
        self.witness.clear();
        self.witness.extend_from_slice(question.lower);
        for dimension in 0..self.space.size() {
            self.witness[self.space.variable(dimension).index()] = self.points.value(point, dimension);
        }
        End::Possible
    }
}

enum Visit {
    /// The current box is done with.
    Closed,
    /// The current box is now a part of what it was.
    Split,
    /// The output in question can be chosen at this point of the last batch.
    Witness(usize),
    OutOfBudget,
}
