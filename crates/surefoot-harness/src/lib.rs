//! What the engines are tested with. A wrong SAFE is the worst bug there is, and this crate is what finds it.
//!
//! - [`random`] makes small tasks of every shape that the semantics knows, and shrinks those that fail.
//! - [`mod@reference`] is the semantics once more: naive, slow, and sharing nothing with the engines but data types.
//! - [`expect`] says which answers are right, given what the reference found.
//! - [`proof`] looks at the invariant of a proof state by state.
//! - [`zoo`] reads the folders of hand-written cases with their expected results.
//! - [`run`] decides how many random tasks a test sees, and from which seed.

pub mod expect;
pub mod proof;
pub mod random;
pub mod reference;
pub mod run;
pub mod zoo;
