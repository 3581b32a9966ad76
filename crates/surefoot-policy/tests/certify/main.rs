//! Tests of certification through its public interface: answers against brute force, laws, and the decision cache.

mod answers;
mod bounds;
mod cached;
mod laws;
mod oracle;
mod random;

/// The harness's way of running random cases, shared as source: the harness itself depends on this crate.
#[path = "../../../surefoot-harness/src/run.rs"]
mod run;
