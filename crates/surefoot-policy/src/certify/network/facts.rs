//! Prices of facts: linear conditions on the inputs tighten the bounds of linear functions.
//!
//! A bound over a box counts states in which every input is where the function is least, though a fact such as `x + y ≤ 4`
//! allows only one of them to be. Let `f` be a linear function and `a·x ≤ b` a fact. For each price `p ≥ 0`,
//! `f(x) ≥ f(x) + p·(a·x − b)` in all states where the fact holds. The right side is linear, too, so its least value over the box
//! is a bound, and all that is derived from a function (cuts, slopes, rises) can be derived from it. The best price is
//! where the bound stops growing: each input for which function and fact pull in opposite directions *turns* at the
//! price `−f_i/a_i`, and then takes `|a_i|` times its width from the sum. This is the dual of a fractional knapsack. Several facts are
//! priced one after the other.
//!
//! **Rounding.** Any price is right, so it does not matter how it is found. Facts whose sums are not exact in doubles, over the
//! box of the question, are left out; then only `f_i + p·a_i` and the constant `p·b` are rounded, twice each, which
//! [`Facts::ROUNDINGS`] counts and the magnitudes `|p·a_i|·|x_i|` and `|p·b|` pay for; see [`super::rounding`].

use super::super::space::Space;
use super::bounds::SlotBounds;
use super::lanes::Constants;

/// Facts that are priced; more are ignored.
const MOST: usize = 16;

/// Integers up to this are doubles.
const EXACT: i128 = 1 << 53;

/// The facts of a question, over inputs.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    list: List,
    /// Memory for the facts of the next question.
    next: List,
    /// Prices at which inputs turn, and by how much that changes the sum.
    turns: Vec<(f64, f64)>,
    /// Whether a fact has had a price since this was reset.
    pub(super) are_used: bool,
}

/// Facts, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
struct List {
    /// Inputs and factors.
    terms: Vec<(u32, f64)>,
    /// For each fact, where its terms end, and the greatest value of its sum.
    facts: Vec<(usize, f64)>,
}

impl List {
    fn clear(&mut self) {
        self.terms.clear();
        self.facts.clear();
    }
}

impl Facts {
    /// How many roundings prices add to a bound.
    pub(super) const ROUNDINGS: usize = 4 * MOST;

    pub(super) fn is_empty(&self) -> bool {
        self.list.facts.is_empty()
    }

    /// Forgets all facts; whether there were any.
    pub(super) fn clear(&mut self) -> bool {
        let were_some = !self.is_empty();
        self.list.clear();
        were_some
    }

    /// Takes over the facts of a question whose box this is; whether they are others than before. Each dimension of the policy has a
    /// first input that reads it.
    pub(super) fn load(&mut self, space: &Space, lower: &[i32], upper: &[i32], first_inputs: &[u32]) -> bool {
        self.next.clear();
        for (terms, at_most) in space.facts() {
            if self.next.facts.len() == MOST {
                break;
            }
            self.next.add(terms, at_most, (lower, upper), first_inputs);
        }
        let are_others = self.next != self.list;
        if are_others {
            self.list.terms.clone_from(&self.next.terms);
            self.list.facts.clone_from(&self.next.facts);
        }
        are_others
    }

    /// Adds facts, times prices, to the functions of all lanes, of which only lower bounds count from here on.
    pub(super) fn price(
        &mut self,
        inputs: &SlotBounds,
        lanes: usize,
        coefficients: &mut [f64],
        constants: &mut Constants,
    ) {
        let mut start = 0;
        for &(end, at_most) in &self.list.facts {
            let terms = &self.list.terms[start..end];
            start = end;
            for lane in 0..lanes {
                let price = find_price(terms, at_most, inputs, &mut self.turns, |input| {
                    coefficients[input * lanes + lane]
                });
                if price == 0.0 {
                    continue;
                }
                self.are_used = true;
                let mut rest = at_most;
                for &(input, factor) in terms {
                    let input = input as usize;
                    let (low, high) = (inputs.low[input], inputs.high[input]);
                    if low == high {
                        rest -= factor * low;
                    } else {
                        let product = price * factor;
                        coefficients[input * lanes + lane] += product;
                        constants.magnitude[lane] += product.abs() * high.max(-low);
                    }
                }
                constants.low[lane] -= price * rest;
                constants.magnitude[lane] += (price * rest).abs();
            }
        }
    }
}

impl List {
    /// Adds a fact if it says something about several inputs, and something exact.
    fn add(
        &mut self,
        terms: &[(u32, i64)],
        mut at_most: i128,
        (lower, upper): (&[i32], &[i32]),
        first_inputs: &[u32],
    ) {
        let start = self.terms.len();
        let mut size = 0;
        for &(dimension, factor) in terms {
            let dimension = dimension as usize;
            let ends = [lower[dimension], upper[dimension]].map(|end| i128::from(end) * i128::from(factor));
            size += ends[0].abs().max(ends[1].abs());
            match first_inputs.get(dimension) {
                Some(&input) => self.terms.push((input, factor as f64)),
                // Whatever this variable is, its term is at least this.
                None => at_most -= ends[0].min(ends[1]),
            }
        }
        let is_useful = self.terms.len() > start + 1;
        let factors = terms.iter().map(|&(_, factor)| i128::from(factor).abs());
        if is_useful && size + at_most.abs() + factors.sum::<i128>() <= EXACT {
            self.facts.push((self.terms.len(), at_most as f64));
        } else {
            self.terms.truncate(start);
        }
    }
}

/// The price of a fact that is best for the least value of a function, given by its slopes; 0 if none is better.
fn find_price(
    terms: &[(u32, f64)],
    at_most: f64,
    inputs: &SlotBounds,
    turns: &mut Vec<(f64, f64)>,
    slope: impl Fn(usize) -> f64,
) -> f64 {
    // By how much the fact fails where the function is least, or where both are if the function does not care.
    let mut excess = -at_most;
    turns.clear();
    for &(input, factor) in terms {
        let input = input as usize;
        let (low, high) = (inputs.low[input], inputs.high[input]);
        let slope = if low == high { 0.0 } else { slope(input) };
        let is_low = slope > 0.0 || (slope == 0.0 && factor > 0.0);
        excess += factor * if is_low { low } else { high };
        if slope * factor < 0.0 {
            turns.push((-slope / factor, factor.abs() * (high - low)));
        }
    }
    if excess <= 0.0 {
        return 0.0;
    }
    turns.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut price = 0.0;
    for &(turn, change) in turns.iter() {
        if excess <= 0.0 {
            break;
        }
        price = turn;
        excess -= change;
    }
    price
}
