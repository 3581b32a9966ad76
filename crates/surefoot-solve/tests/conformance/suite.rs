//! The tests, over any back end.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use surefoot_solve::{Answer, Enumerated, Lit, enumerate};

use super::Subject;

pub fn an_empty_problem_has_a_model<S: Subject>() {
    let mut solver = S::fresh();
    assert_eq!(solver.solve(), Answer::Satisfiable);
    let v = solver.new_variable(-3, 4);
    assert_eq!(solver.bounds(v), (-3, 4));
    assert_eq!(solver.solve(), Answer::Satisfiable);
    assert!((-3..=4).contains(&solver.value(v)));
}

pub fn literals_outside_of_the_bounds_are_constant<S: Subject>() {
    let mut solver = S::fresh();
    let v = solver.new_variable(2, 5);
    assert_eq!(solver.at_least(v, 2), Lit::TRUE);
    assert_eq!(solver.at_least(v, i64::MIN), Lit::TRUE);
    assert_eq!(solver.at_least(v, 6), Lit::FALSE);
    assert_eq!(solver.at_least(v, i64::MAX), Lit::FALSE);
    for value in [i64::MIN, 1, 6, i64::MAX] {
        assert_eq!(solver.equals(v, value), Lit::FALSE, "{value}");
    }
}

pub fn the_same_literal_is_given_twice<S: Subject>() {
    let mut solver = S::fresh();
    let v = solver.new_variable(0, 100);
    let (first, equal) = (solver.at_least(v, 50), solver.equals(v, 20));
    solver.at_least(v, 49);
    assert_eq!(solver.at_least(v, 50), first);
    assert_eq!(solver.equals(v, 20), equal);
    let (a, b) = (solver.new_literal(), solver.new_literal());
    assert!(a != b && a != !b && !a.is_constant());
}

pub fn order_literals_are_consistent_in_any_order_of_creation<S: Subject>() {
    for order in [[1, 2, 3, 4], [4, 3, 2, 1], [2, 4, 1, 3], [3, 1, 4, 2]] {
        let mut solver = S::fresh();
        let v = solver.new_variable(0, 4);
        let mut literals = [Lit::TRUE; 5];
        for c in order {
            literals[c as usize] = solver.at_least(v, c);
        }
        for low in 1..=4 {
            for high in low..=4 {
                let assumptions = [literals[high], !literals[low]];
                assert_eq!(solver.solve_assuming(&assumptions), Answer::Unsatisfiable, "{order:?}");
            }
            assert_eq!(solver.solve_assuming(&[literals[low]]), Answer::Satisfiable);
            assert!(solver.value(v) >= low as i32);
            for (c, &literal) in literals.iter().enumerate() {
                assert_eq!(solver.holds(literal), solver.value(v) >= c as i32);
            }
        }
    }
}

pub fn equality_is_a_value<S: Subject>() {
    let mut solver = S::fresh();
    let v = solver.new_variable(-1, 3);
    let equals: Vec<Lit> = (-1..=3).map(|value| solver.equals(v, value)).collect();
    for (i, &equal) in equals.iter().enumerate() {
        assert_eq!(solver.solve_assuming(&[equal]), Answer::Satisfiable);
        assert_eq!(solver.value(v), i as i32 - 1);
        let others: Vec<Lit> =
            equals.iter().map(|&other| if other == equal { other } else { !other }).collect();
        assert_eq!(solver.solve_assuming(&others), Answer::Satisfiable);
    }
    let none: Vec<Lit> = equals.iter().map(|&equal| !equal).collect();
    assert_eq!(solver.solve_assuming(&none), Answer::Unsatisfiable);
    assert_eq!(solver.solve_assuming(&equals[1..3]), Answer::Unsatisfiable);
}

pub fn an_interval_holds_the_values_that_literals_do_not_tell_apart<S: Subject>() {
    let mut solver = S::fresh();
    let v = solver.new_variable(-10, 1000);
    // New literals, and an interval between literals.
    for (bounds, (lower, upper)) in [
        (vec![], (-10, 1000)),
        (vec![0, 100], (0, 99)),
        (vec![50, 6], (0, 5)),
        (vec![], (100, 1000)),
        (vec![], (-10, -1)),
    ] {
        for bound in bounds {
            solver.at_least(v, bound);
        }
        let inside = [solver.at_least(v, lower.into()), !solver.at_least(v, i64::from(upper) + 1)];
        assert_eq!(solver.solve_assuming(&inside), Answer::Satisfiable);
        assert_eq!(solver.interval(v), (lower, upper));
        assert!((lower..=upper).contains(&solver.value(v)));
    }
}

pub fn single_values_and_extreme_bounds_work<S: Subject>() {
    let mut solver = S::fresh();
    let point = solver.new_variable(7, 7);
    let wide = solver.new_variable(i32::MIN, i32::MAX);
    assert_eq!(solver.equals(point, 7), Lit::TRUE);
    assert_eq!(solver.solve(), Answer::Satisfiable);
    assert_eq!(solver.value(point), 7);
    for value in [i32::MIN, i32::MIN + 1, -1, 0, 123_456_789, i32::MAX - 1, i32::MAX] {
        let equal = solver.equals(wide, value.into());
        assert_eq!(solver.solve_assuming(&[equal]), Answer::Satisfiable);
        assert_eq!(solver.value(wide), value);
        let least = solver.at_least(wide, value.into());
        assert_eq!(solver.solve_assuming(&[equal, !least]), Answer::Unsatisfiable);
    }
}

pub fn the_empty_clause_is_final<S: Subject>() {
    let mut solver = S::fresh();
    let literal = solver.new_literal();
    solver.add_clause(&[]);
    assert_eq!(solver.solve(), Answer::Unsatisfiable);
    assert_eq!(solver.core(), []);
    solver.add_clause(&[literal]);
    assert_eq!(solver.solve_assuming(&[literal]), Answer::Unsatisfiable);
    assert_eq!(solver.core(), []);
}

pub fn constants_in_clauses_and_assumptions_mean_what_they_say<S: Subject>() {
    let mut solver = S::fresh();
    let literal = solver.new_literal();
    solver.add_clause(&[Lit::TRUE, literal]);
    solver.add_clause(&[Lit::FALSE, literal]);
    assert_eq!(solver.solve_assuming(&[!literal]), Answer::Unsatisfiable);
    assert_eq!(solver.solve_assuming(&[Lit::TRUE, literal]), Answer::Satisfiable);
    assert!(solver.holds(Lit::TRUE) && !solver.holds(Lit::FALSE));
    assert_eq!(solver.solve_assuming(&[literal, Lit::FALSE]), Answer::Unsatisfiable);
    assert_eq!(solver.core(), [Lit::FALSE]);
    assert_eq!(solver.solve(), Answer::Satisfiable);
}

pub fn assumptions_are_gone_afterwards<S: Subject>() {
    let mut solver = S::fresh();
    let v = solver.new_variable(0, 9);
    let (low, high) = (solver.at_least(v, 3), solver.at_least(v, 7));
    assert_eq!(solver.solve_assuming(&[!low]), Answer::Satisfiable);
    assert!(solver.value(v) < 3);
    assert_eq!(solver.solve_assuming(&[high]), Answer::Satisfiable);
    assert!(solver.value(v) >= 7);
    assert_eq!(solver.solve_assuming(&[high, !low]), Answer::Unsatisfiable);
    assert_eq!(solver.solve_assuming(&[low, !high]), Answer::Satisfiable);
    assert!((3..7).contains(&solver.value(v)));
}

pub fn a_core_is_a_part_of_the_assumptions_that_suffices<S: Subject>() {
    let mut solver = S::fresh();
    let v = solver.new_variable(0, 9);
    let idle: Vec<Lit> = (0..10).map(|_| solver.new_literal()).collect();
    let (low, high) = (solver.at_least(v, 3), solver.at_least(v, 7));
    let mut assumptions = idle.clone();
    assumptions.insert(3, high);
    assumptions.push(!low);
    assert_eq!(solver.solve_assuming(&assumptions), Answer::Unsatisfiable);
    let core = solver.core();
    assert_eq!(core, [high, !low]);
    assert_eq!(solver.solve_assuming(&core), Answer::Unsatisfiable);
    assert_eq!(solver.solve_assuming(&idle), Answer::Satisfiable);
}

pub fn contradictory_assumptions_are_a_core<S: Subject>() {
    let mut solver = S::fresh();
    let (a, b) = (solver.new_literal(), solver.new_literal());
    assert_eq!(solver.solve_assuming(&[a, b, !a, b]), Answer::Unsatisfiable);
    let mut core = solver.core();
    core.sort_unstable();
    let mut expected = [a, !a];
    expected.sort_unstable();
    assert_eq!(core, expected);
    solver.add_clause(&[!b]);
    assert_eq!(solver.solve_assuming(&[a, b, b]), Answer::Unsatisfiable);
    assert_eq!(solver.core(), [b]);
}

pub fn activation_literals_turn_clauses_on<S: Subject>() {
    let mut solver = S::fresh();
    let v = solver.new_variable(0, 99);
    let frames: Vec<Lit> = (0..10).map(|_| solver.new_literal()).collect();
    for (i, &frame) in frames.iter().enumerate() {
        let least = solver.at_least(v, 10 * i as i64);
        solver.add_clause(&[!frame, least]);
    }
    let small = !solver.at_least(v, 55);
    for (i, &frame) in frames.iter().enumerate() {
        let answer = if i <= 5 { Answer::Satisfiable } else { Answer::Unsatisfiable };
        assert_eq!(solver.solve_assuming(&[frame, small]), answer, "{i}");
    }
    assert_eq!(solver.solve_assuming(&frames), Answer::Satisfiable);
    assert!(solver.value(v) >= 90);
}

pub fn clauses_can_be_added_after_answers<S: Subject>() {
    let mut solver = S::fresh();
    let v = solver.new_variable(0, 9);
    for count in (1..=10).rev() {
        assert_eq!(solver.solve(), Answer::Satisfiable, "{count} values are left");
        let value = i64::from(solver.value(v));
        let equal = solver.equals(v, value);
        solver.add_clause(&[!equal]);
    }
    assert_eq!(solver.solve(), Answer::Unsatisfiable);
}

pub fn enumeration_visits_each_value_once<S: Subject>() {
    let mut solver = S::fresh();
    let (v, w) = (solver.new_variable(-2, 2), solver.new_variable(0, 3));
    let (low, high) = (solver.at_least(v, 1), solver.at_least(w, 2));
    solver.add_clause(&[low, high]);
    let mut seen = Vec::new();
    let end = enumerate(&mut solver, &[], &[v, w], |values| {
        seen.push(values.to_vec());
        ControlFlow::Continue(())
    });
    assert_eq!(end, Enumerated::All);
    seen.sort();
    let expected: Vec<Vec<i32>> =
        (-2..=2).flat_map(|v| (0..=3).map(move |w| vec![v, w])).filter(|s| s[0] >= 1 || s[1] >= 2).collect();
    assert_eq!(seen, expected);
    // The clauses of the enumeration have no effect any more.
    let mut again = 0;
    enumerate(&mut solver, &[!low], &[v, w], |_| {
        again += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(again, 3 * 2);
}

pub fn enumeration_projects<S: Subject>() {
    let mut solver = S::fresh();
    let (v, w) = (solver.new_variable(0, 3), solver.new_variable(0, 1_000_000));
    let pairs: Vec<(Lit, Lit)> =
        (0..=3).map(|i| (solver.equals(v, i), solver.at_least(w, 300_000 * i))).collect();
    for &(equal, least) in &pairs {
        solver.add_clause(&[!equal, least]);
    }
    let small = !solver.at_least(w, 700_000);
    let mut seen = Vec::new();
    enumerate(&mut solver, &[small], &[v], |values| {
        seen.push(values[0]);
        ControlFlow::Continue(())
    });
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2]);
    let mut none = 0;
    let end = enumerate(&mut solver, &[small], &[], |values| {
        assert!(values.is_empty());
        none += 1;
        ControlFlow::Continue(())
    });
    assert_eq!((end, none), (Enumerated::All, 1));
}

pub fn enumeration_stops_and_leaves_nothing_behind<S: Subject>() {
    let mut solver = S::fresh();
    let v = solver.new_variable(0, 99);
    let mut count = 0;
    let end = enumerate(&mut solver, &[], &[v], |_| {
        count += 1;
        if count == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((end, count), (Enumerated::Stopped, 3));
    count = 0;
    enumerate(&mut solver, &[], &[v], |_| {
        count += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(count, 100);
}

pub fn an_interrupted_solver_says_unknown_and_goes_on<S: Subject>() {
    let mut solver = S::fresh();
    let v = solver.new_variable(0, 9);
    let stop = Arc::new(AtomicBool::new(true));
    let poll = Arc::clone(&stop);
    solver.set_interrupt(Some(Arc::new(move || poll.load(Ordering::Relaxed))));
    assert_eq!(solver.solve(), Answer::Unknown);
    let end = enumerate(&mut solver, &[], &[v], |_| ControlFlow::Continue(()));
    assert_eq!(end, Enumerated::Interrupted);
    stop.store(false, Ordering::Relaxed);
    assert_eq!(solver.solve(), Answer::Satisfiable);
    let least = solver.at_least(v, 5);
    stop.store(true, Ordering::Relaxed);
    assert_eq!(solver.solve_assuming(&[least]), Answer::Unknown);
    solver.set_interrupt(None);
    assert_eq!(solver.solve_assuming(&[least, !least]), Answer::Unsatisfiable);
    assert_eq!(solver.solve_assuming(&[least]), Answer::Satisfiable);
}

/// More pigeons than holes, which clause learning does not see soon.
pub fn a_long_search_is_interrupted<S: Subject>() {
    let mut solver = S::fresh();
    let pigeons: Vec<_> = (0..12).map(|_| solver.new_variable(1, 11)).collect();
    let on = solver.new_literal();
    for (i, &a) in pigeons.iter().enumerate() {
        for &b in &pigeons[..i] {
            for hole in 1..=11 {
                let clause = [!on, !solver.equals(a, hole), !solver.equals(b, hole)];
                solver.add_clause(&clause);
            }
        }
    }
    let polls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&polls);
    solver.set_interrupt(Some(Arc::new(move || counter.fetch_add(1, Ordering::Relaxed) >= 20)));
    assert_eq!(solver.solve_assuming(&[on]), Answer::Unknown);
    assert!(polls.load(Ordering::Relaxed) > 20, "asked during the search");
    solver.set_interrupt(None);
    assert_eq!(solver.solve_assuming(&[!on]), Answer::Satisfiable);
    let first = solver.equals(pigeons[0], 4);
    let second = solver.equals(pigeons[1], 4);
    assert_eq!(solver.solve_assuming(&[on, first, second]), Answer::Unsatisfiable);
}

pub fn a_model_is_gone_after_a_change<S: Subject>() {
    let mut solver = S::fresh();
    let v = solver.new_variable(0, 9);
    let least = solver.at_least(v, 5);
    assert_eq!(solver.solve(), Answer::Satisfiable);
    solver.add_clause(&[least]);
    let read = std::panic::AssertUnwindSafe(|| solver.value(v));
    assert!(std::panic::catch_unwind(read).is_err());
    assert_eq!(solver.solve(), Answer::Satisfiable);
    let read = std::panic::AssertUnwindSafe(|| solver.core());
    assert!(std::panic::catch_unwind(read).is_err());
}

pub fn memory_grows_with_clauses<S: Subject>() {
    let mut solver = S::fresh();
    let literals: Vec<Lit> = (0..10).map(|_| solver.new_literal()).collect();
    let empty = solver.memory();
    for (index, &one) in literals.iter().enumerate() {
        for &other in &literals[..index] {
            solver.add_clause(&[one, other]);
        }
    }
    let full = solver.memory();
    assert!(full > empty + 45, "{full} after {empty}");
    // Questions that need no search leave nothing behind.
    for _ in 0..1000 {
        assert_eq!(solver.solve_assuming(&[!literals[0], !literals[1]]), Answer::Unsatisfiable);
    }
    assert_eq!(solver.memory(), full);
}
