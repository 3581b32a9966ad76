//! Environment models: what surefoot verifies a policy *in*.
//!
//! A [`TransitionSystem`] is a flat list of guarded commands over bounded variables; a [`Property`] says where runs
//! start, what is unsafe and what is a goal. Expressions live in one hash-consed [`ExprPool`] per system and are
//! evaluated as straight-line [`Program`]s over points, boxes and batches of points.
//!
//! Nothing in this crate recurses over expressions, so a condition may be nested as deeply as memory allows.

mod compressed;
pub mod domains;
pub mod enumerate;
pub mod expr;
pub mod input;
pub mod jani;
pub mod json;
pub mod pack;
pub mod pass;
mod predicate;
mod property;
mod system;
mod value;
mod variable;

pub use compressed::expand;
pub use expr::{BinaryOp, ExprId, ExprPool, Linear, Node, PointValue, Program, TypeError, UnaryOp};
pub use input::{InputError, MemoryFile, Position, SourceFile, Sources, utf8_text};
pub use predicate::{Inequality, Predicate};
pub use property::{Property, Rewards, Start};
pub use system::{Assignment, Command, Label, LabelId, Outcome, Requirement, TransitionSystem};
pub use value::{Type, Undefined, Value};
pub use variable::{Origin, Scope, Symbol, VarId, Variable, VariableType};
