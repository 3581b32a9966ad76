//! Values of expressions over a part of the state space.
//!
//! For each instruction we keep which values it can take at the states of the part, and whether it can be undefined at
//! one of them. Both may be more than what really happens, never less. At a part of one state the answer is exact.
//!
//! Integers are bounded in 128 bits and then compared with the 64 bits that they must fit. Reals of models *are*
//! doubles, rounded to nearest, and rounding is monotone: the rounded ends enclose the rounded values between them, so
//! no widening is needed. `pow` and `log` are not monotone in this sense. They are evaluated where both operands are
//! known, and may be anything elsewhere.

use surefoot_model::{BinaryOp, ExprId, ExprPool, Node, Type, UnaryOp, Value};

use crate::part::{Cut, Part};

/// What an expression can be in a part; truth values are 0 and 1. A range whose lower end is above the upper one is
/// empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Range {
    Int(i64, i64),
    Real(f64, f64),
}

/// The values of an expression in a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Values {
    pub range: Range,
    /// Whether it may have no value at some state.
    pub undefined: bool,
}

impl Values {
    fn defined(range: Range) -> Values {
        Values { range, undefined: false }
    }

    /// It has no value anywhere.
    fn none(ty: Type) -> Values {
        let range = if ty == Type::Real { Range::Real(1.0, 0.0) } else { Range::Int(1, 0) };
        Values { range, undefined: true }
    }

    fn truth(yes: bool, no: bool, undefined: bool) -> Values {
        Values { range: Range::Int((!no).into(), yes.into()), undefined }
    }

    fn is_empty(self) -> bool {
        match self.range {
            Range::Int(lower, upper) => lower > upper,
            Range::Real(lower, upper) => lower > upper,
        }
    }

    /// Whether it can be true.
    pub fn yes(self) -> bool {
        matches!(self.range, Range::Int(_, 1..))
    }

    /// Whether it can be false.
    pub fn no(self) -> bool {
        matches!(self.range, Range::Int(..=0, _))
    }

    /// Whether it is true at every state.
    pub fn always(self) -> bool {
        !self.no() && !self.undefined
    }

    /// Whether it has the same value, or none, at every state.
    fn is_constant(self) -> bool {
        if self.undefined { self.is_empty() } else { self.number().is_some() }
    }

    /// The number that it is at every state.
    pub fn number(self) -> Option<f64> {
        match self.range {
            _ if self.undefined => None,
            Range::Int(lower, upper) => (lower == upper).then_some(lower as f64),
            Range::Real(lower, upper) => (lower == upper).then_some(lower),
        }
    }

    /// The integers that it can be.
    pub fn integers(self) -> (i64, i64) {
        match self.range {
            Range::Int(lower, upper) => (lower, upper),
            Range::Real(..) => (i64::MIN, i64::MAX),
        }
    }

    fn reals(self) -> (f64, f64) {
        match self.range {
            Range::Int(lower, upper) => (lower as f64, upper as f64),
            Range::Real(lower, upper) => (lower, upper),
        }
    }

    fn union(self, other: Values) -> Values {
        let undefined = self.undefined || other.undefined;
        let range = match (self.range, other.range) {
            (range, _) if other.is_empty() => range,
            (_, range) if self.is_empty() => range,
            (Range::Int(a, b), Range::Int(c, d)) => Range::Int(a.min(c), b.max(d)),
            _ => {
                let ((a, b), (c, d)) = (self.reals(), other.reals());
                Range::Real(a.min(c), b.max(d))
            }
        };
        Values { range, undefined }
    }

    /// Integers where reals are expected become reals.
    fn coerce(self, ty: Type) -> Values {
        match self.range {
            Range::Int(..) if ty == Type::Real && self.is_empty() => Values::none(ty),
            Range::Int(lower, upper) if ty == Type::Real => {
                Values { range: Range::Real(lower as f64, upper as f64), ..self }
            }
            _ => self,
        }
    }
}

/// An expression, ready for evaluation over parts.
#[derive(Debug)]
pub(crate) struct Expression {
    pub nodes: Vec<(Node, Type)>,
    /// The variables that it reads.
    pub variables: Vec<usize>,
}

/// Working memory.
#[derive(Debug, Default)]
pub(crate) struct Slots(pub Vec<Values>);

impl Expression {
    pub fn new(pool: &ExprPool, root: ExprId) -> Expression {
        let ids = pool.reachable([root]);
        let slot = |id: ExprId| ExprId(ids.binary_search(&id).expect("operands are reachable") as u32);
        let nodes: Vec<(Node, Type)> =
            ids.iter().map(|&id| (pool.node(id).with_operands(slot), pool.ty(id))).collect();
        let variables = nodes.iter().filter_map(|(node, _)| match node {
            Node::Variable(variable) => Some(variable.index()),
            _ => None,
        });
        Expression { variables: variables.collect(), nodes }
    }

    /// What it can be in a part.
    pub fn over(&self, part: &Part, Slots(slots): &mut Slots) -> Values {
        slots.clear();
        for (node, ty) in &self.nodes {
            let value = apply(node, *ty, part, slots).coerce(*ty);
            slots.push(value);
        }
        slots[slots.len() - 1]
    }

    /// Halves a variable on which the value in a part may depend: the widest one below instructions that are not
    /// constant.
    pub fn cut(&self, part: &Part, slots: &mut Slots) -> Option<Cut> {
        self.over(part, slots);
        let mut matters = vec![false; self.nodes.len()];
        matters[self.nodes.len() - 1] = true;
        let mut variables = Vec::new();
        for slot in (0..self.nodes.len()).rev() {
            if matters[slot] && !slots.0[slot].is_constant() {
                self.nodes[slot].0.for_each_operand(|operand| matters[operand.index()] = true);
                if let Node::Variable(variable) = self.nodes[slot].0 {
                    variables.push(variable.index());
                }
            }
        }
        variables.sort_unstable();
        part.halves(variables)
    }
}

fn apply(node: &Node, ty: Type, part: &Part, slots: &[Values]) -> Values {
    let of = |id: ExprId| slots[id.index()];
    match node {
        Node::Constant(Value::Bool(value)) => Values::truth(*value, !value, false),
        Node::Constant(Value::Int(value)) => Values::defined(Range::Int(*value, *value)),
        Node::Constant(Value::Real(value)) => Values::defined(Range::Real(*value, *value)),
        Node::Variable(variable) => {
            let (lower, upper) = part.0[variable.index()];
            Values::defined(Range::Int(lower.into(), upper.into()))
        }
        Node::Unary(op, operand) => unary(*op, of(*operand)),
        Node::Binary(BinaryOp::And, a, b) => negation(disjunction(negation(of(*a)), negation(of(*b)))),
        Node::Binary(BinaryOp::Or, a, b) => disjunction(of(*a), of(*b)),
        Node::Binary(op, a, b) => binary(*op, ty, of(*a), of(*b)),
        Node::Ite(condition, then, otherwise) => {
            let condition = of(*condition);
            let mut result = Values { undefined: condition.undefined, ..Values::none(ty) };
            for (taken, branch) in [(condition.yes(), *then), (condition.no(), *otherwise)] {
                if taken {
                    result = result.union(of(branch));
                }
            }
            result
        }
        Node::Select { elements, index } => select(elements, of(*index), ty, of),
    }
}

fn select(elements: &[ExprId], index: Values, ty: Type, of: impl Fn(ExprId) -> Values) -> Values {
    let (lower, upper) = index.integers();
    let last = elements.len() as i64 - 1;
    let undefined = index.undefined || lower < 0 || upper > last;
    let mut result = Values { undefined, ..Values::none(ty) };
    for position in lower.max(0)..=upper.min(last) {
        result = result.union(of(elements[position as usize]));
    }
    result
}

fn negation(a: Values) -> Values {
    Values::truth(a.no(), a.yes(), a.undefined)
}

/// Kleene's: true if one operand is, false if both are, undefined otherwise.
fn disjunction(a: Values, b: Values) -> Values {
    let undefined = a.undefined && (b.no() || b.undefined) || b.undefined && (a.no() || a.undefined);
    Values::truth(a.yes() || b.yes(), a.no() && b.no(), undefined)
}

fn unary(op: UnaryOp, a: Values) -> Values {
    let rounded = |round: fn(f64) -> f64| match a.range {
        Range::Real(lower, upper) if lower <= upper => {
            // Beyond 2⁶³ the conversion saturates at 128 bits, which do not fit 64 bits either.
            integer((round(lower) as i128, round(upper) as i128), a.undefined)
        }
        Range::Real(..) => Values::none(Type::Int),
        Range::Int(..) => a,
    };
    match op {
        UnaryOp::Not => negation(a),
        UnaryOp::Floor => rounded(f64::floor),
        UnaryOp::Ceil => rounded(f64::ceil),
    }
}

/// Integers that must fit 64 bits.
fn integer((lower, upper): (i128, i128), undefined: bool) -> Values {
    let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
    if lower > most || upper < least {
        return Values::none(Type::Int);
    }
    let undefined = undefined || lower < least || upper > most;
    Values { range: Range::Int(lower.max(least) as i64, upper.min(most) as i64), undefined }
}

/// Doubles that must be finite.
fn finite((lower, upper): (f64, f64), undefined: bool) -> Values {
    if lower.is_nan() || upper.is_nan() {
        return Values { range: Range::Real(-f64::MAX, f64::MAX), undefined: true };
    }
    if lower == f64::INFINITY || upper == f64::NEG_INFINITY {
        return Values::none(Type::Real);
    }
    let undefined = undefined || lower.is_infinite() || upper.is_infinite();
    Values { range: Range::Real(lower.max(-f64::MAX), upper.min(f64::MAX)), undefined }
}

fn binary(op: BinaryOp, ty: Type, a: Values, b: Values) -> Values {
    if a.is_empty() || b.is_empty() {
        return Values::none(ty);
    }
    let undefined = a.undefined || b.undefined;
    match (a.range, b.range) {
        (Range::Int(al, au), Range::Int(bl, bu))
            if !matches!(op, BinaryOp::Div | BinaryOp::Pow | BinaryOp::Log) =>
        {
            let (a, b) = ((al.into(), au.into()), (bl.into(), bu.into()));
            comparison(op, a, b, undefined).unwrap_or_else(|| integers(op, a, b, undefined))
        }
        _ => {
            let (a, b) = (a.reals(), b.reals());
            comparison(op, a, b, undefined).unwrap_or_else(|| real(op, a, b, undefined))
        }
    }
}

fn comparison<T: PartialOrd + Copy>(op: BinaryOp, a: (T, T), b: (T, T), undefined: bool) -> Option<Values> {
    let (yes, no) = match op {
        BinaryOp::Eq => (a.0 <= b.1 && b.0 <= a.1, a.0 != a.1 || b.0 != b.1 || a.0 != b.0),
        BinaryOp::Lt => (a.0 < b.1, a.1 >= b.0),
        BinaryOp::Le => (a.0 <= b.1, a.1 > b.0),
        _ => return None,
    };
    Some(Values::truth(yes, no, undefined))
}

fn integers(op: BinaryOp, a: (i128, i128), b: (i128, i128), undefined: bool) -> Values {
    let ends = match op {
        BinaryOp::Add => (a.0 + b.0, a.1 + b.1),
        BinaryOp::Sub => (a.0 - b.1, a.1 - b.0),
        BinaryOp::Mul => {
            let corners = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
            corners.iter().fold((corners[0], corners[0]), |ends, &x| (ends.0.min(x), ends.1.max(x)))
        }
        BinaryOp::Min => (a.0.min(b.0), a.1.min(b.1)),
        BinaryOp::Max => (a.0.max(b.0), a.1.max(b.1)),
        BinaryOp::Mod => return remainder(a, b, undefined),
        _ => unreachable!("no operation on two integers"),
    };
    integer(ends, undefined)
}

fn remainder(a: (i128, i128), b: (i128, i128), undefined: bool) -> Values {
    if b == (0, 0) {
        return Values::none(Type::Int);
    }
    let size = b.0.abs().max(b.1.abs());
    if b.0 == b.1 && a.0.div_euclid(size) == a.1.div_euclid(size) {
        return integer((a.0.rem_euclid(size), a.1.rem_euclid(size)), undefined);
    }
    let most = if a.0 >= 0 { a.1.min(size - 1) } else { size - 1 };
    integer((0, most), undefined || b.0 <= 0 && b.1 >= 0)
}

fn real(op: BinaryOp, a: (f64, f64), b: (f64, f64), undefined: bool) -> Values {
    let corners = |f: fn(f64, f64) -> f64| {
        let corners = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
        corners.iter().fold((corners[0], corners[0]), |ends, &x| (ends.0.min(x), ends.1.max(x)))
    };
    let anything = Values { range: Range::Real(-f64::MAX, f64::MAX), undefined: true };
    let ends = match op {
        BinaryOp::Add => (a.0 + b.0, a.1 + b.1),
        BinaryOp::Sub => (a.0 - b.1, a.1 - b.0),
        BinaryOp::Mul => corners(|x, y| x * y),
        BinaryOp::Min => (a.0.min(b.0), a.1.min(b.1)),
        BinaryOp::Max => (a.0.max(b.0), a.1.max(b.1)),
        BinaryOp::Div if b == (0.0, 0.0) => return Values::none(Type::Real),
        BinaryOp::Div if b.0 <= 0.0 && b.1 >= 0.0 => return anything,
        BinaryOp::Div => corners(|x, y| x / y),
        BinaryOp::Pow | BinaryOp::Log if a.0 != a.1 || b.0 != b.1 => return anything,
        BinaryOp::Pow | BinaryOp::Log => {
            let value = if op == BinaryOp::Pow { a.0.powf(b.0) } else { a.0.log(b.0) };
            if !value.is_finite() {
                return Values::none(Type::Real);
            }
            (value, value)
        }
        _ => unreachable!("no operation on reals"),
    };
    finite(ends, undefined)
}

#[cfg(test)]
pub(crate) mod tests {
    use surefoot_model::{PointValue, VarId};

    use super::*;

    pub(crate) struct Random(pub u64);

    impl Random {
        pub fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % end
        }
    }

    /// Random expressions, each over earlier ones: two integer variables, a Boolean one, and numbers at the ends of
    /// their ranges. Combinations that have no type are left out.
    pub(crate) fn expressions(random: &mut Random) -> ExprPool {
        let mut pool = ExprPool::new();
        let mut ids: Vec<ExprId> = (0..3)
            .map(|v| pool.variable_of_type(VarId(v), if v == 2 { Type::Bool } else { Type::Int }))
            .collect();
        for value in [0, 1, -3, 5, i64::MAX, i64::MIN, 1 << 40] {
            ids.push(pool.int(value));
        }
        for value in [0.5, -1e308, 1e-310, 0.1] {
            ids.push(pool.real(value));
        }
        for _ in 0..40 {
            let mut any = || ids[random.below(ids.len())];
            let (a, b, c) = (any(), any(), any());
            let made = match random.below(20) {
                0 => pool.and(a, b),
                1 => pool.or(a, b),
                2 => pool.not(a),
                3 => pool.eq(a, b),
                4 => pool.lt(a, b),
                5 => pool.le(a, b),
                6 | 7 => pool.add(a, b),
                8 => pool.sub(a, b),
                9 => pool.mul(a, b),
                10 => pool.div(a, b),
                11 => pool.modulo(a, b),
                12 => pool.pow(a, b),
                13 => pool.log(a, b),
                14 => pool.min(a, b),
                15 => pool.max(a, b),
                16 => pool.ite(a, b, c),
                17 => pool.floor(a),
                18 => pool.ceil(a),
                _ => pool.select(&[b, c], a),
            };
            ids.extend(made.ok());
        }
        pool
    }

    /// A small part for these expressions, and its states.
    pub(crate) fn states(random: &mut Random) -> (Part, Vec<Vec<i32>>) {
        let least = [-2, i32::MAX - 9][usize::from(random.below(5) == 0)];
        let mut range = |least: i32| {
            let lower = least + random.below(5) as i32;
            (lower, lower + random.below(4) as i32)
        };
        let part = Part(vec![range(-3), range(least), (0, 1)]);
        let states = (part.0[0].0..=part.0[0].1).flat_map(|x| {
            let (lower, upper) = part.0[1];
            (lower..=upper).flat_map(move |y| (0..=1).map(move |z| vec![x, y, z]))
        });
        let states = states.collect();
        (part, states)
    }

    pub(crate) fn value_at(pool: &ExprPool, id: ExprId, state: &[i32]) -> PointValue {
        pool.evaluate(id, |variable| {
            let value = state[variable.index()];
            if variable.index() == 2 { Value::Bool(value == 1) } else { Value::Int(value.into()) }
        })
    }

    fn includes(values: Values, value: PointValue) -> bool {
        match (value, values.range) {
            (Err(_), _) => values.undefined,
            (Ok(Value::Bool(value)), Range::Int(lower, upper)) => (lower..=upper).contains(&value.into()),
            (Ok(Value::Int(value)), Range::Int(lower, upper)) => (lower..=upper).contains(&value),
            (Ok(Value::Real(value)), Range::Real(lower, upper)) => (lower..=upper).contains(&value),
            _ => false,
        }
    }

    #[test]
    fn values_over_a_part_include_those_at_its_states_and_are_exact_at_points() {
        let mut random = Random(7);
        let mut slots = Slots::default();
        for _ in 0..1500 {
            let pool = expressions(&mut random);
            let (part, states) = states(&mut random);
            for index in 0..pool.len() {
                let expression = Expression::new(&pool, ExprId(index as u32));
                let values = expression.over(&part, &mut slots);
                for state in &states {
                    let value = value_at(&pool, ExprId(index as u32), state);
                    assert!(includes(values, value), "{value:?} in {values:?}");
                    let point = Part(state.iter().map(|&value| (value, value)).collect());
                    let exact = expression.over(&point, &mut slots);
                    assert!(includes(exact, value) && exact.is_constant(), "{value:?} is {exact:?}");
                }
            }
        }
    }
}
