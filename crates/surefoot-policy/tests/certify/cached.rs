//! The decision cache changes no answer.

use std::cell::Cell;
use std::sync::Mutex;

use proptest::test_runner::TestCaseError;
use surefoot_model::{LabelId, VarId};
use surefoot_policy::certify::{
    Answer, Budget, CachedAnswer, CachedCertifier, CachedPossibility, Certifier, Fact, OutputSet,
    Possibility, Question,
};
use surefoot_policy::{Activation, Arithmetic, Layer, Network, Parameter, Policy, PolicyInput, Scorer};

use crate::oracle::{check_evidence, check_witness, mattering, states, winners};
use crate::random::{Asked, Case, cases};
use crate::run::check;

/// Questions near others: parts of their boxes, boxes around them, other competitors and outputs.
fn stream(case: &Case) -> Vec<Asked> {
    let mut stream = Vec::new();
    let outputs = case.policy.outputs.len();
    for (index, asked) in case.questions.iter().enumerate() {
        stream.push(asked.clone());
        let mut part = asked.clone();
        for variable in 0..case.variables {
            if (index + variable) % 2 == 0 && part.lower[variable] < part.upper[variable] {
                part.lower[variable] += 1;
            }
            if (index + variable) % 3 == 0 && part.lower[variable] < part.upper[variable] {
                part.upper[variable] -= 1;
            }
        }
        let mut other = part.clone();
        other.output = (asked.output + 1) % outputs;
        let mut more = part.clone();
        more.competing.insert(other.output);
        let mut fewer = asked.clone();
        fewer.competing.remove(other.output);
        let free = Asked { facts: Vec::new(), ..part.clone() };
        // Without the facts, the box may have too many states.
        let is_small = asked.facts.is_empty() || asked.core == (asked.lower.clone(), asked.upper.clone());
        stream.extend([part, more, fewer, other]);
        stream.extend(is_small.then_some(free));
        stream.push(asked.clone());
        if !asked.facts.is_empty() {
            stream.extend(points(asked));
        }
    }
    stream
}

/// Questions about single states in and around those of a question, without its facts. They find an answer that was
/// stored for more states than it is about.
fn points(asked: &Asked) -> Vec<Asked> {
    let mut points = Vec::new();
    states(&asked.core.0, &asked.core.1, &vec![true; asked.lower.len()], |state| {
        let (lower, upper) = (state.to_vec(), state.to_vec());
        points.push(Asked {
            core: (lower.clone(), upper.clone()),
            lower,
            upper,
            facts: Vec::new(),
            ..asked.clone()
        });
    });
    let every = points.len().div_ceil(24).max(1);
    points.into_iter().step_by(every).collect()
}

fn domain(case: &Case) -> (Vec<i32>, Vec<i32>) {
    (vec![-6; case.variables], vec![16; case.variables])
}

/// Checks one answer with the cache against the one without.
fn compare(
    case: &Case,
    question: &Question<'_>,
    plain: &mut Certifier,
    cached: &mut CachedCertifier,
) -> Result<(), String> {
    let unlimited = &Budget::UNLIMITED;
    let wrong = |what: &str| Err(format!("{what}: the answers differ for {question:?}"));
    match (plain.possible(question, unlimited), cached.possible(question, unlimited)) {
        (Possibility::Never(_), CachedPossibility::Never(evidence)) => {
            evidence.map_or(Ok(()), |evidence| check_evidence(case, question, evidence))?;
        }
        (Possibility::Possible(_), CachedPossibility::Possible(state)) => {
            check_witness(case, question, state)?;
        }
        _ => return wrong("possible"),
    }
    match (plain.decide(question, unlimited), cached.decide(question, unlimited)) {
        (Answer::Never(_), CachedAnswer::Never(evidence)) => {
            evidence.map_or(Ok(()), |evidence| check_evidence(case, question, evidence))?;
        }
        (Answer::Always, CachedAnswer::Always) => {}
        (Answer::Sometimes { .. }, CachedAnswer::Sometimes { chosen, other }) => {
            check_witness(case, question, chosen)?;
            let winners = winners(&case.policy, case.arithmetic, other, question);
            if !question.covers(other) || winners.iter().all(|&winner| winner == question.output) {
                return wrong("other witness");
            }
        }
        _ => return wrong("decide"),
    }
    if plain.choices(question, unlimited) != cached.choices(question, unlimited) {
        return wrong("choices");
    }
    Ok(())
}

fn check_statistics(cached: &CachedCertifier) -> Result<(), String> {
    let statistics = cached.cache().statistics();
    let holds = statistics.questions == statistics.hits() + statistics.misses
        && statistics.entries == statistics.stored - statistics.replaced - statistics.evicted
        && statistics.bytes <= cached.cache().limit() as u64;
    if holds { Ok(()) } else { Err(format!("the statistics do not add up: {statistics:?}")) }
}

/// Sizes of caches: most hold everything, some a block or two, some nothing.
fn bytes(case: &Case) -> usize {
    [1 << 26, 1 << 26, 60_000, 20_000, 0][case.questions[0].boxes as usize % 5]
}

#[test]
fn answers_are_those_without_it() {
    check(&cases(6), 3000, |case| {
        let (lower, upper) = domain(&case);
        let mut plain = Certifier::new(&case.policy, case.arithmetic);
        let mut cached = CachedCertifier::new(&case.policy, case.arithmetic, &lower, &upper, bytes(&case));
        for asked in stream(&case) {
            compare(&case, &asked.question(), &mut plain, &mut cached).map_err(TestCaseError::fail)?;
        }
        check_statistics(&cached).map_err(TestCaseError::fail)
    });
}

#[test]
fn budgets_leave_right_answers_or_none() {
    check(&cases(6), 1500, |case| {
        let (lower, upper) = domain(&case);
        let mut plain = Certifier::new(&case.policy, case.arithmetic);
        let mut cached = CachedCertifier::new(&case.policy, case.arithmetic, &lower, &upper, 1 << 26);
        for asked in stream(&case) {
            let question = asked.question();
            let budget = Budget::boxes(asked.boxes);
            let expected = matches!(plain.possible(&question, &Budget::UNLIMITED), Possibility::Never(_));
            let possible = cached.possible(&question, &budget);
            let is_never = matches!(possible, CachedPossibility::Never(_));
            if possible != CachedPossibility::Unknown && is_never != expected {
                return Err(TestCaseError::fail(format!("possible is wrong for {question:?}")));
            }
            let always = plain.decide(&question, &Budget::UNLIMITED) == Answer::Always;
            let decided = cached.decide(&question, &budget);
            if decided != CachedAnswer::Unknown && (decided == CachedAnswer::Always) != always {
                return Err(TestCaseError::fail(format!("decide is wrong for {question:?}")));
            }
        }
        Ok(())
    });
}

#[test]
fn threads_share_answers() {
    check(&cases(8), 150, |case| {
        let (lower, upper) = domain(&case);
        let cached = CachedCertifier::new(&case.policy, case.arithmetic, &lower, &upper, bytes(&case));
        let stream = stream(&case);
        let failure = Mutex::new(Ok(()));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let mut cached = cached.clone();
                let mut plain = Certifier::new(&case.policy, case.arithmetic);
                let (case, stream, failure) = (&case, &stream, &failure);
                scope.spawn(move || {
                    // Each thread begins elsewhere.
                    let order = (0..stream.len()).map(|index| (index + thread * 5) % stream.len());
                    for index in order {
                        let result = compare(case, &stream[index].question(), &mut plain, &mut cached);
                        if result.is_err() {
                            *failure.lock().expect("no thread panics") = result;
                        }
                    }
                });
            }
        });
        failure.into_inner().expect("no thread panics").map_err(TestCaseError::fail)?;
        check_statistics(&cached).map_err(TestCaseError::fail)
    });
}

/// A question with a fact that no state satisfies in which the output can be chosen (or, if `others`, in which
/// another can); `None` if there is no such fact of this slope. Bounds alone do not show what the fact excludes.
fn excluding(case: &Case, asked: &Asked, others: bool, slope: [i32; 3]) -> Option<Asked> {
    let read = case.policy.variables();
    let terms: Vec<_> = read.iter().copied().zip(slope).collect();
    let sum = |state: &[i32]| -> i64 {
        terms.iter().map(|&(variable, slope)| i64::from(slope) * i64::from(state[variable.index()])).sum()
    };
    let (lower, upper) = asked.core.clone();
    let plain = Asked { lower: lower.clone(), upper: upper.clone(), facts: Vec::new(), ..asked.clone() };
    let matter = mattering(&case.policy, case.variables, &[]);
    let (mut excluded, mut least) = (i64::MAX, i64::MAX);
    states(&lower, &upper, &matter, |state| {
        least = least.min(sum(state));
        let winners = winners(&case.policy, case.arithmetic, state, &plain.question());
        if winners.iter().any(|&winner| (winner != asked.output) == others) {
            excluded = excluded.min(sum(state));
        }
    });
    let at_most = excluded.checked_sub(1)?;
    (excluded < i64::MAX && at_most >= least).then(|| Asked { facts: vec![Fact { terms, at_most }], ..plain })
}

/// Answers that hold only with the facts of their question answer no question without them.
#[test]
fn answers_that_need_facts_stay_with_them() {
    let found = Cell::new(0);
    check(&cases(4), 3000, |case| {
        let (lower, upper) = domain(&case);
        let mut plain = Certifier::new(&case.policy, case.arithmetic);
        for (index, asked) in case.questions.iter().enumerate() {
            let slope = [[1, 1, 1], [1, -1, 1], [-1, 1, 2], [-2, -1, 1]][index];
            for others in [false, true] {
                let Some(asked) = excluding(&case, asked, others, slope) else { continue };
                found.set(found.get() + 1);
                let mut cached = CachedCertifier::new(&case.policy, case.arithmetic, &lower, &upper, 1 << 26);
                let free = Asked { facts: Vec::new(), ..asked.clone() };
                for asked in std::iter::once(asked.clone()).chain(points(&asked)).chain([free]) {
                    compare(&case, &asked.question(), &mut plain, &mut cached)
                        .map_err(TestCaseError::fail)?;
                }
            }
        }
        Ok(())
    });
    assert!(found.get() > 100, "only {} questions need their facts", found.get());
}

/// Here the facts are used only when parts of the box are clipped: all parts that are left satisfy them everywhere.
#[test]
fn clipped_parts_are_not_forgotten() {
    // Output 1 is chosen where x - 200 y > 99.5.
    let number = |value| Parameter::from(value);
    let weights = [0.0, 0.0, 1.0, -200.0].map(number).to_vec();
    let layer = Layer::new(2, weights, vec![number(0.0), number(-99.5)], Activation::Identity);
    let network = Network::new(vec![layer.expect("well formed")]).expect("one layer");
    let inputs = [0, 1].map(|variable| PolicyInput::Variable(VarId(variable))).to_vec();
    let labels = [0, 1].map(LabelId).to_vec();
    let policy = Policy::new(inputs, labels, false, Scorer::Network(network)).expect("the sizes agree");
    let (lower, upper) = ([0, 0], [199, 1]);
    let fact = Fact { terms: vec![(VarId(0), 1), (VarId(1), -200)], at_most: 99 };
    let competing = OutputSet::all(2);
    let free = Question { lower: &lower, upper: &upper, facts: &[], output: 1, competing: &competing };
    let facts = [fact];
    let bound = Question { facts: &facts, ..free };
    let mut cached = CachedCertifier::new(&policy, Arithmetic::F64, &lower, &upper, 1 << 20);
    assert!(matches!(cached.possible(&bound, &Budget::UNLIMITED), CachedPossibility::Never(_)));
    assert!(matches!(cached.possible(&free, &Budget::UNLIMITED), CachedPossibility::Possible(_)));
}

/// Without this, a cache that never answers would pass.
#[test]
fn most_repetitions_are_hits() {
    let (mut questions, mut hits, mut kinds) = (0, 0, [false; 4]);
    let counted = Mutex::new((&mut questions, &mut hits, &mut kinds));
    check(&cases(6), 200, |case| {
        let (lower, upper) = domain(&case);
        let mut cached = CachedCertifier::new(&case.policy, case.arithmetic, &lower, &upper, 1 << 26);
        for asked in stream(&case).iter().cycle().take(80) {
            let _ = cached.decide(&asked.question(), &Budget::UNLIMITED);
        }
        let statistics = cached.cache().statistics();
        let mut counted = counted.lock().expect("one thread");
        *counted.0 += statistics.questions;
        *counted.1 += statistics.hits();
        let by_kind =
            [statistics.exact_hits, statistics.never_hits, statistics.always_hits, statistics.witness_hits];
        for (seen, hits) in counted.2.iter_mut().zip(by_kind) {
            *seen |= hits > 0;
        }
        Ok(())
    });
    assert!(hits * 2 > questions, "{hits} hits of {questions}");
    assert_eq!(kinds, [true; 4], "all kinds of hits occur");
}

/// The same question in other words is the same question: whether an output competes with itself does not matter.
#[test]
fn known_answers_are_found_at_once() {
    check(&cases(4), 300, |case| {
        let (lower, upper) = domain(&case);
        let mut cached = CachedCertifier::new(&case.policy, case.arithmetic, &lower, &upper, 1 << 26);
        for asked in case.questions.iter().filter(|asked| asked.facts.is_empty()) {
            if asked.lower.iter().zip(&asked.upper).any(|(lower, upper)| lower > upper) {
                continue;
            }
            let mut other = asked.clone();
            other.competing.insert(asked.output);
            let decided = cached.decide(&asked.question(), &Budget::UNLIMITED);
            let is_always = decided == CachedAnswer::Always;
            let before = cached.cache().statistics();
            let _ = cached.decide(&other.question(), &Budget::UNLIMITED);
            let after = cached.cache().statistics();
            let lookups = after.questions - before.questions;
            if after.misses > before.misses || is_always && lookups > 1 {
                return Err(TestCaseError::fail(format!("{lookups} lookups for {asked:?}")));
            }
        }
        Ok(())
    });
}
