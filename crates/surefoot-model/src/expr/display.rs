//! Printing expressions in infix notation.

use std::fmt::Write as _;

use super::{BinaryOp, ExprId, ExprPool, Node, UnaryOp};
use crate::variable::Variable;

/// Longer texts are cut: an expression may share so many parts that its text does not fit anywhere.
const MAX_CHARACTERS: usize = 2000;

impl ExprPool {
    /// The expression in infix notation, cut after some 2000 characters.
    pub fn display(&self, id: ExprId, variables: &[Variable]) -> String {
        enum Piece {
            Text(&'static str),
            Expr(ExprId),
        }
        use Piece::{Expr, Text};
        let mut text = String::new();
        let mut stack = vec![Expr(id)];
        while let Some(piece) = stack.pop() {
            if text.len() > MAX_CHARACTERS {
                text.push('…');
                break;
            }
            let id = match piece {
                Text(t) => {
                    text.push_str(t);
                    continue;
                }
                Expr(id) => id,
            };
            match self.node(id) {
                Node::Constant(value) => write!(text, "{value}").expect("strings take everything"),
                Node::Variable(v) => text.push_str(&variables[v.index()].name),
                Node::Unary(UnaryOp::Not, a) => {
                    if let Node::Binary(BinaryOp::Eq, a, b) = self.node(*a) {
                        stack.extend([Text(")"), Expr(*b), Text(" ≠ "), Expr(*a), Text("(")]);
                    } else {
                        stack.extend([Expr(*a), Text("¬")]);
                    }
                }
                Node::Unary(op, a) => {
                    let name = if *op == UnaryOp::Floor { "floor(" } else { "ceil(" };
                    stack.extend([Text(")"), Expr(*a), Text(name)]);
                }
                Node::Binary(op, a, b) => match symbol(*op) {
                    (true, name) => stack.extend([Text(")"), Expr(*b), Text(name), Expr(*a), Text("(")]),
                    (false, name) => {
                        stack.extend([Text(")"), Expr(*b), Text(", "), Expr(*a), Text("("), Text(name)]);
                    }
                },
                Node::Ite(c, t, e) => {
                    stack.extend([
                        Text(")"),
                        Expr(*e),
                        Text(" else "),
                        Expr(*t),
                        Text(" then "),
                        Expr(*c),
                        Text("(if "),
                    ]);
                }
                Node::Select { elements, index } => {
                    stack.extend([Text("]"), Expr(*index), Text("]["), Text("")]);
                    for (i, element) in elements.iter().enumerate().rev() {
                        stack.push(Expr(*element));
                        stack.push(Text(if i == 0 { "[" } else { ", " }));
                    }
                }
            }
        }
        text
    }
}

/// Whether an operator is written between its operands, and how.
fn symbol(op: BinaryOp) -> (bool, &'static str) {
    use BinaryOp as B;
    match op {
        B::And => (true, " ∧ "),
        B::Or => (true, " ∨ "),
        B::Eq => (true, " = "),
        B::Lt => (true, " < "),
        B::Le => (true, " ≤ "),
        B::Add => (true, " + "),
        B::Sub => (true, " - "),
        B::Mul => (true, " * "),
        B::Div => (true, " / "),
        B::Mod => (true, " % "),
        B::Pow => (false, "pow"),
        B::Log => (false, "log"),
        B::Min => (false, "min"),
        B::Max => (false, "max"),
    }
}
