//! The second back end: Z3 over integer arithmetic. It shares nothing with the first but the bookkeeping of bounds, and is there to check it.
//!
//! Each literal is a Boolean constant of Z3 that is equivalent to what it stands for, because Z3 takes only such constants as assumptions.
//! Linear comparisons and conditions of `+ - · % min max ite` (products and remainders with constants) go to Z3 as they are; the encoder
//! explains everything else.

mod translate;

use std::fmt;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use surefoot_model::{ExprId, ExprPool, VarId};
use z3::ast::{Bool, Int};
use z3::{Model, SatResult};

use crate::domain::Domain;
use crate::literal::{Answer, IntVar, Lit};
use crate::solver::{Arithmetic, Interrupt, Poll, Solve, SolveIncremental};

/// How often a running Z3 is asked to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Bytes of a literal with its definition, and of a literal in a clause. Z3 tells only what all its solvers take, and that slowly.
const LITERAL_BYTES: u64 = 500;
const CLAUSE_LITERAL_BYTES: u64 = 50;

/// Incremental satisfiability over bounded integers by Z3.
pub struct Z3Solver {
    solver: z3::Solver,
    integers: Vec<(Int, Domain)>,
    /// The Boolean constant of each literal; that of number 0 is true.
    literals: Vec<Bool>,
    assumptions: Vec<Lit>,
    model: Option<Model>,
    core: Option<Vec<Lit>>,
    poll: Option<Poll>,
    /// Literals of all clauses.
    clause_literals: u64,
}

impl Z3Solver {
    /// A solver without variables and clauses.
    pub fn new() -> Self {
        Z3Solver {
            solver: z3::Solver::new(),
            integers: Vec::new(),
            literals: vec![Bool::from_bool(true)],
            assumptions: Vec::new(),
            model: None,
            core: None,
            poll: None,
            clause_literals: 0,
        }
    }

    fn changed(&mut self) {
        self.model = None;
        self.core = None;
    }

    fn literal(&self, literal: Lit) -> Bool {
        let positive = &self.literals[literal.index() as usize];
        if literal.is_negative() { positive.not() } else { positive.clone() }
    }

    /// A new literal that is equivalent to a formula.
    fn define(&mut self, formula: &Bool) -> Lit {
        let literal = self.new_literal();
        self.solver.assert(self.literal(literal).iff(formula));
        literal
    }

    /// Asks Z3, and the poll from another thread as long as Z3 is busy.
    fn check(&self, assumptions: &[Bool]) -> SatResult {
        let Some(poll) = &self.poll else { return self.solver.check_assumptions(assumptions) };
        if poll() {
            return SatResult::Unknown;
        }
        let (done, wake) = (Mutex::new(false), Condvar::new());
        let handle = self.solver.get_context().handle();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut done = done.lock().expect("nobody panics with the lock");
                while !*done {
                    (done, _) = wake.wait_timeout(done, POLL_INTERVAL).expect("nobody panics with the lock");
                    // The lock is held: Z3 is still busy with this question.
                    if !*done && poll() {
                        handle.interrupt();
                        return;
                    }
                }
            });
            let result = self.solver.check_assumptions(assumptions);
            *done.lock().expect("nobody panics with the lock") = true;
            wake.notify_one();
            result
        })
    }

    fn model(&self) -> &Model {
        self.model.as_ref().expect("a model is there")
    }
}

impl Default for Z3Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Z3Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Z3Solver")
            .field("integers", &self.integers.len())
            .field("literals", &(self.literals.len() - 1))
            .finish_non_exhaustive()
    }
}

impl Solve for Z3Solver {
    fn new_variable(&mut self, lower: i32, upper: i32) -> IntVar {
        assert!(lower <= upper, "a variable has a value");
        self.changed();
        let integer = Int::fresh_const("v");
        self.solver.assert(integer.ge(Int::from_i64(lower.into())));
        self.solver.assert(integer.le(Int::from_i64(upper.into())));
        self.integers.push((integer, Domain::new(lower, upper)));
        IntVar(self.integers.len() as u32 - 1)
    }

    fn bounds(&self, variable: IntVar) -> (i32, i32) {
        self.integers[variable.index()].1.bounds()
    }

    fn new_literal(&mut self) -> Lit {
        self.changed();
        self.literals.push(Bool::fresh_const("l"));
        Lit::positive(self.literals.len() as u32 - 1)
    }

    fn at_least(&mut self, variable: IntVar, bound: i64) -> Lit {
        let (integer, domain) = &self.integers[variable.index()];
        match domain.find(bound) {
            Ok(literal) => literal,
            Err(place) => {
                let literal = self.define(&integer.ge(Int::from_i64(bound)));
                let domain = &mut self.integers[variable.index()].1;
                domain.insert(place, i32::try_from(bound).expect("within i32 bounds"), literal);
                literal
            }
        }
    }

    fn equals(&mut self, variable: IntVar, value: i64) -> Lit {
        let (integer, domain) = &self.integers[variable.index()];
        let (lower, upper) = domain.bounds();
        match i32::try_from(value) {
            Ok(value) if lower == upper && value == lower => Lit::TRUE,
            Ok(value) if (lower..=upper).contains(&value) => {
                if let Some(&known) = domain.equals.get(&value) {
                    return known;
                }
                let literal = self.define(&integer.eq(Int::from_i64(value.into())));
                self.integers[variable.index()].1.equals.insert(value, literal);
                literal
            }
            _ => Lit::FALSE,
        }
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        self.changed();
        self.clause_literals += clause.len() as u64;
        let literals: Vec<Bool> = clause.iter().map(|&literal| self.literal(literal)).collect();
        self.solver.assert(Bool::or(&literals));
    }

    fn solve(&mut self) -> Answer {
        self.solve_assuming(&[])
    }

    fn value(&self, variable: IntVar) -> i32 {
        let value = self.model().eval(&self.integers[variable.index()].0, true);
        let value = value.and_then(|value| value.as_i64()).expect("completed models have integer values");
        i32::try_from(value).expect("within the bounds of the variable")
    }

    fn interval(&self, variable: IntVar) -> (i32, i32) {
        self.integers[variable.index()].1.around(self.value(variable))
    }

    fn holds(&self, literal: Lit) -> bool {
        let value = self.model().eval(&self.literal(literal), true);
        value.and_then(|value| value.as_bool()).expect("completed models have truth values")
    }

    fn memory(&self) -> u64 {
        self.literals.len() as u64 * LITERAL_BYTES + self.clause_literals * CLAUSE_LITERAL_BYTES
    }
}

impl SolveIncremental for Z3Solver {
    fn solve_assuming(&mut self, assumptions: &[Lit]) -> Answer {
        self.changed();
        self.assumptions = assumptions.to_vec();
        if assumptions.contains(&Lit::FALSE) {
            self.core = Some(vec![Lit::FALSE]);
            return Answer::Unsatisfiable;
        }
        let formulas: Vec<Bool> = assumptions.iter().map(|&literal| self.literal(literal)).collect();
        match self.check(&formulas) {
            SatResult::Sat => {
                self.model = self.solver.get_model();
                Answer::Satisfiable
            }
            SatResult::Unsat => {
                let failed = self.solver.get_unsat_core();
                let mut core: Vec<Lit> = Vec::new();
                for (&literal, formula) in assumptions.iter().zip(&formulas) {
                    if failed.iter().any(|other| other.ast_eq(formula)) && !core.contains(&literal) {
                        core.push(literal);
                    }
                }
                self.core = Some(core);
                Answer::Unsatisfiable
            }
            SatResult::Unknown => Answer::Unknown,
        }
    }

    fn core(&self) -> Vec<Lit> {
        self.core.clone().expect("a core is there")
    }
}

impl Interrupt for Z3Solver {
    fn set_interrupt(&mut self, poll: Option<Poll>) {
        self.poll = poll;
    }
}

impl Arithmetic for Z3Solver {
    fn linear_at_least(&mut self, terms: &[(IntVar, i64)], bound: i64) -> Option<Lit> {
        let products: Vec<Int> = terms
            .iter()
            .map(|&(variable, factor)| {
                Int::mul(&[&self.integers[variable.index()].0, &Int::from_i64(factor)])
            })
            .collect();
        Some(self.define(&Int::add(&products).ge(Int::from_i64(bound))))
    }

    fn condition(
        &mut self,
        pool: &ExprPool,
        condition: ExprId,
        variable: &dyn Fn(VarId) -> IntVar,
    ) -> Option<Lit> {
        let integer = |v: VarId| self.integers[variable(v).index()].0.clone();
        let formula = translate::condition(pool, condition, integer)?;
        Some(self.define(&formula))
    }
}
