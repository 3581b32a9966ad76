//! How far an abstract state is from the unsafe states: how many atoms of the unsafe condition must change at least (the Hamming distance of papers 001 and 004).

use surefoot_model::expr::{Enclosure, Truth};
use surefoot_model::{BinaryOp, ExprId, ExprPool, Node, Program, UnaryOp};

use crate::symbolic::StateBox;

/// The distance to a condition.
pub struct Distance {
    parts: Vec<Part>,
    slots: Vec<Enclosure>,
}

/// A part of the condition; operands are earlier parts.
enum Part {
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Atom(Program),
}

impl Distance {
    /// Prepares a condition.
    pub fn new(pool: &ExprPool, condition: ExprId) -> Distance {
        let all = pool.reachable([condition]);
        let place = |id: ExprId| all.binary_search(&id).expect("operands are reachable");
        let part = |&id: &ExprId| match *pool.node(id) {
            Node::Unary(UnaryOp::Not, a) => Part::Not(place(a)),
            Node::Binary(BinaryOp::And, a, b) => Part::And(place(a), place(b)),
            Node::Binary(BinaryOp::Or, a, b) => Part::Or(place(a), place(b)),
            _ => Part::Atom(Program::new(pool, &[id])),
        };
        Distance { parts: all.iter().map(part).collect(), slots: Vec::new() }
    }

    /// How many atoms that have one value in all states of a box must change, so that the condition can be true.
    pub fn of(&mut self, states: &StateBox) -> u32 {
        // For each part, what it takes to be true and to be false.
        let mut costs: Vec<(u32, u32)> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            costs.push(match part {
                Part::Not(a) => (costs[*a].1, costs[*a].0),
                Part::And(a, b) => (costs[*a].0.saturating_add(costs[*b].0), costs[*a].1.min(costs[*b].1)),
                Part::Or(a, b) => (costs[*a].0.min(costs[*b].0), costs[*a].1.saturating_add(costs[*b].1)),
                Part::Atom(program) => {
                    match program.over_box(&states.lower, &states.upper, &mut self.slots).truth() {
                        Truth::True => (0, 1),
                        Truth::False => (1, 0),
                        Truth::Unknown => (0, 0),
                    }
                }
            });
        }
        costs.last().map_or(0, |cost| cost.0)
    }
}
