//! What predicate abstraction has done, as text and as JSON.

use serde_json::{Value, json};
use surefoot_engines::pa::{Cause, Described, Iteration, PredicateCounts, Source, Statistics, Tests};
use surefoot_engines::{Outcome, Tally};

use super::certificate;
use super::number::{bytes, counted, grouped, percent, seconds};
use crate::answer::Issued;
use crate::arguments::search::Engine;

/// Names and values of what was counted.
pub fn rows(
    engine: Engine,
    outcome: &Outcome,
    statistics: &Statistics,
    (predicates, laws): (&[Described], &[String]),
    issued: Option<&Issued>,
) -> Vec<(&'static str, String)> {
    let tests = &statistics.tests;
    let mut rows = Vec::new();
    if statistics.left_out > 0 {
        rows.push((
            "left out",
            format!(
                "{} that neither policy nor property reads",
                counted(statistics.left_out as u64, "variable")
            ),
        ));
    }
    if !statistics.iterations.is_empty() {
        rows.push(("iterations", iterations(&statistics.iterations)));
    }
    rows.extend([
        ("predicates", by_source(predicates)),
        ("start states", format!("{} abstract", grouped(statistics.start_states))),
        (
            "states",
            format!("{} abstract, {} expanded", grouped(statistics.states), grouped(statistics.expanded)),
        ),
        ("transitions", grouped(statistics.transitions)),
    ]);
    rows.extend(laws.iter().map(|law| ("law", law.clone())));
    // With predicates that are found, the search ends at the first.
    if engine == Engine::Pa {
        rows.push(("unsafe states", format!("{} abstract", grouped(statistics.unsafe_states))));
    }
    if statistics.errors > 0 {
        rows.push((
            "errors",
            format!("the model may be wrong in {} abstract states", grouped(statistics.errors)),
        ));
    }
    rows.extend([
        ("executed", counted(tests.executed, "state")),
        ("environment", describe(tests.environment)),
        (
            "policy",
            format!(
                "{}, {} by earlier decisions; {} never chosen",
                describe(tests.policy),
                percent(tests.policy_known as f64, tests.policy.count as f64),
                counted(tests.never, "command")
            ),
        ),
        ("pursued", format!("{}, {}", counted(tests.pursued, "step"), counted(tests.splits, "split"))),
    ]);
    if tests.inherited > 0 {
        let inherited = grouped(tests.inherited);
        rows.push(("inherited", format!("{inherited} commands and steps that earlier iterations excluded")));
    }
    rows.extend([
        ("time", format!("{}, search {}", seconds(outcome.statistics.time), seconds(statistics.time))),
        ("memory", format!("{} for abstract states, solvers and decisions", bytes(statistics.memory))),
    ]);
    rows.extend(issued.map(|issued| ("certificate", certificate::describe(issued))));
    rows
}

const SOURCES: [(Source, &str); 5] = [
    (Source::Given, "given"),
    (Source::Unsafe, "unsafe"),
    (Source::Environment, "environment"),
    (Source::Policy, "policy"),
    (Source::Domain, "domain"),
];

/// How many predicates there are, and where they come from.
fn by_source(predicates: &[Described]) -> String {
    let count = |source| predicates.iter().filter(|predicate| predicate.source == source).count();
    let parts: Vec<String> = SOURCES
        .iter()
        .filter(|(source, _)| count(*source) > 0)
        .map(|(source, name)| format!("{} {name}", grouped(count(*source) as u64)))
        .collect();
    let all = grouped(predicates.len() as u64);
    if parts.is_empty() { all } else { format!("{all}: {}", parts.join(", ")) }
}

/// Abstract paths that were spurious.
fn iterations(iterations: &[Iteration]) -> String {
    let of_policy = iterations.iter().filter(|iteration| iteration.cause == Cause::Policy).count() as u64;
    let longest = iterations.iter().map(|iteration| iteration.steps).max().unwrap_or(0);
    format!(
        "{}, {} spurious because of the policy, paths of up to {}",
        grouped(iterations.len() as u64),
        grouped(of_policy),
        counted(longest, "step")
    )
}

fn describe(tests: Tally) -> String {
    format!("{} in {}", counted(tests.count, "test"), seconds(tests.time))
}

/// The counts as JSON.
pub fn counts(statistics: &Statistics, predicates: &[Described], laws: &[String]) -> Value {
    let mut counts = json!({
        "projected_variables": statistics.left_out,
        "predicates": predicates.iter().map(predicate).collect::<Vec<_>>(),
        "laws": laws,
        "start_states": statistics.start_states,
        "states": statistics.states,
        "expanded": statistics.expanded,
        "transitions": statistics.transitions,
        "start_transitions": statistics.start_transitions,
        "unsafe_states": statistics.unsafe_states,
        "errors": statistics.errors,
        "search_seconds": statistics.time.as_secs_f64(),
        "certificate_seconds": statistics.certificate.as_secs_f64(),
        "check_seconds": statistics.check.as_secs_f64(),
        "computed": statistics.computed,
        "iterations": statistics.iterations.iter().map(iteration).collect::<Vec<_>>(),
    });
    if let (Value::Object(counts), Value::Object(tests)) = (&mut counts, questions(&statistics.tests)) {
        counts.extend(tests);
    }
    counts
}

/// Questions, and how they were answered.
fn questions(tests: &Tests) -> Value {
    let tally = |tally: Tally| json!({"count": tally.count, "seconds": tally.time.as_secs_f64()});
    json!({
        "executed_states": tests.executed,
        "environment_tests": tally(tests.environment),
        "state_tests": tally(tests.state),
        "policy_tests": {
            "count": tests.policy.count,
            "by_cache": tests.policy_known,
            "seconds": tests.policy.time.as_secs_f64(),
        },
        "never_chosen": tests.never,
        "inherited": tests.inherited,
        "pursued": tests.pursued,
        "splits": tests.splits,
    })
}

fn iteration(iteration: &Iteration) -> Value {
    let PredicateCounts { given, unsafe_condition, environment, policy, domain } = iteration.predicates;
    json!({
        "predicates": iteration.predicates.all(),
        "sources": {
            "given": given,
            "unsafe": unsafe_condition,
            "environment": environment,
            "policy": policy,
            "domain": domain,
        },
        "states": iteration.states,
        "steps": iteration.steps,
        "cause": match iteration.cause {
            Cause::Environment => "environment",
            Cause::Policy => "policy",
        },
        "added": iteration.added,
        "tests": questions(&iteration.tests),
        "seconds": iteration.time.as_secs_f64(),
    })
}

fn predicate(predicate: &Described) -> Value {
    let source = SOURCES.iter().find(|(source, _)| *source == predicate.source);
    json!({"predicate": predicate.text, "source": source.map(|(_, name)| name)})
}
