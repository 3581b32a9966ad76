//! A part, narrowed to where a condition is true.
//!
//! What a condition must be says what its operands must be, and so on down to the variables: where `x + y ≤ 3` is true,
//! `x` is at most 3 less the least `y`. An instruction *needs* values if it has one of them at each state at which the
//! condition is true. What it needs never goes beyond what it can be (`expression`). Conditions of which one must be true
//! need nothing, until all but one are false everywhere.

use surefoot_model::{BinaryOp, ExprId, Node, UnaryOp};

use crate::expression::{Expression, Range, Slots, Values};
use crate::part::Part;

/// Ranges of variables may take turns to become smaller; not more often than this.
const MOST_ROUNDS: usize = 10;

/// Integers between two ends, empty if the lower end is above the upper one.
type Ends = (i64, i64);

/// What instructions need.
struct Needs<'v> {
    values: &'v [Values],
    by_slot: Vec<Option<Ends>>,
    /// Whether no state is left.
    nothing: bool,
}

impl Expression {
    /// A part that has all states of a part at which this condition is true; `None` if there are none, as far as bounds
    /// tell.
    pub fn narrow(&self, part: &Part, slots: &mut Slots) -> Option<Part> {
        let mut part = part.clone();
        for _ in 0..MOST_ROUNDS {
            if !self.over(&part, slots).yes() {
                return None;
            }
            let before = part.clone();
            let mut needs = Needs { values: &slots.0, by_slot: vec![None; self.nodes.len()], nothing: false };
            needs.add(ExprId(self.nodes.len() as u32 - 1), (1, 1));
            for slot in (0..self.nodes.len()).rev() {
                let Some(need) = needs.by_slot[slot] else { continue };
                match &self.nodes[slot].0 {
                    Node::Variable(variable) => part.0[variable.index()] = (need.0 as i32, need.1 as i32),
                    node => needs.pass_on(node, need),
                }
                if needs.nothing {
                    return None;
                }
            }
            if part == before {
                break;
            }
        }
        Some(part)
    }
}

impl Needs<'_> {
    /// The values of an operand, if they are integers or truth values.
    fn ends(&self, operand: ExprId) -> Option<Ends> {
        match self.values[operand.index()].range {
            Range::Int(lower, upper) => Some((lower, upper)),
            Range::Real(..) => None,
        }
    }

    /// An operand needs a value between two ends.
    fn add(&mut self, operand: ExprId, (lower, upper): Ends) {
        let Some(mut ends) = self.by_slot[operand.index()].or(self.ends(operand)) else { return };
        ends = (ends.0.max(lower), ends.1.min(upper));
        self.by_slot[operand.index()] = Some(ends);
        self.nothing |= ends.0 > ends.1;
    }

    /// The same in 128 bits. An end beyond 64 bits is none, or leaves no value.
    fn add_wide(&mut self, operand: ExprId, (lower, upper): (i128, i128)) {
        let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
        self.nothing |= lower > most || upper < least;
        self.add(operand, (lower.clamp(least, most) as i64, upper.clamp(least, most) as i64));
    }

    /// What the operands of an instruction need, if it has a value between two ends.
    fn pass_on(&mut self, node: &Node, need: Ends) {
        let possible = |operand: ExprId| self.values[operand.index()];
        match *node {
            Node::Unary(UnaryOp::Not, a) => self.add(a, (1 - need.1, 1 - need.0)),
            Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if need.0 == need.1 => {
                // The value that one operand is enough for.
                let decisive = i64::from(op == BinaryOp::Or);
                let can_decide =
                    |operand| if decisive == 1 { possible(operand).yes() } else { possible(operand).no() };
                let (first, second) = (can_decide(a), can_decide(b));
                if need.0 != decisive || !second {
                    self.add(a, need);
                }
                if need.0 != decisive || !first {
                    self.add(b, need);
                }
            }
            Node::Binary(op, a, b) => {
                if let (Some(first), Some(second)) = (self.ends(a), self.ends(b)) {
                    match op {
                        BinaryOp::Eq | BinaryOp::Lt | BinaryOp::Le if need.0 == need.1 => {
                            self.compare(op, need.0 == 1, (a, first), (b, second));
                        }
                        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                            self.compute(op, need, (a, first), (b, second));
                        }
                        _ => {}
                    }
                }
            }
            Node::Ite(condition, then, otherwise) => {
                let meets =
                    |branch| self.ends(branch).is_none_or(|ends| ends.0 <= need.1 && need.0 <= ends.1);
                let yes = possible(condition).yes() && meets(then);
                let no = possible(condition).no() && meets(otherwise);
                self.nothing |= !yes && !no;
                if yes != no {
                    self.add(condition, (yes.into(), yes.into()));
                    self.add(if yes { then } else { otherwise }, need);
                }
            }
            _ => {}
        }
    }

    /// A comparison needs an answer.
    fn compare(&mut self, op: BinaryOp, is: bool, (a, first): (ExprId, Ends), (b, second): (ExprId, Ends)) {
        match (op, is) {
            (BinaryOp::Eq, true) => {
                self.add(a, second);
                self.add(b, first);
            }
            (BinaryOp::Eq, false) => {
                self.add_other(a, first, second);
                self.add_other(b, second, first);
            }
            (BinaryOp::Lt, true) => self.add_less(a, first, b, second, 1),
            (BinaryOp::Lt, false) => self.add_less(b, second, a, first, 0),
            (_, true) => self.add_less(a, first, b, second, 0),
            (_, false) => self.add_less(b, second, a, first, 1),
        }
    }

    /// An operand must differ from one that has only one value, which is an end of what it can be.
    fn add_other(&mut self, operand: ExprId, (lower, upper): Ends, other: Ends) {
        if other.0 == other.1 && (other.0 == lower || other.0 == upper) {
            let lower = i128::from(lower) + i128::from(other.0 == lower);
            let upper = i128::from(upper) - i128::from(other.0 == upper);
            self.add_wide(operand, (lower, upper));
        }
    }

    /// One operand must be below another one, by so much at least.
    fn add_less(&mut self, smaller: ExprId, small: Ends, greater: ExprId, great: Ends, by: i128) {
        self.add_wide(smaller, (small.0.into(), i128::from(great.1) - by));
        self.add_wide(greater, (i128::from(small.0) + by, great.1.into()));
    }

    /// A sum, a difference or a product needs a value between two ends.
    fn compute(&mut self, op: BinaryOp, need: Ends, (a, first): (ExprId, Ends), (b, second): (ExprId, Ends)) {
        let wide = |(lower, upper): Ends| (i128::from(lower), i128::from(upper));
        let (need, first, second) = (wide(need), wide(first), wide(second));
        match op {
            BinaryOp::Add => {
                self.add_wide(a, (need.0 - second.1, need.1 - second.0));
                self.add_wide(b, (need.0 - first.1, need.1 - first.0));
            }
            BinaryOp::Sub => {
                self.add_wide(a, (need.0 + second.0, need.1 + second.1));
                self.add_wide(b, (first.0 - need.1, first.1 - need.0));
            }
            _ => {
                for (operand, factor) in [(a, second), (b, first)] {
                    if factor.0 == factor.1 && factor.0 != 0 {
                        let (lower, upper) = if factor.0 > 0 { need } else { (-need.1, -need.0) };
                        let size = factor.0.abs();
                        self.add_wide(operand, (-(-lower).div_euclid(size), upper.div_euclid(size)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use surefoot_model::{ExprPool, Type, Value, VarId};

    use super::*;
    use crate::expression::tests::{Random, expressions, states, value_at};

    #[test]
    fn no_state_at_which_a_condition_is_true_is_lost() {
        let mut random = Random(11);
        let mut slots = Slots::default();
        let mut narrowed = 0;
        for _ in 0..3000 {
            let pool = expressions(&mut random);
            let (part, states) = states(&mut random);
            for id in (0..pool.len() as u32).map(ExprId).filter(|&id| pool.ty(id) == Type::Bool) {
                let within = Expression::new(&pool, id).narrow(&part, &mut slots);
                let is_within = |state: &[i32]| {
                    let holds = |(value, range): (&i32, &(i32, i32))| (range.0..=range.1).contains(value);
                    within.as_ref().is_some_and(|within| state.iter().zip(&within.0).all(holds))
                };
                for state in &states {
                    let is_true = value_at(&pool, id, state) == Ok(Value::Bool(true));
                    assert!(!is_true || is_within(state), "{state:?} is not in {within:?}");
                }
                narrowed += usize::from(within.is_some_and(|within| within != part));
            }
        }
        assert!(narrowed > 1000, "{narrowed}");
    }

    /// The ranges of `x` and `y`, both from 0 to 9 at first.
    fn ranges(condition: impl Fn(&mut ExprPool, ExprId, ExprId) -> ExprId) -> Option<Vec<(i32, i32)>> {
        let mut pool = ExprPool::new();
        let [x, y] = [0, 1].map(|variable| pool.variable_of_type(VarId(variable), Type::Int));
        let condition = condition(&mut pool, x, y);
        let part = Part(vec![(0, 9); 2]);
        Expression::new(&pool, condition).narrow(&part, &mut Slots::default()).map(|part| part.0)
    }

    #[test]
    fn comparisons_and_sums_bound_their_variables() {
        let sum = |pool: &mut ExprPool, x, y| {
            let (sum, two, five) = (pool.add(x, y).unwrap(), pool.int(2), pool.int(5));
            let (small, large) = (pool.le(sum, five).unwrap(), pool.lt(two, x).unwrap());
            pool.and(small, large).unwrap()
        };
        assert_eq!(ranges(sum), Some(vec![(3, 5), (0, 2)]));
        let product = |pool: &mut ExprPool, x, y| {
            let (factor, seven) = (pool.int(-3), pool.int(-7));
            let product = pool.mul(factor, x).unwrap();
            let (large, same) = (pool.le(seven, product).unwrap(), pool.eq(x, y).unwrap());
            pool.and(large, same).unwrap()
        };
        assert_eq!(ranges(product), Some(vec![(0, 2), (0, 2)]));
    }

    #[test]
    fn the_last_alternative_must_be_true() {
        let condition = |pool: &mut ExprPool, x, y| {
            let (zero, nine) = (pool.int(0), pool.int(9));
            let (first, second) = (pool.lt(x, zero).unwrap(), pool.eq(y, nine).unwrap());
            let either = pool.or(first, second).unwrap();
            let other = pool.eq(x, y).unwrap();
            let other = pool.not(other).unwrap();
            pool.and(either, other).unwrap()
        };
        assert_eq!(ranges(condition), Some(vec![(0, 8), (9, 9)]));
    }
}
