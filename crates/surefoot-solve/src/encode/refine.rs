//! Solving with lazily explained atoms: the loop that the module comment of [`super`] describes.

use surefoot_model::VarId;

use super::Encoder;
use super::atom::{Atom, Certain, Scratch};
use crate::literal::{Answer, IntVar, Lit};
use crate::solver::{Arithmetic, Interrupt, Poll, Solve, SolveIncremental};

impl<S: Arithmetic> Encoder<S> {
    /// Explains the atoms whose literals are wrong in the model; false if there is none.
    fn correct(&mut self) -> bool {
        if self.atoms.is_empty() {
            return false;
        }
        let state = self.state();
        let mut scratch = Scratch::default();
        let wrong = |atom: &Atom, scratch: &mut Scratch| {
            let truth = atom.at(&state, scratch);
            let is_true = self.solver.holds(atom.truths.is_true);
            let is_false = self.solver.holds(atom.truths.is_false);
            let right = is_true == (truth == Certain::True) && is_false == (truth == Certain::False);
            (!right).then_some(truth)
        };
        let wrong: Vec<(usize, Certain)> = self
            .atoms
            .iter()
            .enumerate()
            .filter_map(|(i, atom)| Some((i, wrong(atom, &mut scratch)?)))
            .collect();
        for &(i, truth) in &wrong {
            let bounds = self.widen(i, &state, truth, &mut scratch);
            self.statistics.explanations += 1;
            self.explain(self.atoms[i].truths, truth, &bounds);
        }
        !wrong.is_empty()
    }

    /// A box around a state on which an atom has the same truth everywhere: as few bounds as possible, and those wide.
    fn widen(
        &mut self,
        atom: usize,
        state: &[i32],
        truth: Certain,
        scratch: &mut Scratch,
    ) -> Vec<(VarId, i32, i32)> {
        let atom = &self.atoms[atom];
        let domain: Vec<(i32, i32)> =
            atom.variables.iter().map(|v| (self.lower[v.index()], self.upper[v.index()])).collect();
        for v in &atom.variables {
            (self.lower[v.index()], self.upper[v.index()]) = (state[v.index()], state[v.index()]);
        }
        let (lower, upper) = (&mut self.lower, &mut self.upper);
        for (v, &(low, high)) in atom.variables.iter().zip(&domain) {
            let v = v.index();
            lower[v] = furthest(state[v], low, |bound| {
                lower[v] = bound;
                atom.over(lower, upper, scratch) == Some(truth)
            });
            upper[v] = furthest(state[v], high, |bound| {
                upper[v] = bound;
                atom.over(lower, upper, scratch) == Some(truth)
            });
        }
        let mut bounds = Vec::new();
        for (&v, &(low, high)) in atom.variables.iter().zip(&domain) {
            let (lower, upper) = (&mut self.lower[v.index()], &mut self.upper[v.index()]);
            if (*lower, *upper) != (low, high) {
                bounds.push((v, *lower, *upper));
            }
            (*lower, *upper) = (low, high);
        }
        bounds
    }
}

/// The value furthest from `start`, towards `end`, that is accepted; `start` is. Bisection: if acceptance is not monotone, another
/// accepted value.
fn furthest(start: i32, end: i32, mut accepts: impl FnMut(i32) -> bool) -> i32 {
    if start == end || accepts(end) {
        return end;
    }
    let (mut inside, mut outside) = (i64::from(start), i64::from(end));
    while inside.abs_diff(outside) > 1 {
        let middle = inside.midpoint(outside);
        if accepts(middle as i32) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside as i32
}

impl<S: Arithmetic> Solve for Encoder<S> {
    fn new_variable(&mut self, lower: i32, upper: i32) -> IntVar {
        self.solver.new_variable(lower, upper)
    }

    fn bounds(&self, variable: IntVar) -> (i32, i32) {
        self.solver.bounds(variable)
    }

    fn new_literal(&mut self) -> Lit {
        self.solver.new_literal()
    }

    fn at_least(&mut self, variable: IntVar, bound: i64) -> Lit {
        self.solver.at_least(variable, bound)
    }

    fn equals(&mut self, variable: IntVar, value: i64) -> Lit {
        self.solver.equals(variable, value)
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        self.solver.add_clause(clause);
    }

    fn solve(&mut self) -> Answer {
        self.solve_assuming(&[])
    }

    fn value(&self, variable: IntVar) -> i32 {
        self.solver.value(variable)
    }

    fn holds(&self, literal: Lit) -> bool {
        self.solver.holds(literal)
    }
}

impl<S: Arithmetic> SolveIncremental for Encoder<S> {
    fn solve_assuming(&mut self, assumptions: &[Lit]) -> Answer {
        loop {
            let answer = self.solver.solve_assuming(assumptions);
            if answer != Answer::Satisfiable || !self.correct() {
                return answer;
            }
        }
    }

    fn core(&self) -> Vec<Lit> {
        self.solver.core()
    }
}

impl<S: Arithmetic> Interrupt for Encoder<S> {
    fn set_interrupt(&mut self, poll: Option<Poll>) {
        self.solver.set_interrupt(poll);
    }
}
