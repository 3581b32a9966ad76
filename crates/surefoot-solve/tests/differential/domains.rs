//! The generated domains: their conditions take the fast paths, and their start states are those of the enumeration by propagation.

use std::ops::ControlFlow;

use surefoot_model::domains::{
    Generated, ParameterError, beluga, blocksworld, line, npuzzle, racetrack, transport,
};
use surefoot_model::{Property, TransitionSystem, VarId, jani};
use surefoot_solve::{Answer, Bound, Enumerated, SatSolver, States, Step, Transitions, enumerate};

fn read(generated: Result<Generated, ParameterError>) -> (TransitionSystem, Property) {
    let generated = generated.expect("valid parameters");
    let files: Vec<(&str, &str)> =
        generated.files.iter().map(|file| (file.name.as_str(), file.contents.as_str())).collect();
    let loaded = jani::read_text(&files, files[0].0, Some(files[1].0), &jani::ReadOptions::default());
    let loaded = loaded.expect("generated models are valid");
    let property = loaded.properties.into_iter().find_map(|property| property.question.ok());
    (loaded.system, property.expect("one property"))
}

#[test]
fn start_states_are_enumerated() {
    let blocks = |blocks| blocksworld::Parameters { blocks, table_limit: blocks - 1, ..Default::default() };
    for (generated, expected) in [
        (blocksworld::generate(&blocks(4)), 14),
        (blocksworld::generate(&blocks(6)), 202),
        (npuzzle::generate(&npuzzle::Parameters { width: 2, height: 3, ..Default::default() }), 0),
    ] {
        let (system, property) = read(generated);
        let condition = property.start.condition.expect("a condition");
        let bounds = system.variables.iter().map(|variable| variable.ty.bounds().expect("discrete"));
        let (lower, upper): (Vec<i32>, Vec<i32>) = bounds.unzip();
        let mut by_propagation = Vec::new();
        surefoot_model::enumerate::solutions(
            &system.exprs,
            condition,
            &lower,
            &upper,
            || ControlFlow::Continue(()),
            |state| {
                by_propagation.push(state.to_vec());
                ControlFlow::Continue(())
            },
        );
        let mut states = States::<SatSolver>::new(&system).expect("discrete");
        let start = states.condition(condition).is_true;
        let encoder = states.encoder();
        let variables: Vec<_> =
            (0..system.variables.len()).map(|v| encoder.integer(VarId(v as u32))).collect();
        let mut found = Vec::new();
        let end = enumerate(encoder, &[start], &variables, |state| {
            found.push(state.to_vec());
            ControlFlow::Continue(())
        });
        assert_eq!(end, Enumerated::All);
        found.sort();
        by_propagation.sort();
        assert!(expected == 0 || found.len() >= expected, "{} start states", found.len());
        assert_eq!(found, by_propagation);
    }
}

#[test]
fn no_condition_of_a_domain_is_explained_lazily() {
    for generated in [
        blocksworld::generate(&blocksworld::Parameters::default()),
        npuzzle::generate(&npuzzle::Parameters::default()),
        transport::generate(&transport::Parameters::default()),
        line::generate(&line::Parameters::default()),
        beluga::generate(&beluga::Parameters::default()),
        racetrack::generate(&racetrack::Parameters::default()),
    ] {
        let (system, property) = read(generated);
        let mut states = States::<SatSolver>::new(&system).expect("discrete");
        for condition in
            [property.start.condition, Some(property.unsafe_states), property.goal].into_iter().flatten()
        {
            let truths = states.condition(condition);
            assert_eq!(truths.is_false, !truths.is_true, "{}: defined everywhere", system.name);
        }
        for command in 0..system.commands.len() {
            states.guard(command);
            for outcome in 0..system.commands[command].outcomes.len() {
                states.possible(command, outcome);
            }
        }
        let statistics = states.encoder().statistics();
        assert_eq!((statistics.lazy, statistics.tables), (0, 0), "{}: {statistics:?}", system.name);
        let unsafe_states = states.condition(property.unsafe_states).is_true;
        assert_eq!(states.query(&[unsafe_states]), Answer::Satisfiable, "{}", system.name);
    }
}

#[test]
fn one_step_before_an_overfull_table_a_block_is_put_down() {
    let (system, property) = read(blocksworld::generate(&blocksworld::Parameters::default()));
    let mut transitions = Transitions::<SatSolver>::new(&system).expect("discrete");
    let frame = transitions.add_frame();
    transitions.add_condition(frame, property.unsafe_states);
    let counter = system.variable("table-counter").expect("exists");
    let mut labels = Vec::new();
    for command in 0..system.commands.len() {
        for outcome in 0..system.commands[command].outcomes.len() {
            let step = Step { command, outcome };
            let safe = [Bound::AtMost(counter, 5)];
            if transitions.query(step, &safe, &[frame]) == Answer::Satisfiable {
                assert_eq!(transitions.state()[counter.index()], 5);
                assert_eq!(transitions.successor()[counter.index()], 6);
                let label = system.commands[command].label.expect("labelled");
                labels.push(system.labels[label.index()].name.clone());
            }
        }
    }
    labels.dedup();
    assert_eq!(labels, ["choose_table"]);
}

/// Questions of IC3 about domains that are too large for brute force: both back ends give the same answers, and witnesses hold.
#[cfg(feature = "z3")]
#[test]
fn answers_about_domains_agree_with_z3() {
    use proptest::prelude::*;
    use surefoot_harness::run::check;
    use surefoot_solve::Z3Solver;

    let systems: Vec<TransitionSystem> = [
        blocksworld::generate(&blocksworld::Parameters { blocks: 4, table_limit: 3, ..Default::default() }),
        npuzzle::generate(&npuzzle::Parameters::default()),
        transport::generate(&transport::Parameters::default()),
        line::generate(&line::Parameters::default()),
        beluga::generate(&beluga::Parameters::default()),
        racetrack::generate(&racetrack::Parameters::default()),
    ]
    .into_iter()
    .map(|generated| read(generated).0)
    .collect();
    let bounds = || super::states::bound_genes(8);
    let clauses = prop::collection::vec(bounds(), 0..20);
    let questions = prop::collection::vec((any::<u16>(), bounds()), 1..10);
    check(&(0..systems.len(), clauses, questions), 150, |(number, clauses, questions)| {
        let system = &systems[number];
        let (mut ours, mut z3) = (
            Transitions::<SatSolver>::new(system).expect("discrete"),
            Transitions::<Z3Solver>::new(system).expect("discrete"),
        );
        let frame = ours.add_frame();
        z3.add_frame();
        let clauses: Vec<Vec<Bound>> =
            clauses.iter().map(|clause| super::states::bounds(system, clause)).collect();
        for clause in &clauses {
            ours.add_clause(frame, clause);
            z3.add_clause(frame, clause);
        }
        for (command, current) in &questions {
            let command = usize::from(*command) % system.commands.len();
            let step = Step { command, outcome: 0 };
            let current = super::states::bounds(system, current);
            let answer = ours.query(step, &current, &[frame]);
            prop_assert_eq!(answer, z3.query(step, &current, &[frame]));
            if answer == Answer::Satisfiable {
                for (state, after) in [(ours.state(), ours.successor()), (z3.state(), z3.successor())] {
                    prop_assert!(current.iter().all(|bound| bound.holds(&state)));
                    prop_assert!(clauses.iter().all(|clause| clause.iter().any(|bound| bound.holds(&after))));
                    let outcome = &system.commands[command].outcomes[0];
                    prop_assert_eq!(super::states::successor(system, outcome, &state), Some(after));
                }
            }
        }
        Ok(())
    });
}
