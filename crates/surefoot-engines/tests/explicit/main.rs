//! Tests of the explicit engine against the reference semantics.

mod errors;
mod fixture;
mod updates;
