//! Laws between answers, which need no brute force and so hold of large boxes too.

use proptest::test_runner::TestCaseError;
use surefoot_policy::Scorer;
use surefoot_policy::certify::{Answer, Budget, Certifier, Possibility, Question};

use crate::oracle::check_witness;
use crate::random::{Asked, Case, cases};
use crate::run::check;

/// A part of a question's box, cut at its ends as the number says.
fn part(asked: &Asked, cuts: u64) -> Asked {
    let mut part = asked.clone();
    for variable in 0..part.lower.len() {
        let cut = cuts >> (2 * variable);
        if cut & 1 == 1 && part.lower[variable] < part.upper[variable] {
            part.lower[variable] += 1;
        }
        if cut & 2 == 2 && part.lower[variable] < part.upper[variable] {
            part.upper[variable] = i32::midpoint(part.lower[variable], part.upper[variable]);
        }
    }
    part
}

fn for_each_question(default_cases: u32, law: impl Fn(&Case, &Asked, &mut Certifier) -> Result<(), String>) {
    check(&cases(4), default_cases, |case| {
        let mut certifier = Certifier::new(&case.policy, case.arithmetic);
        for asked in &case.questions {
            law(&case, asked, &mut certifier).map_err(TestCaseError::fail)?;
        }
        Ok(())
    });
}

fn ensure(holds: bool, message: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message.into()) }
}

#[test]
fn never_holds_in_parts_and_witnesses_hold_around_them() {
    for_each_question(3000, |_, asked, certifier| {
        let unlimited = &Budget::UNLIMITED;
        let question = asked.question();
        let witness = match certifier.possible(&question, unlimited) {
            Possibility::Possible(state) => Some(state.to_vec()),
            Possibility::Never(_) => None,
            Possibility::Unknown => return Err("unlimited budgets decide everything".into()),
        };
        for cuts in [1, 0b1101, 0b10_0111, 0b11_1111_1111] {
            let part = part(asked, cuts);
            let inner = part.question();
            match certifier.possible(&inner, unlimited) {
                Possibility::Possible(state) => {
                    ensure(witness.is_some(), "never in a box, but possible in a part")?;
                    ensure(question.covers(state), "the witness of a part is not in the box")?;
                }
                Possibility::Never(_) => {
                    let inside = witness.as_ref().is_some_and(|state| inner.covers(state));
                    ensure(!inside, "never in a part that holds a witness")?;
                }
                Possibility::Unknown => return Err("unlimited budgets decide everything".into()),
            }
        }
        Ok(())
    });
}

#[test]
fn always_holds_in_parts() {
    for_each_question(1500, |_, asked, certifier| {
        let unlimited = &Budget::UNLIMITED;
        if certifier.decide(&asked.question(), unlimited) != Answer::Always {
            return Ok(());
        }
        for cuts in [1, 0b1101, 0b10_0111, 0b11_1111_1111] {
            let part = part(asked, cuts);
            let answer = certifier.decide(&part.question(), unlimited);
            // Facts may hold nowhere in a part.
            let empty = matches!(answer, Answer::Never(_)) && !part.facts.is_empty();
            ensure(answer == Answer::Always || empty, "always in a box, but not in a part")?;
        }
        Ok(())
    });
}

#[test]
fn competitors_only_take_choices_away() {
    for_each_question(1500, |case, asked, certifier| {
        let unlimited = &Budget::UNLIMITED;
        let is_never = |certifier: &mut Certifier, asked: &Asked| {
            matches!(certifier.possible(&asked.question(), unlimited), Possibility::Never(_))
        };
        let before = is_never(certifier, asked);
        for rival in 0..case.policy.outputs.len().min(6) {
            let mut other = asked.clone();
            if other.competing.insert(rival) {
                ensure(!before || is_never(certifier, &other), "a further competitor gave a choice")?;
            } else {
                other.competing.remove(rival);
                ensure(before || !is_never(certifier, &other), "a competitor less took a choice")?;
            }
        }
        Ok(())
    });
}

#[test]
fn sets_of_choices_are_consistent() {
    for_each_question(1500, |_, asked, certifier| {
        let unlimited = &Budget::UNLIMITED;
        let question = asked.question();
        let choices = certifier.choices(&question, unlimited);
        ensure(choices.unknown.is_empty(), "unlimited budgets decide everything")?;
        for output in asked.competing.iter() {
            let inner = Asked { output, ..asked.clone() };
            let is_possible =
                matches!(certifier.possible(&inner.question(), unlimited), Possibility::Possible(_));
            ensure(is_possible == choices.possible.contains(output), "choices and possible disagree")?;
        }
        let competes = asked.competing.contains(asked.output);
        let alone = choices.possible.len() == 1 && choices.possible.contains(asked.output);
        let has_states = !choices.possible.is_empty();
        match certifier.decide(&question, unlimited) {
            Answer::Always => ensure(!competes || alone, "always, but others can be chosen"),
            Answer::Never(_) => ensure(!choices.possible.contains(asked.output), "never, but a choice"),
            Answer::Sometimes { .. } => ensure(has_states && !alone, "sometimes, but no other choice"),
            Answer::Unknown => Err("unlimited budgets decide everything".into()),
        }?;
        let is_box = asked.lower.iter().zip(&asked.upper).all(|(lower, upper)| lower <= upper);
        let must_choose = is_box && asked.facts.is_empty() && !asked.competing.is_empty();
        ensure(has_states || !must_choose, "nothing can be chosen in a box with states")
    });
}

/// Certifiers remember what they know of a box. That must not answer for other competitors or another box.
#[test]
fn answers_do_not_depend_on_the_questions_before() {
    for_each_question(1000, |case, asked, certifier| {
        for output in 0..case.policy.outputs.len() {
            let question = Question { output, ..asked.question() };
            let mut fresh = Certifier::new(&case.policy, case.arithmetic);
            let expected = fresh.possible(&question, &Budget::UNLIMITED);
            let found = certifier.possible(&question, &Budget::UNLIMITED);
            if let Possibility::Possible(state) = found {
                check_witness(case, &question, state)?;
            }
            // Bounds of networks may be better if the box was bounded before, so evidence may differ.
            let is_same = match case.policy.scorer {
                Scorer::Ensemble(_) => found == expected,
                Scorer::Network(_) => {
                    matches!(found, Possibility::Never(_)) == matches!(expected, Possibility::Never(_))
                }
            };
            ensure(is_same, &format!("output {output}: {found:?}, but at first {expected:?}"))?;
        }
        Ok(())
    });
}
