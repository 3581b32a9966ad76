//! How many random cases a test sees, and from which seed.
//!
//! `SUREFOOT_CASES` is the number of cases of a test that has 5000 by default; tests with fewer or more scale with it.
//! `SUREFOOT_SEED` is a number that changes all cases; without it every run sees the same ones. Each test sees cases of its own.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

/// Runs `test` on random values until one fails, shrinks that, and panics with it.
///
/// # Panics
/// A case fails.
pub fn check<S: Strategy>(
    strategy: &S,
    default_cases: u32,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) where
    S::Value: fmt::Debug,
{
    // The type of a closure names the test that it stands in.
    let mut hasher = DefaultHasher::new();
    (number_from("SUREFOOT_SEED"), std::any::type_name_of_val(&test)).hash(&mut hasher);
    let config = Config {
        cases: cases(default_cases),
        rng_seed: RngSeed::Fixed(hasher.finish()),
        failure_persistence: None,
        max_shrink_iters: 50_000,
        max_shrink_time: 60_000,
        ..Config::default()
    };
    match TestRunner::new(config).run(strategy, test) {
        Ok(()) => {}
        Err(TestError::Fail(reason, value)) => panic!("{reason}\nsmallest failing case:{value:?}"),
        Err(TestError::Abort(reason)) => panic!("the test gave up: {reason}"),
    }
}

/// How many cases a test sees that has this number by default.
pub fn cases(default_cases: u32) -> u32 {
    match number_from("SUREFOOT_CASES") {
        Some(cases) => (u64::from(default_cases) * cases).div_ceil(5000) as u32,
        None => default_cases,
    }
}

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}, not a number")))
}
