//! The encoder and the transition queries against brute force over states and the point evaluator, on random systems.

mod conditions;
mod domains;
mod expressions;
mod states;
mod transitions;
mod wide;
