//! Laws on random small ensembles: answers, evidence and bounds against all points, evaluated by their definition.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use surefoot_model::{LabelId, VarId};

use super::ForestBounder;
use super::reach::{LeafMasks, MOST_WORDS};
use crate::arithmetic::Arithmetic;
use crate::certify::evidence::{Leaf, Phase, Step};
use crate::certify::points::Points;
use crate::certify::search::{Bounder, Candidates, End, Finding, Search};
use crate::certify::space::{Cut, Space};
use crate::certify::{Answer, Budget, Certifier, Fact, OutputSet, Question};
use crate::ensemble::{Ensemble, Tree, TreeNode};
use crate::parameter::Parameter;
use crate::policy::{Policy, PolicyInput, Scorer};
use crate::score::Score;

/// Random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Which numbers an ensemble is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Flavour {
    Trained,
    /// Sums are exact and often equal.
    Coarse,
    /// Sums are nearly equal; rounding decides.
    Tenths,
    /// Rounding loses whole terms.
    Cancelling,
    /// All magnitudes, overflowing and subnormal ones too.
    Extreme,
}

impl Flavour {
    const ALL: [Flavour; 5] =
        [Flavour::Trained, Flavour::Coarse, Flavour::Tenths, Flavour::Cancelling, Flavour::Extreme];

    fn value(self, random: &mut Random) -> Parameter {
        Parameter::from(match self {
            Flavour::Trained => random.unit(),
            Flavour::Coarse => (random.below(5) as f64 - 2.0) * 0.5,
            Flavour::Tenths => (random.below(7) as f64 - 3.0) / 10.0,
            Flavour::Cancelling => [16_777_216.0, -16_777_216.0, 1.0, 0.5, 1.0 + 1e-7][random.below(5)],
            Flavour::Extreme => {
                let largest = [3e38, -3e38, f64::MAX, f64::MIN, 1e-310, 0.0][random.below(6)];
                if random.chance(50) {
                    random.unit() * 10.0_f64.powi(random.below(90) as i32 - 48)
                } else {
                    largest
                }
            }
        })
    }
}

/// A policy over few states, all of them, and a question about them.
#[derive(Debug)]
struct Case {
    policy: Policy,
    arithmetic: Arithmetic,
    lower: Vec<i32>,
    upper: Vec<i32>,
    facts: Vec<Fact>,
    output: usize,
    competing: OutputSet,
    mask_words: usize,
}

impl Case {
    fn new(seed: u64) -> Case {
        let random = &mut Random(seed);
        let flavour = Flavour::ALL[random.below(Flavour::ALL.len())];
        let variables = 1 + random.below(4);
        // Singles cannot tell all integers apart beyond 2²⁴.
        let origin = if random.chance(15) { 16_777_214 } else { -2 };
        let lower: Vec<i32> = (0..variables).map(|_| origin + random.below(3) as i32).collect();
        let upper = lower.iter().map(|&lower| lower + random.below(5) as i32).collect();
        let policy = random_policy(flavour, variables, origin, random);
        let outputs = policy.outputs.len();
        let fact = |random: &mut Random| {
            let terms: Vec<_> = (0..=random.below(3))
                .map(|_| (VarId(random.below(variables) as u32), random.below(5) as i32 - 2))
                .collect();
            let size: i64 = terms.iter().map(|&(_, coefficient)| i64::from(coefficient)).sum();
            Fact { terms, at_most: size * i64::from(origin) + random.below(9) as i64 - 3 }
        };
        Case {
            policy,
            arithmetic: Arithmetic::ALL[random.below(Arithmetic::ALL.len())],
            lower,
            upper,
            facts: (0..random.below(6).saturating_sub(3)).map(|_| fact(random)).collect(),
            output: random.below(outputs),
            competing: (0..outputs).filter(|_| random.chance(80)).collect(),
            mask_words: [MOST_WORDS, 100, 0][random.below(3)],
        }
    }

    fn question(&self) -> Question<'_> {
        Question {
            lower: &self.lower,
            upper: &self.upper,
            facts: &self.facts,
            output: self.output,
            competing: &self.competing,
        }
    }

    /// Whether the output in question can be chosen in a state if only these compete with it.
    fn can_be_chosen(&self, state: &[i32], competing: impl Fn(usize) -> bool) -> bool {
        let applicable = |output| output == self.output || competing(output);
        self.policy.possible(self.arithmetic, state, applicable).contains(&self.output)
    }

    /// The ends of a box in the policy's dimensions.
    fn ends(&self, ends: &[i32]) -> Vec<i32> {
        self.policy.variables().iter().map(|variable| ends[variable.index()]).collect()
    }

    fn bounder(&self) -> ForestBounder {
        let Scorer::Ensemble(ensemble) = &self.policy.scorer else { unreachable!("made of one") };
        let origins = Space::new(&self.policy).inputs(&self.policy);
        let mut bounder = ForestBounder::new(ensemble, self.arithmetic, &origins);
        // Also with masks for some cells only, as large ensembles have.
        bounder.masks = LeafMasks::new(&bounder.forest, self.mask_words).into();
        bounder
    }
}

fn random_policy(flavour: Flavour, variables: usize, origin: i32, random: &mut Random) -> Policy {
    let inputs: Vec<PolicyInput> = (0..=random.below(5))
        .map(|_| match random.below(5) {
            0 => PolicyInput::Constant(origin + random.below(5) as i32),
            _ => PolicyInput::Variable(VarId(random.below(variables) as u32)),
        })
        .collect();
    // Rows of values have paddings of several sizes.
    let outputs = if random.chance(5) { 9 + random.below(3) } else { 2 + random.below(4) };
    let base =
        (0..outputs).map(|_| if random.chance(50) { Parameter::from(0.0) } else { flavour.value(random) });
    let base = base.collect();
    let trees = (0..random.below(7)).map(|_| random_tree(flavour, (inputs.len(), outputs), origin, random));
    let ensemble = Ensemble::new(inputs.len(), base, trees.collect()).expect("trees fit");
    let labels = (0..outputs).map(|output| LabelId(output as u32)).collect();
    Policy::new(inputs, labels, false, Scorer::Ensemble(ensemble)).expect("sizes fit")
}

fn random_tree(
    flavour: Flavour,
    (inputs, outputs): (usize, usize),
    origin: i32,
    random: &mut Random,
) -> Tree {
    let mut nodes = vec![TreeNode::Leaf(0)];
    for _ in 0..random.below(14) {
        let place = random.below(nodes.len());
        if let TreeNode::Leaf(_) = nodes[place] {
            let threshold = f64::from(origin) + random.below(16) as f64 * 0.5;
            let subnormal = flavour == Flavour::Extreme && random.chance(3);
            let threshold = Parameter::from(if subnormal { 1e-40 } else { threshold });
            let left = nodes.len() as u32;
            nodes[place] =
                TreeNode::Split { feature: random.below(inputs) as u32, threshold, left, right: left + 1 };
            nodes.extend([TreeNode::Leaf(0); 2]);
        }
    }
    // Some trees change a single output, as boosting makes them; some change a few.
    let changed: Vec<bool> = match random.below(3) {
        0 => (0..outputs).map(|_| true).collect(),
        1 => (0..outputs).map(|_| random.chance(50)).collect(),
        _ => {
            let only = random.below(outputs);
            (0..outputs).map(|output| output == only).collect()
        }
    };
    let mut values = Vec::new();
    let mut leaves = 0;
    for node in &mut nodes {
        if let TreeNode::Leaf(leaf) = node {
            *leaf = leaves;
            leaves += 1;
            values.extend(
                changed
                    .iter()
                    .map(|&changed| if changed { flavour.value(random) } else { Parameter::from(0.0) }),
            );
        }
    }
    Tree::new(outputs, nodes, values).expect("well formed")
}

/// All states of a box.
fn states(lower: &[i32], upper: &[i32]) -> Vec<Vec<i32>> {
    let mut states = vec![Vec::new()];
    for (&lower, &upper) in lower.iter().zip(upper) {
        states = states
            .into_iter()
            .flat_map(|state: Vec<i32>| (lower..=upper).map(move |value| [&state[..], &[value]].concat()))
            .collect();
    }
    states
}

/// A bounder that has to find all witnesses itself: samples would hide its mistakes.
struct Unsampled(ForestBounder);

impl Bounder for Unsampled {
    fn enumerated(&self) -> u64 {
        self.0.enumerated()
    }

    fn samples(&self) -> usize {
        0
    }

    fn begin(&mut self, question: &Question<'_>, lower: &[i32], upper: &[i32]) {
        self.0.begin(question, lower, upper);
    }

    fn dominator(&mut self, lower: &[i32], upper: &[i32]) -> Option<usize> {
        self.0.dominator(lower, upper)
    }

    fn examine(
        &mut self,
        depth: usize,
        lower: &[i32],
        upper: &[i32],
        phase: Option<Phase>,
        cuts: &mut Vec<(Cut, usize)>,
        candidates: &mut Candidates<'_>,
    ) -> Finding {
        self.0.examine(depth, lower, upper, phase, cuts, candidates)
    }
}

fn seeded(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(20_260_611), failure_persistence: None, ..Config::default() }
}

fn check_leaf(case: &Case, lower: &[i32], upper: &[i32], step: Step) {
    for state in states(lower, upper).iter().filter(|state| case.question().covers(state)) {
        match step {
            Step::Dominated { by } => {
                assert!(case.competing.contains(by as usize), "{by} does not compete");
                let chosen = case.can_be_chosen(state, |output| output == by as usize);
                assert!(!chosen, "{by} does not dominate in {state:?}");
            }
            Step::Empty => panic!("{state:?} is not excluded by the facts"),
            Step::Enumerated | Step::Split { .. } | Step::Phases { .. } => {
                panic!("trees need no enumeration")
            }
        }
    }
}

proptest! {
    #![proptest_config(seeded(6000))]

    #[test]
    fn answers_and_evidence_hold_at_every_point(seed: u64) {
        let case = Case::new(seed);
        let space = Space::new(&case.policy);
        let points = Points::new(&case.policy, case.arithmetic, space.inputs(&case.policy));
        let mut search = Search::new(space, points);
        let mut bounder = Unsampled(case.bounder());
        // Twice, because what a box can reach is kept.
        for _ in 0..2 {
            let end = search.run(&mut bounder, &case.question(), &Budget::UNLIMITED);
            let covered = states(&case.lower, &case.upper);
            let mut covered = covered.iter().filter(|state| case.question().covers(state));
            let expected = covered.any(|state| case.can_be_chosen(state, |output| case.competing.contains(output)));
            prop_assert_eq!(end, if expected { End::Possible } else { End::Never });
            if expected {
                prop_assert!(case.question().covers(&search.witness));
                prop_assert!(case.can_be_chosen(&search.witness, |output| case.competing.contains(output)));
            } else {
                let visit = |leaf: Leaf<'_>| check_leaf(&case, leaf.lower, leaf.upper, leaf.step);
                prop_assert!(search.evidence.leaves(&case.lower, &case.upper, visit));
            }
        }
    }

    #[test]
    fn decisions_are_those_of_all_points(seed: u64) {
        let case = Case::new(seed);
        let mut certifier = Certifier::new(&case.policy, case.arithmetic);
        let (mut chosen, mut others) = (false, false);
        for state in states(&case.lower, &case.upper).iter().filter(|state| case.question().covers(state)) {
            let applicable = |output| output == case.output || case.competing.contains(output);
            for output in case.policy.possible(case.arithmetic, state, applicable) {
                chosen |= output == case.output;
                others |= output != case.output;
            }
        }
        match certifier.decide(&case.question(), &Budget::UNLIMITED) {
            Answer::Never(_) => prop_assert!(!chosen),
            Answer::Always => prop_assert!(chosen && !others),
            Answer::Sometimes { .. } => prop_assert!(chosen && others),
            Answer::Unknown => prop_assert!(false, "there was no budget"),
        }
    }

    #[test]
    fn bounds_enclose_all_points_and_shrink_with_the_box(seed: u64) {
        let case = Case::new(seed);
        let mut bounder = case.bounder();
        let (lower, upper) = (case.ends(&case.lower), case.ends(&case.upper));
        let other = seed as usize % case.policy.outputs.len();
        let of_box = bounder.score_bounds(&lower, &upper, case.output);
        let margin_of_box = bounder.margin_bounds(&lower, &upper, case.output, other);
        for state in states(&case.lower, &case.upper) {
            let mut scores = case.policy.scores(case.arithmetic, &state);
            if case.arithmetic == Arithmetic::Real {
                // A real score lies somewhere in its enclosure: bounds must reach it, and need not contain it.
                for score in &mut scores {
                    *score = Score { lower: score.upper, upper: score.lower };
                }
            }
            let (score, rival) = (scores[case.output], scores[other]);
            let point = case.ends(&state);
            let of_point = bounder.score_bounds(&point, &point, case.output);
            prop_assert!(of_point.lower <= score.lower && score.upper <= of_point.upper, "{score:?} {of_point:?}");
            prop_assert!(of_box.lower <= of_point.lower && of_point.upper <= of_box.upper);
            let margin = bounder.margin_bounds(&point, &point, case.output, other);
            prop_assert!(margin_of_box.lower <= margin.lower && margin.upper <= margin_of_box.upper);
            if [score.lower, score.upper, rival.lower, rival.upper].iter().all(|end| end.is_finite()) {
                // The subtractions here round, and monotonically.
                prop_assert!(margin.lower <= (score.lower - rival.upper).next_up());
                prop_assert!(margin.upper >= (score.upper - rival.lower).next_down());
            }
        }
    }

    #[test]
    fn bounds_of_a_path_are_those_of_its_last_box(seed: u64) {
        let case = Case::new(seed);
        let random = &mut Random(seed ^ 1);
        let (mut bounder, mut fresh) = (case.bounder(), case.bounder());
        let (lower, upper) = (case.ends(&case.lower), case.ends(&case.upper));
        bounder.begin(&case.question(), &lower, &upper);
        let mut boxes = vec![(lower, upper)];
        for _ in 0..12 {
            // A part of some box of the path; what came after that box is left.
            let depth = 1 + random.below(boxes.len());
            boxes.truncate(depth);
            let (mut lower, mut upper) = boxes[depth - 1].clone();
            for dimension in 0..lower.len() {
                if random.chance(40) {
                    let width = (upper[dimension] - lower[dimension]) as usize;
                    lower[dimension] += random.below(width + 1) as i32;
                    upper[dimension] -= random.below((upper[dimension] - lower[dimension]) as usize + 1) as i32;
                }
            }
            boxes.push((lower.clone(), upper.clone()));
            let ForestBounder { forest, masks, grid, path, .. } = &mut bounder;
            let cells = |dimension, _| [&lower, &upper].map(|end| forest.cell(dimension, end[dimension]));
            path.enter(depth - 1, cells, masks, grid);
            for competitor in 0..path.competitors.len() {
                path.select(competitor, masks, grid);
            }
            fresh.begin(&case.question(), &lower, &upper);
            prop_assert_eq!(path.is_uniform(), fresh.path.is_uniform());
            for competitor in 0..path.competitors.len() {
                prop_assert_eq!(path.bound(competitor), fresh.path.bound(competitor));
            }
        }
    }
}
