use surefoot_model::domains::{Generated, blocksworld, line, npuzzle, racetrack, transport};
use surefoot_model::jani::{ReadOptions, read_text};
use surefoot_policy::Arithmetic;

use super::*;
use crate::step::Stepper;
use crate::task::Semantics;

const GAINS: Gains = Gains {
    goal: 1.0,
    unsafe_state: -1.0,
    step: -0.25,
    stall: -2.0,
    deadlock: -3.0,
    rewards: surefoot_model::Rewards { potential: None, step: None },
};

fn task(files: &[(&str, &str)], property_file: Option<&str>, out_of_domain: OutOfDomain) -> (Task, Gains) {
    let loaded = read_text(files, files[0].0, property_file, &ReadOptions::default()).expect("valid");
    let property = loaded.properties[0].question.clone().expect("supported");
    let semantics =
        Semantics { filter: false, goal: Goal::Terminal, out_of_domain, arithmetic: Arithmetic::F64 };
    let rewards = loaded.properties[0].rewards.clone().expect("valid");
    (Task { system: loaded.system, property, policy: None, semantics }, Gains { rewards, ..GAINS })
}

fn domain(generated: &Generated) -> Task {
    let files: Vec<(&str, &str)> =
        generated.files.iter().map(|file| (file.name.as_str(), file.contents.as_str())).collect();
    task(&files, Some(files[1].0), OutOfDomain::Error).0
}

fn options(task: &Task, gains: Gains) -> Options {
    Options {
        actions: (0..task.system.labels.len() as u32).map(LabelId).collect(),
        observed: (0..task.system.variables.len() as u32).map(VarId).collect(),
        gains,
        inapplicable: Inapplicable::Stall,
        ends_at_unsafe: true,
        ends_at_goal: true,
        max_steps: 30,
    }
}

fn environment(task: &Task, options: Options) -> Environment {
    Environment::new(task.clone(), options, &Control::unlimited()).expect("suits")
}

/// A walk on 0..9 with a silent command above 5, an objective with rewards, and outcomes that leave the domain.
const WALK: &str = r#"{
    "jani-version": 1, "name": "walk", "type": "mdp", "actions": [{"name": "up"}, {"name": "down"}],
    "variables": [{"name": "x", "initial-value": 2,
        "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}}],
    "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": [
        {"location": "l", "action": "up", "destinations": [
            {"location": "l", "probability": {"exp": 0.75},
             "assignments": [{"ref": "x", "value": {"op": "+", "left": "x", "right": 2}}]},
            {"location": "l", "probability": {"exp": 0.25},
             "assignments": [{"ref": "x", "value": {"op": "+", "left": "x", "right": 1}}]}]},
        {"location": "l", "action": "down", "guard": {"exp": {"op": "≥", "left": "x", "right": 2}},
         "destinations": [{"location": "l",
            "assignments": [{"ref": "x", "value": {"op": "-", "left": "x", "right": 1}}]}]},
        {"location": "l", "guard": {"exp": {"op": ">", "left": "x", "right": 5}},
         "destinations": [{"location": "l",
            "assignments": [{"ref": "x", "value": {"op": "-", "left": "x", "right": 1}}]}]}]}],
    "system": {"elements": [{"automaton": "a"}],
        "syncs": [{"synchronise": ["up"], "result": "up"}, {"synchronise": ["down"], "result": "down"}]},
    "properties": [{"name": "p", "expression": {"op": "PA",
        "reach": {"op": "=", "left": "x", "right": 0},
        "objective": {"op": "objective", "goal": {"op": "=", "left": "x", "right": 9},
            "goal-potential": {"op": "*", "left": "x", "right": 2},
            "step-reward": {"op": "-", "left": 0, "right": "x"}, "accumulate": ["steps"]}}}]
}"#;

/// Random runs agree with the definition: what is possible, where a step leads, how a run ends.
fn agrees(task: &Task, runs: u64) -> usize {
    let environment = environment(task, options(task, GAINS));
    let mut stepper = Stepper::new(task);
    let mut scratch = Scratch::default();
    let mut choices = Random::new(1, 1);
    let mut steps = 0;
    for stream in 0..runs {
        let mut run = environment.run(7, stream);
        environment.start(&mut run, &mut scratch).expect("there are start states");
        while run.ending == Ending::None {
            let before = environment.state(&run);
            let enabled = stepper.enabled(&before).expect("defined");
            let labels: Vec<Option<LabelId>> =
                enabled.iter().map(|&command| task.system.commands[command].label).collect();
            let mut mask = vec![false; task.system.labels.len()];
            environment.mask(&run, &mut mask);
            let expected: Vec<bool> =
                (0..mask.len() as u32).map(|label| labels.contains(&Some(LabelId(label)))).collect();
            assert!(mask == expected || (expected.iter().all(|&is| !is) && mask.iter().all(|&is| is)));
            let action = choices.below(mask.len() as u64) as u32;
            let step = environment.step(&mut run, action, &mut scratch).expect("defined");
            steps += 1;
            let after = environment.state(&run);
            let Some(command) = step.command else {
                assert_eq!((step.ending, &before), (Ending::Stall, &after));
                continue;
            };
            let label = task.system.commands[command as usize].label;
            assert!(label.is_none() || label == Some(LabelId(action)));
            let successors = stepper.successors(&before).expect("defined");
            let is_known = |t: &crate::step::Transition| t.command == command as usize && t.state == after;
            assert!(successors.iter().any(is_known), "{before:?} {command} {after:?}");
            let status = stepper.status(&after).expect("defined");
            let ending = match status {
                _ if status.is_unsafe => Ending::Unsafe,
                _ if status.is_goal => Ending::Goal,
                _ if status.ends_run => Ending::Left,
                _ if stepper.enabled(&after).expect("defined").is_empty() => Ending::Deadlock,
                _ if run.steps == 30 => Ending::StepLimit,
                _ => Ending::None,
            };
            assert_eq!(step.ending, ending);
        }
    }
    steps
}

#[test]
fn runs_in_domains_are_runs_of_the_definition() {
    let domains = [
        blocksworld::generate(&blocksworld::Parameters { blocks: 4, table_limit: 3, ..Default::default() }),
        npuzzle::generate(&npuzzle::Parameters::default()),
        transport::generate(&transport::Parameters::default()),
        line::generate(&line::Parameters::default()),
        racetrack::generate(&racetrack::Parameters::default()),
    ];
    for generated in domains {
        let task = domain(&generated.expect("valid parameters"));
        assert!(agrees(&task, 50) > 60, "{}", task.system.name);
    }
}

#[test]
fn blocked_outcomes_leave_their_probability_to_the_others() {
    let (task, gains) = task(&[("walk.jani", WALK)], None, OutOfDomain::Block);
    agrees(&task, 20);
    let environment = environment(&task, Options { ends_at_goal: false, ..options(&task, gains) });
    let mut scratch = Scratch::default();
    let mut run = environment.run(0, 0);
    for _ in 0..50 {
        // From 8 only the second outcome of `up` is in the domain, or the silent command goes down.
        environment.start_in(&mut run, &[0, 8], &mut scratch).expect("a state");
        environment.step(&mut run, 0, &mut scratch).expect("defined");
        assert!([[0, 9], [0, 7]].contains(&[0, environment.state(&run)[1]]));
    }
    // From 9 no outcome of `up` is possible: only the silent command is.
    environment.start_in(&mut run, &[0, 9], &mut scratch).expect("a state");
    let step = environment.step(&mut run, 0, &mut scratch).expect("defined");
    assert_eq!((step.command, environment.state(&run)), (Some(0), vec![0, 8]));
}

#[test]
fn a_model_that_is_wrong_is_told_by_the_definition() {
    let (task, gains) = task(&[("walk.jani", WALK)], None, OutOfDomain::Error);
    let environment = environment(&task, Options { ends_at_goal: false, ..options(&task, gains) });
    let mut scratch = Scratch::default();
    let mut run = environment.run(0, 0);
    let mut failed = None;
    for _ in 0..100 {
        environment.start_in(&mut run, &[0, 9], &mut scratch).expect("a state");
        failed = environment.step(&mut run, 0, &mut scratch).err();
        if failed.is_some() {
            break;
        }
    }
    let message = failed.expect("half of the steps leave the domain").to_string();
    assert!(message.contains("sets `x` to 11, outside its domain 0..9"), "{message}");
}

#[test]
fn rewards_follow_the_objective_and_the_silent_command_has_its_share() {
    let (task, gains) = task(&[("walk.jani", WALK)], None, OutOfDomain::Error);
    let environment = environment(&task, options(&task, gains));
    let mut scratch = Scratch::default();
    let (mut run, mut silent, mut twice) = (environment.run(3, 0), 0, 0);
    for _ in 0..400 {
        environment.start_in(&mut run, &[0, 7], &mut scratch).expect("a state");
        let step = environment.step(&mut run, 0, &mut scratch).expect("defined");
        let after = environment.state(&run)[1];
        let goal = if after == 9 { GAINS.goal } else { 0.0 };
        assert_eq!(step.reward, -7.0 + goal + 2.0 * f64::from(after - 7));
        silent += u32::from(step.command == Some(0));
        twice += u32::from(after == 9);
    }
    // 200 and 150 are expected; the bounds are more than four standard deviations away.
    assert!((155..=245).contains(&silent) && (110..=190).contains(&twice), "{silent} {twice}");
}

#[test]
fn stalls_end_a_run_or_cost_a_step() {
    let (task, _) = task(&[("walk.jani", WALK)], None, OutOfDomain::Error);
    for (inapplicable, ending) in [(Inapplicable::Stall, Ending::Stall), (Inapplicable::Stay, Ending::None)] {
        let environment = environment(&task, Options { inapplicable, ..options(&task, GAINS) });
        let mut run = environment.run(0, 0);
        let mut scratch = Scratch::default();
        environment.start_in(&mut run, &[0, 1], &mut scratch).expect("a state");
        let step = environment.step(&mut run, 1, &mut scratch).expect("defined");
        assert_eq!(step, Step { reward: -2.25, ending, command: None });
        assert_eq!(environment.state(&run), [0, 1]);
    }
}

/// Strict goals of a property without goal were accepted, though engines refuse them.
#[test]
fn goals_that_end_runs_need_a_goal() {
    let (mut task, _) = task(&[("walk.jani", WALK)], None, OutOfDomain::Error);
    task.property.goal = None;
    let options = options(&task, GAINS);
    for goal in [Goal::Terminal, Goal::Strict] {
        task.semantics.goal = goal;
        let refused = Environment::new(task.clone(), options.clone(), &Control::unlimited());
        assert!(matches!(refused, Err(TaskError::NoGoal)));
    }
    task.semantics.goal = Goal::Ignore;
    environment(&task, options);
}

#[test]
fn a_batch_starts_runs_again_and_keeps_the_last_observation() {
    let (task, _) = task(&[("walk.jani", WALK)], None, OutOfDomain::Error);
    let environment = environment(&task, Options { max_steps: 3, ..options(&task, GAINS) });
    for autoreset in [Autoreset::SameStep, Autoreset::NextStep, Autoreset::Disabled] {
        let mut batch = Batch::new(&environment, 4, autoreset, 5);
        for index in 0..4 {
            batch.start(&environment, index, None).expect("there are start states");
        }
        let mut rows = Rows {
            observations: &mut [0i32; 8],
            last_observations: &mut [-1i32; 8],
            masks: &mut [false; 8],
            rewards: &mut [0.0; 4],
            endings: &mut [0; 4],
            commands: &mut [0; 4],
        };
        // Up from 2 and down again twice: 3 steps that neither reach 0 nor 9.
        for (step, action) in [0, 1, 1].into_iter().enumerate() {
            batch.step(&environment, &[action; 4], &mut rows).expect("defined");
            let ending = if step == 2 { Ending::StepLimit } else { Ending::None };
            assert_eq!(rows.endings, [ending as u8; 4]);
        }
        let is_start = |row: &[i32]| row == [0, 2];
        let same = autoreset == Autoreset::SameStep;
        assert_eq!(rows.observations.chunks(2).all(is_start), same);
        assert_eq!(rows.last_observations.iter().all(|&value| value >= 0), same);
        batch.step(&environment, &[0; 4], &mut rows).expect("defined");
        match autoreset {
            Autoreset::SameStep => assert!(rows.commands.iter().all(|&command| command >= 0)),
            Autoreset::NextStep => assert!(rows.observations.chunks(2).all(is_start)),
            Autoreset::Disabled => assert_eq!(rows.endings, [Ending::StepLimit as u8; 4]),
        }
    }
}
