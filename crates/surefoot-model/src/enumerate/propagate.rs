//! Narrowing of domains: what must hold where all outputs of a program are true.
//!
//! One round encloses every instruction over the current domains and then pushes requirements from the outputs down to the
//! variables; rounds repeat until no domain changes, or too often: `x < y ∧ y < x` moves its bounds by 1 per round. What
//! is not narrowed then is left to the search, so ending early loses nothing. A requirement passes only through instructions that are defined
//! everywhere in the node, so states at which the condition is undefined are never lost.

use super::domains::Domains;
use super::truth;
use crate::expr::{BinaryOp, Enclosure, ExprId, Node, Program, Range, Truth, UnaryOp};
use crate::value::{Type, Value};
use crate::variable::VarId;

/// After this many rounds, domains are narrow enough.
const MOST_ROUNDS: u32 = 256;

/// Narrows `domains` to the states at which all outputs may be true; false if there is none. Leaves the enclosures over the
/// result in `slots`.
pub fn propagate(program: &Program, domains: &mut Domains, slots: &mut Vec<Enclosure>) -> bool {
    let mut required = Vec::new();
    for round in 0.. {
        program.run_box(|v, ty| range(domains, v, ty), slots);
        if (0..program.output_count()).any(|i| truth(program, i, slots) == Truth::False) {
            return false;
        }
        if round == MOST_ROUNDS {
            break;
        }
        match Backward::new(program, slots, domains, &mut required).run() {
            None => return false,
            Some(false) => return true,
            Some(true) => {}
        }
    }
    true
}

fn range(domains: &Domains, v: VarId, ty: Type) -> Range {
    let (lower, upper) = (domains.lower(v), domains.upper(v));
    match ty {
        Type::Bool => Range::Bool { can_be_false: lower == 0, can_be_true: upper == 1 },
        _ => Range::Int(i64::from(lower), i64::from(upper)),
    }
}

/// One sweep from the outputs to the variables. Truth values are the integers 0 and 1.
struct Backward<'a> {
    program: &'a Program,
    slots: &'a [Enclosure],
    domains: &'a mut Domains,
    /// Bounds that each slot must keep; empty = impossible.
    required: &'a mut Vec<(i64, i64)>,
    changed: bool,
}

/// `None`: the requirements contradict each other.
type Step = Option<()>;

impl<'a> Backward<'a> {
    fn new(
        program: &'a Program,
        slots: &'a [Enclosure],
        domains: &'a mut Domains,
        required: &'a mut Vec<(i64, i64)>,
    ) -> Self {
        required.clear();
        required.extend(slots.iter().map(|slot| match slot.values {
            Range::Bool { can_be_false, can_be_true } => (i64::from(!can_be_false), i64::from(can_be_true)),
            Range::Int(lower, upper) => (lower, upper),
            Range::Real(..) => (i64::MIN, i64::MAX),
        }));
        Backward { program, slots, domains, required, changed: false }
    }

    /// Whether a domain changed, or `None` on a contradiction.
    fn run(mut self) -> Option<bool> {
        for &output in self.program.outputs() {
            self.require(output, 1, 1)?;
        }
        for i in (0..self.program.len()).rev() {
            if !self.slots[i].undefined {
                self.step(ExprId(i as u32))?;
            }
        }
        Some(self.changed)
    }

    fn bounds(&self, id: ExprId) -> (i64, i64) {
        self.required[id.index()]
    }

    fn is_real(&self, id: ExprId) -> bool {
        self.program.ty(id) == Type::Real
    }

    fn require(&mut self, id: ExprId, lower: i64, upper: i64) -> Step {
        let slot = &mut self.required[id.index()];
        if self.slots[id.index()].undefined || self.program.ty(id) == Type::Real {
            return Some(());
        }
        *slot = (slot.0.max(lower), slot.1.min(upper));
        (slot.0 <= slot.1).then_some(())
    }

    fn step(&mut self, id: ExprId) -> Step {
        let (lower, upper) = self.bounds(id);
        let node = &self.program.code()[id.index()];
        match *node {
            Node::Variable(v) => {
                self.changed |= self.domains.restrict(v, lower, upper)?;
                Some(())
            }
            Node::Unary(UnaryOp::Not, a) => self.require(a, 1 - upper, 1 - lower),
            Node::Constant(_) | Node::Unary(..) => Some(()),
            Node::Binary(op, a, b) => self.binary(op, a, b, lower, upper),
            Node::Ite(c, t, e) => self.ite(c, t, e, lower, upper),
            Node::Select { ref elements, index } => self.select(elements, index, lower, upper),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId, lower: i64, upper: i64) -> Step {
        use BinaryOp as B;
        match op {
            // Truth values are bounds: a conjunction is at most each operand, a disjunction at least.
            B::And if lower == 1 => self.both(a, b, 1, 1),
            B::And if upper == 0 => self.unless(a, b, 1, 0),
            B::Or if upper == 0 => self.both(a, b, 0, 0),
            B::Or if lower == 1 => self.unless(a, b, 0, 1),
            B::And | B::Or => Some(()),
            _ if self.is_real(a) || self.is_real(b) => Some(()),
            B::Eq if lower == 1 => {
                let ((al, au), (bl, bu)) = (self.bounds(a), self.bounds(b));
                self.both(a, b, al.max(bl), au.min(bu))
            }
            B::Eq if upper == 0 => {
                self.different(a, b)?;
                self.different(b, a)
            }
            B::Le if lower == 1 => self.ordered(a, b, 0),
            B::Lt if lower == 1 => self.ordered(a, b, 1),
            B::Le if upper == 0 => self.ordered(b, a, 1),
            B::Lt if upper == 0 => self.ordered(b, a, 0),
            B::Add => {
                let ((al, au), (bl, bu)) = (self.bounds(a), self.bounds(b));
                self.require(a, lower.saturating_sub(bu), upper.saturating_sub(bl))?;
                self.require(b, lower.saturating_sub(au), upper.saturating_sub(al))
            }
            B::Sub => {
                let ((al, au), (bl, bu)) = (self.bounds(a), self.bounds(b));
                self.require(a, lower.saturating_add(bl), upper.saturating_add(bu))?;
                self.require(b, al.saturating_sub(upper), au.saturating_sub(lower))
            }
            B::Mul => {
                self.factor(a, b, lower, upper)?;
                self.factor(b, a, lower, upper)
            }
            B::Max => self.both(a, b, i64::MIN, upper),
            B::Min => self.both(a, b, lower, i64::MAX),
            _ => Some(()),
        }
    }

    fn both(&mut self, a: ExprId, b: ExprId, lower: i64, upper: i64) -> Step {
        self.require(a, lower, upper)?;
        self.require(b, lower, upper)
    }

    /// If one operand is certainly `neutral`, the other one must be `value`.
    fn unless(&mut self, a: ExprId, b: ExprId, neutral: i64, value: i64) -> Step {
        for (known, other) in [(a, b), (b, a)] {
            if self.bounds(known) == (neutral, neutral) && !self.slots[known.index()].undefined {
                self.require(other, value, value)?;
            }
        }
        Some(())
    }

    /// `a + gap ≤ b`.
    fn ordered(&mut self, a: ExprId, b: ExprId, gap: i64) -> Step {
        let ((al, _), (_, bu)) = (self.bounds(a), self.bounds(b));
        self.require(a, i64::MIN, bu.saturating_sub(gap))?;
        self.require(b, al.saturating_add(gap), i64::MAX)
    }

    /// `a ≠ b` where `b` is known: `a` loses that value.
    fn different(&mut self, a: ExprId, b: ExprId) -> Step {
        let (bl, bu) = self.bounds(b);
        if bl != bu || self.slots[b.index()].undefined {
            return Some(());
        }
        if let Node::Variable(v) = self.program.code()[a.index()] {
            self.changed |= self.domains.remove(v, bl)?;
        }
        let (al, au) = self.bounds(a);
        match bl {
            _ if al == bl && au == bl && !self.slots[a.index()].undefined => None,
            _ if al == bl => self.require(a, al.saturating_add(1), au),
            _ if au == bl => self.require(a, al, au.saturating_sub(1)),
            _ => Some(()),
        }
    }

    /// `lower ≤ a * b ≤ upper` where `b` is a known positive or negative number.
    fn factor(&mut self, a: ExprId, b: ExprId, lower: i64, upper: i64) -> Step {
        let Some(Value::Int(k)) = self.slots[b.index()].values.as_point() else { return Some(()) };
        if k == 0 || self.slots[b.index()].undefined {
            return Some(());
        }
        let (k, lower, upper) = (i128::from(k), i128::from(lower), i128::from(upper));
        // ⌈x / k⌉ = -⌊-x / k⌋, and a negative factor swaps the bounds.
        let (low, high) = if k > 0 {
            (-(-lower).div_euclid(k), upper.div_euclid(k))
        } else {
            (-upper.div_euclid(-k), (-lower).div_euclid(-k))
        };
        let clamp = |x: i128| x.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        self.require(a, clamp(low), clamp(high))
    }

    fn ite(&mut self, c: ExprId, t: ExprId, e: ExprId, lower: i64, upper: i64) -> Step {
        let fits = |this: &Self, branch: ExprId| {
            let (bl, bu) = this.bounds(branch);
            this.is_real(branch) || this.slots[branch.index()].undefined || (bl <= upper && lower <= bu)
        };
        if !fits(self, t) {
            self.require(c, 0, 0)?;
        }
        if !fits(self, e) {
            self.require(c, 1, 1)?;
        }
        match self.bounds(c) {
            (1, 1) => self.require(t, lower, upper),
            (0, 0) => self.require(e, lower, upper),
            _ => Some(()),
        }
    }

    fn select(&mut self, elements: &[ExprId], index: ExprId, lower: i64, upper: i64) -> Step {
        let (first, last) = self.bounds(index);
        let fits = |i: i64| {
            let element = elements[i as usize];
            let (bl, bu) = self.bounds(element);
            self.is_real(element) || self.slots[element.index()].undefined || (bl <= upper && lower <= bu)
        };
        // The access is defined, so the index is within the array.
        let first = (first..=last).find(|&i| fits(i))?;
        let last = (first..=last).rev().find(|&i| fits(i))?;
        self.require(index, first, last)?;
        if first == last { self.require(elements[first as usize], lower, upper) } else { Some(()) }
    }
}
