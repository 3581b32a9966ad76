//! Opaque atoms: conditions of which only the truth at states and over boxes is known.

use surefoot_model::expr::{Enclosure, Truth};
use surefoot_model::{ExprId, PointValue, Program, Value, VarId};

use super::undefined::Instructions;
use super::{Encoder, Truths};
use crate::literal::Lit;
use crate::solver::Arithmetic;

/// The truth of an atom at a state, or at all states of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certain {
    True,
    False,
    Undefined,
}

/// A condition that is evaluated.
#[derive(Debug)]
pub struct Atom {
    program: Program,
    /// For atoms that may be undefined.
    instructions: Option<Instructions>,
    /// The variables that it reads, ascending.
    pub variables: Vec<VarId>,
    pub truths: Truths,
}

/// Memory of evaluations.
#[derive(Debug, Default)]
pub struct Scratch {
    point: Vec<PointValue>,
    ranges: Vec<Enclosure>,
}

impl Atom {
    pub fn at(&self, state: &[i32], scratch: &mut Scratch) -> Certain {
        self.program.run_state(state, &mut scratch.point);
        match self.program.output(0, &scratch.point) {
            Ok(Value::Bool(true)) => Certain::True,
            Ok(_) => Certain::False,
            Err(_) => Certain::Undefined,
        }
    }

    /// The truth at all states of a box, if it is the same and is found out.
    pub fn over(&self, lower: &[i32], upper: &[i32], scratch: &mut Scratch) -> Option<Certain> {
        match self.program.over_box(lower, upper, &mut scratch.ranges).truth() {
            Truth::True => return Some(Certain::True),
            Truth::False => return Some(Certain::False),
            Truth::Unknown => {}
        }
        if self.variables.iter().all(|v| lower[v.index()] == upper[v.index()]) {
            return Some(self.at(lower, scratch));
        }
        let undefined = self.instructions.as_ref()?.never_defined(&scratch.ranges);
        undefined.then_some(Certain::Undefined)
    }
}

impl<S: Arithmetic> Encoder<S> {
    /// The literals of a condition that nothing is known about.
    pub(super) fn opaque(&mut self, id: ExprId) -> Truths {
        let variables = self.pool.variables_of([id]);
        let total = !self.enclosure(id).undefined;
        let parts = self.pool.reachable([id]);
        if parts.into_iter().all(|part| !self.enclosure(part).undefined) {
            let integers = &self.integers;
            let native = self.solver.condition(&self.pool, id, &|v: VarId| integers[v.index()]);
            if let Some(literal) = native {
                return Truths::total(literal);
            }
        }
        let instructions = (!total).then(|| Instructions::new(&self.pool, id));
        let program = Program::new(&self.pool, &[id]);
        let mut atom = Atom { program, instructions, variables, truths: Truths::total(Lit::TRUE) };
        if let Some(table) = self.table(&atom) {
            self.statistics.tables += 1;
            atom.truths = self.table_literals(&table, total);
            for entry in &table {
                self.explain(atom.truths, entry.truth, &entry.bounds);
            }
            return atom.truths;
        }
        atom.truths = self.free_literals(total);
        let truths = atom.truths;
        self.statistics.lazy += 1;
        self.atoms.push(atom);
        truths
    }

    /// Fresh literals for a condition.
    pub(super) fn free_literals(&mut self, total: bool) -> Truths {
        let is_true = self.solver.new_literal();
        if total {
            return Truths::total(is_true);
        }
        let is_false = self.solver.new_literal();
        self.solver.add_clause(&[!is_true, !is_false]);
        Truths { is_true, is_false }
    }

    /// Adds `box ⇒ truth`, where the box gives bounds of some variables.
    pub(super) fn explain(&mut self, truths: Truths, truth: Certain, bounds: &[(VarId, i32, i32)]) {
        let mut clause = Vec::with_capacity(2 * bounds.len() + 1);
        for &(v, lower, upper) in bounds {
            let variable = self.integers[v.index()];
            clause.push(!self.solver.at_least(variable, lower.into()));
            clause.push(self.solver.at_least(variable, i64::from(upper) + 1));
        }
        let consequences: &[Lit] = match truth {
            Certain::True => &[truths.is_true],
            Certain::False => &[truths.is_false],
            Certain::Undefined => &[!truths.is_true, !truths.is_false],
        };
        for &consequence in consequences {
            clause.push(consequence);
            self.solver.add_clause(&clause);
            clause.pop();
        }
    }
}
