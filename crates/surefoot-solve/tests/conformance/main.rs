//! What every back end must do, as one suite over the traits. To add a back end, add a module at the end.

mod random;
mod suite;

use surefoot_model::{Variable, VariableType};
use surefoot_solve::{
    Answer, AnySolver, Arithmetic, Backend, Encoder, Interrupt, SatSolver, Solve, SolveIncremental,
};

/// A solver under test.
trait Subject: SolveIncremental + Interrupt {
    fn fresh() -> Self;
}

impl Subject for SatSolver {
    fn fresh() -> Self {
        SatSolver::new()
    }
}

/// Over the last of the back ends.
impl Subject for AnySolver {
    fn fresh() -> Self {
        #[cfg(not(feature = "z3"))]
        let backend = Backend::Sat;
        #[cfg(feature = "z3")]
        let backend = Backend::Z3;
        backend.maker()()
    }
}

/// An encoder is a solver again. It has a variable of its own, which must not be in the way.
impl<S: Arithmetic + Default> Subject for Encoder<S> {
    fn fresh() -> Self {
        let own = Variable::new("own", VariableType::Int { lower: 0, upper: 9 });
        Encoder::new(S::default(), &[own]).expect("integers")
    }
}

macro_rules! conformance {
    ($name:ident, $subject:ty, [$($test:ident),* $(,)?]) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[test]
                fn $test() {
                    suite::$test::<$subject>();
                }
            )*

            #[test]
            fn random_clauses_agree_with_brute_force() {
                random::random_clauses_agree_with_brute_force::<$subject>();
            }
        }
    };
    ($name:ident, $subject:ty) => {
        conformance!($name, $subject, [
            an_empty_problem_has_a_model,
            literals_outside_of_the_bounds_are_constant,
            the_same_literal_is_given_twice,
            order_literals_are_consistent_in_any_order_of_creation,
            equality_is_a_value,
            an_interval_holds_the_values_that_literals_do_not_tell_apart,
            single_values_and_extreme_bounds_work,
            the_empty_clause_is_final,
            constants_in_clauses_and_assumptions_mean_what_they_say,
            assumptions_are_gone_afterwards,
            a_core_is_a_part_of_the_assumptions_that_suffices,
            contradictory_assumptions_are_a_core,
            activation_literals_turn_clauses_on,
            clauses_can_be_added_after_answers,
            enumeration_visits_each_value_once,
            enumeration_projects,
            enumeration_stops_and_leaves_nothing_behind,
            an_interrupted_solver_says_unknown_and_goes_on,
            a_long_search_is_interrupted,
            a_model_is_gone_after_a_change,
            memory_grows_with_clauses,
        ]);
    };
}

conformance!(sat, SatSolver);
conformance!(any, AnySolver);
conformance!(encoder_over_sat, Encoder<SatSolver>);

/// One hole less than pigeons: the answer takes many learnt clauses.
#[test]
fn memory_grows_with_what_a_sat_solver_learns() {
    let mut solver = SatSolver::new();
    let pigeons: Vec<_> = (0..7).map(|_| solver.new_variable(0, 5)).collect();
    for (index, &one) in pigeons.iter().enumerate() {
        for &other in &pigeons[..index] {
            for hole in 0..6 {
                let clause = [!solver.equals(one, hole), !solver.equals(other, hole)];
                solver.add_clause(&clause);
            }
        }
    }
    let before = solver.memory();
    assert_eq!(solver.solve(), Answer::Unsatisfiable);
    assert!(solver.memory() > before);
}

#[cfg(feature = "z3")]
mod with_z3 {
    use super::*;
    use surefoot_solve::Z3Solver;

    impl Subject for Z3Solver {
        fn fresh() -> Self {
            Z3Solver::new()
        }
    }

    conformance!(z3, Z3Solver);
    conformance!(encoder_over_z3, Encoder<Z3Solver>);
}
