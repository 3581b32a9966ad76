//! Tests of the explicit engine against the reference semantics.

mod agreement;
mod errors;
mod fixture;
mod updates;
