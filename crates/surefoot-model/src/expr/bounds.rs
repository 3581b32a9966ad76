//! Evaluation over boxes: sound enclosures of all values that a program takes in a box of states.
//!
//! The one invariant: for every point of the box, the point value is in the enclosure, and if it is undefined the enclosure
//! says [`Enclosure::undefined`]. Real operations are enclosed without widening where double-precision rounding is
//! monotone in each operand (`+ - * /`, comparison, rounding to integers); powers and logarithms are not
//! correctly rounded and are enclosed only at single points.

use super::point::{apply, coerce, to_int};
use super::{BinaryOp, Node, Program, UnaryOp};
use crate::value::{Type, Value};
use crate::variable::VarId;

/// A three-valued answer about a condition over a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// Defined and true everywhere.
    True,
    /// Defined and false everywhere.
    False,
    /// Anything else: mixed, undefined somewhere, or not decided.
    Unknown,
}

/// The values that an expression may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Enclosure {
    /// The defined values.
    pub values: Range,
    /// Whether the expression may be undefined somewhere.
    pub undefined: bool,
}

/// A set of values, never empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Truth values.
    Bool {
        /// Whether false is possible.
        can_be_false: bool,
        /// Whether true is possible.
        can_be_true: bool,
    },
    /// Integers between the two, both included.
    Int(i64, i64),
    /// Reals between the two, both included.
    Real(f64, f64),
}

const ANY_BOOL: Range = Range::Bool { can_be_false: true, can_be_true: true };

impl Range {
    /// Every value of a type.
    pub fn any(ty: Type) -> Range {
        match ty {
            Type::Bool => ANY_BOOL,
            Type::Int => Range::Int(i64::MIN, i64::MAX),
            Type::Real => Range::Real(f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// Just this value.
    pub fn point(value: Value) -> Range {
        match value {
            Value::Bool(b) => Range::Bool { can_be_false: !b, can_be_true: b },
            Value::Int(i) => Range::Int(i, i),
            Value::Real(r) => Range::Real(r, r),
        }
    }

    /// The value, if there is only one.
    pub fn as_point(self) -> Option<Value> {
        match self {
            Range::Bool { can_be_false: false, .. } => Some(Value::Bool(true)),
            Range::Bool { can_be_true: false, .. } => Some(Value::Bool(false)),
            Range::Int(lower, upper) if lower == upper => Some(Value::Int(lower)),
            Range::Real(lower, upper) if lower == upper => Some(Value::Real(lower)),
            _ => None,
        }
    }

    fn bools(self) -> (bool, bool) {
        match self {
            Range::Bool { can_be_false, can_be_true } => (can_be_false, can_be_true),
            _ => unreachable!("expressions are typed"),
        }
    }

    fn reals(self) -> (f64, f64) {
        match self {
            Range::Int(lower, upper) => (lower as f64, upper as f64),
            Range::Real(lower, upper) => (lower, upper),
            Range::Bool { .. } => unreachable!("expressions are typed"),
        }
    }

    fn join(self, other: Range) -> Range {
        match (self, other) {
            (Range::Int(a, b), Range::Int(c, d)) => Range::Int(a.min(c), b.max(d)),
            (Range::Bool { .. }, Range::Bool { .. }) => {
                let ((f1, t1), (f2, t2)) = (self.bools(), other.bools());
                Range::Bool { can_be_false: f1 || f2, can_be_true: t1 || t2 }
            }
            _ => {
                let ((a, b), (c, d)) = (self.reals(), other.reals());
                Range::Real(a.min(c), b.max(d))
            }
        }
    }

    fn coerce(self, ty: Type) -> Range {
        match (self, ty) {
            (Range::Int(..), Type::Real) => {
                let (lower, upper) = self.reals();
                Range::Real(lower, upper)
            }
            _ => self,
        }
    }
}

impl Enclosure {
    /// A defined set of values.
    pub fn defined(values: Range) -> Self {
        Enclosure { values, undefined: false }
    }

    /// Reads a Boolean enclosure as a three-valued answer.
    pub fn truth(self) -> Truth {
        match self.values {
            Range::Bool { can_be_false: false, .. } if !self.undefined => Truth::True,
            Range::Bool { can_be_true: false, .. } if !self.undefined => Truth::False,
            _ => Truth::Unknown,
        }
    }
}

impl Program {
    /// Runs the program over a box, given as the range of each variable (with its type), and leaves every slot's enclosure
    /// in `slots`.
    pub fn run_box(&self, range: impl Fn(VarId, Type) -> Range, slots: &mut Vec<Enclosure>) {
        slots.clear();
        for (node, &ty) in self.code.iter().zip(&self.types) {
            let mut enclosure = enclose(node, ty, slots, &range);
            enclosure.values = enclosure.values.coerce(ty);
            slots.push(enclosure);
        }
    }

    /// The enclosure of output `i` after [`Program::run_box`].
    pub fn output_box(&self, i: usize, slots: &[Enclosure]) -> Enclosure {
        slots[self.outputs[i].index()]
    }

    /// Runs a program with one output over a box of discrete variables, given by lower and upper bounds.
    pub fn over_box(&self, lower: &[i32], upper: &[i32], slots: &mut Vec<Enclosure>) -> Enclosure {
        let range = |v: VarId, ty| {
            let (lower, upper) = (lower[v.index()], upper[v.index()]);
            match ty {
                Type::Bool => Range::Bool { can_be_false: lower == 0, can_be_true: upper == 1 },
                _ => Range::Int(i64::from(lower), i64::from(upper)),
            }
        };
        self.run_box(range, slots);
        self.output_box(0, slots)
    }
}

/// The enclosure of a node, given those of its operands.
fn enclose(node: &Node, ty: Type, slots: &[Enclosure], range: &impl Fn(VarId, Type) -> Range) -> Enclosure {
    let slot = |id: super::ExprId| slots[id.index()];
    match node {
        Node::Constant(v) => Enclosure::defined(Range::point(*v)),
        Node::Variable(v) => Enclosure::defined(range(*v, ty)),
        Node::Unary(op, a) => unary(*op, slot(*a)),
        Node::Binary(BinaryOp::And, a, b) => conjunction(slot(*a), slot(*b)),
        Node::Binary(BinaryOp::Or, a, b) => negate(conjunction(negate(slot(*a)), negate(slot(*b)))),
        Node::Binary(BinaryOp::Mod | BinaryOp::Pow | BinaryOp::Log, a, b)
            if is_point(slot(*a)) && is_point(slot(*b)) =>
        {
            at_point(node, ty, slot)
        }
        Node::Binary(op, a, b) => binary(*op, slot(*a), slot(*b)),
        Node::Ite(c, t, e) => {
            let (c, t, e) = (slot(*c), slot(*t), slot(*e));
            let mut result = match c.values.bools() {
                (false, _) => t,
                (_, false) => e,
                _ => Enclosure { values: t.values.join(e.values), undefined: t.undefined || e.undefined },
            };
            result.undefined |= c.undefined;
            result
        }
        Node::Select { elements, index } => select(elements, slot(*index), ty, slot),
    }
}

fn is_point(a: Enclosure) -> bool {
    !a.undefined && a.values.as_point().is_some()
}

/// All operands are known exactly: the point evaluator decides.
fn at_point(node: &Node, ty: Type, slot: impl Fn(super::ExprId) -> Enclosure) -> Enclosure {
    let operand = |id| Ok(slot(id).values.as_point().expect("operands are points"));
    match apply(node, operand, &|_| unreachable!("not a variable")) {
        Ok(value) => Enclosure::defined(Range::point(coerce(value, ty))),
        Err(_) => Enclosure { values: Range::any(ty), undefined: true },
    }
}

fn select(
    elements: &[super::ExprId],
    index: Enclosure,
    ty: Type,
    slot: impl Fn(super::ExprId) -> Enclosure,
) -> Enclosure {
    let Range::Int(lower, upper) = index.values else { unreachable!("array indices are integers") };
    let last = elements.len() as i64 - 1;
    let outside = lower < 0 || upper > last;
    let (lower, upper) = (lower.max(0), upper.min(last));
    let mut result: Option<Enclosure> = None;
    for i in lower..=upper {
        let element = slot(elements[i as usize]);
        result = Some(match result {
            None => element,
            Some(sofar) => Enclosure {
                values: sofar.values.join(element.values),
                undefined: sofar.undefined || element.undefined,
            },
        });
    }
    let mut result = result.unwrap_or(Enclosure { values: Range::any(ty), undefined: true });
    result.undefined |= outside || index.undefined;
    result
}

fn negate(a: Enclosure) -> Enclosure {
    let (can_be_false, can_be_true) = a.values.bools();
    let values = Range::Bool { can_be_false: can_be_true, can_be_true: can_be_false };
    Enclosure { values, undefined: a.undefined }
}

/// Kleene: undefined only if neither operand is false everywhere.
fn conjunction(a: Enclosure, b: Enclosure) -> Enclosure {
    let ((a_false, a_true), (b_false, b_true)) = (a.values.bools(), b.values.bools());
    if a.truth() == Truth::False || b.truth() == Truth::False {
        return Enclosure::defined(Range::Bool { can_be_false: true, can_be_true: false });
    }
    let can_be_true = a_true && b_true;
    // A range is never empty, even where every point may be undefined.
    let can_be_false = a_false || b_false || !can_be_true;
    Enclosure { values: Range::Bool { can_be_false, can_be_true }, undefined: a.undefined || b.undefined }
}

fn unary(op: UnaryOp, a: Enclosure) -> Enclosure {
    let round = |f: fn(f64) -> f64| {
        let (lower, upper) = a.values.reals();
        // Casts saturate, which keeps the enclosure of what fits; what does not fit is undefined, at points exactly.
        let fits = |r: f64| to_int(f(r)).is_ok();
        Enclosure {
            values: Range::Int(f(lower) as i64, f(upper) as i64),
            undefined: a.undefined || !fits(lower) || !fits(upper),
        }
    };
    match op {
        UnaryOp::Not => negate(a),
        UnaryOp::Floor => round(f64::floor),
        UnaryOp::Ceil => round(f64::ceil),
    }
}

fn binary(op: BinaryOp, a: Enclosure, b: Enclosure) -> Enclosure {
    use BinaryOp as B;
    let mut result = match (a.values, b.values) {
        (Range::Bool { .. }, _) => Enclosure::defined(equal_bools(a.values, b.values)),
        (Range::Int(al, au), Range::Int(bl, bu)) if !matches!(op, B::Div | B::Pow | B::Log) => {
            integer(op, (al, au), (bl, bu))
        }
        _ => real(op, a.values.reals(), b.values.reals()),
    };
    result.undefined |= a.undefined || b.undefined;
    result
}

fn equal_bools(a: Range, b: Range) -> Range {
    let ((a_false, a_true), (b_false, b_true)) = (a.bools(), b.bools());
    Range::Bool {
        can_be_false: (a_false && b_true) || (a_true && b_false),
        can_be_true: (a_false && b_false) || (a_true && b_true),
    }
}

fn comparison<T: PartialOrd>(op: BinaryOp, (al, au): (T, T), (bl, bu): (T, T)) -> Option<Range> {
    let (can_be_true, can_be_false) = match op {
        BinaryOp::Eq => (al <= bu && bl <= au, !(al == au && bl == bu && al == bl)),
        BinaryOp::Lt => (al < bu, au >= bl),
        BinaryOp::Le => (al <= bu, au > bl),
        _ => return None,
    };
    Some(Range::Bool { can_be_false, can_be_true })
}

fn integer(op: BinaryOp, a: (i64, i64), b: (i64, i64)) -> Enclosure {
    use BinaryOp as B;
    if let Some(range) = comparison(op, a, b) {
        return Enclosure::defined(range);
    }
    let quick = match op {
        B::Add => a.0.checked_add(b.0).zip(a.1.checked_add(b.1)),
        B::Sub => a.0.checked_sub(b.1).zip(a.1.checked_sub(b.0)),
        _ => None,
    };
    if let Some((lower, upper)) = quick {
        return Enclosure::defined(Range::Int(lower, upper));
    }
    let ((al, au), (bl, bu)) = ((i128::from(a.0), i128::from(a.1)), (i128::from(b.0), i128::from(b.1)));
    let (lower, upper) = match op {
        B::Add => (al + bl, au + bu),
        B::Sub => (al - bu, au - bl),
        B::Mul => {
            let products = [al * bl, al * bu, au * bl, au * bu];
            (*products.iter().min().expect("four"), *products.iter().max().expect("four"))
        }
        B::Min => (al.min(bl), au.min(bu)),
        B::Max => (al.max(bl), au.max(bu)),
        B::Mod => return modulo(a, b),
        _ => unreachable!("comparisons and real operations are handled elsewhere"),
    };
    let fits = |x: i128| i64::try_from(x).is_ok();
    let clamp = |x: i128| x.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Enclosure { values: Range::Int(clamp(lower), clamp(upper)), undefined: !(fits(lower) && fits(upper)) }
}

fn modulo((al, au): (i64, i64), (bl, bu): (i64, i64)) -> Enclosure {
    let undefined = bl <= 0 && 0 <= bu;
    let largest = (bl.unsigned_abs().max(bu.unsigned_abs())).saturating_sub(1).min(i64::MAX as u64) as i64;
    let mut values = Range::Int(0, largest);
    if bl == bu && bl > 0 && al.div_euclid(bl) == au.div_euclid(bl) {
        values = Range::Int(al.rem_euclid(bl), au.rem_euclid(bl));
    } else if al >= 0 {
        values = Range::Int(0, largest.min(au));
    }
    Enclosure { values, undefined }
}

fn real(op: BinaryOp, a: (f64, f64), b: (f64, f64)) -> Enclosure {
    use BinaryOp as B;
    if let Some(range) = comparison(op, a, b) {
        return Enclosure::defined(range);
    }
    let unbounded = Enclosure { values: Range::any(Type::Real), undefined: true };
    let ((al, au), (bl, bu)) = (a, b);
    let corners = |f: fn(f64, f64) -> f64| {
        let values = [f(al, bl), f(al, bu), f(au, bl), f(au, bu)];
        let lower = values.into_iter().fold(f64::INFINITY, f64::min);
        let upper = values.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let finite = values.into_iter().all(f64::is_finite);
        if finite { Enclosure::defined(Range::Real(lower, upper)) } else { unbounded }
    };
    match op {
        B::Add => corners(|x, y| x + y),
        B::Sub => corners(|x, y| x - y),
        B::Mul => corners(|x, y| x * y),
        B::Div if bl <= 0.0 && 0.0 <= bu => unbounded,
        B::Div => corners(|x, y| x / y),
        B::Min => Enclosure::defined(Range::Real(al.min(bl), au.min(bu))),
        B::Max => Enclosure::defined(Range::Real(al.max(bl), au.max(bu))),
        B::Pow | B::Log => unbounded,
        _ => unreachable!("expressions are typed"),
    }
}
