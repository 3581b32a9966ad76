//! Explanations against brute force: every claim is checked at every state of random tasks.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_engines::explain::{Explainer, Neighbourhood, Order, Relevance, StateBox, decision};
use surefoot_engines::{Control, Task};
use surefoot_harness::random::{RandomTask, Size, tasks};
use surefoot_harness::reference::{all_states, choose, holds};
use surefoot_harness::run::check;
use surefoot_model::{Type, VarId, Variable};
use surefoot_policy::{Arithmetic, Policy};

/// Tasks with more states are passed over.
const LIMIT: usize = 2000;

/// The precision of the search for ε.
const TAU: f64 = 0.05;

/// All states of a task with the outputs that can be chosen in them.
struct Table {
    states: Vec<Vec<i32>>,
    chosen: Vec<Vec<usize>>,
}

impl Table {
    fn new(task: &Task) -> Option<Table> {
        let policy = task.policy.as_ref()?;
        let states = all_states(task, LIMIT)?;
        let chosen = |state: &Vec<i32>| choice(task, policy, state);
        let chosen = states.iter().map(chosen).collect();
        Some(Table { states, chosen })
    }

    /// The states that have another choice than state number `subject`.
    fn others(&self, subject: usize) -> Vec<&Vec<i32>> {
        let own = &self.chosen[subject];
        let pairs = self.states.iter().zip(&self.chosen);
        pairs.filter(|(_, chosen)| is_other(chosen, own)).map(|(state, _)| state).collect()
    }
}

/// The outputs that can be chosen in a state. A guard that is undefined counts as false.
fn choice(task: &Task, policy: &Policy, state: &[i32]) -> Vec<usize> {
    let applicable = |output: usize| {
        task.system.commands.iter().any(|command| {
            command.label == Some(policy.outputs[output])
                && holds(&task.system.exprs, command.guard, state) == Some(true)
        })
    };
    let competes = |output| !task.semantics.filter || applicable(output);
    choose(policy, task.semantics.arithmetic, state, competes)
}

/// Whether a choice is another one.
fn is_other(chosen: &[usize], own: &[usize]) -> bool {
    chosen.is_empty() != own.is_empty() || chosen.iter().any(|output| !own.contains(output))
}

/// A task, one of its states, and the states that have another choice.
struct Subject<'t> {
    task: &'t Task,
    state: Vec<i32>,
    others: Vec<&'t Vec<i32>>,
}

impl Subject<'_> {
    fn is_same(&self, states: &StateBox) -> bool {
        !self.others.iter().any(|other| states.contains(other))
    }

    fn is_nominal(&self, variable: usize) -> bool {
        !self.task.system.variables[variable].value_names.is_empty()
    }

    /// By how much a variable differs.
    fn change(&self, variable: usize, other: &[i32]) -> u64 {
        let change = u64::from(self.state[variable].abs_diff(other[variable]));
        if self.is_nominal(variable) { change.min(1) } else { change }
    }

    /// The states of a neighbourhood: the definition.
    fn neighbours(&self, within: Neighbourhood<'_>) -> StateBox {
        let mut states = StateBox::of_domains(self.task);
        for (v, &value) in self.state.iter().enumerate() {
            let domain = states.lower[v]..=states.upper[v];
            let is_near = |&candidate: &i32| match within {
                Neighbourhood::Domains => true,
                Neighbourhood::Within(radius) => {
                    let mut moved = self.state.clone();
                    moved[v] = candidate;
                    self.change(v, &moved) <= u64::from(radius)
                }
                Neighbourhood::Towards { other, epsilon } => {
                    let way = f64::from(value.abs_diff(other[v]));
                    f64::from(value.abs_diff(candidate)) <= epsilon * way
                        && (value.min(other[v])..=value.max(other[v])).contains(&candidate)
                }
            };
            let near: Vec<i32> = domain.filter(is_near).collect();
            (states.lower[v], states.upper[v]) = (near[0], near[near.len() - 1]);
        }
        states
    }
}

/// Runs `test` on random tasks and states of them.
fn explained(
    cases: u32,
    test: impl Fn(&Subject<'_>, &mut Explainer<'_>, &Table) -> Result<(), TestCaseError>,
) {
    let strategy = (tasks(Size::Small), any::<prop::sample::Index>(), any::<bool>());
    check(&strategy, cases, |(random, index, locations): (RandomTask, _, bool)| {
        let mut task = random.task;
        // Locations are told from other variables by the names of their values.
        if let Some(variable) = task
            .system
            .variables
            .iter_mut()
            .find(|v| locations && v.ty.bounds().is_some_and(|(lower, upper)| lower == 0 && upper > 1))
        {
            let names = 0..=variable.ty.bounds().expect("discrete").1;
            variable.value_names = names.map(|value| format!("l{value}")).collect();
        }
        let Some(table) = Table::new(&task) else { return Ok(()) };
        let subject = index.index(table.states.len());
        let subject =
            Subject { task: &task, state: table.states[subject].clone(), others: table.others(subject) };
        let mut explainer = Explainer::new(&task, &Control::unlimited()).expect("a policy");
        test(&subject, &mut explainer, &table)
    });
}

/// The neighbourhoods that are tried.
fn neighbourhoods(other: &[i32]) -> Vec<Neighbourhood<'_>> {
    let towards = |epsilon| Neighbourhood::Towards { other, epsilon };
    vec![
        Neighbourhood::Domains,
        Neighbourhood::Within(0),
        Neighbourhood::Within(1),
        Neighbourhood::Within(2),
        towards(0.5),
        towards(1.0),
    ]
}

/// Paper 004, Algorithm 1, as it is written.
fn verix(subject: &Subject<'_>, free: &StateBox, order: &[VarId]) -> Vec<VarId> {
    let mut states = StateBox::of_state(&subject.state);
    let mut relevant = Vec::new();
    for &variable in order {
        let v = variable.index();
        let mut wider = states.clone();
        (wider.lower[v], wider.upper[v]) = (free.lower[v], free.upper[v]);
        if subject.is_same(&wider) {
            states = wider;
        } else {
            relevant.push(variable);
        }
    }
    relevant.sort_unstable();
    relevant
}

/// Without a limit every variable is one or the other, the choice depends on the first and not on the second, and needs all of the first.
fn right_relevance(subject: &Subject<'_>, free: &StateBox, found: &Relevance) -> Result<(), TestCaseError> {
    prop_assert!(found.open.is_empty());
    let mut all = [found.relevant.clone(), found.irrelevant.clone()].concat();
    all.sort_unstable();
    let variables = 0..subject.state.len();
    prop_assert_eq!(all, variables.map(|v| VarId(v as u32)).collect::<Vec<_>>());
    let mut expected = StateBox::of_state(&subject.state);
    for v in found.irrelevant.iter().map(|v| v.index()) {
        (expected.lower[v], expected.upper[v]) = (free.lower[v], free.upper[v]);
    }
    prop_assert_eq!(&found.same_in, &expected);
    prop_assert!(subject.is_same(&expected), "another choice in {:?}", expected);
    for v in found.relevant.iter().map(|v| v.index()) {
        let mut wider = expected.clone();
        (wider.lower[v], wider.upper[v]) = (free.lower[v], free.upper[v]);
        prop_assert!(!subject.is_same(&wider), "variable {} is not needed", v);
    }
    Ok(())
}

#[test]
fn relevant_variables_are_relevant() {
    explained(3000, |subject, explainer, table| {
        let other = &table.states[table.states.len() / 3];
        for within in neighbourhoods(other) {
            let free = subject.neighbours(within);
            for order in [Order::Sensitivity, Order::Declared, Order::Random(7)] {
                let found = explainer.relevant(&subject.state, within, order);
                right_relevance(subject, &free, &found)?;
            }
            let mut order: Vec<VarId> = (0..subject.state.len()).map(|v| VarId(v as u32)).collect();
            let declared = explainer.relevant(&subject.state, within, Order::Declared);
            prop_assert_eq!(&declared.relevant, &verix(subject, &free, &order));
            let sensitivity = |v: &VarId| explainer.sensitivity(&subject.state, *v);
            order.sort_by(|a, b| sensitivity(a).total_cmp(&sensitivity(b)));
            let sensitive = explainer.relevant(&subject.state, within, Order::Sensitivity);
            prop_assert_eq!(&sensitive.relevant, &verix(subject, &free, &order));
        }
        Ok(())
    });
}

#[test]
fn rules_hold_and_are_maximal() {
    explained(2000, |subject, explainer, table| {
        let other = &table.states[table.states.len() / 2];
        for within in neighbourhoods(other) {
            let relevance = explainer.relevant(&subject.state, within, Order::Sensitivity);
            let rule = explainer.rule(&subject.state, within, &relevance);
            let free = subject.neighbours(within);
            prop_assert!(rule.is_maximal);
            prop_assert!(rule.states.contains(&subject.state));
            prop_assert!(subject.is_same(&rule.states), "another choice in {:?}", rule.states);
            for v in 0..subject.state.len() {
                let (lower, upper) = (rule.states.lower[v], rule.states.upper[v]);
                prop_assert!(free.lower[v] <= lower && upper <= free.upper[v]);
                if lower > free.lower[v] {
                    let mut wider = rule.states.clone();
                    wider.lower[v] -= 1;
                    prop_assert!(!subject.is_same(&wider), "{} can be less", v);
                }
                if upper < free.upper[v] {
                    let mut wider = rule.states.clone();
                    wider.upper[v] += 1;
                    prop_assert!(!subject.is_same(&wider), "{} can be more", v);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn the_nearest_state_is_the_nearest() {
    explained(5000, |subject, explainer, _| {
        let distance = |other: &[i32]| (0..other.len()).map(|v| subject.change(v, other)).sum::<u64>();
        let expected = subject.others.iter().map(|other| distance(other)).min();
        let found = explainer.nearest(&subject.state);
        prop_assert!(found.is_exact);
        prop_assert_eq!(found.state.as_ref().map(|(_, distance)| *distance), expected);
        if let Some((state, claimed)) = &found.state {
            prop_assert!(subject.others.contains(&state), "{:?} has the same choice", state);
            prop_assert_eq!(distance(state), *claimed);
            prop_assert_eq!(found.at_least, *claimed);
        }
        Ok(())
    });
}

#[test]
fn the_least_radius_is_the_least() {
    explained(3000, |subject, explainer, table| {
        let largest = |other: &[i32]| (0..other.len()).map(|v| subject.change(v, other)).max();
        let expected = subject.others.iter().filter_map(|other| largest(other)).min();
        let radius = explainer.radius(&subject.state);
        prop_assert!(radius.is_exact);
        prop_assert_eq!(radius.differs_within.map(u64::from), expected);
        if let Some(expected) = expected {
            prop_assert_eq!(u64::from(radius.same_within), expected - 1);
        }
        // Paper 004, Algorithm 2, as it is written, but that the loop does not need the relevant variables.
        let other = &table.states[table.states.len() / 3];
        let is_same =
            |epsilon| subject.is_same(&subject.neighbours(Neighbourhood::Towards { other, epsilon }));
        let mut expected = None;
        if !is_same(1.0) {
            let (mut lower, mut epsilon, mut upper) = (0.0, 0.5, 1.0);
            while upper - lower > TAU {
                if is_same(epsilon) {
                    (lower, epsilon) = (epsilon, epsilon + (upper - epsilon) / 2.0);
                } else {
                    (upper, epsilon) = (epsilon, lower + (epsilon - lower) / 2.0);
                }
            }
            expected = Some(upper);
        }
        prop_assert_eq!(explainer.epsilon(&subject.state, other, TAU), Ok(expected));
        Ok(())
    });
}

#[test]
fn decisions_are_those_of_the_reference() {
    explained(3000, |subject, _, table| {
        let Ok(found) = decision(subject.task, &subject.state) else { return Ok(()) };
        let number = table.states.iter().position(|state| *state == subject.state).expect("a state");
        let mut chosen = found.chosen.clone();
        chosen.sort_unstable();
        prop_assert_eq!(&chosen, &table.chosen[number]);
        if subject.task.semantics.arithmetic.has_single_choice()
            && let Some(margin) = found.margin
        {
            prop_assert!(margin.upper >= 0.0 && margin.lower <= margin.upper, "{:?}", margin);
        }
        // Without the first, the runner-up is chosen.
        if let Some(runner_up) = found.runner_up {
            let policy = subject.task.policy.as_ref().expect("a policy");
            let competes = |output: usize| {
                output != found.chosen[0] && (!subject.task.semantics.filter || found.applicable[output])
            };
            let next = choose(policy, subject.task.semantics.arithmetic, &subject.state, competes);
            prop_assert!(next.contains(&runner_up), "{} instead of {:?}", runner_up, next);
        }
        Ok(())
    });
}

/// Several labels can be chosen, and which of them are applicable differs from state to state.
#[test]
fn close_scores_are_explained_among_applicable_labels() {
    check(&tasks(Size::Small), 20_000, |random: RandomTask| {
        let mut task = random.task;
        if task.policy.as_ref().is_none_or(|policy| policy.outputs.len() < 3) {
            return Ok(());
        }
        task.semantics.filter = true;
        task.semantics.arithmetic = Arithmetic::AnyF32;
        let Some(table) = Table::new(&task) else { return Ok(()) };
        let mut explainer = Explainer::new(&task, &Control::unlimited()).expect("a policy");
        let close = (0..table.states.len()).filter(|&number| table.chosen[number].len() > 1);
        for number in close.take(5) {
            let (state, others) = (table.states[number].clone(), table.others(number));
            let subject = Subject { task: &task, state, others };
            let found = explainer.relevant(&subject.state, Neighbourhood::Domains, Order::Declared);
            right_relevance(&subject, &StateBox::of_domains(&task), &found)?;
            let rule = explainer.rule(&subject.state, Neighbourhood::Domains, &found);
            prop_assert!(subject.is_same(&rule.states), "another choice in {:?}", rule.states);
        }
        Ok(())
    });
}

/// Domains that are too wide to look at all states: what sampled states say must not contradict what is claimed.
#[test]
fn samples_of_wide_domains_contradict_nothing() {
    let strategy = (tasks(Size::Wide), any::<u64>());
    check(&strategy, 3000, |(random, seed): (RandomTask, u64)| {
        let task = &random.task;
        let Some(policy) = &task.policy else { return Ok(()) };
        if is_hard(task) {
            return Ok(());
        }
        let mut explainer = Explainer::new(task, &Control::unlimited()).expect("a policy");
        let domain = StateBox::of_domains(task);
        let mut numbers = Numbers(seed);
        let state = numbers.state(&domain);
        let own = choice(task, policy, &state);
        let nearest = explainer.nearest(&state);
        prop_assert!(nearest.is_exact);
        if let Some((other, distance)) = &nearest.state {
            prop_assert!(is_other(&choice(task, policy, other), &own));
            prop_assert_eq!(*distance, explainer.distance(&state, other));
        }
        let relevance = explainer.relevant(&state, Neighbourhood::Domains, Order::Sensitivity);
        let rule = explainer.rule(&state, Neighbourhood::Domains, &relevance);
        for _ in 0..200 {
            for states in [&relevance.same_in, &rule.states] {
                let sample = numbers.state(states);
                prop_assert!(!is_other(&choice(task, policy, &sample), &own), "{sample:?} in {states:?}");
            }
            // Near the state, where others may be nearer than what was found.
            let sample = numbers.state_near(&domain, &state);
            let distance = explainer.distance(&state, &sample);
            if nearest.state.as_ref().is_none_or(|(_, least)| distance < *least) {
                prop_assert!(!is_other(&choice(task, policy, &sample), &own), "{sample:?} is nearer");
            }
        }
        Ok(())
    });
}

/// Whether some answers would have to be found by trying millions of states: scores that tie over huge domains, or guards over reals.
fn is_hard(task: &Task) -> bool {
    let system = &task.system;
    let width = |v: &Variable| v.ty.bounds().map_or(0, |(lower, upper)| upper.abs_diff(lower));
    let guards = system.exprs.reachable(system.commands.iter().map(|command| command.guard));
    system.variables.iter().any(|v| width(v) > 10_000)
        || system.variables.iter().filter(|v| width(v) > 100).count() > 1
        || guards.into_iter().any(|id| system.exprs.ty(id) == Type::Real)
}

/// Pseudo-random numbers: a multiplier and an increment.
struct Numbers(u64);

impl Numbers {
    fn between(&mut self, lower: i32, upper: i32) -> i32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let width = (i64::from(upper) - i64::from(lower)) as u64 + 1;
        (i64::from(lower) + ((self.0 >> 32) % width) as i64) as i32
    }

    fn state(&mut self, states: &StateBox) -> Vec<i32> {
        let ends = states.lower.iter().zip(&states.upper);
        ends.map(|(&lower, &upper)| self.between(lower, upper)).collect()
    }

    /// A state in which one or two variables differ, often by little.
    fn state_near(&mut self, domain: &StateBox, state: &[i32]) -> Vec<i32> {
        let mut near = state.to_vec();
        for _ in 0..2 {
            let v = self.between(0, state.len() as i32 - 1) as usize;
            let (lower, upper) = (domain.lower[v], domain.upper[v]);
            near[v] = match self.between(0, 2) {
                0 => self.between(lower, upper),
                _ => near[v].saturating_add(self.between(-3, 3)).clamp(lower, upper),
            };
        }
        near
    }
}
