//! Gates: literals that are equivalent to conjunctions of others. Equal conjunctions have equal literals.

use super::{Encoder, Truths};
use crate::literal::Lit;
use crate::solver::Arithmetic;

impl<S: Arithmetic> Encoder<S> {
    pub(super) fn conjunction(&mut self, mut literals: Vec<Lit>) -> Lit {
        literals.retain(|&literal| literal != Lit::TRUE);
        literals.sort_unstable();
        literals.dedup();
        // A literal and its negation are neighbours.
        let contradiction = literals.windows(2).any(|pair| pair[0] == !pair[1]);
        if contradiction || literals.contains(&Lit::FALSE) {
            return Lit::FALSE;
        }
        match literals.as_slice() {
            [] => return Lit::TRUE,
            [literal] => return *literal,
            _ => {}
        }
        if let Some(&gate) = self.gates.get(literals.as_slice()) {
            return gate;
        }
        let gate = self.solver.new_literal();
        let mut all = Vec::with_capacity(literals.len() + 1);
        all.push(gate);
        for &literal in &literals {
            self.solver.add_clause(&[!gate, literal]);
            all.push(!literal);
        }
        self.solver.add_clause(&all);
        self.gates.insert(literals.into(), gate);
        gate
    }

    pub(super) fn disjunction(&mut self, literals: impl Iterator<Item = Lit>) -> Lit {
        !self.conjunction(literals.map(|literal| !literal).collect())
    }

    /// Kleene's conjunction.
    pub(super) fn kleene_and(&mut self, operands: &[Truths]) -> Truths {
        let is_true = self.conjunction(operands.iter().map(|operand| operand.is_true).collect());
        if operands.iter().all(|operand| operand.is_total()) {
            return Truths::total(is_true);
        }
        let is_false = self.disjunction(operands.iter().map(|operand| operand.is_false));
        Truths { is_true, is_false }
    }

    /// The truth of one of several conditions, chosen by literals of which at most one is true. Undefined where none is.
    pub(super) fn choose(&mut self, cases: &[(Lit, Truths)], exhaustive: bool) -> Truths {
        let is_true: Vec<Lit> =
            cases.iter().map(|&(case, truths)| self.and(&[case, truths.is_true])).collect();
        let is_true = self.disjunction(is_true.into_iter());
        if exhaustive && cases.iter().all(|(_, truths)| truths.is_total()) {
            return Truths::total(is_true);
        }
        let is_false: Vec<Lit> =
            cases.iter().map(|&(case, truths)| self.and(&[case, truths.is_false])).collect();
        let is_false = self.disjunction(is_false.into_iter());
        Truths { is_true, is_false }
    }
}
