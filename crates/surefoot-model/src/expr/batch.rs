//! Evaluation over batches: one output of a program at many states at once.
//!
//! States come as columns, one per variable. A program over integers and Booleans that cannot be undefined anywhere in the
//! variables' domains runs column by column in plain loops; any other runs state by state through the point evaluator.

use super::point::PointValue;
use super::{BinaryOp, ExprId, Node, Program, UnaryOp};
use crate::value::{Type, Undefined};
use crate::variable::VarId;

/// A program with one Boolean or integer output, with the scratch space for running it over batches.
#[derive(Debug, Clone)]
pub struct BatchProgram {
    program: Program,
    columnwise: bool,
    /// One column of `count` values per instruction.
    columns: Vec<i64>,
    /// Scratch for state-by-state evaluation.
    state: Vec<i32>,
    slots: Vec<PointValue>,
}

impl BatchProgram {
    /// Prepares a program for states within the given bounds.
    pub fn new(program: Program, lower: &[i32], upper: &[i32]) -> Self {
        let mut slots = Vec::new();
        program.over_box(lower, upper, &mut slots);
        let total = slots.iter().all(|slot| !slot.undefined);
        let discrete = program.types.iter().all(|&ty| ty != Type::Real);
        let state = vec![0; lower.len()];
        BatchProgram { program, columnwise: total && discrete, columns: Vec::new(), state, slots: Vec::new() }
    }

    /// The output at each of `count` states, truth values as 0 and 1.
    ///
    /// # Errors
    /// The first state at which the output is undefined, and why.
    pub fn run<'c>(
        &mut self,
        count: usize,
        column: impl Fn(VarId) -> &'c [i32],
    ) -> Result<&[i64], (usize, Undefined)> {
        let output = self.program.outputs[0].index();
        if self.columnwise {
            self.columns.resize(self.program.len() * count, 0);
            for (i, node) in self.program.code.iter().enumerate() {
                let (done, rest) = self.columns.split_at_mut(i * count);
                run_column(node, done, &mut rest[..count], &column);
            }
        } else {
            self.columns.resize(self.program.len() * count, 0);
            let variables = self.program.variables();
            for lane in 0..count {
                for v in &variables {
                    self.state[v.index()] = column(*v)[lane];
                }
                self.program.run_state(&self.state, &mut self.slots);
                let value = self.program.output(0, &self.slots).map_err(|undefined| (lane, undefined))?;
                self.columns[output * count + lane] = value.as_int().expect("the output is discrete");
            }
        }
        Ok(&self.columns[output * count..][..count])
    }
}

fn run_column<'c>(node: &Node, done: &[i64], result: &mut [i64], column: &impl Fn(VarId) -> &'c [i32]) {
    let count = result.len();
    let operand = |id: ExprId| &done[id.index() * count..][..count];
    match node {
        Node::Constant(value) => result.fill(value.as_int().expect("discrete programs only")),
        Node::Variable(v) => {
            for (r, x) in result.iter_mut().zip(column(*v)) {
                *r = i64::from(*x);
            }
        }
        Node::Unary(UnaryOp::Not, a) => {
            for (r, a) in result.iter_mut().zip(operand(*a)) {
                *r = 1 - a;
            }
        }
        // Rounding an integer changes nothing; rounding a real is not discrete.
        Node::Unary(_, a) => result.copy_from_slice(operand(*a)),
        Node::Binary(op, a, b) => binary(*op, operand(*a), operand(*b), result),
        Node::Ite(c, t, e) => {
            let operands = operand(*c).iter().zip(operand(*t)).zip(operand(*e));
            for (r, ((c, t), e)) in result.iter_mut().zip(operands) {
                *r = if *c != 0 { *t } else { *e };
            }
        }
        Node::Select { elements, index } => {
            for (lane, (r, i)) in result.iter_mut().zip(operand(*index)).enumerate() {
                *r = operand(elements[*i as usize])[lane];
            }
        }
    }
}

/// Total programs cannot overflow or divide by zero, so plain arithmetic is the checked one.
fn binary(op: BinaryOp, a: &[i64], b: &[i64], result: &mut [i64]) {
    fn each(a: &[i64], b: &[i64], result: &mut [i64], f: impl Fn(i64, i64) -> i64) {
        for (r, (a, b)) in result.iter_mut().zip(a.iter().zip(b)) {
            *r = f(*a, *b);
        }
    }
    use BinaryOp as B;
    match op {
        B::And => each(a, b, result, |a, b| a & b),
        B::Or => each(a, b, result, |a, b| a | b),
        B::Eq => each(a, b, result, |a, b| i64::from(a == b)),
        B::Lt => each(a, b, result, |a, b| i64::from(a < b)),
        B::Le => each(a, b, result, |a, b| i64::from(a <= b)),
        B::Add => each(a, b, result, i64::wrapping_add),
        B::Sub => each(a, b, result, i64::wrapping_sub),
        B::Mul => each(a, b, result, i64::wrapping_mul),
        B::Min => each(a, b, result, i64::min),
        B::Max => each(a, b, result, i64::max),
        B::Mod => each(a, b, result, i64::wrapping_rem_euclid),
        B::Div | B::Pow | B::Log => unreachable!("real operations are not discrete"),
    }
}
