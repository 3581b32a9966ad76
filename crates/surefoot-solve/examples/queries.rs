//! Times the questions of IC3: is there a state in a box from which a command's outcome leads into a frame?
//!
//! ```sh
//! cargo run --release -p surefoot-solve --example queries -- [DOMAIN [QUERIES [CLAUSES]]]
//! ```
//!
//! `DOMAIN` is `blocksworld` (6 blocks, table limit 5; the default), `blocksworld8`, `npuzzle` or `transport`. A frame has random
//! clauses (300 by default), each the outside of a box over 3 to 6 variables; the state before is in a random box. With the feature `z3` the same questions are put
//! to Z3, and every answer is compared.

use std::time::{Duration, Instant};

use surefoot_model::domains::{Generated, blocksworld, npuzzle, transport};
use surefoot_model::{TransitionSystem, VarId, jani};
use surefoot_solve::{Answer, Arithmetic, Bound, FrameId, SatSolver, Step, Transitions};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let domain = arguments.next().unwrap_or_else(|| "blocksworld".into());
    let count = arguments.next().map_or(20_000, |text| text.parse().expect("a number of queries"));
    let clauses = arguments.next().map_or(300, |text| text.parse().expect("a number of clauses"));
    let started = Instant::now();
    let system = read(&generate(&domain));
    println!(
        "{domain}: {} variables, {} commands, read in {:.3} s",
        system.variables.len(),
        system.commands.len(),
        started.elapsed().as_secs_f64()
    );
    let mut random = Random(1);
    let clauses: Vec<Vec<Bound>> = (0..clauses)
        .map(|_| {
            let size = 3 + random.below(4);
            random_box(&system, size, &mut random).into_iter().map(|bound| !bound).collect()
        })
        .collect();
    let steps: Vec<Step> = (0..system.commands.len())
        .flat_map(|command| {
            (0..system.commands[command].outcomes.len()).map(move |outcome| Step { command, outcome })
        })
        .collect();
    let questions: Vec<(Step, Vec<Bound>)> = (0..count)
        .map(|_| {
            let step = steps[random.below(steps.len())];
            let size = random.below(system.variables.len());
            (step, random_box(&system, size, &mut random))
        })
        .collect();
    let ours = run::<SatSolver>("surefoot", &system, &clauses, &steps, &questions);
    #[cfg(feature = "z3")]
    {
        let z3 = run::<surefoot_solve::Z3Solver>("Z3", &system, &clauses, &steps, &questions);
        let different = ours.iter().zip(&z3).filter(|(a, b)| a != b).count();
        println!("different answers: {different}");
    }
    let satisfiable = ours.iter().filter(|&&answer| answer == Answer::Satisfiable).count();
    println!("satisfiable: {satisfiable} of {count}");
}

fn run<S: Arithmetic + Default>(
    name: &str,
    system: &TransitionSystem,
    clauses: &[Vec<Bound>],
    steps: &[Step],
    questions: &[(Step, Vec<Bound>)],
) -> Vec<Answer> {
    let started = Instant::now();
    let mut transitions = Transitions::<S>::new(system).expect("no real variables");
    let frame = transitions.add_frame();
    for &step in steps {
        transitions.query(step, &[], &[]);
    }
    let built = started.elapsed();
    let started = Instant::now();
    for clause in clauses {
        transitions.add_clause(frame, clause);
    }
    for &step in steps {
        transitions.query(step, &[], &[frame]);
    }
    let framed = started.elapsed();
    let mut times = Vec::with_capacity(questions.len());
    let mut satisfiable = Vec::new();
    let mut answers = Vec::with_capacity(questions.len());
    for (step, current) in questions {
        let started = Instant::now();
        let answer = ask(&mut transitions, *step, current, frame);
        let time = started.elapsed();
        answers.push(answer);
        times.push(time);
        if answer == Answer::Satisfiable {
            satisfiable.push(time);
        }
    }
    times.sort_unstable();
    satisfiable.sort_unstable();
    let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
    let mean = times.iter().sum::<Duration>().as_secs_f64() * 1e6 / times.len() as f64;
    println!(
        "{name}: {} solvers in {:.3} s, frame of {} clauses for all of them in {:.3} s; per query: median {:.1} µs (satisfiable {:.1} µs), p95 {:.1} µs, mean {mean:.1} µs, max {:.0} µs",
        transitions.solver_count(),
        built.as_secs_f64(),
        clauses.len(),
        framed.as_secs_f64(),
        microseconds(times[times.len() / 2]),
        satisfiable.get(satisfiable.len() / 2).map_or(0.0, |&time| microseconds(time)),
        microseconds(times[times.len() * 95 / 100]),
        microseconds(times[times.len() - 1]),
    );
    answers
}

/// A question, with what IC3 does with the answer.
fn ask<S: Arithmetic + Default>(
    transitions: &mut Transitions<'_, S>,
    step: Step,
    current: &[Bound],
    frame: FrameId,
) -> Answer {
    let answer = transitions.query(step, current, &[frame]);
    match answer {
        Answer::Satisfiable => {
            std::hint::black_box(transitions.successor());
        }
        Answer::Unsatisfiable => {
            std::hint::black_box(transitions.core());
        }
        Answer::Unknown => {}
    }
    answer
}

fn random_box(system: &TransitionSystem, size: usize, random: &mut Random) -> Vec<Bound> {
    let mut variables: Vec<usize> = (0..system.variables.len()).collect();
    let mut bounds = Vec::new();
    for _ in 0..size.min(variables.len()) {
        let v = variables.swap_remove(random.below(variables.len()));
        let (lower, upper) = system.variables[v].ty.bounds().expect("discrete");
        let size = (upper - lower) as usize + 1;
        let (a, b) = (lower + random.below(size) as i32, lower + random.below(size) as i32);
        // Half of the bounds of IC3 are single values.
        let b = if random.below(2) == 0 { a } else { b };
        let v = VarId(v as u32);
        bounds.extend([Bound::AtLeast(v, a.min(b).into()), Bound::AtMost(v, a.max(b).into())]);
    }
    bounds
}

fn generate(domain: &str) -> Generated {
    let generated = match domain {
        "blocksworld" => blocksworld::generate(&blocksworld::Parameters::default()),
        "blocksworld8" => blocksworld::generate(&blocksworld::Parameters {
            blocks: 8,
            table_limit: 7,
            ..blocksworld::Parameters::default()
        }),
        "npuzzle" => npuzzle::generate(&npuzzle::Parameters::default()),
        "transport" => transport::generate(&transport::Parameters::default()),
        _ => panic!("no domain `{domain}`"),
    };
    generated.expect("valid parameters")
}

fn read(generated: &Generated) -> TransitionSystem {
    let files: Vec<(&str, &str)> =
        generated.files.iter().map(|file| (file.name.as_str(), file.contents.as_str())).collect();
    jani::read_text(&files, files[0].0, Some(files[1].0), &jani::ReadOptions::default())
        .expect("generated models are valid")
        .system
}

/// Xorshift: the same questions on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % count as u64) as usize
    }
}
