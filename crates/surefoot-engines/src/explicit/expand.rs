//! Successors of many packed states at once, under the policy.
//!
//! [`Compiled`] is a reduced task made fast: guards as decision trees, updates on packed words. A [`Worker`] holds one thread's scratch space.
//! Nothing is allocated per state.

use surefoot_model::expr::BatchProgram;
use surefoot_model::pack::Layout;
use surefoot_model::{ExprId, PointValue, Program, VarId};
use surefoot_policy::{Arithmetic, Evaluator, Policy, PolicyInput};

use super::condition::{Compiler, Condition, Test};
use super::generator::Generator;
use super::update::Update;
use crate::step::wrong_distribution;
use crate::task::{Goal, OutOfDomain, Task};

/// States that are evaluated together.
pub const BATCH: usize = 256;

/// A task compiled for packed states.
pub struct Compiled {
    pub layout: Layout,
    guards: Vec<Condition>,
    /// Commands whose guards must be looked at although the policy does not choose their label: they may have no value, and that
    /// is an error.
    partial: Vec<u32>,
    updates: Vec<Vec<Update>>,
    /// Per command: whether its probabilities have to be looked at in each state.
    varying: Vec<bool>,
    /// Commands whose label the policy controls, by output.
    controlled: Vec<Generator>,
    /// All other commands.
    uncontrolled: Generator,
    unsafe_states: StateCondition,
    hold: Option<StateCondition>,
    goal: Option<StateCondition>,
    policy: Option<Policy>,
    filter: bool,
    strict: bool,
    block: bool,
    arithmetic: Arithmetic,
    /// Variables whose values are needed as columns.
    columns: Vec<VarId>,
}

/// A condition of the property: tests, or a program that runs over batches.
struct StateCondition {
    /// The whole condition, unless there is a program.
    tests: Vec<Test>,
    general: Option<BatchProgram>,
}

/// One thread's scratch space.
pub struct Worker {
    evaluator: Option<Evaluator>,
    unsafe_states: Vec<bool>,
    hold: Vec<bool>,
    goal: Vec<bool>,
    programs: [Option<BatchProgram>; 3],
    columns: Vec<i32>,
    /// The unpacked current state, valid if `unpacked`.
    state: Vec<i32>,
    unpacked: bool,
    slots: Vec<PointValue>,
    after: Vec<u64>,
    /// Enabled commands of the current state, and where those of each output begin.
    enabled: Vec<u32>,
    ranges: Vec<(u32, u32)>,
    chosen: Vec<usize>,
    probabilities: Vec<f64>,
    /// The first unsafe state of the last batch.
    pub first_unsafe: Option<usize>,
}

/// What was seen while expanding.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub expanded: u64,
    pub transitions: u64,
    pub unsafe_states: u64,
    pub stalls: u64,
    pub terminal_states: u64,
    pub goal_states: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.expanded += other.expanded;
        self.transitions += other.transitions;
        self.unsafe_states += other.unsafe_states;
        self.stalls += other.stalls;
        self.terminal_states += other.terminal_states;
        self.goal_states += other.goal_states;
    }
}

/// Why an expansion ended early, with the position of the state among those given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The state is unsafe, and that is enough.
    Unsafe(usize),
    /// The model is wrong at the state; the point evaluator says how.
    Error(usize),
}

/// The model is wrong at the current state.
struct Wrong;

impl Compiled {
    /// Compiles a task whose variables are all discrete.
    pub fn new(task: &Task, layout: Layout) -> Self {
        let exprs = &task.system.exprs;
        let mut compiler = Compiler::new(exprs, &layout);
        let commands = &task.system.commands;
        let guards: Vec<Condition> = commands.iter().map(|c| compiler.condition(c.guard)).collect();
        let outcomes = commands.iter().map(|c| c.outcomes.iter());
        let updates: Vec<Vec<Update>> =
            outcomes.map(|o| o.map(|outcome| Update::new(&compiler, outcome)).collect()).collect();
        let varying = updates.iter().map(|updates| needs_probabilities(updates)).collect();
        let outputs: &[_] = task.policy.as_ref().map_or(&[], |policy| &policy.outputs);
        let output_of = |command: usize| {
            let label = commands[command].label?;
            outputs.iter().position(|&output| output == label)
        };
        let generator = |output: Option<usize>| {
            let own = (0..commands.len()).filter(|&c| output_of(c) == output);
            Generator::new(own.map(|c| (c as u32, &guards[c])))
        };
        let controlled = (0..outputs.len()).map(|output| generator(Some(output))).collect();
        let uncontrolled = generator(None);
        let bounds: (Vec<i32>, Vec<i32>) = layout.fields().iter().map(|f| (f.lower, f.upper)).unzip();
        let block = task.semantics.out_of_domain == OutOfDomain::Block;
        let mut slots = Vec::new();
        let mut is_partial = |command: usize| {
            let guard = Program::new(exprs, &[commands[command].guard]);
            guard.over_box(&bounds.0, &bounds.1, &mut slots).undefined
        };
        let partial = (0..commands.len() as u32)
            .filter(|_| !block)
            .filter(|&command| output_of(command as usize).is_some() && is_partial(command as usize))
            .collect();
        let mut columns: Vec<VarId> = task.policy.as_ref().map_or(Vec::new(), Policy::variables);
        let mut condition = |id: ExprId| {
            let compiled = compiler.condition(id);
            if !compiled.has_more_than_tests() {
                return StateCondition { tests: compiled.tests, general: None };
            }
            columns.extend(exprs.variables_of([id]));
            let general = BatchProgram::new(Program::new(exprs, &[id]), &bounds.0, &bounds.1);
            StateCondition { tests: Vec::new(), general: Some(general) }
        };
        let unsafe_states = condition(task.property.unsafe_states);
        let hold = task.property.hold.map(&mut condition);
        let goal = task.property.goal.filter(|_| task.semantics.goal != Goal::Ignore).map(&mut condition);
        columns.sort_unstable();
        columns.dedup();
        Compiled {
            guards,
            partial,
            updates,
            varying,
            controlled,
            uncontrolled,
            unsafe_states,
            hold,
            goal,
            policy: task.policy.clone(),
            filter: task.semantics.filter,
            strict: task.semantics.goal == Goal::Strict,
            block,
            arithmetic: task.semantics.arithmetic,
            columns,
            layout,
        }
    }

    /// Scratch space for one thread.
    pub fn worker(&self) -> Worker {
        let program = |condition: Option<&StateCondition>| condition.and_then(|c| c.general.clone());
        Worker {
            evaluator: self.policy.as_ref().map(|policy| policy.evaluator(self.arithmetic)),
            unsafe_states: vec![false; BATCH],
            hold: vec![true; BATCH],
            goal: vec![false; BATCH],
            programs: [
                program(Some(&self.unsafe_states)),
                program(self.hold.as_ref()),
                program(self.goal.as_ref()),
            ],
            columns: vec![0; self.layout.fields().len() * BATCH],
            state: vec![0; self.layout.fields().len()],
            unpacked: false,
            slots: Vec::new(),
            after: vec![0; self.layout.words()],
            enabled: Vec::new(),
            ranges: vec![(0, 0); self.controlled.len()],
            chosen: Vec::new(),
            probabilities: Vec::new(),
            first_unsafe: None,
        }
    }

    /// Expands up to [`BATCH`] packed states: `emit(state, command, outcome, successor)` for each transition.
    /// Unless `exhaustive`, the first unsafe state ends it.
    pub fn expand(
        &self,
        worker: &mut Worker,
        packed: &[u64],
        exhaustive: bool,
        counts: &mut Counts,
        emit: &mut impl FnMut(usize, u32, u32, &[u64]),
    ) -> Result<(), Found> {
        let words = self.layout.words();
        let count = packed.len() / words;
        worker.first_unsafe = None;
        self.fill_columns(worker, packed, count);
        self.evaluate_conditions(worker, packed, count).map_err(Found::Error)?;
        if let (Some(policy), Some(evaluator)) = (&self.policy, &mut worker.evaluator) {
            let columns = &worker.columns;
            evaluator.run(count, |input| match policy.inputs[input] {
                PolicyInput::Variable(v) => &columns[v.index() * BATCH..][..count],
                PolicyInput::Constant(_) => unreachable!("constants are not asked for"),
            });
        }
        for (lane, state) in packed.chunks_exact(words).enumerate() {
            counts.expanded += 1;
            let is_goal = worker.goal[lane];
            if worker.unsafe_states[lane] && !(is_goal && self.strict) {
                counts.unsafe_states += 1;
                worker.first_unsafe = worker.first_unsafe.or(Some(lane));
                if !exhaustive {
                    return Err(Found::Unsafe(lane));
                }
            }
            counts.goal_states += u64::from(is_goal);
            if is_goal || !worker.hold[lane] {
                counts.terminal_states += 1;
                continue;
            }
            let before = counts.transitions;
            worker.unpacked = false;
            self.steps(worker, lane, state, counts, emit).map_err(|Wrong| Found::Error(lane))?;
            counts.terminal_states += u64::from(counts.transitions == before);
        }
        Ok(())
    }

    /// Which of up to [`BATCH`] packed states are unsafe; all conditions must be defined there.
    pub fn unsafe_flags<'w>(
        &self,
        worker: &'w mut Worker,
        packed: &[u64],
    ) -> impl Iterator<Item = bool> + 'w {
        let count = packed.len() / self.layout.words();
        self.fill_columns(worker, packed, count);
        let defined = self.evaluate_conditions(worker, packed, count);
        debug_assert!(defined.is_ok(), "the states were expanded before");
        let strict = self.strict;
        let flags = worker.unsafe_states[..count].iter().zip(&worker.goal);
        flags.map(move |(&is_unsafe, &is_goal)| is_unsafe && !(is_goal && strict))
    }

    fn fill_columns(&self, worker: &mut Worker, packed: &[u64], count: usize) {
        let words = self.layout.words();
        for &v in &self.columns {
            let field = *self.layout.field(v);
            let column = &mut worker.columns[v.index() * BATCH..][..count];
            if words == 1 {
                for (value, word) in column.iter_mut().zip(packed) {
                    *value = field.lower.wrapping_add(((word >> field.shift) & field.mask) as i32);
                }
            } else {
                for (value, state) in column.iter_mut().zip(packed.chunks_exact(words)) {
                    *value = field.get(state);
                }
            }
        }
    }

    /// Fills in which states are unsafe, hold and are goals; the first state where one is undefined is an error.
    fn evaluate_conditions(&self, worker: &mut Worker, packed: &[u64], count: usize) -> Result<(), usize> {
        let words = self.layout.words();
        let conditions = [Some(&self.unsafe_states), self.hold.as_ref(), self.goal.as_ref()];
        let results = [&mut worker.unsafe_states, &mut worker.hold, &mut worker.goal];
        for ((condition, result), program) in conditions.into_iter().zip(results).zip(&mut worker.programs) {
            let Some(condition) = condition else { continue };
            if let Some(program) = program {
                let columns = &worker.columns;
                let values = program
                    .run(count, |v| &columns[v.index() * BATCH..][..count])
                    .map_err(|(lane, _)| lane)?;
                result.iter_mut().zip(values).for_each(|(r, value)| *r = *value != 0);
            } else {
                for (r, state) in result.iter_mut().zip(packed.chunks_exact(words)) {
                    *r = condition.tests.iter().all(|test| test.holds(state));
                }
            }
        }
        Ok(())
    }

    /// All transitions of one state that does not end runs.
    fn steps(
        &self,
        worker: &mut Worker,
        lane: usize,
        state: &[u64],
        counts: &mut Counts,
        emit: &mut impl FnMut(usize, u32, u32, &[u64]),
    ) -> Result<(), Wrong> {
        worker.enabled.clear();
        self.check_partial(worker, state)?;
        self.enabled(worker, &self.uncontrolled, state)?;
        if self.policy.is_some() {
            self.choose(worker, lane, state, counts)?;
        }
        for i in 0..worker.enabled.len() {
            let command = worker.enabled[i];
            self.fire(worker, lane, state, command, counts, emit)?;
        }
        Ok(())
    }

    /// Appends the enabled commands of the labels that the policy may choose.
    fn choose(
        &self,
        worker: &mut Worker,
        lane: usize,
        state: &[u64],
        counts: &mut Counts,
    ) -> Result<(), Wrong> {
        match (self.filter, self.arithmetic.has_single_choice()) {
            (true, false) => self.choose_several_applicable(worker, lane, state),
            (true, true) => self.choose_applicable(worker, lane, state),
            (false, _) => {
                let Worker { evaluator, chosen, .. } = worker;
                chosen.clear();
                evaluator.as_ref().expect("there is a policy").possible(lane, |_| true, |o| chosen.push(o));
                let mut stalls = false;
                for i in 0..worker.chosen.len() {
                    let before = worker.enabled.len();
                    self.enabled(worker, &self.controlled[worker.chosen[i]], state)?;
                    stalls |= worker.enabled.len() == before;
                }
                counts.stalls += u64::from(stalls);
                Ok(())
            }
        }
    }

    /// The best applicable output: the best of all if it is applicable, else the next best, and so on.
    fn choose_applicable(&self, worker: &mut Worker, lane: usize, state: &[u64]) -> Result<(), Wrong> {
        let before = worker.enabled.len();
        worker.chosen.clear();
        loop {
            let Worker { evaluator, chosen, .. } = worker;
            let evaluator = evaluator.as_ref().expect("there is a policy");
            let Some(best) = evaluator.best(lane, |output| !chosen.contains(&output)) else { return Ok(()) };
            self.enabled(worker, &self.controlled[best], state)?;
            if worker.enabled.len() > before {
                return Ok(());
            }
            worker.chosen.push(best);
        }
    }

    /// Every output that is possible among the applicable ones.
    fn choose_several_applicable(
        &self,
        worker: &mut Worker,
        lane: usize,
        state: &[u64],
    ) -> Result<(), Wrong> {
        let mut end = worker.enabled.len();
        for (output, generator) in self.controlled.iter().enumerate() {
            let from = worker.enabled.len() as u32;
            self.enabled(worker, generator, state)?;
            worker.ranges[output] = (from, worker.enabled.len() as u32);
        }
        let Worker { evaluator, ranges, chosen, enabled, .. } = worker;
        chosen.clear();
        let evaluator = evaluator.as_ref().expect("there is a policy");
        evaluator.possible(lane, |o| ranges[o].0 < ranges[o].1, |o| chosen.push(o));
        // Keep the chosen ranges only: they are in order, so they move down.
        for &output in chosen.iter() {
            let (from, to) = ranges[output];
            enabled.copy_within(from as usize..to as usize, end);
            end += (to - from) as usize;
        }
        enabled.truncate(end);
        Ok(())
    }

    /// Appends the enabled commands of a group.
    fn enabled(&self, worker: &mut Worker, generator: &Generator, state: &[u64]) -> Result<(), Wrong> {
        let from = worker.enabled.len();
        generator.visit(state, &mut |command| worker.enabled.push(command));
        // General parts of guards are rare; check them afterwards.
        let mut kept = from;
        for i in from..worker.enabled.len() {
            let command = worker.enabled[i];
            let guard = &self.guards[command as usize];
            if guard.has_more_than_tests() {
                if !guard.pairs_hold(state) {
                    continue;
                }
                if guard.general.is_some() {
                    self.unpack(worker, state);
                }
                match guard.general_holds(&worker.state, &mut worker.slots) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(_) if self.block => continue,
                    Err(_) => return Err(Wrong),
                }
            }
            worker.enabled[kept] = command;
            kept += 1;
        }
        worker.enabled.truncate(kept);
        Ok(())
    }

    /// Looks at the guards that may have no value.
    fn check_partial(&self, worker: &mut Worker, state: &[u64]) -> Result<(), Wrong> {
        for &command in &self.partial {
            let guard = &self.guards[command as usize];
            if guard.tests_hold(state) && guard.pairs_hold(state) {
                self.unpack(worker, state);
                guard.general_holds(&worker.state, &mut worker.slots).map_err(|_| Wrong)?;
            }
        }
        Ok(())
    }

    fn unpack(&self, worker: &mut Worker, state: &[u64]) {
        if !worker.unpacked {
            self.layout.unpack(state, &mut worker.state);
            worker.unpacked = true;
        }
    }

    fn fire(
        &self,
        worker: &mut Worker,
        lane: usize,
        state: &[u64],
        command: u32,
        counts: &mut Counts,
        emit: &mut impl FnMut(usize, u32, u32, &[u64]),
    ) -> Result<(), Wrong> {
        let updates = &self.updates[command as usize];
        let varying = self.varying[command as usize];
        if varying {
            self.evaluate_probabilities(worker, state, updates)?;
        }
        for (outcome, update) in updates.iter().enumerate() {
            if varying && worker.probabilities[outcome] == 0.0 {
                continue;
            }
            if update.needs_state {
                self.unpack(worker, state);
            }
            match update.apply(state, &worker.state, &mut worker.slots, &mut worker.after) {
                Ok(()) => {
                    counts.transitions += 1;
                    emit(lane, command, outcome as u32, &worker.after);
                }
                Err(_) if self.block => {}
                Err(_) => return Err(Wrong),
            }
        }
        Ok(())
    }

    /// Probabilities that depend on the state.
    fn evaluate_probabilities(
        &self,
        worker: &mut Worker,
        state: &[u64],
        updates: &[Update],
    ) -> Result<(), Wrong> {
        self.unpack(worker, state);
        worker.probabilities.clear();
        for update in updates {
            worker.probabilities.push(update.probability_at(&worker.state, &mut worker.slots).ok_or(Wrong)?);
        }
        if wrong_distribution(&worker.probabilities).is_some() { Err(Wrong) } else { Ok(()) }
    }
}

/// Whether the probabilities of a command depend on the state, or are constant and no distribution.
fn needs_probabilities(updates: &[Update]) -> bool {
    if updates.iter().any(|update| update.varies) {
        return true;
    }
    let constant = |update: &Update| update.probability_at(&[], &mut Vec::new());
    match updates.iter().map(constant).collect::<Option<Vec<f64>>>() {
        Some(probabilities) => wrong_distribution(&probabilities).is_some(),
        None => true,
    }
}
