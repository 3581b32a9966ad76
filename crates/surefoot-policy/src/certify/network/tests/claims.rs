//! Checks everything that a bounder says about a box and its parts against all points, whether or not a search would have got
//! that far: searches end at the first witness, which hides wrong claims about other parts.

use surefoot_model::{LabelId, VarId};

use crate::arithmetic::Arithmetic;
use crate::batch::Evaluator;
use crate::certify::evidence::{Phase, Step};
use crate::certify::network::NetworkBounder;
use crate::certify::network::branch::widest;
use crate::certify::points::Points;
use crate::certify::search::{Bounder, Candidates, Finding, Search};
use crate::certify::space::{Cut, Space};
use crate::certify::{Budget, Certifier, Fact, OutputSet, Possibility, Question};
use crate::network::Network;
use crate::policy::{Policy, PolicyInput, Scorer};

/// Boxes that are examined per question.
const MOST_BOXES: usize = 400;

/// A policy that reads one variable per input of a network.
pub fn policy(network: Network) -> Policy {
    let inputs = (0..network.inputs()).map(|input| PolicyInput::Variable(VarId(input as u32))).collect();
    policy_over(network, inputs)
}

pub fn policy_over(network: Network, inputs: Vec<PolicyInput>) -> Policy {
    let outputs = (0..network.outputs()).map(|output| LabelId(output as u32)).collect();
    Policy::new(inputs, outputs, false, Scorer::Network(network)).expect("the sizes agree")
}

/// All points of a box where facts hold, evaluated; variables are the dimensions of the policy.
pub struct Truth {
    evaluator: Evaluator,
    points: Vec<Vec<i32>>,
}

impl Truth {
    pub fn new(
        policy: &Policy,
        arithmetic: Arithmetic,
        lower: &[i32],
        upper: &[i32],
        facts: &[Fact],
    ) -> Truth {
        let mut points = vec![lower.to_vec()];
        for dimension in 0..lower.len() {
            let values = lower[dimension]..=upper[dimension];
            points = points
                .iter()
                .flat_map(|point| {
                    values.clone().map(|value| {
                        let mut point = point.clone();
                        point[dimension] = value;
                        point
                    })
                })
                .collect();
        }
        points.retain(|point| facts.iter().all(|fact| fact.holds(point)));
        let columns: Vec<Vec<i32>> = policy
            .inputs
            .iter()
            .map(|input| match *input {
                PolicyInput::Variable(variable) => {
                    points.iter().map(|point| point[variable.index()]).collect()
                }
                PolicyInput::Constant(_) => Vec::new(),
            })
            .collect();
        let mut evaluator = policy.scoring_evaluator(arithmetic);
        evaluator.run(points.len(), |input| &columns[input]);
        Truth { evaluator, points }
    }

    /// The points of a part of the box.
    fn inside<'a>(&'a self, lower: &'a [i32], upper: &'a [i32]) -> impl Iterator<Item = usize> + 'a {
        (0..self.points.len()).filter(move |&index| {
            let point = &self.points[index];
            point.iter().zip(lower).zip(upper).all(|((value, lower), upper)| lower <= value && value <= upper)
        })
    }

    fn is_possible(&self, point: usize, output: usize, competing: impl Fn(usize) -> bool) -> bool {
        let mut found = false;
        self.evaluator.possible(
            point,
            |other| other == output || competing(other),
            |winner| found |= winner == output,
        );
        found
    }

    /// Panics unless a rival beats an output in a whole part of the box.
    fn assert_dominated(&self, output: usize, by: usize, lower: &[i32], upper: &[i32]) {
        for index in self.inside(lower, upper) {
            assert!(
                !self.is_possible(index, output, |other| other == by),
                "output {output} against {by} is possible at {:?}, in {lower:?} to {upper:?}: {:?} and {:?}",
                self.points[index],
                self.evaluator.score(index, output),
                self.evaluator.score(index, by),
            );
        }
    }
}

/// A bounder that checks another one, on the way to the question's box and no further.
struct Checked<'t> {
    bounder: NetworkBounder,
    truth: &'t Truth,
    output: usize,
    /// How often something was claimed.
    claims: usize,
}

impl Bounder for Checked<'_> {
    fn enumerated(&self) -> u64 {
        0
    }

    fn samples(&self) -> usize {
        0
    }

    fn begin(&mut self, question: &Question<'_>, lower: &[i32], upper: &[i32]) {
        self.output = question.output;
        self.bounder.begin(question, lower, upper);
    }

    fn take_facts(&mut self, space: &Space, lower: &[i32], upper: &[i32]) {
        self.bounder.take_facts(space, lower, upper);
    }

    fn dominator(&mut self, lower: &[i32], upper: &[i32]) -> Option<usize> {
        self.bounder.dominator(lower, upper)
    }

    fn examine(
        &mut self,
        _depth: usize,
        lower: &[i32],
        upper: &[i32],
        _phase: Option<Phase>,
        _cuts: &mut Vec<(Cut, usize)>,
        candidates: &mut Candidates<'_>,
    ) -> Finding {
        let mut pending = vec![(0, lower.to_vec(), upper.to_vec())];
        for _ in 0..MOST_BOXES {
            let Some((depth, lower, upper)) = pending.pop() else { break };
            self.one(depth, lower, upper, candidates, &mut pending);
        }
        // Ends the search.
        Finding::Dominated(0)
    }
}

impl Checked<'_> {
    /// Examines a box, checks what is said about it, and puts its parts aside.
    fn one(
        &mut self,
        depth: usize,
        mut lower: Vec<i32>,
        mut upper: Vec<i32>,
        candidates: &mut Candidates<'_>,
        pending: &mut Vec<(usize, Vec<i32>, Vec<i32>)>,
    ) {
        let mut cuts = Vec::new();
        let finding = self.bounder.examine(depth, &lower, &upper, None, &mut cuts, candidates);
        for &(cut, by) in &cuts {
            self.claims += 1;
            let (mut off_lower, mut off_upper) = (lower.clone(), upper.clone());
            match cut {
                Cut::Above { dimension, at } => {
                    (off_lower[dimension], upper[dimension]) = (at + 1, at);
                }
                Cut::Below { dimension, at } => {
                    (off_upper[dimension], lower[dimension]) = (at - 1, at);
                }
            }
            assert!(lower.iter().zip(&upper).all(|(lower, upper)| lower <= upper), "{cut:?} leaves nothing");
            self.truth.assert_dominated(self.output, by, &off_lower, &off_upper);
        }
        // Phases are for whole searches; here their box is halved.
        let finding = if let Finding::Undecided(_) = finding { widest(&lower, &upper) } else { finding };
        match finding {
            Finding::Dominated(by) => {
                self.claims += 1;
                self.truth.assert_dominated(self.output, by, &lower, &upper);
            }
            Finding::Open { dimension, at, .. } => {
                let at = at.clamp(lower[dimension], upper[dimension]);
                let (mut low, mut high) =
                    ((depth + 1, lower.clone(), upper.clone()), (depth + 1, lower, upper));
                low.2[dimension] = at;
                high.1[dimension] = at + 1;
                let is_wide = |part: &(usize, Vec<i32>, Vec<i32>)| {
                    part.1.iter().zip(&part.2).all(|(lower, upper)| lower <= upper) && part.1 != part.2
                };
                pending.extend([low, high].into_iter().filter(is_wide));
            }
            Finding::Empty | Finding::Undecided(_) => unreachable!("there are no phases"),
            Finding::Won | Finding::Uniform | Finding::Witness(_) => {}
        }
    }
}

/// Checks all claims about all outputs of a policy in a box. How many there were.
pub fn check_claims(policy: &Policy, arithmetic: Arithmetic, lower: &[i32], upper: &[i32]) -> usize {
    check_claims_with(policy, arithmetic, lower, upper, &[])
}

/// The same, about states where facts hold.
pub fn check_claims_with(
    policy: &Policy,
    arithmetic: Arithmetic,
    lower: &[i32],
    upper: &[i32],
    facts: &[Fact],
) -> usize {
    let truth = Truth::new(policy, arithmetic, lower, upper, facts);
    let Scorer::Network(network) = &policy.scorer else { panic!("a network") };
    let space = Space::new(policy);
    let origins = space.inputs(policy);
    let bounder = NetworkBounder::new(network, arithmetic, &origins);
    let mut search = Search::new(space, Points::new(policy, arithmetic, origins));
    let mut checked = Checked { bounder, truth: &truth, output: 0, claims: 0 };
    let competing = OutputSet::all(policy.outputs.len());
    for output in 0..policy.outputs.len() {
        let question = Question { lower, upper, facts, output, competing: &competing };
        search.run(&mut checked, &question, &Budget::UNLIMITED);
    }
    checked.claims
}

/// Checks that the bounds of all scores and margins hold at all points of a box.
pub fn check_bounds(policy: &Policy, arithmetic: Arithmetic, lower: &[i32], upper: &[i32]) {
    let truth = Truth::new(policy, arithmetic, lower, upper, &[]);
    let mut certifier = Certifier::new(policy, arithmetic);
    let outputs = policy.outputs.len();
    for output in 0..outputs {
        let bounds = certifier.score_bounds(lower, upper, output);
        let rival = (output + 1) % outputs;
        let margin = certifier.margin_bounds(lower, upper, output, rival);
        for (index, point) in truth.points.iter().enumerate() {
            let score = |output| truth.evaluator.score(index, output).expect("all scores are there");
            let (own, other) = (score(output), score(rival));
            assert!(
                bounds.lower <= own.lower && own.upper <= bounds.upper,
                "score {output} at {point:?}: {own:?} is not in {bounds:?}"
            );
            let (least, greatest) = (own.lower - other.upper, own.upper - other.lower);
            assert!(
                outputs == 1 || (margin.lower <= least && greatest <= margin.upper) || least.is_nan(),
                "margin {output} over {rival} at {point:?}: {least} to {greatest} is not in {margin:?}"
            );
        }
    }
}

/// Checks the answers to all questions about a box.
pub fn check_answers(policy: &Policy, arithmetic: Arithmetic, lower: &[i32], upper: &[i32]) {
    let truth = Truth::new(policy, arithmetic, lower, upper, &[]);
    let mut certifier = Certifier::new(policy, arithmetic);
    let competing = OutputSet::all(policy.outputs.len());
    for output in 0..policy.outputs.len() {
        let question = Question { lower, upper, facts: &[], output, competing: &competing };
        let expected = (0..truth.points.len()).any(|point| truth.is_possible(point, output, |_| true));
        let answer = certifier.possible(&question, &Budget::UNLIMITED);
        let found = matches!(answer, Possibility::Possible(_));
        assert_eq!(found, expected, "output {output} in {arithmetic}: {answer:?}");
        if let Possibility::Never(evidence) = answer {
            let whole = evidence.leaves(lower, upper, |leaf| {
                if let (Step::Dominated { by }, []) = (leaf.step, leaf.phases) {
                    truth.assert_dominated(output, by as usize, leaf.lower, leaf.upper);
                }
            });
            assert!(whole, "the evidence is well formed");
        }
    }
}
