//! Linear comparisons: `Σ aᵢ·xᵢ ≥ b` as a literal.
//!
//! With one variable it is a literal of that variable. With several it is written out over partial sums: the literal
//! `n(i, b)` stands for `aᵢ·xᵢ + … + aₖ·xₖ ≥ b` and is defined, for each value c of `xᵢ`, by
//!
//! ```text
//! n(i, b) ⇒ xᵢ ≥ c + 1 ∨ n(i + 1, b - aᵢ·c)        xᵢ ≥ c ∧ n(i + 1, b - aᵢ·c) ⇒ n(i, b)
//! ```
//!
//! (for `aᵢ < 0` with `-xᵢ`). The last one is a literal of `xₖ` again. Different ways to the same rest `b` share a literal, as
//! in a decision diagram. If that takes too many clauses, the comparison is explained lazily like any other atom.

use rustc_hash::{FxHashMap, FxHashSet};
use surefoot_model::expr::Linear;
use surefoot_model::{BinaryOp, ExprId, VarId};

use super::{Encoder, Truths};
use crate::literal::Lit;
use crate::solver::Arithmetic;

/// `Σ aᵢ·xᵢ` in normal form: at least two terms, the first coefficient positive, no common divisor.
pub type Terms = Vec<(VarId, i64)>;

/// A variable with its sign and the size of its coefficient.
#[derive(Debug, Clone, Copy)]
struct Term {
    variable: VarId,
    negative: bool,
    factor: i128,
    /// Bounds of the signed variable.
    lower: i128,
    upper: i128,
}

impl<S: Arithmetic> Encoder<S> {
    /// `a ⋈ b` for linear operands.
    pub(super) fn linear_comparison(&mut self, op: BinaryOp, a: &Linear, b: &Linear) -> Option<Truths> {
        let Linear { terms, constant } = b.minus(a)?;
        // b - a = Σ + constant ≥ 0 means Σ ≥ -constant.
        let bound = constant.checked_neg()?;
        let literal = match op {
            BinaryOp::Le => self.sum_at_least(&terms, bound)?,
            BinaryOp::Lt => self.sum_at_least(&terms, bound.checked_add(1)?)?,
            _ => self.sum_equals(&terms, bound)?,
        };
        Some(Truths::total(literal))
    }

    fn sum_equals(&mut self, terms: &[(VarId, i64)], value: i64) -> Option<Lit> {
        if let &[(v, factor)] = terms {
            let divides = i128::from(value) % i128::from(factor) == 0;
            let quotient = i128::from(value) / i128::from(factor);
            return Some(match i64::try_from(quotient) {
                Ok(quotient) if divides => self.solver.equals(self.integers[v.index()], quotient),
                _ => Lit::FALSE,
            });
        }
        let least = self.sum_at_least(terms, value)?;
        let more = self.sum_at_least(terms, value.checked_add(1)?)?;
        Some(self.and(&[least, !more]))
    }

    fn sum_at_least(&mut self, terms: &[(VarId, i64)], bound: i64) -> Option<Lit> {
        match *terms {
            [] => Some(Lit::constant(0 >= bound)),
            [(v, factor)] => {
                let term = self.term(v, factor);
                Some(self.term_at_least(term, ceil(bound.into(), term.factor)))
            }
            [(_, first), ..] => {
                let divisor =
                    terms.iter().fold(0, |divisor, &(_, factor)| gcd(divisor, factor.unsigned_abs()));
                let divisor = i64::try_from(divisor).ok()?;
                let mut terms: Vec<(VarId, i64)> =
                    terms.iter().map(|&(v, factor)| (v, factor / divisor)).collect();
                let mut bound = i64::try_from(ceil(bound.into(), divisor.into())).ok()?;
                // Σ ≥ b is the negation of -Σ ≥ 1 - b.
                let negate = first < 0;
                if negate {
                    for (_, factor) in &mut terms {
                        *factor = factor.checked_neg()?;
                    }
                    bound = bound.checked_neg()?.checked_add(1)?;
                }
                let literal = self.sum(terms, bound)?;
                Some(if negate { !literal } else { literal })
            }
        }
    }

    /// `Σ ≥ bound` in normal form. Bounds of the same sum are in order, like those of a variable.
    fn sum(&mut self, terms: Terms, bound: i64) -> Option<Lit> {
        if let Some(&known) = self.sums.get(&terms).and_then(|bounds| bounds.get(&bound)) {
            return Some(known);
        }
        let native: Vec<_> = terms.iter().map(|&(v, factor)| (self.integers[v.index()], factor)).collect();
        let literal = match self.solver.linear_at_least(&native, bound) {
            Some(literal) => literal,
            None => match self.partial_sums(&terms, bound) {
                Some(literal) => literal,
                None => self.lazy_sum(&terms, bound)?,
            },
        };
        if !self.limits.share_sums {
            return Some(literal);
        }
        let bounds = self.sums.entry(terms).or_default();
        let below = bounds.range(..bound).next_back().map(|(_, &below)| below);
        let above = bounds.range(bound..).next().map(|(_, &above)| above);
        bounds.insert(bound, literal);
        if let Some(below) = below {
            self.solver.add_clause(&[!literal, below]);
        }
        if let Some(above) = above {
            self.solver.add_clause(&[!above, literal]);
        }
        Some(literal)
    }

    /// The comparison as an atom, unless its own evaluation might overflow.
    fn lazy_sum(&mut self, terms: &Terms, bound: i64) -> Option<Lit> {
        let mut expression: Option<ExprId> = None;
        for &(v, factor) in terms {
            let variable = self.pool.variable_of_type(v, self.types[v.index()]);
            let factor = self.pool.int(factor);
            let product = self.pool.mul(factor, variable).expect("integers");
            expression = Some(match expression {
                None => product,
                Some(sum) => self.pool.add(sum, product).expect("integers"),
            });
        }
        let (bound, expression) = (self.pool.int(bound), expression?);
        if self.enclosure(expression).undefined {
            return None;
        }
        let atom = self.pool.le(bound, expression).expect("integers");
        Some(self.opaque(atom).is_true)
    }

    fn term(&self, variable: VarId, factor: i64) -> Term {
        let (lower, upper) =
            (i128::from(self.lower[variable.index()]), i128::from(self.upper[variable.index()]));
        let negative = factor < 0;
        let (lower, upper) = if negative { (-upper, -lower) } else { (lower, upper) };
        Term { variable, negative, factor: i128::from(factor).abs(), lower, upper }
    }

    /// `±x ≥ bound`.
    fn term_at_least(&mut self, term: Term, bound: i128) -> Lit {
        if bound <= term.lower {
            return Lit::TRUE;
        }
        if bound > term.upper {
            return Lit::FALSE;
        }
        let variable = self.integers[term.variable.index()];
        let bound = i64::try_from(bound).expect("within the domain of a variable");
        // -x ≥ b means x ≤ -b.
        if term.negative {
            !self.solver.at_least(variable, 1 - bound)
        } else {
            self.solver.at_least(variable, bound)
        }
    }

    fn partial_sums(&mut self, terms: &Terms, bound: i64) -> Option<Lit> {
        let mut terms: Vec<Term> = terms.iter().map(|&(v, factor)| self.term(v, factor)).collect();
        // The largest domain comes last, where it needs no clauses.
        terms.sort_by_key(|term| term.upper - term.lower);
        let plan = Plan::new(&terms, bound.into(), self.limits.sum_clauses)?;
        self.statistics.sums += 1;
        let mut below: FxHashMap<i128, Lit> = FxHashMap::default();
        let last = *terms.last()?;
        for &bound in plan.bounds.last()? {
            below.insert(bound, self.term_at_least(last, ceil(bound, last.factor)));
        }
        for (i, term) in terms.iter().enumerate().rev().skip(1) {
            let mut nodes = FxHashMap::default();
            for &bound in &plan.bounds[i] {
                let rest = |bound: i128| match plan.decided(i + 1, bound) {
                    Some(decided) => Lit::constant(decided),
                    None => below[&bound],
                };
                nodes.insert(bound, self.partial_sum(*term, bound, rest));
            }
            below = nodes;
        }
        Some(match plan.decided(0, bound.into()) {
            Some(decided) => Lit::constant(decided),
            None => below[&i128::from(bound)],
        })
    }

    /// `n(i, bound)` for the term number i, where `rest` gives the literals `n(i + 1, …)`.
    fn partial_sum(&mut self, term: Term, bound: i128, rest: impl Fn(i128) -> Lit) -> Lit {
        let rests: Vec<Lit> = (term.lower..=term.upper).map(|c| rest(bound - term.factor * c)).collect();
        let node = self.solver.new_literal();
        for (i, (c, &rest)) in (term.lower..=term.upper).zip(&rests).enumerate() {
            // Of several values with the same rest, one clause says it all.
            if rests.get(i + 1) != Some(&rest) {
                let more = self.term_at_least(term, c + 1);
                self.solver.add_clause(&[!node, more, rest]);
            }
            if i == 0 || rests[i - 1] != rest {
                let least = self.term_at_least(term, c);
                self.solver.add_clause(&[!least, !rest, node]);
            }
        }
        node
    }
}

/// Which partial sums are needed.
struct Plan {
    /// For each term, the bounds `b` for which `n(i, b)` is not constant.
    bounds: Vec<Vec<i128>>,
    /// Smallest and largest sum of the terms from i on.
    ranges: Vec<(i128, i128)>,
}

impl Plan {
    /// `None` if it takes too many clauses.
    fn new(terms: &[Term], bound: i128, most_clauses: u64) -> Option<Plan> {
        let mut ranges = vec![(0, 0); terms.len() + 1];
        for (i, term) in terms.iter().enumerate().rev() {
            let (low, high) = ranges[i + 1];
            ranges[i] = (low + term.factor * term.lower, high + term.factor * term.upper);
        }
        let mut plan = Plan { bounds: Vec::new(), ranges };
        let mut clauses = 0;
        let mut level: Vec<i128> = vec![bound];
        for (i, term) in terms.iter().enumerate() {
            level.retain(|&bound| plan.decided(i, bound).is_none());
            if i + 1 == terms.len() {
                plan.bounds.push(level);
                break;
            }
            let values = u64::try_from(term.upper - term.lower + 1).ok()?;
            clauses += values.checked_mul(2 * level.len() as u64)?;
            if clauses > most_clauses {
                return None;
            }
            let mut next = FxHashSet::default();
            for &bound in &level {
                next.extend((term.lower..=term.upper).map(|c| bound - term.factor * c));
            }
            let mut next: Vec<i128> = next.into_iter().collect();
            next.sort_unstable();
            plan.bounds.push(std::mem::replace(&mut level, next));
        }
        Some(plan)
    }

    /// The truth of `n(i, bound)`, if it does not depend on the state.
    fn decided(&self, i: usize, bound: i128) -> Option<bool> {
        let (low, high) = self.ranges[i];
        if bound <= low {
            return Some(true);
        }
        (bound > high).then_some(false)
    }
}

/// ⌈a / b⌉ for b > 0.
fn ceil(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
