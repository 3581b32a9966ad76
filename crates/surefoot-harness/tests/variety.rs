//! Whether the random tasks are as varied as they are meant to be: a test that only sees trivial tasks finds nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;

use surefoot_engines::explicit::{Options, verify};
use surefoot_engines::{Control, Goal, Task};
use surefoot_harness::random::{RandomTask, Size, tasks};
use surefoot_harness::reference::{Exploration, explore};
use surefoot_harness::run::check;
use surefoot_policy::{Arithmetic, Layer, Node, Scorer};

/// What a task shows.
fn features(task: &Task, found: &Exploration) -> Vec<&'static str> {
    let with = |arithmetic| {
        let mut other = task.clone();
        other.semantics.arithmetic = arithmetic;
        explore(&other, 20_000).map(|other| other.states)
    };
    let without_policy = || {
        let other = Task { policy: None, ..task.clone() };
        explore(&other, 20_000).map(|other| other.states.len())
    };
    let variables = task.system.variables.len();
    let sliced = || {
        let options = Options { slice: true, ..Options::default() };
        verify(task, options, &Control::unlimited())
            .is_ok_and(|outcome| outcome.statistics.variables < variables)
    };
    let has_policy = task.policy.is_some();
    let network = task.policy.as_ref().and_then(|policy| match &policy.scorer {
        Scorer::Network(network) => Some(network),
        Scorer::Ensemble(_) => None,
    });
    let has_node = |test: fn(&Node) -> bool| network.is_some_and(|network| network.nodes().iter().any(test));
    let curved = |layer: &Layer| !layer.activation().is_piecewise_linear();
    let is_ensemble = task.policy.as_ref().is_some_and(|p| matches!(p.scorer, Scorer::Ensemble(_)));
    let error = found.error.as_ref().map(|(distance, _)| *distance);
    let several = found.states.len() > 5;
    let list = [
        ("start condition undefined", found.start_error.is_some()),
        ("no start state", found.start_error.is_none() && found.starts.is_empty()),
        ("several start states", found.starts.len() > 1),
        ("wrong at once", error == Some(0)),
        ("wrong later", error.is_some_and(|distance| distance > 0)),
        ("unsafe at once", found.unsafe_distance == Some(0)),
        ("unsafe later", found.unsafe_distance.is_some_and(|distance| distance > 0)),
        ("unsafe after three steps or more", found.unsafe_distance.is_some_and(|distance| distance > 2)),
        ("unsafe before wrong", found.unsafe_distance.is_some_and(|d| error.is_some_and(|e| d < e))),
        ("wrong before unsafe", found.unsafe_distance.is_some_and(|d| error.is_some_and(|e| e < d))),
        ("safe", !found.has_error() && found.unsafe_distance.is_none() && several),
        ("some start states safe", {
            !found.unsafe_starts.is_empty() && found.unsafe_starts.len() < found.starts.len()
        }),
        ("stalls", found.stalls > 0 && several),
        ("goals", found.goal_states > 0 && task.semantics.goal == Goal::Terminal && several),
        ("strict goals", found.goal_states > 0 && task.semantics.goal == Goal::Strict && several),
        ("more than fifty states", found.states.len() > 50),
        ("policy matters", has_policy && without_policy() != Ok(found.states.len())),
        ("ensemble", is_ensemble),
        ("graph", network.is_some_and(|network| network.chain().is_none())),
        ("maximum", has_node(|node| matches!(node, Node::Maximum { .. }))),
        ("quotient", has_node(|node| matches!(node, Node::Quotient { .. }))),
        ("sparse layer", network.is_some_and(|network| network.layers().any(Layer::is_sparse))),
        ("curved activation", network.is_some_and(|network| network.layers().any(curved))),
        ("precision matters", has_policy && with(Arithmetic::F64) != with(Arithmetic::F32)),
        ("order of sums matters", has_policy && with(Arithmetic::AnyF32) != with(Arithmetic::F32)),
        ("exactness matters", has_policy && with(Arithmetic::Real) != with(Arithmetic::F64)),
        ("something is sliced", several && sliced()),
    ];
    list.into_iter().filter(|(_, shown)| *shown).map(|(name, _)| name).collect()
}

/// Counts features over random tasks of a size.
fn count(size: Size, cases: u32) -> BTreeMap<&'static str, usize> {
    let counts = RefCell::new(BTreeMap::new());
    check(&tasks(size), cases, |random: RandomTask| {
        let Ok(found) = explore(&random.task, 20_000) else { return Ok(()) };
        *counts.borrow_mut().entry("all").or_default() += 1;
        for feature in features(&random.task, &found) {
            *counts.borrow_mut().entry(feature).or_default() += 1;
        }
        Ok(())
    });
    counts.into_inner()
}

#[test]
fn small_tasks_are_varied() {
    let counts = count(Size::Small, 2000);
    println!("{counts:#?}");
    assert_eq!(counts.len(), 28, "a feature is missing");
    let all = counts["all"];
    for (feature, count) in &counts {
        assert!(count * 400 >= all, "only {count} of {all} tasks show the feature {feature:?}");
    }
}

#[test]
fn most_other_tasks_can_be_explored() {
    for size in [Size::Wide, Size::Deep] {
        let counts = count(size, 300);
        println!("{size:?}: {counts:#?}");
        assert!(counts["all"] >= 120, "only {} of 300 tasks can be explored", counts["all"]);
        assert!(counts.get("more than fifty states").is_some_and(|&count| count >= 2));
    }
}
