//! Tests of the policy crate through its public interface.

mod any_f32;
mod batch;
mod fixture;
mod interface;
mod lightgbm;
mod mutation;
mod nnet;
mod real;
mod sb3;
mod state_dict;
mod veritas;
mod xgboost;
