//! Answers equal brute force, whatever the policy, the arithmetic and the question.

use proptest::test_runner::TestCaseError;
use surefoot_policy::certify::{Answer, Budget, Certifier, Possibility, Question, Step};

use crate::oracle::{Truth, check_evidence, check_witness, truth};
use crate::random::{Asked, Case, cases, wide_cases};
use crate::run::check;

/// Questions about one policy: the certifier must forget each of them.
const QUESTIONS: usize = 5;

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

/// Checks the answers of a certifier to a question within a budget. Whether all were given.
fn check_answers(
    case: &Case,
    asked: &Asked,
    truth: &Truth,
    certifier: &mut Certifier,
    budget: &Budget<'_>,
) -> Result<bool, String> {
    let question = asked.question();
    let mut all = true;
    match certifier.possible(&question, budget) {
        Possibility::Never(evidence) => {
            ensure(!truth.chosen, || "possible, but the answer was never".into())?;
            check_evidence(case, &question, evidence)?;
        }
        Possibility::Possible(state) => check_witness(case, &question, state)?,
        Possibility::Unknown => all = false,
    }
    match certifier.decide(&question, budget) {
        Answer::Never(evidence) => {
            ensure(!truth.chosen, || "decide: chosen, but the answer was never".into())?;
            check_evidence(case, &question, evidence)?;
        }
        Answer::Always => ensure(truth.chosen && !truth.other, || "decide: not always".into())?,
        Answer::Sometimes { chosen, other } => {
            check_witness(case, &question, chosen)?;
            check_other(case, &question, other)?;
        }
        Answer::Unknown => all = false,
    }
    let choices = certifier.choices(&question, budget);
    for output in 0..truth.choices.len() {
        let is_unknown = choices.unknown.contains(output);
        all &= !is_unknown;
        ensure(is_unknown || choices.possible.contains(output) == truth.choices[output], || {
            format!("choices: output {output} is wrong in {choices:?}")
        })?;
    }
    ensure(choices.possible.is_subset(&asked.competing), || "choices: some do not compete".into())?;
    Ok(all)
}

/// Checks that an output other than the one in question can be chosen in a state.
fn check_other(case: &Case, question: &Question<'_>, state: &[i32]) -> Result<(), String> {
    ensure(state.len() == case.variables && question.covers(state), || {
        format!("the other witness {state:?} is not one of the states in question")
    })?;
    let winners = crate::oracle::winners(&case.policy, case.arithmetic, state, question);
    ensure(winners.iter().any(|&winner| winner != question.output), || {
        format!("at the other witness {state:?} only {winners:?} can be chosen")
    })
}

fn check_case(case: &Case) -> Result<(), String> {
    let mut certifier = Certifier::new(&case.policy, case.arithmetic);
    for asked in &case.questions {
        let truth = truth(case, asked);
        check_answers(case, asked, &truth, &mut certifier, &Budget::boxes(asked.boxes))?;
        let decided = check_answers(case, asked, &truth, &mut certifier, &Budget::UNLIMITED)?;
        ensure(decided, || "unlimited budgets decide everything".into())?;
    }
    Ok(())
}

/// 100,000 questions: 20,000 policies with five each.
#[test]
fn answers_equal_brute_force() {
    check(&cases(QUESTIONS), 20_000, |case| check_case(&case).map_err(TestCaseError::fail));
}

/// Boxes with more free variables than undecided neurons are split by phases.
#[test]
fn phases_are_sound() {
    let split = std::cell::Cell::new(0);
    check(&wide_cases(2), 1500, |case| {
        let mut certifier = Certifier::new(&case.policy, case.arithmetic);
        for asked in &case.questions {
            let has_phases = |step: &Step| matches!(step, Step::Phases { .. });
            if let Possibility::Never(evidence) = certifier.possible(&asked.question(), &Budget::UNLIMITED)
                && evidence.steps().iter().any(has_phases)
            {
                split.set(split.get() + 1);
            }
        }
        check_case(&case).map_err(TestCaseError::fail)
    });
    assert!(split.get() > 50, "only {} answers needed phases", split.get());
}

/// A budget may be taken back at any time.
#[test]
fn stopped_searches_say_so() {
    check(&cases(1), 1000, |case| {
        let mut certifier = Certifier::new(&case.policy, case.arithmetic);
        for asked in &case.questions {
            let truth = truth(&case, asked);
            let stop = || true;
            let budget = Budget { boxes: u64::MAX, stop: Some(&stop) };
            check_answers(&case, asked, &truth, &mut certifier, &budget).map_err(TestCaseError::fail)?;
        }
        Ok(())
    });
}
