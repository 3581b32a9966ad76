//! Generators of the benchmark domains on which learned policies are verified.
//!
//! Each domain is one module with a `Parameters` structure, whose default is an instance of the papers, and a function
//! `generate` that writes the instance as JANI text: a model and a property (start, unsafe and goal condition).
//! All models have one automaton with one location and bounded integer variables, guards and effects are linear, and no
//! update leaves the domain of its variable in a state reachable from the start states.
//! Equal parameters give equal bytes.
//!
//! | module | the policy must | unsafe |
//! |---|---|---|
//! | [`blocksworld`] | rebuild a tower of blocks | too many blocks on the table |
//! | [`npuzzle`] | order the tiles of a sliding puzzle | one tile at a forbidden place |
//! | [`transport`] | carry packages along a line of locations | overload on a bridge or on a way back |
//! | [`line`](mod@line) | the same with inertia, one-way or two-way | driving off the end of the line |
//! | [`beluga`] | sort cargo in racks between plane and factory | too many swaps, or a full rack |
//! | [`racetrack`] | drive a car around a track | hitting a wall |
//!
//! Domains: Vinzent, Steinmetz, Hoffmann (ICAPS 2022) and the papers that followed. Where a paper leaves something
//! open, the module says what we chose.
//!
//! [`policy`] makes small seeded random policies for tests.

pub mod beluga;
pub mod blocksworld;
mod build;
mod cost;
pub mod line;
pub mod npuzzle;
mod parameter;
pub mod policy;
pub mod racetrack;
#[cfg(test)]
mod tests;
pub mod transport;

pub use parameter::ParameterError;

/// A generated benchmark instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The model file `<name>.jani` and the property file `<name>.property.jani`, in this order.
    pub files: Vec<GeneratedFile>,
    /// The model's variables in the order of their declaration: what a policy may observe.
    pub variables: Vec<InputVariable>,
    /// The action labels in the order of their declaration: what a policy chooses from.
    pub labels: Vec<String>,
}

/// A file by name and contents; nothing is written to disk here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    /// File name without directory.
    pub name: String,
    /// The whole text.
    pub contents: String,
}

/// An integer variable with its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputVariable {
    /// Name in the model.
    pub name: String,
    /// Smallest value.
    pub lower: i64,
    /// Largest value.
    pub upper: i64,
}
