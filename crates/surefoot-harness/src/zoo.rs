//! The zoo.
