//! Learned action policies: what surefoot verifies.
//!
//! A [`Policy`] maps a state to scores over action labels and chooses the label with the highest score, the lowest
//! output index on ties. Its scores come from a neural [`Network`] or a tree [`Ensemble`], read from files by
//! [`read()`].
//!
//! Floating point is part of the question, so every evaluation names its [`Arithmetic`]. The [`point`] module is the
//! definition: scalar, one state at a time, obviously right. The [`Evaluator`] computes the same choices, bit for
//! bit, for large batches of states. The [`enclosure`] module encloses everything that any single-precision evaluation
//! could compute, and real numbers, whose exact values decide what the enclosures leave open.

mod arithmetic;
mod batch;
pub mod certify;
pub mod enclosure;
mod ensemble;
mod layer;
mod network;
mod parameter;
pub mod point;
mod policy;
mod read;
mod real;
mod score;
mod semantics;
mod shape;
mod threshold;
mod vector;

pub use arithmetic::{Arithmetic, UnknownArithmetic};
pub use batch::{Evaluator, InstructionSet};
pub use ensemble::{Ensemble, Tree, TreeNode};
pub use layer::{Activation, Layer};
pub use network::{Element, Network, Node, Source};
pub use parameter::{Number, Parameter};
pub use policy::{Policy, PolicyInput, Scorer};
pub use read::{Classes, Lists, ReadOptions, onnx_classes, parse, read, read_listed, read_with};
pub use score::Score;
pub use semantics::{Goal, OutOfDomain, Semantics};
pub use shape::{Shape, ShapeError};
