//! Tests of the explicit engine against the reference semantics.

mod fixture;
mod updates;
