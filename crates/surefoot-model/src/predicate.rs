//! Predicates: what predicate abstraction tells states apart by (papers 001 and 004: linear constraints over the state variables).
//!
//! They are in normal form, so that no two say the same or the opposite: see [`Predicate::atoms`].

use std::fmt::Write as _;

use rustc_hash::FxHashSet;

use crate::expr::{BinaryOp, ExprId, ExprPool, Linear, Node, Program, Truth, UnaryOp};
use crate::system::Outcome;
use crate::value::{Type, Value};
use crate::variable::{VarId, Variable};

/// `Σ aᵢ·xᵢ ≥ bound`. Boolean variables are 0 and 1.
///
/// Variables are in ascending order, the first coefficient is positive, coefficients have no common divisor, and the predicate is neither
/// true in all states nor false in all. Coefficients can be negated.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inequality {
    terms: Vec<(VarId, i32)>,
    at_least: i64,
}

/// Cases of a new value that are looked at: nested ones can be exponentially many.
const MOST_CASES: usize = 1000;

/// Sums in all states are below this, so that no part of them overflows anywhere.
const LARGEST: i128 = 1 << 62;

impl Inequality {
    /// `variable ≥ bound`; `None` if that is true in all states, or false in all.
    pub fn bound(variable: VarId, bound: i64, lower: &[i32], upper: &[i32]) -> Option<Inequality> {
        let domain = i64::from(lower[variable.index()]) + 1..=i64::from(upper[variable.index()]);
        domain.contains(&bound).then(|| Inequality { terms: vec![(variable, 1)], at_least: bound })
    }

    /// `linear ≥ 0` in normal form, and whether that is negated; `None` if it is true in all states or false in all, or has large numbers.
    pub fn not_negative(linear: &Linear, lower: &[i32], upper: &[i32]) -> Option<(Inequality, bool)> {
        let &(_, first) = linear.terms.first()?;
        let divisor =
            linear.terms.iter().fold(0, |divisor, &(_, factor)| gcd(divisor, factor.unsigned_abs()));
        let divisor = i128::from(divisor);
        let mut bound = -i128::from(linear.constant);
        // Σ/d ≥ ⌈bound/d⌉
        bound = -(-bound).div_euclid(divisor);
        let is_negated = first < 0;
        if is_negated {
            // -Σ ≥ bound is the negation of Σ ≥ 1 - bound.
            bound = 1 - bound;
        }
        let sign = if is_negated { -1 } else { 1 };
        let factor = |&(v, factor): &(VarId, i64)| {
            let factor = i32::try_from(sign * i128::from(factor) / divisor).ok()?;
            (factor > i32::MIN).then_some((v, factor))
        };
        let terms: Vec<(VarId, i32)> = linear.terms.iter().map(factor).collect::<Option<_>>()?;
        let inequality = Inequality { terms, at_least: i64::try_from(bound).ok()? };
        let size = |&(v, factor): &(VarId, i32)| {
            let largest = lower[v.index()].unsigned_abs().max(upper[v.index()].unsigned_abs());
            i128::from(factor.unsigned_abs()) * i128::from(largest)
        };
        let largest: i128 = inequality.terms.iter().map(size).sum::<i128>() + bound.abs();
        (largest < LARGEST && inequality.over_box(lower, upper) == Truth::Unknown)
            .then_some((inequality, is_negated))
    }

    /// Variables and coefficients.
    pub fn terms(&self) -> &[(VarId, i32)] {
        &self.terms
    }

    /// The bound.
    pub fn at_least(&self) -> i64 {
        self.at_least
    }

    /// The only variable and the bound, if there is only one: coefficients have no common divisor, so its own is 1.
    pub fn as_bound(&self) -> Option<(VarId, i64)> {
        match self.terms[..] {
            [(v, _)] => Some((v, self.at_least)),
            _ => None,
        }
    }

    /// Whether it holds in a state.
    pub fn holds(&self, state: &[i32]) -> bool {
        let term = |&(v, factor): &(VarId, i32)| i64::from(factor) * i64::from(state[v.index()]);
        self.terms.iter().map(term).sum::<i64>() >= self.at_least
    }

    /// The least and the greatest sum in a box.
    fn range(&self, lower: &[i32], upper: &[i32]) -> (i128, i128) {
        self.terms.iter().fold((0, 0), |(low, high), &(v, factor)| {
            let ends = [lower, upper].map(|ends| i128::from(factor) * i128::from(ends[v.index()]));
            (low + ends[0].min(ends[1]), high + ends[0].max(ends[1]))
        })
    }

    /// Whether it holds in all states of a box, or in none.
    pub fn over_box(&self, lower: &[i32], upper: &[i32]) -> Truth {
        let (low, high) = self.range(lower, upper);
        if low >= self.at_least.into() {
            Truth::True
        } else if high < self.at_least.into() {
            Truth::False
        } else {
            Truth::Unknown
        }
    }

    /// Narrows a box to a part that holds all its states in which the predicate has a value. False if there are none, as far as bounds tell;
    /// then the box is of no use any more.
    pub fn narrow(&self, value: bool, lower: &mut [i32], upper: &mut [i32]) -> bool {
        // As `Σ ≥ bound`: if the value is false, with the opposite signs.
        let sign = if value { 1 } else { -1 };
        let bound = if value { i128::from(self.at_least) } else { 1 - i128::from(self.at_least) };
        let (low, high) = self.range(lower, upper);
        let most = if value { high } else { -low };
        if most < bound {
            return false;
        }
        for &(v, factor) in &self.terms {
            let factor = sign * i128::from(factor);
            let (least, greatest) = (i128::from(lower[v.index()]), i128::from(upper[v.index()]));
            let own = (factor * least).max(factor * greatest);
            // factor · x ≥ bound - (the most that the others give)
            let rest = bound - (most - own);
            if factor > 0 {
                let least = least.max(-(-rest).div_euclid(factor));
                lower[v.index()] = least as i32;
            } else {
                let greatest = greatest.min((-rest).div_euclid(-factor));
                upper[v.index()] = greatest as i32;
            }
        }
        true
    }

    /// The weakest precondition: what must be at least 0 before a step, so that the predicate holds after it. `None` if that is not linear.
    pub fn before(&self, pool: &ExprPool, outcome: &Outcome) -> Option<Linear> {
        let terms = self.terms.iter().map(|&(v, factor)| (v, factor.into())).collect();
        Linear { terms, constant: self.at_least.checked_neg()? }.before(pool, outcome)
    }

    /// Predicates on the state before a step that decide whether this one holds after it, as far as there are such: the weakest precondition if it is linear. The new value of
    /// a single variable may also be made of linear ones by `min`, `max`, `ite` and access to arrays.
    pub fn preconditions(
        &self,
        pool: &ExprPool,
        outcome: &Outcome,
        lower: &[i32],
        upper: &[i32],
    ) -> Vec<Predicate> {
        let normal = |linear: &Linear| {
            Inequality::not_negative(linear, lower, upper)
                .map(|(inequality, _)| Predicate::Linear(inequality))
        };
        if let Some(linear) = self.before(pool, outcome) {
            return normal(&linear).into_iter().collect();
        }
        let Some((variable, bound)) = self.as_bound() else { return Vec::new() };
        let assigned = outcome.assignments.iter().find(|assignment| assignment.variable == variable);
        let mut predicates = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack: Vec<(ExprId, i64)> =
            assigned.map(|assigned| (assigned.value, bound)).into_iter().collect();
        while let Some((value, bound)) = stack.pop() {
            if seen.len() == MOST_CASES {
                break;
            }
            if !seen.insert((value, bound)) {
                continue;
            }
            if let Some(mut linear) = Linear::of_integer(pool, value) {
                if let Some(constant) = linear.constant.checked_sub(bound) {
                    linear.constant = constant;
                    predicates.extend(normal(&linear));
                }
                continue;
            }
            let constant = |id| pool.as_constant(id).and_then(Value::as_int);
            match pool.node(value) {
                Node::Binary(BinaryOp::Min | BinaryOp::Max, a, b) => stack.extend([(*a, bound), (*b, bound)]),
                Node::Binary(BinaryOp::Add, a, b) => {
                    let (rest, constant) = match (constant(*a), constant(*b)) {
                        (Some(constant), _) => (*b, constant),
                        (_, Some(constant)) => (*a, constant),
                        _ => continue,
                    };
                    stack.extend(bound.checked_sub(constant).map(|bound| (rest, bound)));
                }
                Node::Binary(BinaryOp::Sub, a, b) => {
                    let bound = constant(*b).and_then(|constant| bound.checked_add(constant));
                    stack.extend(bound.map(|bound| (*a, bound)));
                }
                Node::Ite(condition, then, otherwise) => {
                    predicates.extend(Predicate::atoms(pool, *condition, lower, upper));
                    stack.extend([(*then, bound), (*otherwise, bound)]);
                }
                Node::Select { elements, index } => {
                    stack.extend(elements.iter().map(|&element| (element, bound)));
                    stack.extend((1..elements.len()).map(|place| (*index, place as i64)));
                }
                _ if pool.ty(value) == Type::Bool => {
                    predicates.extend(Predicate::atoms(pool, value, lower, upper));
                }
                _ => {}
            }
        }
        predicates
    }

    /// As text.
    pub fn display(&self, variables: &[Variable]) -> String {
        let bound = match self.as_bound() {
            Some((v, bound)) => variables[v.index()].display(bound as i32),
            None => self.at_least.to_string(),
        };
        format!("{} ≥ {bound}", self.display_sum(variables))
    }

    /// The sum as text.
    pub fn display_sum(&self, variables: &[Variable]) -> String {
        let mut text = String::new();
        for (index, &(v, factor)) in self.terms.iter().enumerate() {
            let sign = match (index, factor < 0) {
                (0, _) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            };
            let size = factor.unsigned_abs();
            let size = if size == 1 { String::new() } else { format!("{size}·") };
            let _ = write!(text, "{sign}{size}{}", variables[v.index()].name);
        }
        text
    }
}

/// A predicate on states.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Predicate {
    /// A linear one.
    Linear(Inequality),
    /// Any condition of a system's pool. It counts as false where it is undefined.
    Condition(ExprId),
}

impl Predicate {
    /// A condition as one predicate, up to negation; `None` if it is the same in all states, as far as that is clear.
    ///
    /// Boolean variables, and inequalities of linear expressions that are defined everywhere, are linear.
    pub fn of_condition(
        pool: &ExprPool,
        condition: ExprId,
        lower: &[i32],
        upper: &[i32],
    ) -> Option<Predicate> {
        let mut condition = condition;
        // What is undefined counts as false, with a negation and without.
        let is_total = |id| !Program::new(pool, &[id]).over_box(lower, upper, &mut Vec::new()).undefined;
        while let Node::Unary(UnaryOp::Not, inner) = *pool.node(condition)
            && is_total(inner)
        {
            condition = inner;
        }
        let is_linear = match *pool.node(condition) {
            Node::Constant(_) => return None,
            Node::Variable(_) => true,
            Node::Binary(BinaryOp::Le | BinaryOp::Lt, a, b) => difference(pool, a, b, lower, upper).is_some(),
            _ => false,
        };
        if is_linear {
            Predicate::atoms(pool, condition, lower, upper).pop()
        } else {
            Some(Predicate::Condition(condition))
        }
    }

    /// The predicates that a condition is made of, up to negation; none of them is linear and the same in all states.
    ///
    /// Conjunctions, disjunctions and negations are taken apart. Comparisons of linear expressions that are defined everywhere become inequalities, two for an
    /// equality, and so do Boolean variables. Everything else stays as it is.
    pub fn atoms(pool: &ExprPool, condition: ExprId, lower: &[i32], upper: &[i32]) -> Vec<Predicate> {
        let mut atoms = Vec::new();
        let mut stack = vec![condition];
        let mut seen = FxHashSet::default();
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            match *pool.node(id) {
                Node::Constant(_) => {}
                Node::Variable(v) => {
                    atoms.extend(Inequality::bound(v, 1, lower, upper).map(Predicate::Linear));
                }
                Node::Unary(UnaryOp::Not, a) => stack.push(a),
                Node::Binary(BinaryOp::And | BinaryOp::Or, a, b) => stack.extend([b, a]),
                Node::Binary(BinaryOp::Eq, a, b) if pool.ty(a) == Type::Bool => stack.extend([b, a]),
                Node::Ite(c, t, e) => stack.extend([e, t, c]),
                Node::Binary(op @ (BinaryOp::Le | BinaryOp::Lt | BinaryOp::Eq), a, b) => {
                    let difference = difference(pool, a, b, lower, upper);
                    match difference.and_then(|difference| at_least_zero(op, difference)) {
                        None => atoms.push(Predicate::Condition(id)),
                        Some(linears) => {
                            for linear in &linears {
                                match Inequality::not_negative(linear, lower, upper) {
                                    Some((inequality, _)) => atoms.push(Predicate::Linear(inequality)),
                                    None if is_constant(linear, lower, upper) => {}
                                    // The numbers are too large.
                                    None => atoms.push(Predicate::Condition(id)),
                                }
                            }
                        }
                    }
                }
                _ => atoms.push(Predicate::Condition(id)),
            }
        }
        atoms
    }
}

/// Whether `linear ≥ 0` is true in all states, or false in all.
fn is_constant(linear: &Linear, lower: &[i32], upper: &[i32]) -> bool {
    let (mut low, mut high) = (i128::from(linear.constant), i128::from(linear.constant));
    for &(v, factor) in &linear.terms {
        let ends = [lower, upper].map(|ends| i128::from(factor) * i128::from(ends[v.index()]));
        low += ends[0].min(ends[1]);
        high += ends[0].max(ends[1]);
    }
    low >= 0 || high < 0
}

/// `b - a`, if that is linear and defined in all states.
fn difference(pool: &ExprPool, a: ExprId, b: ExprId, lower: &[i32], upper: &[i32]) -> Option<Linear> {
    let is_total = |id| {
        pool.ty(id) == Type::Int
            && !Program::new(pool, &[id]).over_box(lower, upper, &mut Vec::new()).undefined
    };
    if !is_total(a) || !is_total(b) {
        return None;
    }
    Linear::of_integer(pool, b)?.minus(&Linear::of_integer(pool, a)?)
}

/// Whatever is at least 0 or not decides whether `a ⋈ b`, given `b - a`.
fn at_least_zero(op: BinaryOp, difference: Linear) -> Option<Vec<Linear>> {
    let mut positive = difference.clone();
    positive.constant = positive.constant.checked_sub(1)?;
    Some(match op {
        BinaryOp::Le => vec![difference],
        BinaryOp::Lt => vec![positive],
        _ => vec![difference, positive],
    })
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::system::Assignment;
    use crate::variable::VariableType;

    const LOWER: [i32; 3] = [-3, -2, 0];
    const UPPER: [i32; 3] = [3, 4, 1];

    fn states() -> impl Iterator<Item = [i32; 3]> {
        (LOWER[0]..=UPPER[0]).flat_map(|x| {
            (LOWER[1]..=UPPER[1]).flat_map(move |y| (LOWER[2]..=UPPER[2]).map(move |z| [x, y, z]))
        })
    }

    fn linear(factors: [i64; 3], constant: i64) -> Linear {
        let terms = (0..3).map(|v| (VarId(v), i128::from(factors[v as usize]))).collect();
        Linear::merged(terms, constant.into()).expect("small numbers")
    }

    fn value(linear: &Linear, state: &[i32]) -> i64 {
        linear.terms.iter().map(|&(v, factor)| factor * i64::from(state[v.index()])).sum::<i64>()
            + linear.constant
    }

    fn factors() -> impl Strategy<Value = [i64; 3]> {
        proptest::array::uniform3(-4..5_i64)
    }

    /// `x`, `y` and the Boolean `z`.
    fn pool() -> (ExprPool, [ExprId; 3], Vec<Variable>) {
        let mut pool = ExprPool::new();
        let types = [
            VariableType::Int { lower: LOWER[0], upper: UPPER[0] },
            VariableType::Int { lower: LOWER[1], upper: UPPER[1] },
            VariableType::Bool,
        ];
        let variables: Vec<Variable> =
            ["x", "y", "z"].iter().zip(types).map(|(name, ty)| Variable::new(*name, ty)).collect();
        let ids = [0, 1, 2].map(|v| pool.variable(VarId(v), &variables[v as usize]));
        (pool, ids, variables)
    }

    proptest! {
        #[test]
        fn the_normal_form_says_the_same_up_to_negation(factors in factors(), constant in -12..13_i64) {
            let linear = linear(factors, constant);
            let expected = |state: &[i32]| value(&linear, state) >= 0;
            let Some((inequality, is_negated)) = Inequality::not_negative(&linear, &LOWER, &UPPER) else {
                let first = expected(&states().next().expect("a state"));
                prop_assert!(states().all(|state| expected(&state) == first));
                return Ok(());
            };
            for state in states() {
                prop_assert_eq!(inequality.holds(&state) != is_negated, expected(&state));
            }
            // Its negation has the same normal form.
            let negated = Linear {
                terms: linear.terms.iter().map(|&(v, factor)| (v, -factor)).collect(),
                constant: -linear.constant - 1,
            };
            let other = Inequality::not_negative(&negated, &LOWER, &UPPER);
            prop_assert_eq!(other, Some((inequality, !is_negated)));
        }

        #[test]
        fn narrowing_loses_no_state(factors in factors(), constant in -12..13_i64, value in any::<bool>()) {
            let normal = Inequality::not_negative(&linear(factors, constant), &LOWER, &UPPER);
            if let Some((inequality, _)) = normal {
                let (mut lower, mut upper) = (LOWER, UPPER);
                prop_assert!(inequality.narrow(value, &mut lower, &mut upper));
                for state in states().filter(|state| inequality.holds(state) == value) {
                    prop_assert!((0..3).all(|v| lower[v] <= state[v] && state[v] <= upper[v]), "{:?}", state);
                }
                match inequality.over_box(&lower, &upper) {
                    Truth::Unknown => {}
                    truth => prop_assert_eq!(truth == Truth::True, value),
                }
            }
        }

        #[test]
        fn a_precondition_decides_what_holds_after_the_step(
            factors in factors(),
            constant in -12..13_i64,
            update in proptest::array::uniform2(-4..5_i64),
            add in -2..3_i64,
        ) {
            // x := Σ update + add
            let (mut pool, [x, y, _], _) = pool();
            let one = pool.int(1);
            let mut value = pool.int(add);
            for (variable, factor) in [x, y].into_iter().zip(update) {
                let factor = pool.int(factor);
                let product = pool.mul(factor, variable).expect("integers");
                value = pool.add(value, product).expect("integers");
            }
            let assignments = vec![Assignment { variable: VarId(0), value }];
            let outcome = Outcome { probability: one, assignments, requirements: Vec::new() };
            if let Some((inequality, _)) = Inequality::not_negative(&linear(factors, constant), &LOWER, &UPPER) {
                let before = inequality.before(&pool, &outcome).expect("linear");
                for state in states() {
                    let new = update[0] * i64::from(state[0]) + update[1] * i64::from(state[1]) + add;
                    let after = [new as i32, state[1], state[2]];
                    prop_assert_eq!(self::value(&before, &state) >= 0, inequality.holds(&after));
                }
            }
        }
    }

    #[test]
    fn conditions_are_taken_apart_into_different_atoms() {
        let (mut pool, [x, y, z], variables) = pool();
        let (two, three) = (pool.int(2), pool.int(3));
        let equal = pool.eq(x, two).expect("numbers");
        let less = pool.lt(y, three).expect("numbers");
        let same = pool.ge(y, three).expect("numbers");
        let sum = pool.add(x, y).expect("numbers");
        let product = pool.mul(x, y).expect("numbers");
        let far = pool.le(sum, three).expect("numbers");
        let curved = pool.le(product, three).expect("numbers");
        let all = pool.all([equal, less, same, z, far, curved]).expect("conditions");
        let mut texts: Vec<String> = Predicate::atoms(&pool, all, &LOWER, &UPPER)
            .iter()
            .map(|predicate| match predicate {
                Predicate::Linear(inequality) => inequality.display(&variables),
                Predicate::Condition(id) => pool.display(*id, &variables),
            })
            .collect();
        texts.sort();
        texts.dedup();
        let expected = ["((x * y) ≤ 3)", "x + y ≥ 4", "x ≥ 2", "x ≥ 3", "y ≥ 3", "z ≥ true"];
        assert_eq!(texts, expected);
        // As one predicate, an equality stays what it is.
        assert_eq!(Predicate::of_condition(&pool, equal, &LOWER, &UPPER), Some(Predicate::Condition(equal)));
        assert_eq!(
            Predicate::of_condition(&pool, less, &LOWER, &UPPER),
            Predicate::of_condition(&pool, same, &LOWER, &UPPER)
        );
    }

    #[test]
    fn cases_of_new_values_are_taken_apart() {
        let (mut pool, [x, y, z], variables) = pool();
        let (one, three) = (pool.int(1), pool.int(3));
        // x := if z then min(x + 1, 3) else y
        let more = pool.add(x, one).expect("numbers");
        let least = pool.min(more, three).expect("numbers");
        let value = pool.ite(z, least, y).expect("numbers");
        let assignments = vec![Assignment { variable: VarId(0), value }];
        let outcome = Outcome { probability: one, assignments, requirements: Vec::new() };
        let bound = Inequality::bound(VarId(0), 2, &LOWER, &UPPER).expect("in the domain");
        let mut texts: Vec<String> = bound
            .preconditions(&pool, &outcome, &LOWER, &UPPER)
            .iter()
            .map(|predicate| match predicate {
                Predicate::Linear(inequality) => inequality.display(&variables),
                Predicate::Condition(_) => "a condition".into(),
            })
            .collect();
        texts.sort();
        assert_eq!(texts, ["x ≥ 1", "y ≥ 2", "z ≥ true"]);
    }
}
