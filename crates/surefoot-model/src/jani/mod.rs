//! The JANI reader: model files, additional property files, and the extensions that files of `PlaJA` use.
//!
//! [`read`] turns files into a flat [`TransitionSystem`] and its [`Property`]s:
//!
//! * The state vector holds the location of each automaton instance, then global variables, then local ones; arrays are
//!   flattened. Transient variables are substituted away.
//! * Edges and synchronisation vectors become guarded commands, one for each combination of edges; a labelled edge that no
//!   vector names never moves. Ordered assignments become one simultaneous assignment.
//! * Constants and calls of functions are expanded while expressions are read.
//! * A property asks whether unsafe states can be reached. One that asks something else, or that cannot be read, is kept with the
//!   reason, so that it bothers only those who choose it.
//!
//! Mistakes are [`InputError`]s with file, line, column and JSON path. Nothing here recurses over the input.
//!
//! The format is described at <https://jani-spec.org>.

mod assignment;
mod automaton;
mod composition;
mod constant;
mod context;
mod declaration;
mod expression;
mod file;
mod fold;
mod function;
mod initial;
mod instance;
mod model;
mod operator;
mod policy_property;
mod property;
mod standard_property;
mod suggest;
mod term;
mod transient;
mod types;
mod update;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::expr::ExprId;
use crate::input::{InputError, MemoryFile, Sources};
use crate::jani::context::Context;
use crate::jani::file::Loader;
use crate::jani::property::PropertyReader;
use crate::property::{Property, Rewards};
use crate::system::TransitionSystem;
use crate::value::Value;

/// What the user adds to the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Names of constants and their values, as text.
    pub constants: Vec<(String, String)>,
    /// A file with predicates for abstraction: an array of conditions.
    pub predicate_file: Option<PathBuf>,
    /// Files that are read from here instead of from disk.
    pub memory: Vec<MemoryFile>,
}

/// A model with its properties.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The model.
    pub system: TransitionSystem,
    /// The properties of the model file, then those of the property file, in order.
    pub properties: Vec<LoadedProperty>,
    /// What looks wrong but does not keep the model from being read.
    pub warnings: Vec<InputError>,
    /// The predicates of [`ReadOptions::predicate_file`].
    pub predicates: Option<Vec<ExprId>>,
    /// All files that were read.
    pub sources: Sources,
    /// How many of them say what is asked: all but [`ReadOptions::predicate_file`], which comes last.
    pub question_files: usize,
    /// The declared type of the model.
    pub model_type: ModelType,
    /// Constants with their values, in order of declaration.
    pub constants: Vec<ConstantValue>,
    /// The elements of the composition.
    pub automata: Vec<AutomatonSummary>,
}

/// A property of a file.
#[derive(Debug, Clone)]
pub struct LoadedProperty {
    /// Name in the file.
    pub name: String,
    /// The operator of its expression: `PA`, `filter`, …
    pub operator: String,
    /// The file.
    pub file: PathBuf,
    /// The question that it asks, or why it cannot be used, to be shown to those who choose it.
    pub question: Result<Property, InputError>,
    /// What learning is rewarded for, or why that cannot be used. No verdict depends on it.
    pub rewards: Result<Rewards, InputError>,
}

/// The types of models that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelType {
    /// Labelled transition system: no probabilities.
    Lts,
    /// Discrete-time Markov chain.
    Dtmc,
    /// Markov decision process.
    Mdp,
}

impl fmt::Display for ModelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ModelType::Lts => "lts",
            ModelType::Dtmc => "dtmc",
            ModelType::Mdp => "mdp",
        })
    }
}

impl FromStr for ModelType {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "lts" => Ok(ModelType::Lts),
            "dtmc" => Ok(ModelType::Dtmc),
            "mdp" => Ok(ModelType::Mdp),
            _ => Err(()),
        }
    }
}

/// A constant and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstantValue {
    /// Name.
    pub name: String,
    /// The value; the elements row by row if it is an array.
    pub values: Vec<Value>,
    /// Lengths of the array and its sub-arrays; empty for a single value.
    pub dimensions: Vec<usize>,
    /// Whether the value is from [`ReadOptions::constants`].
    pub from_command_line: bool,
}

/// An element of the composition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutomatonSummary {
    /// Name for display: that of the automaton, numbered if it has several instances.
    pub name: String,
    /// Name of the automaton.
    pub automaton: String,
    /// Number of locations.
    pub locations: usize,
    /// Number of edges.
    pub edges: usize,
    /// Number of local variables.
    pub variables: usize,
}

/// Reads a model file, and possibly a file with additional properties.
pub fn read(model: &Path, property_file: Option<&Path>, options: &ReadOptions) -> Result<Loaded, InputError> {
    read_with(Loader::from_disk(options.memory.clone()), model, property_file, options)
}

/// Reads a model like [`read`] from `files`, pairs of path and contents. Nothing on disk is looked at: what the model refers to
/// must be among the files too.
pub fn read_text(
    files: &[(&str, &str)],
    model: &str,
    property_file: Option<&str>,
    options: &ReadOptions,
) -> Result<Loaded, InputError> {
    read_with(Loader::from_memory(files), Path::new(model), property_file.map(Path::new), options)
}

fn read_with(
    mut loader: Loader<'_>,
    model_path: &Path,
    property_file: Option<&Path>,
    options: &ReadOptions,
) -> Result<Loaded, InputError> {
    let model_document = loader.document(model_path)?;
    let property_document = property_file.map(|path| loader.document(path)).transpose()?;
    let mut context = Context::new();
    let model = context.read_model(model_document.root(), &options.constants)?;
    let mut reader = PropertyReader::new(&mut context, &mut loader, model.initial);
    reader.read_section(model_document.root())?;
    if let Some(document) = &property_document {
        reader.read_file(document.root())?;
    }
    let question_files = reader.loader.sources.files.len();
    let predicate_document =
        options.predicate_file.as_ref().map(|path| reader.loader.document(path)).transpose()?;
    let predicates = predicate_document.map(|document| reader.predicates(document.root())).transpose()?;
    let properties = reader.properties;
    let system = TransitionSystem {
        name: model.name,
        exprs: context.pool,
        variables: context.variables,
        labels: model.labels,
        commands: model.commands,
        initial: Some(model.initial),
    };
    Ok(Loaded {
        system,
        properties,
        predicates,
        warnings: context.warnings.finish(),
        sources: loader.sources,
        question_files,
        model_type: model.kind,
        constants: model.constants,
        automata: model.automata,
    })
}
