//! The explicit engine agrees with a plain search over the reference semantics, on random small models: also on
//! whether the model is wrong somewhere.

use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use surefoot_engines::explicit::{Options, verify};
use surefoot_engines::step::Stepper;
use surefoot_engines::{Control, Goal, OutOfDomain, Semantics, Task, TaskError, Verdict};
use surefoot_model::{
    Assignment, Command, ExprId, ExprPool, Label, LabelId, Outcome, Program, Property, Requirement, Start,
    TransitionSystem, Type, VarId, Variable, VariableType,
};
use surefoot_policy::{Activation, Arithmetic, Layer, Network, Parameter, Policy, PolicyInput, Scorer};

/// Random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Builds random expressions over the variables of a system.
struct Builder<'r> {
    random: &'r mut Random,
    pool: ExprPool,
    variables: Vec<Variable>,
    /// Chance in percent of operations that can be undefined.
    partial: usize,
}

impl Builder<'_> {
    fn variable(&mut self, ty: Type) -> ExprId {
        let fitting: Vec<usize> =
            (0..self.variables.len()).filter(|&v| self.variables[v].ty.ty() == ty).collect();
        let v = fitting[self.random.below(fitting.len())];
        self.pool.variable(VarId(v as u32), &self.variables[v])
    }

    fn number(&mut self, depth: usize) -> ExprId {
        if depth == 0 || self.random.chance(30) {
            return if self.random.chance(60) {
                self.variable(Type::Int)
            } else {
                let value = self.random.below(5) as i64 - 1;
                self.pool.int(value)
            };
        }
        let (a, b) = (self.number(depth - 1), self.number(depth - 1));
        if self.random.chance(self.partial) {
            return if self.random.chance(50) {
                self.pool.modulo(a, b).expect("integers")
            } else {
                let c = self.number(depth - 1);
                self.pool.select(&[a, c], b).expect("integers")
            };
        }
        match self.random.below(7) {
            0 | 1 => self.pool.add(a, b),
            2 | 3 => self.pool.sub(a, b),
            4 => self.pool.mul(a, b),
            5 => self.pool.min(a, b),
            _ => {
                let condition = self.condition(depth - 1);
                self.pool.ite(condition, a, b)
            }
        }
        .expect("integers")
    }

    fn condition(&mut self, depth: usize) -> ExprId {
        if depth == 0 || self.random.chance(15) {
            return if self.random.chance(80) { self.variable(Type::Bool) } else { self.pool.bool(true) };
        }
        match self.random.below(8) {
            0 => {
                let a = self.condition(depth - 1);
                self.pool.not(a)
            }
            1 | 2 => {
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                self.pool.and(a, b)
            }
            3 => {
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                self.pool.or(a, b)
            }
            4 => {
                let (a, b) = (self.number(depth - 1), self.number(depth - 1));
                self.pool.eq(a, b)
            }
            _ => {
                let (a, b) = (self.number(depth - 1), self.number(depth - 1));
                self.pool.le(a, b)
            }
        }
        .expect("well typed")
    }

    /// Mostly a distribution; some depend on the state, a few are wrong.
    fn probabilities(&mut self) -> Vec<ExprId> {
        let half = self.pool.real(0.5);
        match self.random.below(12) {
            0..5 => vec![self.pool.real(1.0)],
            5..8 => vec![half, half],
            8 => vec![self.pool.real(1.0), self.pool.real(0.0)],
            wrong_or_not => {
                let bit = self.variable(Type::Bool);
                let (one, zero) = (self.pool.int(1), self.pool.int(0));
                let first = self.pool.ite(bit, one, zero).expect("well typed");
                if wrong_or_not == 9 && self.random.chance(30) {
                    return vec![first];
                }
                let second = self.pool.sub(one, first).expect("numbers");
                vec![first, second]
            }
        }
    }

    fn assignments(&mut self) -> Vec<Assignment> {
        let mut assignments = Vec::new();
        // The last two variables are never written.
        for v in 0..self.variables.len() - 2 {
            if !self.random.chance(35) {
                continue;
            }
            let variable = VarId(v as u32);
            let value = match self.variables[v].ty {
                VariableType::Bool => self.condition(2),
                _ if self.random.chance(70) => {
                    // Mostly in the domain.
                    let value = self.number(2);
                    let (lower, upper) = self.variables[v].ty.bounds().expect("discrete");
                    let (lower, upper) = (self.pool.int(lower.into()), self.pool.int(upper.into()));
                    let value = self.pool.min(value, upper).expect("integers");
                    self.pool.max(value, lower).expect("integers")
                }
                _ => self.number(1),
            };
            assignments.push(Assignment { variable, value });
        }
        assignments
    }
}

fn task(seed: u64) -> Task {
    let random = &mut Random(seed);
    let int = |lower, upper| VariableType::Int { lower, upper };
    let mut types = vec![int(-1, 2), int(0, 3), VariableType::Bool, int(0, 2), int(0, 2), VariableType::Bool];
    // Some states need several words; those have too many states to enumerate.
    let wide = random.chance(30);
    if wide {
        types.splice(4..4, [int(i32::MIN, i32::MAX), int(-7, 1 << 20), int(0, i32::MAX)]);
    }
    let variables: Vec<Variable> =
        types.into_iter().enumerate().map(|(i, ty)| Variable::new(format!("v{i}"), ty)).collect();
    let partial = [0, 0, 10, 25][random.below(4)];
    let mut builder = Builder { random, pool: ExprPool::new(), variables, partial };
    let mut commands = Vec::new();
    for i in 0..=builder.random.below(6) {
        let label = [None, Some(LabelId(0)), Some(LabelId(1)), Some(LabelId(2)), Some(LabelId(1))]
            [builder.random.below(5)];
        let guard = builder.condition(3);
        let outcomes = builder.probabilities().into_iter().map(|probability| {
            let assignments = builder.assignments();
            let requirements = if builder.random.chance(8) {
                vec![Requirement { condition: builder.condition(2), message: "requirement".into() }]
            } else {
                Vec::new()
            };
            Outcome { probability, assignments, requirements }
        });
        let outcomes = outcomes.collect();
        commands.push(Command { label, guard, outcomes, origin: format!("command {i}") });
    }
    let condition = (!wide && !builder.random.chance(10)).then(|| {
        let parts: Vec<ExprId> = (0..builder.random.below(4)).map(|_| builder.condition(2)).collect();
        let all = builder.pool.all(parts).expect("conditions");
        if builder.random.chance(30) {
            let (a, b) = (builder.condition(2), builder.condition(2));
            let other = builder.pool.and(a, b).expect("conditions");
            builder.pool.or(all, other).expect("conditions")
        } else {
            all
        }
    });
    let mut listed = Vec::new();
    for _ in 0..builder.random.below(if wide { 5 } else { 2 }) {
        let value = |v: &Variable| {
            let (lower, upper) = v.ty.bounds().expect("discrete");
            match builder.random.below(4) {
                0 => lower,
                1 => upper,
                _ => {
                    (i64::from(lower)
                        + builder.random.below((i64::from(upper) - i64::from(lower) + 1) as usize) as i64)
                        as i32
                }
            }
        };
        listed.push(builder.variables.iter().map(value).collect());
    }
    let (a, b) = (builder.condition(3), builder.condition(3));
    let unsafe_states = builder.pool.and(a, b).expect("conditions");
    let hold = builder.random.chance(20).then(|| builder.condition(2));
    let goal = builder.random.chance(50).then(|| builder.condition(2));
    let Builder { random, pool, variables, .. } = builder;
    let policy = random.chance(80).then(|| policy(random));
    let semantics = Semantics {
        filter: random.chance(60),
        goal: match goal {
            Some(_) => [Goal::Ignore, Goal::Terminal, Goal::Strict][random.below(3)],
            None => Goal::Ignore,
        },
        out_of_domain: [OutOfDomain::Error, OutOfDomain::Block][random.below(2)],
        arithmetic: Arithmetic::ALL[random.below(Arithmetic::ALL.len())],
    };
    let labels = ["a", "b", "c"].map(|name| Label { name: name.into() }).to_vec();
    let system =
        TransitionSystem { name: "random".into(), exprs: pool, variables, labels, commands, initial: None };
    let start = Start { condition, listed };
    let property = Property {
        name: "random".into(),
        start,
        unsafe_states,
        hold,
        goal,
        predicates: Vec::new(),
        policy_file: None,
    };
    Task { system, property, policy, semantics }
}

/// Chooses between two or three labels; coarse weights make ties.
fn policy(random: &mut Random) -> Policy {
    let inputs: Vec<PolicyInput> =
        (0..6).filter(|_| random.chance(40)).chain([1]).map(|v| PolicyInput::Variable(VarId(v))).collect();
    let outputs = 2 + random.below(2);
    let mut numbers = |count: usize| {
        (0..count).map(|_| Parameter::from((random.below(7) as f64 - 3.0) * 0.1)).collect::<Vec<_>>()
    };
    let layers = vec![
        Layer::new(inputs.len(), numbers(inputs.len() * 4), numbers(4), Activation::Relu).expect("fits"),
        Layer::new(4, numbers(4 * outputs), numbers(outputs), Activation::Identity).expect("fits"),
    ];
    let scorer = Scorer::Network(Network::new(layers).expect("fits"));
    let mut labels: Vec<LabelId> = (0..3).map(LabelId).collect();
    labels.swap(0, random.below(3));
    labels.truncate(outputs);
    Policy::new(inputs, labels, false, scorer).expect("fits")
}

fn all_states(task: &Task) -> Vec<Vec<i32>> {
    task.system.variables.iter().fold(vec![Vec::new()], |states, variable| {
        let (lower, upper) = variable.ty.bounds().expect("discrete");
        let extended = states.iter().flat_map(|state| {
            (lower..=upper).map(move |value| state.iter().copied().chain([value]).collect())
        });
        extended.collect()
    })
}

/// What the plain search finds.
#[derive(Debug, PartialEq, Eq)]
enum Expected {
    ModelError,
    TooMany,
    Counts { starts: u64, states: u64, transitions: u64, unsafe_states: u64, stalls: u64, terminal: u64 },
}

/// Models with more states than this are not compared.
const MOST_STATES: usize = 2000;

fn expected(task: &Task) -> Expected {
    let mut found: BTreeSet<Vec<i32>> = task.property.start.listed.iter().cloned().collect();
    if let Some(condition) = task.property.start.condition {
        let program = Program::new(&task.system.exprs, &[condition]);
        for state in all_states(task) {
            match program.holds(&state, &mut Vec::new()) {
                Ok(true) => {
                    found.insert(state);
                }
                Ok(false) => {}
                Err(_) => return Expected::ModelError,
            }
        }
    }
    let starts = found.len() as u64;
    let mut queue: VecDeque<Vec<i32>> = found.iter().cloned().collect();
    let (mut transitions, mut unsafe_states, mut stalls, mut terminal) = (0, 0, 0, 0);
    let mut stepper = Stepper::new(task);
    while let Some(state) = queue.pop_front() {
        if found.len() > MOST_STATES {
            return Expected::TooMany;
        }
        let Ok(status) = stepper.status(&state) else { return Expected::ModelError };
        unsafe_states += u64::from(status.is_unsafe);
        if status.ends_run {
            terminal += 1;
            continue;
        }
        let Ok(successors) = stepper.successors(&state) else { return Expected::ModelError };
        let enabled = stepper.enabled(&state).expect("just computed");
        stalls += u64::from(stepper.choice(&state, &enabled).stalls);
        terminal += u64::from(successors.is_empty());
        transitions += successors.len() as u64;
        for successor in successors {
            if found.insert(successor.state.clone()) {
                queue.push_back(successor.state);
            }
        }
    }
    Expected::Counts { starts, states: found.len() as u64, transitions, unsafe_states, stalls, terminal }
}

/// For each start state, whether an unsafe state is reachable.
fn unsafe_starts(task: &Task, starts: &[Vec<i32>]) -> BTreeSet<Vec<i32>> {
    let mut result = BTreeSet::new();
    let mut stepper = Stepper::new(task);
    for start in starts {
        let mut found = BTreeSet::from([start.clone()]);
        let mut queue = vec![start.clone()];
        while let Some(state) = queue.pop() {
            let status = stepper.status(&state).expect("the model is right");
            if status.is_unsafe {
                result.insert(start.clone());
                break;
            }
            if !status.ends_run {
                for successor in stepper.successors(&state).expect("the model is right") {
                    if found.insert(successor.state.clone()) {
                        queue.push(successor.state);
                    }
                }
            }
        }
    }
    result
}

fn check(seed: u64) {
    let task = task(seed);
    let expected = expected(&task);
    if expected == Expected::TooMany {
        return;
    }
    for (slice, threads) in [(false, 1), (true, 1), (false, 2)] {
        let options = Options { exhaustive: true, per_start: true, slice, project: 0 };
        let control = Control { threads, ..Control::unlimited() };
        let outcome = match (verify(&task, options, &control), &expected) {
            (Err(TaskError::Model(_)), Expected::ModelError) => continue,
            (Ok(outcome), Expected::Counts { .. }) => outcome,
            (got, _) => panic!("seed {seed}, slice {slice}: expected {expected:?}, got {got:?}"),
        };
        let Expected::Counts { starts, states, transitions, unsafe_states, stalls, terminal } = expected
        else {
            unreachable!("matched above")
        };
        let safe = outcome.verdict == Verdict::Safe;
        assert_eq!(safe, unsafe_states == 0, "seed {seed}, slice {slice}");
        let per_start = outcome.per_start.expect("the search was complete");
        assert_eq!(per_start.safe_count + per_start.unsafe_starts.len() as u64, starts, "seed {seed}");
        if !slice {
            let s = &outcome.statistics;
            let counted =
                (s.start_states, s.states, s.transitions, s.unsafe_states, s.stalls, s.terminal_states);
            assert_eq!(
                counted,
                (starts, states, transitions, unsafe_states, stalls, terminal),
                "seed {seed}"
            );
        }
        let mut starts = task.property.start.listed.clone();
        if let Some(condition) = task.property.start.condition {
            let program = Program::new(&task.system.exprs, &[condition]);
            let holds = |state: &Vec<i32>| program.holds(state, &mut Vec::new()) == Ok(true);
            starts.extend(all_states(&task).into_iter().filter(holds));
        }
        let listed: BTreeSet<Vec<i32>> = per_start.unsafe_starts.into_iter().collect();
        assert_eq!(listed, unsafe_starts(&task, &starts), "seed {seed}, slice {slice}");
        // Stopping at the first unsafe state gives the same answer.
        let quick = verify(&task, Options { slice, ..Options::default() }, &control);
        assert_eq!(quick.expect("the model is right").verdict == Verdict::Safe, safe, "seed {seed}");
    }
}

proptest! {
    #![proptest_config(Config {
        cases: 500,
        rng_seed: RngSeed::Fixed(20_240_607),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn explicit_search_is_the_reference_semantics(seed: u64) {
        check(seed);
    }
}
