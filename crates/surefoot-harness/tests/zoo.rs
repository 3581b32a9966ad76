//! Every engine on every case of the zoo.

use surefoot_engines::explicit::{Options, verify};
use surefoot_engines::{Control, Outcome, Statistics, Task, TaskError, Vacuity, Verdict, ic3, ppa};
use surefoot_harness::expect::{Coverage, Expected};
use surefoot_harness::reference::{Exploration, explore};
use surefoot_harness::zoo::{Case, ExpectedVerdict, ReadTask, Run, cases};

/// An engine under some settings.
struct Engine {
    name: &'static str,
    run: fn(&Task) -> Result<Outcome, TaskError>,
    /// Whether it counts the states of the task as it is, all of them.
    counts: bool,
    /// Whether its traces are shortest ones.
    shortest: bool,
    /// How far it looks.
    coverage: Coverage,
}

fn explicit(task: &Task, exhaustive: bool, slice: bool, threads: usize) -> Result<Outcome, TaskError> {
    let options = Options { exhaustive, slice, ..Options::default() };
    verify(task, options, &Control { threads, ..Control::unlimited() })
}

/// Predicate abstraction as in the papers.
fn papers(task: &Task, refinement: ppa::Refinement) -> Result<Outcome, TaskError> {
    let options = ppa::Options {
        list: 0,
        begin: ppa::Begin::Unsafe,
        search: ppa::Search::Hamming,
        refinement,
        ..ppa::Options::default()
    };
    ppa::verify(task, options, &Control::unlimited()).map(|proof| proof.outcome)
}

const ENGINES: [Engine; 9] = [
    Engine {
        name: "explicit, exhaustive",
        run: |task| explicit(task, true, false, 1),
        counts: true,
        shortest: true,
        coverage: Coverage::Everything,
    },
    Engine {
        name: "explicit, exhaustive, two threads",
        run: |task| explicit(task, true, false, 2),
        counts: true,
        shortest: true,
        coverage: Coverage::Everything,
    },
    Engine {
        name: "explicit",
        run: |task| explicit(task, false, false, 1),
        counts: false,
        shortest: true,
        coverage: Coverage::FirstUnsafe,
    },
    Engine {
        name: "explicit, sliced",
        run: |task| explicit(task, false, true, 2),
        counts: false,
        shortest: true,
        coverage: Coverage::FirstUnsafe,
    },
    Engine {
        name: "ic3",
        run: |task| {
            ic3::verify(task, ic3::Options::default(), &Control::unlimited()).map(|proof| proof.outcome)
        },
        counts: false,
        shortest: false,
        coverage: Coverage::Any,
    },
    Engine {
        name: "ppa",
        run: |task| {
            let options = ppa::Options { list: 0, ..ppa::Options::default() };
            ppa::verify(task, options, &Control::unlimited()).map(|proof| proof.outcome)
        },
        counts: false,
        shortest: false,
        coverage: Coverage::Any,
    },
    Engine {
        name: "ppa, witness splitting",
        run: |task| {
            let (variables, split) = (ppa::Variables::All, ppa::SplitPoint::Witness);
            let refinement = ppa::Refinement::Witness { variables, split };
            papers(task, refinement)
        },
        counts: false,
        shortest: false,
        coverage: Coverage::Any,
    },
    Engine {
        name: "ppa, entailed values",
        run: |task| papers(task, ppa::Refinement::Values),
        counts: false,
        shortest: false,
        coverage: Coverage::Any,
    },
    Engine {
        name: "ic3, nothing listed",
        run: |task| {
            let options = ic3::Options { list: 0, ..ic3::Options::default() };
            ic3::verify(task, options, &Control::unlimited()).map(|proof| proof.outcome)
        },
        counts: false,
        shortest: false,
        coverage: Coverage::Any,
    },
];

#[test]
fn every_engine_gives_the_expected_results() {
    let cases = cases();
    assert!(cases.len() >= 15, "the zoo is where it should be");
    let mut failures = Vec::new();
    for case in &cases {
        assert!(!case.runs.is_empty(), "{} has no runs", case.name());
        for run in &case.runs {
            if let Err(error) = check(case, run) {
                failures.push(format!("{} ({}): {error}", case.name(), run.name));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

fn check(case: &Case, run: &Run) -> Result<(), String> {
    let ReadTask { task, warnings } = match case.read(run) {
        Err(error) if run.verdict == ExpectedVerdict::Rejected => {
            return contains(&error, run.error.as_deref());
        }
        Err(error) => return Err(format!("cannot be read: {error}")),
        Ok(_) if run.verdict == ExpectedVerdict::Rejected => return Err("was read".into()),
        Ok(read) => read,
    };
    match &run.warning {
        Some(text) if !warnings.iter().any(|warning| warning.contains(text)) => {
            return Err(format!("expected the warning {text:?} among {warnings:#?}"));
        }
        None if !warnings.is_empty() => return Err(format!("unexpected warnings {warnings:#?}")),
        _ => {}
    }
    let exploration = explore(&task, 1_000_000).map_err(|_| "too large for the reference")?;
    check_reference(run, &exploration).map_err(|error| format!("reference: {error}"))?;
    for engine in &ENGINES {
        check_engine(engine, run, &task, &exploration)
            .map_err(|error| format!("{}: {error}", engine.name))?;
    }
    Ok(())
}

/// What the case expects must be what the reference finds.
fn check_reference(run: &Run, found: &Exploration) -> Result<(), String> {
    let verdict = match (found.has_error(), found.unsafe_distance) {
        (true, _) => ExpectedVerdict::Wrong,
        (false, Some(_)) => ExpectedVerdict::Unsafe,
        (false, None) => ExpectedVerdict::Safe,
    };
    if verdict != run.verdict {
        return Err(format!("expected {:?}, got {verdict:?}: {:?}", run.verdict, found.error));
    }
    if run.verdict == ExpectedVerdict::Unsafe && run.trace != found.unsafe_distance {
        return Err(format!("expected the distance {:?}, got {:?}", run.trace, found.unsafe_distance));
    }
    let statistics = Statistics {
        start_states: found.starts.len() as u64,
        states: found.states.len() as u64,
        transitions: found.transitions as u64,
        unsafe_states: found.unsafe_states as u64,
        stalls: found.stalls as u64,
        terminal_states: found.terminal_states as u64,
        goal_states: found.goal_states as u64,
        depth: found.depth as u64,
        ..Statistics::default()
    };
    check_counts(run, &statistics)
}

fn check_engine(engine: &Engine, run: &Run, task: &Task, exploration: &Exploration) -> Result<(), String> {
    let answer = (engine.run)(task);
    Expected::of(exploration, engine.coverage).check(task, &answer, engine.shortest)?;
    let outcome = match answer {
        Ok(outcome) => outcome,
        Err(error) => return contains(&error.to_string(), run.error.as_deref()),
    };
    let vacuity: Vec<&str> = outcome.vacuity.iter().map(|vacuity| vacuity_name(*vacuity)).collect();
    if engine.counts {
        check_counts(run, &outcome.statistics)?;
    }
    if (engine.counts || outcome.verdict == Verdict::Safe) && vacuity != run.vacuity {
        return Err(format!("expected the vacuity {:?}, got {vacuity:?}", run.vacuity));
    }
    Ok(())
}

fn check_counts(run: &Run, found: &Statistics) -> Result<(), String> {
    for (name, &expected) in &run.counts {
        let found = match name.as_str() {
            "start-states" => found.start_states,
            "states" => found.states,
            "transitions" => found.transitions,
            "unsafe-states" => found.unsafe_states,
            "stalls" => found.stalls,
            "terminal-states" => found.terminal_states,
            "goal-states" => found.goal_states,
            "depth" => found.depth,
            _ => return Err(format!("there is no count called {name:?}")),
        };
        if found != expected {
            return Err(format!("expected {expected} {name}, got {found}"));
        }
    }
    Ok(())
}

fn vacuity_name(vacuity: Vacuity) -> &'static str {
    match vacuity {
        Vacuity::NoStartState => "no-start-state",
        Vacuity::NoUnsafeState => "no-unsafe-state",
        Vacuity::NoSteps => "no-steps",
        Vacuity::AllStall => "all-stall",
    }
}

fn contains(message: &str, part: Option<&str>) -> Result<(), String> {
    match part {
        Some(part) if message.contains(part) => Ok(()),
        Some(part) => Err(format!("expected an error with {part:?}, got: {message}")),
        None => Err(format!("the case must say what the error is: {message}")),
    }
}
