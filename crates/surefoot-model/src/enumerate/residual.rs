//! What is left of a conjunction of conditions once propagation has decided parts of it.

use super::domains::Domains;
use super::truth;
use crate::expr::{BinaryOp, Enclosure, ExprId, Node, Program, Truth};
use crate::value::Value;

/// The same condition with each top-level conjunct as an output of its own.
pub fn split_conjunctions(program: &Program) -> Program {
    let mut outputs = Vec::new();
    let mut stack = program.outputs().to_vec();
    while let Some(id) = stack.pop() {
        match program.code()[id.index()] {
            Node::Binary(BinaryOp::And, a, b) => stack.extend([b, a]),
            _ => outputs.push(id),
        }
    }
    program.with_outputs(outputs)
}

/// Disjunctions of more parts than this are not taken apart: every part carries the negation of those before it.
const MOST_ALTERNATIVES: usize = 8;

/// A condition as disjoint alternatives: its first disjunct; its second one where the first is false; and so on. Propagation
/// does little with a disjunction and much with one of its parts. If a part may be undefined in the domains, the condition
/// stays whole.
pub fn alternatives(program: &Program, domains: &Domains) -> Vec<Program> {
    let mut disjuncts = Vec::new();
    let mut stack = program.outputs().to_vec();
    while let Some(id) = stack.pop() {
        match program.code()[id.index()] {
            Node::Binary(BinaryOp::Or, a, b) => stack.extend([b, a]),
            _ => disjuncts.push(id),
        }
    }
    let (lower, upper) = domains.bounds();
    let mut slots = Vec::new();
    program.over_box(&lower, &upper, &mut slots);
    let total = disjuncts.iter().all(|id| !slots[id.index()].undefined);
    if disjuncts.len() > MOST_ALTERNATIVES || !total {
        return vec![split_conjunctions(program)];
    }
    let alternative = |i: usize| {
        let (program, mut outputs) = program.with_negations(&disjuncts[..i]);
        outputs.push(disjuncts[i]);
        split_conjunctions(&program.with_outputs(outputs))
    };
    (0..disjuncts.len()).map(alternative).collect()
}

/// The outputs that are not decided to be true, with decided parts replaced by constants and looked through.
pub fn residual(program: &Program, slots: &[Enclosure]) -> Program {
    let code = program.code();
    // For each slot, the slot that stands for it now; operands come first.
    let mut stand_in: Vec<ExprId> = Vec::with_capacity(code.len());
    let mut constants: Vec<Option<Value>> = Vec::with_capacity(code.len());
    for (i, node) in code.iter().enumerate() {
        let own = ExprId(i as u32);
        let decided = slots[i].values.as_point().filter(|_| !slots[i].undefined);
        constants.push(decided);
        let neutral = |id: ExprId, neutral: bool| constants[id.index()] == Some(Value::Bool(neutral));
        stand_in.push(match *node {
            _ if decided.is_some() => own,
            Node::Binary(BinaryOp::And, a, b) if neutral(a, true) => stand_in[b.index()],
            Node::Binary(BinaryOp::And, a, b) if neutral(b, true) => stand_in[a.index()],
            Node::Binary(BinaryOp::Or, a, b) if neutral(a, false) => stand_in[b.index()],
            Node::Binary(BinaryOp::Or, a, b) if neutral(b, false) => stand_in[a.index()],
            Node::Ite(c, t, e) if program.ty(t) == program.ty(e) => match constants[c.index()] {
                Some(Value::Bool(true)) => stand_in[t.index()],
                Some(_) => stand_in[e.index()],
                None => own,
            },
            _ => own,
        });
    }
    let undecided = (0..program.output_count())
        .filter(|&i| truth(program, i, slots) != Truth::True)
        .map(|i| stand_in[program.outputs()[i].index()]);
    let node = |id: ExprId| match constants[id.index()] {
        Some(value) => Node::Constant(value),
        None => code[id.index()].with_operands(|operand| stand_in[operand.index()]),
    };
    split_conjunctions(&program.excerpt(undecided.collect(), node))
}
