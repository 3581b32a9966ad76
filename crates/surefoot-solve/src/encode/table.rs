//! Atoms over few states, written out as boxes of equal truth.

use surefoot_model::VarId;

use super::atom::{Atom, Certain, Scratch};
use super::{Encoder, Truths};
use crate::literal::Lit;
use crate::solver::Arithmetic;

/// A box of states with the same truth.
#[derive(Debug)]
pub struct Entry {
    pub bounds: Vec<(VarId, i32, i32)>,
    pub truth: Certain,
}

impl<S: Arithmetic> Encoder<S> {
    /// Disjoint boxes that cover all states, if they are few.
    pub(super) fn table(&mut self, atom: &Atom) -> Option<Vec<Entry>> {
        let size =
            |v: &VarId| (i64::from(self.upper[v.index()]) - i64::from(self.lower[v.index()])) as u64 + 1;
        let points = atom.variables.iter().map(size).try_fold(1_u64, u64::checked_mul)?;
        match *atom.variables {
            [v] if points <= self.limits.table_values => self.runs(atom, v),
            _ if points <= self.limits.table_points => Some(self.boxes(atom)),
            _ => None,
        }
    }

    /// The literals of an atom with a table: constants if its truth is the same everywhere.
    pub(super) fn table_literals(&mut self, table: &[Entry], total: bool) -> Truths {
        if let [entry] = table {
            return Truths {
                is_true: Lit::constant(entry.truth == Certain::True),
                is_false: Lit::constant(entry.truth == Certain::False),
            };
        }
        let total = total || table.iter().all(|entry| entry.truth != Certain::Undefined);
        self.free_literals(total)
    }

    fn runs(&mut self, atom: &Atom, v: VarId) -> Option<Vec<Entry>> {
        let (lower, upper) = (self.lower[v.index()], self.upper[v.index()]);
        let mut state = self.lower.clone();
        let mut scratch = Scratch::default();
        let mut runs: Vec<Entry> = Vec::new();
        for value in lower..=upper {
            state[v.index()] = value;
            let truth = atom.at(&state, &mut scratch);
            match runs.last_mut() {
                Some(run) if run.truth == truth => run.bounds[0].2 = value,
                _ => runs.push(Entry { bounds: vec![(v, value, value)], truth }),
            }
            if runs.len() > self.limits.table_runs {
                return None;
            }
        }
        Some(runs)
    }

    fn boxes(&mut self, atom: &Atom) -> Vec<Entry> {
        let (mut lower, mut upper) = (self.lower.clone(), self.upper.clone());
        let mut scratch = Scratch::default();
        let whole: Vec<(VarId, i32, i32)> =
            atom.variables.iter().map(|&v| (v, lower[v.index()], upper[v.index()])).collect();
        let mut stack = vec![whole];
        let mut entries = Vec::new();
        while let Some(bounds) = stack.pop() {
            for &(v, low, high) in &bounds {
                (lower[v.index()], upper[v.index()]) = (low, high);
            }
            if let Some(truth) = atom.over(&lower, &upper, &mut scratch) {
                entries.push(Entry { bounds, truth });
                continue;
            }
            let widest = (0..bounds.len()).max_by_key(|&i| i64::from(bounds[i].2) - i64::from(bounds[i].1));
            let widest = widest.expect("an atom without variables is decided");
            let (_, low, high) = bounds[widest];
            let middle = (i64::from(low) + i64::from(high)).div_euclid(2) as i32;
            for (low, high) in [(middle + 1, high), (low, middle)] {
                let mut half = bounds.clone();
                (half[widest].1, half[widest].2) = (low, high);
                stack.push(half);
            }
        }
        entries
    }
}
