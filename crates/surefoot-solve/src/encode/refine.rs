//! Solving with lazily explained atoms: the loop that the module comment of [`super`] describes.

use surefoot_model::VarId;

use super::Encoder;
use super::atom::{Atom, Certain, Scratch};
use crate::literal::{Answer, IntVar, Lit};
use crate::solver::{Arithmetic, Interrupt, Poll, Solve, SolveIncremental};

/// Bytes of an expression with what is known of it, and of a gate, roughly.
const EXPRESSION_BYTES: usize = 200;
const GATE_BYTES: usize = 80;

impl<S: Arithmetic> Encoder<S> {
    /// Explains the atoms whose literals are wrong in the model; false if there is none.
    fn correct(&mut self) -> bool {
        if self.atoms.is_empty() {
            return false;
        }
        let state = self.state();
        let intervals: Vec<(i32, i32)> = self.integers.iter().map(|&v| self.solver.interval(v)).collect();
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
            let bounds = self.widen(i, &state, &intervals, truth, &mut scratch);
            self.statistics.explanations += 1;
            self.explain(self.atoms[i].truths, truth, &bounds);
        }
        !wrong.is_empty()
    }

    /// A box around a state on which an atom has the same truth everywhere.
    ///
    /// The best box is that of the literals in the model: its clause speaks of what the solver decided and needs no new literals. If the atom is mixed there,
    /// the box is drawn together around the state, evenly in all directions, until it is not. A box that is as long as possible in one
    /// direction at the cost of others would have to be corrected value by value. At last, bounds that do not matter go.
    fn widen(
        &mut self,
        atom: usize,
        state: &[i32],
        intervals: &[(i32, i32)],
        truth: Certain,
        scratch: &mut Scratch,
    ) -> Vec<(VarId, i32, i32)> {
        let atom = &self.atoms[atom];
        let variables: Vec<usize> = atom.variables.iter().map(|v| v.index()).collect();
        let domain: Vec<(i32, i32)> = variables.iter().map(|&v| (self.lower[v], self.upper[v])).collect();
        let (lower, upper) = (&mut self.lower, &mut self.upper);
        let share = furthest(0, WHOLE, |share| {
            for &v in &variables {
                (lower[v], upper[v]) = part(intervals[v], state[v], share);
            }
            atom.over(lower, upper, scratch) == Some(truth)
        });
        for &v in &variables {
            (lower[v], upper[v]) = part(intervals[v], state[v], share);
        }
        for (&v, &(low, high)) in variables.iter().zip(&domain) {
            let start = lower[v];
            let mut accepts = |bound: i32, lower: &mut Vec<i32>| {
                lower[v] = bound;
                atom.over(lower, upper, scratch) == Some(truth)
            };
            lower[v] = if start == low || accepts(low, lower) {
                low
            } else {
                let end = i64::from(intervals[v].0);
                furthest(start.into(), end, |bound| accepts(bound as i32, lower)) as i32
            };
            let start = upper[v];
            let mut accepts = |bound: i32, upper: &mut Vec<i32>| {
                upper[v] = bound;
                atom.over(lower, upper, scratch) == Some(truth)
            };
            upper[v] = if start == high || accepts(high, upper) {
                high
            } else {
                let end = i64::from(intervals[v].1);
                furthest(start.into(), end, |bound| accepts(bound as i32, upper)) as i32
            };
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

/// The share of an interval that is the whole of it.
const WHOLE: i64 = 1 << 32;

/// An interval, drawn together around one of its values.
fn part((lower, upper): (i32, i32), value: i32, share: i64) -> (i32, i32) {
    // Distances have 33 bits, shares too: the product has 66.
    let bound = |bound: i32| {
        let distance = i128::from(bound) - i128::from(value);
        (i128::from(value) + distance * i128::from(share) / i128::from(WHOLE)) as i32
    };
    (bound(lower), bound(upper))
}

/// The value furthest from `start`, towards `end`, that is accepted; `start` is. Bisection: if acceptance is not monotone, another
/// accepted value.
fn furthest(start: i64, end: i64, mut accepts: impl FnMut(i64) -> bool) -> i64 {
    if start == end || accepts(end) {
        return end;
    }
    let (mut inside, mut outside) = (start, end);
    while inside.abs_diff(outside) > 1 {
        let middle = inside.midpoint(outside);
        if accepts(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
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

    fn interval(&self, variable: IntVar) -> (i32, i32) {
        self.solver.interval(variable)
    }

    fn holds(&self, literal: Lit) -> bool {
        self.solver.holds(literal)
    }

    fn memory(&self) -> u64 {
        let expressions = self.pool.len() * EXPRESSION_BYTES;
        let gates = self.gates.len() * GATE_BYTES;
        self.solver.memory() + (expressions + gates) as u64
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
