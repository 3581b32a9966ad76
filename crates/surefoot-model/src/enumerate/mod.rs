//! All solutions of a condition over bounded integers, by propagation and search.
//!
//! First the values that a condition on a single variable excludes are removed (`filter.rs`). A search node is a [`Domains`] and the residual condition: what is still undecided there. Each node narrows the domains by
//! forward and backward propagation (`propagate.rs`), drops what has become true (`residual.rs`) and branches on the
//! variable with the fewest values left for its uses. Branches are disjoint, so each solution is visited once. Where nothing is left
//! to decide, the whole product of the domains is solutions.

mod domains;
mod filter;
mod propagate;
mod residual;

use std::ops::ControlFlow;
use std::rc::Rc;

pub use domains::Domains;

use crate::expr::{ExprId, ExprPool, Program, Truth};
use crate::value::Undefined;
use crate::variable::VarId;
use filter::filter;
use propagate::propagate;

/// A condition has no value at a state where it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndefinedAt {
    /// The state.
    pub state: Vec<i32>,
    /// Why.
    pub reason: Undefined,
}

/// How an enumeration ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enumerated {
    /// Every solution was visited.
    All,
    /// The visitor or the poll stopped it.
    Stopped,
    /// The condition is undefined at a state that nothing else excludes.
    Undefined(UndefinedAt),
}

/// Narrows the bounds of all variables to a box that holds every solution (and every state where the condition is undefined);
/// `None` if there is none.
pub fn narrow(
    pool: &ExprPool,
    condition: ExprId,
    lower: &[i32],
    upper: &[i32],
) -> Option<(Vec<i32>, Vec<i32>)> {
    let mut domains = Domains::new(lower, upper);
    let program = residual::split_conjunctions(&Program::new(pool, &[condition]));
    propagate(&program, &mut domains, &mut Vec::new()).then(|| domains.bounds())
}

/// Visits every state between `lower` and `upper` at which `condition` is true, each once, in a fixed order.
///
/// `poll` is asked at every search node, `visit` is called with every solution; either can stop the enumeration.
pub fn solutions(
    pool: &ExprPool,
    condition: ExprId,
    lower: &[i32],
    upper: &[i32],
    poll: impl Fn() -> ControlFlow<()>,
    mut visit: impl FnMut(&[i32]) -> ControlFlow<()>,
) -> Enumerated {
    let domains = Domains::new(lower, upper);
    let alternatives = residual::alternatives(&Program::new(pool, &[condition]), &domains);
    let mut stack: Vec<(Rc<Program>, Domains)> = Vec::new();
    for alternative in alternatives.into_iter().rev() {
        let mut domains = domains.clone();
        if let Some(rest) = filter(&alternative, &mut domains) {
            stack.push((Rc::new(rest), domains));
        }
    }
    let mut slots = Vec::new();
    while let Some((program, mut domains)) = stack.pop() {
        if poll().is_break() {
            return Enumerated::Stopped;
        }
        if !propagate(&program, &mut domains, &mut slots) {
            continue;
        }
        let rest = residual::residual(&program, &slots);
        if rest.is_empty() {
            if visit_product(&domains, &mut visit).is_break() {
                return Enumerated::Stopped;
            }
            continue;
        }
        let open = rest.variable_uses().into_iter().filter(|&(v, _)| !domains.is_fixed(v));
        let Some((variable, _)) = open.min_by_key(|&(v, uses)| most_constrained(domains.size(v), uses))
        else {
            // Every variable that matters is fixed, yet the condition has no value.
            let state = domains.first_state();
            let mut values = Vec::new();
            program.run_state(&state, &mut values);
            let reason = (0..program.output_count()).find_map(|i| program.output(i, &values).err());
            return Enumerated::Undefined(UndefinedAt {
                state,
                reason: reason.expect("undecided at a point"),
            });
        };
        let rest = Rc::new(rest);
        // The stack is last in, first out: push the largest values first.
        for branch in domains.branches(variable).into_iter().rev() {
            stack.push((Rc::clone(&rest), branch));
        }
    }
    Enumerated::All
}

/// A state between `lower` and `upper` at which `condition` is true, if one is found before the condition is undefined.
pub fn first_solution(pool: &ExprPool, condition: ExprId, lower: &[i32], upper: &[i32]) -> Option<Vec<i32>> {
    let mut first = None;
    let visit = |state: &[i32]| {
        first = Some(state.to_vec());
        ControlFlow::Break(())
    };
    solutions(pool, condition, lower, upper, || ControlFlow::Continue(()), visit);
    first
}

/// Few values and many uses first: such a variable decides most of what is left, with the fewest branches.
fn most_constrained(size: u64, uses: u32) -> u64 {
    size.saturating_mul(1 << 16) / u64::from(uses)
}

fn visit_product(domains: &Domains, visit: &mut impl FnMut(&[i32]) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut state = domains.first_state();
    loop {
        visit(&state)?;
        // Count up: the last variable runs fastest.
        let next = (0..state.len())
            .rev()
            .find_map(|v| domains.next_value(VarId(v as u32), state[v]).map(|value| (v, value)));
        let Some((v, value)) = next else { return ControlFlow::Continue(()) };
        state[v] = value;
        for (later, slot) in state.iter_mut().enumerate().skip(v + 1) {
            *slot = domains.lower(VarId(later as u32));
        }
    }
}

/// The three-valued answer of output `i`.
fn truth(program: &Program, i: usize, slots: &[crate::expr::Enclosure]) -> Truth {
    program.output_box(i, slots).truth()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::Type;

    const LOWER: [i32; 4] = [-2, 0, 0, 1];
    const UPPER: [i32; 4] = [2, 1, 80, 3];

    type Step = (u8, u16, u16, i8);

    /// A random condition over three integers and a Boolean (variable 1).
    fn build(steps: &[Step]) -> (ExprPool, ExprId) {
        let mut pool = ExprPool::new();
        let mut booleans = vec![pool.variable_of_type(VarId(1), Type::Bool)];
        let mut numbers: Vec<ExprId> = [0, 2, 3].map(|v| pool.variable_of_type(VarId(v), Type::Int)).to_vec();
        for &(op, i, j, c) in steps {
            let number = |n: u16| numbers[n as usize % numbers.len()];
            let boolean = |n: u16| booleans[booleans.len() - 1 - n as usize % booleans.len()];
            let (x, y, a, b) = (number(i), number(j), boolean(i), boolean(j));
            let constant = pool.int(i64::from(c));
            let built = match op % 16 {
                0 => pool.not(a),
                1 | 2 => pool.and(a, b),
                3 | 4 => pool.or(a, b),
                5 => pool.eq(x, y),
                6 => pool.ne(x, y),
                7 => pool.lt(x, constant),
                8 => pool.le(constant, x),
                9 => pool.eq(x, constant),
                10 => pool.add(x, y),
                11 => pool.sub(x, constant),
                12 => pool.mul(x, constant),
                13 => pool.modulo(x, y),
                14 => pool.select(&[x, y, constant], numbers[0]),
                _ => pool.ite(a, x, y),
            };
            let id = built.expect("well typed");
            if pool.ty(id) == Type::Bool { booleans.push(id) } else { numbers.push(id) }
        }
        let root = *booleans.last().expect("not empty");
        (pool, root)
    }

    #[test]
    fn the_largest_integers_are_decided_at_points() {
        for (real, expected) in [(9.21e18, Enumerated::All), (-9_223_372_036_854_775_808.0, Enumerated::All)]
        {
            let mut pool = ExprPool::new();
            let (x, real, zero) = (pool.variable_of_type(VarId(0), Type::Int), pool.real(real), pool.int(0));
            let product = pool.mul(x, real).expect("numbers");
            let floor = pool.floor(product).expect("a number");
            let root = pool.ne(floor, zero).expect("integers");
            let mut found = Vec::new();
            let end = solutions(
                &pool,
                root,
                &[0],
                &[1],
                || ControlFlow::Continue(()),
                |state| {
                    found.extend_from_slice(state);
                    ControlFlow::Continue(())
                },
            );
            assert_eq!((end, found), (expected, vec![1]));
        }
    }

    #[test]
    fn slow_contradictions_do_not_keep_the_search_from_stopping() {
        let mut pool = ExprPool::new();
        let [x, y] = [0, 1].map(|v| pool.variable_of_type(VarId(v), Type::Int));
        let (below, above) = (pool.lt(x, y).expect("integers"), pool.lt(y, x).expect("integers"));
        let root = pool.and(below, above).expect("conditions");
        let (lower, upper) = ([0; 2], [i32::MAX; 2]);
        assert!(narrow(&pool, root, &lower, &upper).is_some());
        let nodes = std::cell::Cell::new(0);
        let poll = || {
            nodes.set(nodes.get() + 1);
            if nodes.get() > 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let end = solutions(&pool, root, &lower, &upper, poll, |_| ControlFlow::Break(()));
        assert_eq!((end, nodes.get()), (Enumerated::Stopped, 101));
        // Small domains are refuted.
        assert_eq!(narrow(&pool, root, &lower, &[200; 2]), None);
    }

    #[test]
    fn domains_at_the_end_of_the_integers() {
        let mut pool = ExprPool::new();
        let (x, limit) = (pool.variable_of_type(VarId(0), Type::Int), pool.int(i64::from(i32::MAX) - 1));
        let root = pool.ne(x, limit).expect("integers");
        let mut found = Vec::new();
        solutions(
            &pool,
            root,
            &[i32::MAX - 2],
            &[i32::MAX],
            || ControlFlow::Continue(()),
            |state| {
                found.extend_from_slice(state);
                ControlFlow::Continue(())
            },
        );
        assert_eq!(found, [i32::MAX - 2, i32::MAX]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn every_solution_is_visited_once(steps in prop::collection::vec(any::<Step>(), 0..14)) {
            let (pool, root) = build(&steps);
            let program = Program::new(&pool, &[root]);
            let mut expected = Vec::new();
            let mut undefined = false;
            for a in LOWER[0]..=UPPER[0] {
                for b in LOWER[1]..=UPPER[1] {
                    for c in LOWER[2]..=UPPER[2] {
                        for d in LOWER[3]..=UPPER[3] {
                            match program.holds(&[a, b, c, d], &mut Vec::new()) {
                                Ok(true) => expected.push(vec![a, b, c, d]),
                                Ok(false) => {}
                                Err(_) => undefined = true,
                            }
                        }
                    }
                }
            }
            let mut found = Vec::new();
            let end = solutions(&pool, root, &LOWER, &UPPER, || ControlFlow::Continue(()), |state| {
                found.push(state.to_vec());
                ControlFlow::Continue(())
            });
            match end {
                Enumerated::All => {
                    found.sort();
                    prop_assert!(!undefined);
                    prop_assert_eq!(found, expected);
                }
                // Where several parts are undefined, any of their reasons will do.
                Enumerated::Undefined(UndefinedAt { state, .. }) => {
                    prop_assert!(program.holds(&state, &mut Vec::new()).is_err());
                }
                Enumerated::Stopped => prop_assert!(false, "nothing stops it"),
            }
        }
    }
}
