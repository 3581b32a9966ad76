//! Outcomes compiled for packed states: constants are written by mask, values that depend on one variable come from a table,
//! sums of variables are added up, and everything else is a program over the unpacked state.

use surefoot_model::expr::Node;
use surefoot_model::pack::Field;
use surefoot_model::{BinaryOp, ExprId, ExprPool, Outcome, PointValue, Program, Type, Value, VarId};

use super::condition::Compiler;

/// A step would leave a domain, fail a requirement or have no value; the caller finds out which by the slow way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Impossible;

/// A compiled outcome.
#[derive(Debug)]
pub struct Update {
    probability: Program,
    /// Whether the probability depends on the state.
    pub varies: bool,
    requirements: Vec<Program>,
    /// Per word: the bits to keep and the bits to set.
    constants: Vec<Constant>,
    computed: Vec<Computed>,
    /// Whether a part needs the unpacked state.
    pub needs_state: bool,
}

#[derive(Debug)]
struct Constant {
    word: u32,
    keep: u64,
    set: u64,
}

#[derive(Debug)]
struct Computed {
    target: Field,
    source: Source,
}

/// Where a new offset comes from.
#[derive(Debug)]
enum Source {
    /// By the offset of another field; `IMPOSSIBLE` where there is none.
    Table { field: Field, offsets: Box<[u64]> },
    /// `constant + Σ factor * offset`.
    Sum { constant: i64, terms: Box<[(Field, i64)]> },
    /// A program for the value.
    General(Program),
    /// A constant outside the domain.
    Never,
}

/// No offset: domains have at most 2³² values.
const IMPOSSIBLE: u64 = u64::MAX;

impl Update {
    /// Compiles an outcome.
    pub fn new(compiler: &Compiler<'_>, outcome: &Outcome) -> Update {
        let exprs = compiler.exprs;
        let program = |id| Program::new(exprs, &[id]);
        let requirements = outcome.requirements.iter().map(|r| r.condition);
        let requirements: Vec<Program> = requirements
            .filter(|&condition| exprs.as_constant(condition) != Some(Value::Bool(true)))
            .map(program)
            .collect();
        let mut update = Update {
            probability: program(outcome.probability),
            varies: exprs.as_constant(outcome.probability).is_none(),
            needs_state: false,
            requirements,
            constants: Vec::new(),
            computed: Vec::new(),
        };
        for assignment in &outcome.assignments {
            let target = *compiler.layout.field(assignment.variable);
            match source(compiler, assignment.value, &target) {
                Ok(offset) => update.set_constant(&target, offset),
                Err(source) => update.computed.push(Computed { target, source }),
            }
        }
        update.needs_state = !update.requirements.is_empty()
            || update.computed.iter().any(|c| matches!(c.source, Source::General(_)));
        update
    }

    fn set_constant(&mut self, target: &Field, offset: u64) {
        let keep = !(target.mask << target.shift);
        let set = offset << target.shift;
        match self.constants.iter_mut().find(|c| c.word == target.word) {
            Some(constant) => {
                constant.keep &= keep;
                constant.set |= set;
            }
            None => self.constants.push(Constant { word: target.word, keep, set }),
        }
    }

    /// The probability at an unpacked state; `None` if it is undefined.
    pub fn probability_at(&self, state: &[i32], slots: &mut Vec<PointValue>) -> Option<f64> {
        self.probability.run_state(state, slots);
        self.probability.output(0, slots).ok().and_then(Value::as_real)
    }

    /// Writes the successor of `packed` to `after`. `state` is the unpacked state if [`Update::needs_state`].
    #[inline]
    pub fn apply(
        &self,
        packed: &[u64],
        state: &[i32],
        slots: &mut Vec<PointValue>,
        after: &mut [u64],
    ) -> Result<(), Impossible> {
        for requirement in &self.requirements {
            if requirement.holds(state, slots) != Ok(true) {
                return Err(Impossible);
            }
        }
        // Most states have one word, for which a call to copy memory is dear.
        if let ([after], [packed]) = (&mut *after, packed) {
            *after = *packed;
        } else {
            after.copy_from_slice(packed);
        }
        for constant in &self.constants {
            let word = &mut after[constant.word as usize];
            *word = *word & constant.keep | constant.set;
        }
        for Computed { target, source } in &self.computed {
            let offset = match source {
                Source::Table { field, offsets } => {
                    let offset = offsets[field.offset(packed) as usize];
                    if offset == IMPOSSIBLE {
                        return Err(Impossible);
                    }
                    offset
                }
                Source::Sum { constant, terms } => {
                    let sum = terms
                        .iter()
                        .fold(*constant, |sum, (field, factor)| sum + factor * field.offset(packed) as i64);
                    in_domain(sum, target)?
                }
                Source::General(program) => {
                    program.run_state(state, slots);
                    let value = program.output(0, slots).ok().and_then(Value::as_int).ok_or(Impossible)?;
                    in_domain(value.checked_sub(i64::from(target.lower)).ok_or(Impossible)?, target)?
                }
                Source::Never => return Err(Impossible),
            };
            let word = &mut after[target.word as usize];
            *word = *word & !(target.mask << target.shift) | offset << target.shift;
        }
        Ok(())
    }
}

#[inline]
fn in_domain(offset: i64, target: &Field) -> Result<u64, Impossible> {
    let last = i64::from(target.upper) - i64::from(target.lower);
    if (0..=last).contains(&offset) { Ok(offset as u64) } else { Err(Impossible) }
}

/// The offset that an assignment writes: a constant, or how to compute it.
fn source(compiler: &Compiler<'_>, value: ExprId, target: &Field) -> Result<u64, Source> {
    let exprs = compiler.exprs;
    let offset = |value: Value| {
        let value = value.as_int()?;
        in_domain(value.checked_sub(i64::from(target.lower))?, target).ok()
    };
    if let Some(constant) = exprs.as_constant(value) {
        return offset(constant).ok_or(Source::Never);
    }
    if let Some((variable, values)) = compiler.tabulate_one(value) {
        let offsets = values.into_iter().map(|v| v.ok().and_then(offset).unwrap_or(IMPOSSIBLE));
        return Err(Source::Table { field: *compiler.layout.field(variable), offsets: offsets.collect() });
    }
    if let Some((mut constant, terms)) = sum(exprs, value) {
        constant -= i64::from(target.lower);
        let terms = terms.into_iter().map(|(v, factor)| {
            let field = *compiler.layout.field(v);
            constant += factor * i64::from(field.lower);
            (field, factor)
        });
        let terms = terms.collect();
        return Err(Source::Sum { constant, terms });
    }
    Err(Source::General(Program::new(exprs, &[value])))
}

/// Sums have few terms with small factors, so that 64-bit arithmetic over 32-bit domains cannot overflow: neither here
/// (64 terms of at most 2^56) nor in a part of the expression, which is at most the sum of all its terms' magnitudes. A
/// factor 0 would hide the overflow of what it multiplies.
const MAX_LEAVES: usize = 64;
const MAX_FACTOR: u64 = 1 << 16;
const MAX_CONSTANT: u64 = 1 << 40;

/// Reads an integer expression as `constant + Σ factor * variable`.
fn sum(exprs: &ExprPool, id: ExprId) -> Option<(i64, Vec<(VarId, i64)>)> {
    let (mut constant, mut terms) = (0i64, Vec::new());
    let is_factor = |c: i64| c != 0 && c.unsigned_abs() <= MAX_FACTOR;
    let mut stack = vec![(id, 1i64)];
    let mut visited = 0;
    while let Some((id, factor)) = stack.pop() {
        visited += 1;
        if !is_factor(factor) || visited > 2 * MAX_LEAVES || exprs.ty(id) != Type::Int {
            return None;
        }
        match exprs.node(id) {
            Node::Constant(Value::Int(c)) if c.unsigned_abs() <= MAX_CONSTANT => constant += c * factor,
            Node::Variable(v) => terms.push((*v, factor)),
            Node::Binary(BinaryOp::Add, a, b) => stack.extend([(*a, factor), (*b, factor)]),
            Node::Binary(BinaryOp::Sub, a, b) => stack.extend([(*a, factor), (*b, -factor)]),
            Node::Binary(BinaryOp::Mul, a, b) => match (exprs.as_constant(*a), exprs.as_constant(*b)) {
                (Some(Value::Int(c)), _) if is_factor(c) => stack.push((*b, factor * c)),
                (_, Some(Value::Int(c))) if is_factor(c) => stack.push((*a, factor * c)),
                _ => return None,
            },
            _ => return None,
        }
    }
    Some((constant, terms))
}
