//! Values of expressions over a part of the state space.
//!
//! For each instruction we keep which values it can take at the states of the part, and whether it can be undefined at
//! one of them. Both may be more than what really happens, never less. At a part of one state the answer is exact.
//!
//! Integers are bounded in 128 bits and then compared with the 64 bits that they must fit. Reals of models *are*
//! doubles, rounded to nearest, and rounding is monotone: the rounded ends enclose the rounded values between them, so
//! no widening is needed. `pow` and `log` are not monotone in this sense. They are evaluated where both operands are
//! known, and may be anything elsewhere.

use surefoot_model::{
    BinaryOp, ExprId, ExprPool, Node, PointValue, Program, Type, UnaryOp, Undefined, Value,
};

use crate::part::Part;

/// What an expression can be in a part. A range whose lower end is above the upper one is empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Range {
    Truth { yes: bool, no: bool },
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
        let range = match ty {
            Type::Bool => Range::Truth { yes: false, no: false },
            Type::Int => Range::Int(1, 0),
            Type::Real => Range::Real(1.0, 0.0),
        };
        Values { range, undefined: true }
    }

    fn is_empty(self) -> bool {
        match self.range {
            Range::Truth { yes, no } => !yes && !no,
            Range::Int(lower, upper) => lower > upper,
            Range::Real(lower, upper) => lower > upper,
        }
    }

    /// Whether it can be true.
    pub fn yes(self) -> bool {
        matches!(self.range, Range::Truth { yes: true, .. })
    }

    /// Whether it can be false.
    pub fn no(self) -> bool {
        matches!(self.range, Range::Truth { no: true, .. })
    }

    /// Whether it has the same value, or none, at every state.
    pub fn is_constant(self) -> bool {
        match self.range {
            _ if self.undefined => self.is_empty(),
            Range::Truth { yes, no } => yes != no,
            Range::Int(lower, upper) => lower == upper,
            Range::Real(lower, upper) => lower == upper,
        }
    }

    /// The number that it is at every state.
    pub fn number(self) -> Option<f64> {
        match self.range {
            _ if self.undefined => None,
            Range::Int(lower, upper) => (lower == upper).then_some(lower as f64),
            Range::Real(lower, upper) => (lower == upper).then_some(lower),
            Range::Truth { .. } => None,
        }
    }

    /// The integers that it can be, truth values as 0 and 1; `None` if it never has a value.
    pub fn integers(self) -> Option<(i64, i64)> {
        match self.range {
            Range::Truth { yes, no } => (yes || no).then_some((i64::from(!no), i64::from(yes))),
            Range::Int(lower, upper) => (lower <= upper).then_some((lower, upper)),
            Range::Real(..) => None,
        }
    }

    fn union(self, other: Values) -> Values {
        let undefined = self.undefined || other.undefined;
        if self.is_empty() || other.is_empty() {
            let range = if self.is_empty() { other.range } else { self.range };
            return Values { range, undefined };
        }
        let range = match (self.range, other.range) {
            (Range::Truth { yes: a, no: b }, Range::Truth { yes: c, no: d }) => {
                Range::Truth { yes: a || c, no: b || d }
            }
            (Range::Int(a, b), Range::Int(c, d)) => Range::Int(a.min(c), b.max(d)),
            (a, b) => {
                let ((a, b), (c, d)) = (reals(a), reals(b));
                Range::Real(a.min(c), b.max(d))
            }
        };
        Values { range, undefined }
    }
}

fn reals(range: Range) -> (f64, f64) {
    match range {
        Range::Int(lower, upper) => (lower as f64, upper as f64),
        Range::Real(lower, upper) => (lower, upper),
        Range::Truth { .. } => unreachable!("expressions are typed"),
    }
}

/// An expression, ready for evaluation over parts and at states.
#[derive(Debug)]
pub(crate) struct Expression {
    nodes: Vec<(Node, Type)>,
    program: Program,
    /// The variables that it reads.
    pub variables: Vec<usize>,
}

/// Working memory.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    values: Vec<Values>,
    points: Vec<PointValue>,
}

impl Expression {
    pub fn new(pool: &ExprPool, root: ExprId) -> Expression {
        let ids = pool.reachable([root]);
        let slot = |id: ExprId| ExprId(ids.binary_search(&id).expect("operands are reachable") as u32);
        let nodes = ids.iter().map(|&id| (pool.node(id).with_operands(slot), pool.ty(id))).collect();
        let program = Program::new(pool, &[root]);
        let variables = program.variables().into_iter().map(surefoot_model::VarId::index).collect();
        Expression { nodes, program, variables }
    }

    /// The value at a state.
    pub fn at(&self, state: &[i32], slots: &mut Slots) -> PointValue {
        self.program.run_state(state, &mut slots.points);
        self.program.output(0, &slots.points)
    }

    /// Whether it is true at a state.
    pub fn holds_at(&self, state: &[i32], slots: &mut Slots) -> Result<bool, Undefined> {
        self.at(state, slots).map(|value| value == Value::Bool(true))
    }

    /// What it can be in a part.
    pub fn over(&self, part: &Part, slots: &mut Slots) -> Values {
        slots.values.clear();
        for (node, ty) in &self.nodes {
            let value = apply(node, *ty, part, &slots.values);
            slots.values.push(coerce(value, *ty));
        }
        slots.values[slots.values.len() - 1]
    }

    /// A variable with several values on which the value in a part may depend: the widest one below instructions that
    /// are not constant.
    pub fn open_variable(&self, part: &Part, slots: &mut Slots) -> Option<usize> {
        self.over(part, slots);
        let mut matters = vec![false; self.nodes.len()];
        matters[self.nodes.len() - 1] = true;
        let mut variables = Vec::new();
        for slot in (0..self.nodes.len()).rev() {
            if matters[slot] && !slots.values[slot].is_constant() {
                self.nodes[slot].0.for_each_operand(|operand| matters[operand.index()] = true);
                if let Node::Variable(variable) = self.nodes[slot].0 {
                    variables.push(variable.index());
                }
            }
        }
        variables.sort_unstable();
        part.widest(variables)
    }
}

fn coerce(value: Values, ty: Type) -> Values {
    match value.range {
        Range::Int(..) if ty == Type::Real && value.is_empty() => Values::none(ty),
        Range::Int(..) if ty == Type::Real => {
            let (lower, upper) = reals(value.range);
            Values { range: Range::Real(lower, upper), ..value }
        }
        _ => value,
    }
}

fn apply(node: &Node, ty: Type, part: &Part, slots: &[Values]) -> Values {
    let of = |id: ExprId| slots[id.index()];
    match node {
        Node::Constant(Value::Bool(value)) => Values::defined(Range::Truth { yes: *value, no: !value }),
        Node::Constant(Value::Int(value)) => Values::defined(Range::Int(*value, *value)),
        Node::Constant(Value::Real(value)) => Values::defined(Range::Real(*value, *value)),
        Node::Variable(variable) => {
            let (lower, upper) = part.0[variable.index()];
            Values::defined(match ty {
                Type::Bool => Range::Truth { yes: upper >= 1, no: lower <= 0 },
                _ => Range::Int(lower.into(), upper.into()),
            })
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
    let (lower, upper) = index.integers().unwrap_or((1, 0));
    let last = elements.len() as i64 - 1;
    let undefined = index.undefined || lower < 0 || upper > last;
    let mut result = Values { undefined, ..Values::none(ty) };
    for position in lower.max(0)..=upper.min(last) {
        result = result.union(of(elements[position as usize]));
    }
    result
}

fn negation(a: Values) -> Values {
    Values { range: Range::Truth { yes: a.no(), no: a.yes() }, undefined: a.undefined }
}

/// Kleene's: true if one operand is, false if both are, undefined otherwise.
fn disjunction(a: Values, b: Values) -> Values {
    let yes = a.yes() || b.yes();
    let undefined = a.undefined && (b.no() || b.undefined) || b.undefined && (a.no() || a.undefined);
    Values { range: Range::Truth { yes, no: a.no() && b.no() }, undefined }
}

fn unary(op: UnaryOp, a: Values) -> Values {
    let rounded = |round: fn(f64) -> f64| match a.range {
        Range::Real(lower, upper) if lower <= upper => {
            // Beyond 2⁶³ the conversion saturates at 128 bits, which do not fit 64 bits either.
            integer((round(lower) as i128, round(upper) as i128), a.undefined)
        }
        Range::Real(..) => Values::none(Type::Int),
        _ => a,
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
    if lower == f64::INFINITY || upper == f64::NEG_INFINITY {
        return Values::none(Type::Real);
    }
    let undefined = undefined || lower.is_infinite() || upper.is_infinite();
    Values { range: Range::Real(lower.max(-f64::MAX), upper.min(f64::MAX)), undefined }
}

fn truth(yes: bool, no: bool, undefined: bool) -> Values {
    Values { range: Range::Truth { yes, no }, undefined }
}

fn binary(op: BinaryOp, ty: Type, a: Values, b: Values) -> Values {
    if a.is_empty() || b.is_empty() {
        return Values::none(ty);
    }
    let undefined = a.undefined || b.undefined;
    match (a.range, b.range) {
        (Range::Truth { yes: ay, no: an }, Range::Truth { yes: by, no: bn }) => {
            truth(ay && by || an && bn, ay && bn || an && by, undefined)
        }
        (Range::Int(al, au), Range::Int(bl, bu))
            if !matches!(op, BinaryOp::Div | BinaryOp::Pow | BinaryOp::Log) =>
        {
            integers(op, (al.into(), au.into()), (bl.into(), bu.into()), undefined)
        }
        _ => real(op, reals(a.range), reals(b.range), undefined),
    }
}

fn integers(op: BinaryOp, a: (i128, i128), b: (i128, i128), undefined: bool) -> Values {
    use BinaryOp as B;
    match op {
        B::Eq => truth(a.0 <= b.1 && b.0 <= a.1, a.0 != a.1 || b.0 != b.1 || a.0 != b.0, undefined),
        B::Lt => truth(a.0 < b.1, a.1 >= b.0, undefined),
        B::Le => truth(a.0 <= b.1, a.1 > b.0, undefined),
        B::Add => integer((a.0 + b.0, a.1 + b.1), undefined),
        B::Sub => integer((a.0 - b.1, a.1 - b.0), undefined),
        B::Mul => {
            let corners = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
            let (least, most) = (corners.iter().min(), corners.iter().max());
            integer((*least.expect("four"), *most.expect("four")), undefined)
        }
        B::Min => integer((a.0.min(b.0), a.1.min(b.1)), undefined),
        B::Max => integer((a.0.max(b.0), a.1.max(b.1)), undefined),
        B::Mod => remainder(a, b, undefined),
        B::And | B::Or | B::Div | B::Pow | B::Log => unreachable!("no operations on two integers"),
    }
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
    use BinaryOp as B;
    let corners = |f: fn(f64, f64) -> f64| {
        let values = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
        let ends = (values.iter().copied().reduce(f64::min), values.iter().copied().reduce(f64::max));
        finite((ends.0.expect("four"), ends.1.expect("four")), undefined)
    };
    let known = |f: fn(f64, f64) -> f64| {
        let value = f(a.0, b.0);
        match a.0 == a.1 && b.0 == b.1 {
            true if value.is_finite() => finite((value, value), undefined),
            true => Values::none(Type::Real),
            false => finite((f64::NEG_INFINITY, f64::INFINITY), true),
        }
    };
    match op {
        B::Eq => truth(a.0 <= b.1 && b.0 <= a.1, a.0 != a.1 || b.0 != b.1 || a.0 != b.0, undefined),
        B::Lt => truth(a.0 < b.1, a.1 >= b.0, undefined),
        B::Le => truth(a.0 <= b.1, a.1 > b.0, undefined),
        B::Add => finite((a.0 + b.0, a.1 + b.1), undefined),
        B::Sub => finite((a.0 - b.1, a.1 - b.0), undefined),
        B::Mul => corners(|x, y| x * y),
        B::Min => finite((a.0.min(b.0), a.1.min(b.1)), undefined),
        B::Max => finite((a.0.max(b.0), a.1.max(b.1)), undefined),
        B::Div if b == (0.0, 0.0) => Values::none(Type::Real),
        B::Div if b.0 <= 0.0 && b.1 >= 0.0 => finite((f64::NEG_INFINITY, f64::INFINITY), true),
        B::Div => corners(|x, y| x / y),
        B::Pow => known(f64::powf),
        B::Log => known(f64::log),
        B::Mod | B::And | B::Or => unreachable!("no operations on reals"),
    }
}

#[cfg(test)]
mod tests {
    use surefoot_model::VarId;

    use super::*;

    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % end
        }
    }

    /// Random expressions, each over earlier ones: two integer variables, a Boolean one, and numbers at the ends of
    /// their ranges. Combinations that have no type are left out.
    fn expressions(random: &mut Random) -> ExprPool {
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

    fn includes(values: Values, value: PointValue) -> bool {
        match (value, values.range) {
            (Err(_), _) => values.undefined,
            (Ok(Value::Bool(value)), Range::Truth { yes, no }) => {
                if value {
                    yes
                } else {
                    no
                }
            }
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
            let states: Vec<Vec<i32>> = states.collect();
            for index in 0..pool.len() {
                let expression = Expression::new(&pool, ExprId(index as u32));
                let values = expression.over(&part, &mut slots);
                for state in &states {
                    let value = expression.at(state, &mut slots);
                    assert!(includes(values, value), "{value:?} in {values:?}");
                    let point = Part(state.iter().map(|&value| (value, value)).collect());
                    let exact = expression.over(&point, &mut slots);
                    assert!(includes(exact, value) && exact.is_constant(), "{value:?} is {exact:?}");
                }
            }
        }
    }
}
