//! Random clauses over a few integers and Booleans, asked under random assumptions while clauses are added, against a plain loop over all
//! assignments.

use proptest::collection::vec;
use proptest::prelude::*;
use surefoot_harness::run::check;
use surefoot_solve::{Answer, IntVar, Lit};

use super::Subject;

/// An atom of a random problem.
#[derive(Debug, Clone, Copy)]
enum Atom {
    AtLeast(usize, i32),
    Equals(usize, i32),
    Free(usize),
}

type Literal = (Atom, bool);

/// Bounds of the integers, number of free literals, and in turn a clause and a question.
#[derive(Debug, Clone)]
struct Problem {
    bounds: Vec<(i32, i32)>,
    rounds: Vec<(Vec<Literal>, Vec<Literal>)>,
}

const FREE: usize = 2;

fn literal(integers: usize) -> impl Strategy<Value = Literal> {
    let atom = prop_oneof![
        (0..integers, -3..6).prop_map(|(v, c)| Atom::AtLeast(v, c)),
        (0..integers, -3..6).prop_map(|(v, c)| Atom::Equals(v, c)),
        (0..FREE).prop_map(Atom::Free),
    ];
    (atom, any::<bool>())
}

fn problems() -> impl Strategy<Value = Problem> {
    vec((-2..3, 0..4), 1..4).prop_flat_map(|sizes| {
        let bounds: Vec<(i32, i32)> = sizes.into_iter().map(|(lower, size)| (lower, lower + size)).collect();
        let integers = bounds.len();
        let round = (vec(literal(integers), 1..5), vec(literal(integers), 0..6));
        vec(round, 1..20).prop_map(move |rounds| Problem { bounds: bounds.clone(), rounds })
    })
}

/// All assignments: integers first, then the free literals as 0 and 1.
fn assignments(bounds: &[(i32, i32)]) -> Vec<Vec<i32>> {
    let mut all = vec![Vec::new()];
    for &(lower, upper) in bounds.iter().chain(&[(0, 1); FREE]) {
        all = all.iter().flat_map(|a| (lower..=upper).map(move |c| [a.as_slice(), &[c]].concat())).collect();
    }
    all
}

fn holds((atom, positive): Literal, assignment: &[i32], integers: usize) -> bool {
    positive
        == match atom {
            Atom::AtLeast(v, c) => assignment[v] >= c,
            Atom::Equals(v, c) => assignment[v] == c,
            Atom::Free(i) => assignment[integers + i] == 1,
        }
}

pub fn random_clauses_agree_with_brute_force<S: Subject>() {
    check(&problems(), 2000, |problem| {
        let integers = problem.bounds.len();
        let mut models = assignments(&problem.bounds);
        let mut solver = S::fresh();
        let variables: Vec<IntVar> =
            problem.bounds.iter().map(|&(lower, upper)| solver.new_variable(lower, upper)).collect();
        let free: Vec<Lit> = (0..FREE).map(|_| solver.new_literal()).collect();
        let translate = |solver: &mut S, (atom, positive): Literal| {
            let literal = match atom {
                Atom::AtLeast(v, c) => solver.at_least(variables[v], c.into()),
                Atom::Equals(v, c) => solver.equals(variables[v], c.into()),
                Atom::Free(i) => free[i],
            };
            if positive { literal } else { !literal }
        };
        for (clause, question) in &problem.rounds {
            models.retain(|model| clause.iter().any(|&literal| holds(literal, model, integers)));
            let literals: Vec<Lit> = clause.iter().map(|&literal| translate(&mut solver, literal)).collect();
            solver.add_clause(&literals);
            let assumptions: Vec<Lit> =
                question.iter().map(|&literal| translate(&mut solver, literal)).collect();
            let possible = |part: &dyn Fn(usize) -> bool| {
                models.iter().any(|model| {
                    let mut asked = question.iter().enumerate().filter(|&(i, _)| part(i));
                    asked.all(|(_, &literal)| holds(literal, model, integers))
                })
            };
            match solver.solve_assuming(&assumptions) {
                Answer::Satisfiable => {
                    let values = variables.iter().map(|&v| solver.value(v));
                    let values = values.chain(free.iter().map(|&literal| i32::from(solver.holds(literal))));
                    let values: Vec<i32> = values.collect();
                    prop_assert!(models.contains(&values), "{values:?} is no model");
                    prop_assert!(question.iter().all(|&literal| holds(literal, &values, integers)));
                    prop_assert!(assumptions.iter().all(|&literal| solver.holds(literal)));
                }
                Answer::Unsatisfiable => {
                    prop_assert!(!possible(&|_| true));
                    let core = solver.core();
                    prop_assert!(core.iter().all(|literal| assumptions.contains(literal)));
                    prop_assert!(!possible(&|i| core.contains(&assumptions[i])), "{core:?} is no core");
                    prop_assert_eq!(solver.solve_assuming(&core), Answer::Unsatisfiable);
                }
                Answer::Unknown => prop_assert!(false, "nobody interrupted"),
            }
        }
        Ok(())
    });
}
