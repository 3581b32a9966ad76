//! The operators of JANI expressions by name.

use crate::expr::{ExprId, ExprPool, TypeError};

/// Builds an expression with one operand.
pub(super) type Unary = fn(&mut ExprPool, ExprId) -> Result<ExprId, TypeError>;
/// Builds an expression with two operands.
pub(super) type Binary = fn(&mut ExprPool, ExprId, ExprId) -> Result<ExprId, TypeError>;

/// What the value of `op` asks for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operator {
    /// `exp`.
    Unary(Unary),
    /// `left`, `right`.
    Binary(Binary),
    /// `left`, `right`; compares arrays too.
    Equality { negated: bool },
    /// `if`, `then`, `else`.
    Ite,
    /// `exp`, `index`.
    ArrayAccess,
    /// `elements`.
    ArrayValue,
    /// `var`, `length`, `exp`.
    ArrayConstructor,
    /// `function`, `args`.
    Call,
    /// `variables`, `expression` (an extension).
    Let,
    /// `locations`, `exp` (an extension).
    StateCondition,
    /// Not supported; what it is.
    Unsupported(&'static str),
}

/// The operator called `name`.
pub(super) fn operator(name: &str) -> Option<Operator> {
    use Operator as O;
    Some(match name {
        "∧" => O::Binary(ExprPool::and),
        "∨" => O::Binary(ExprPool::or),
        "⇒" => O::Binary(ExprPool::implies),
        "=" => O::Equality { negated: false },
        "≠" => O::Equality { negated: true },
        "<" => O::Binary(ExprPool::lt),
        "≤" => O::Binary(ExprPool::le),
        ">" => O::Binary(ExprPool::gt),
        "≥" => O::Binary(ExprPool::ge),
        "+" => O::Binary(ExprPool::add),
        "-" => O::Binary(ExprPool::sub),
        "*" => O::Binary(ExprPool::mul),
        "/" => O::Binary(ExprPool::div),
        "%" => O::Binary(ExprPool::modulo),
        "pow" => O::Binary(ExprPool::pow),
        "log" => O::Binary(ExprPool::log),
        "min" => O::Binary(ExprPool::min),
        "max" => O::Binary(ExprPool::max),
        "¬" => O::Unary(ExprPool::not),
        "floor" => O::Unary(ExprPool::floor),
        "ceil" => O::Unary(ExprPool::ceil),
        "abs" => O::Unary(ExprPool::abs),
        "sgn" => O::Unary(ExprPool::sign),
        "trc" => O::Unary(ExprPool::truncate),
        "ite" => O::Ite,
        "aa" => O::ArrayAccess,
        "av" => O::ArrayValue,
        "ac" => O::ArrayConstructor,
        "call" => O::Call,
        "let" => O::Let,
        "state-condition" => O::StateCondition,
        "der" => O::Unsupported("the derivative `der`"),
        "nondet" => O::Unsupported("nondeterministic selection (`nondet`)"),
        "da" | "dv" => O::Unsupported("datatypes"),
        "oa" | "ov" | "empty" => O::Unsupported("option types"),
        "initial" | "deadlock" | "timelock" => O::Unsupported("a state predicate"),
        "sin" | "cos" | "tan" | "cot" | "sec" | "csc" | "asin" | "acos" | "atan" | "acot" | "asec"
        | "acsc" => O::Unsupported("trigonometry"),
        "sinh" | "cosh" | "tanh" | "coth" | "sech" | "csch" | "asinh" | "acosh" | "atanh" | "acoth"
        | "asech" | "acsch" => O::Unsupported("hyperbolic functions"),
        "F" | "G" | "U" | "W" | "R" | "∃" | "∀" | "Pmin" | "Pmax" | "Smin" | "Smax" | "Emin" | "Emax"
        | "filter" => O::Unsupported("an operator of properties inside an expression"),
        _ => return None,
    })
}

/// All names, for suggestions.
pub(super) const NAMES: &[&str] = &[
    "∧",
    "∨",
    "⇒",
    "=",
    "≠",
    "<",
    "≤",
    ">",
    "≥",
    "+",
    "-",
    "*",
    "/",
    "%",
    "pow",
    "log",
    "min",
    "max",
    "¬",
    "floor",
    "ceil",
    "abs",
    "sgn",
    "trc",
    "ite",
    "aa",
    "av",
    "ac",
    "call",
    "let",
    "state-condition",
];

/// Operators that people write in other notations, with JANI's spelling.
pub(super) fn jani_spelling(name: &str) -> Option<&'static str> {
    Some(match name {
        "&&" | "&" | "and" => "∧",
        "||" | "|" | "or" => "∨",
        "!" | "not" => "¬",
        "=>" | "->" | "implies" => "⇒",
        "==" => "=",
        "!=" | "<>" => "≠",
        "<=" => "≤",
        ">=" => "≥",
        "^" | "**" => "pow",
        "mod" => "%",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_an_operator() {
        assert!(NAMES.iter().all(|name| operator(name).is_some()));
    }
}
