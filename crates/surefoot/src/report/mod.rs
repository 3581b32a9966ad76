//! Reports: what came out of a run, as text for people and as JSON for programs.

mod certificate;
pub mod check;
pub mod explain;
mod ic3;
pub mod info;
pub mod json;
pub mod number;
pub mod outcome;
mod pa;
pub mod reading;
pub mod trace;
