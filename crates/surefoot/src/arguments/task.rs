//! Arguments that say what is to be verified and how it is read, and their checked form.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use surefoot_engines::{Goal, OutOfDomain};
use surefoot_model::MemoryFile;
use surefoot_policy::{Arithmetic, Lists};

use crate::failure::Failure;

/// The task, as written.
#[derive(Debug, Clone, Args)]
pub struct TaskArguments {
    /// The model (JANI)
    pub model: PathBuf,
    #[command(flatten)]
    pub question: QuestionArguments,
}

/// What is asked about a model, as written.
#[derive(Debug, Clone, Args)]
pub struct QuestionArguments {
    /// A file with properties, or the name or index of the property to use; may be given once for each. Indices count the
    /// model's own properties first, from 0
    #[arg(long, value_name = "FILE|NAME|INDEX", help_heading = "Task")]
    pub property: Vec<String>,
    /// The policy's interface file, or with `--inputs` the network or tree ensemble itself [default: the file that the
    /// property names]
    #[arg(long, value_name = "FILE", help_heading = "Task")]
    pub policy: Option<PathBuf>,
    #[command(flatten)]
    pub lists: ListArguments,
    /// Verify the environment alone: every enabled action may be taken
    #[arg(long, conflicts_with_all = ["policy", "inputs", "scorer", "filter", "arithmetic"], help_heading = "Task")]
    pub no_policy: bool,
    /// Read the network or tree ensemble from FILE instead of the file that the interface names
    #[arg(long, value_name = "FILE", help_heading = "Task")]
    pub scorer: Option<PathBuf>,
    /// Values of the model's constants, such as `a=1,b=true`; may be given several times
    #[arg(long = "const", value_name = "NAME=VALUE,…", value_delimiter = ',', value_parser = constant, help_heading = "Task")]
    pub constants: Vec<(String, String)>,
    /// Whether the policy chooses among the applicable labels only [default: what the interface says, else the training]
    #[arg(long, value_enum, value_name = "on|off", help_heading = "Reading", hide_possible_values = true)]
    pub filter: Option<Switch>,
    /// What goal states are [default: ignore]
    #[arg(long, value_enum, help_heading = "Reading")]
    pub goal: Option<GoalReading>,
    /// The arithmetic of the policy's scores [default: f64]
    #[arg(long, value_enum, help_heading = "Reading")]
    pub arithmetic: Option<ArithmeticName>,
    /// What an update is that leaves a variable's domain [default: error]
    #[arg(long, value_enum, value_name = "READING", help_heading = "Reading")]
    pub out_of_domain: Option<OutOfDomainReading>,
}

/// What a policy without an interface file reads and chooses from, as written.
#[derive(Debug, Clone, Args)]
pub struct ListArguments {
    /// What the policy reads, in order: variables and constants such as `x,robot.load,grid[3]`, `all` for all variables in
    /// the order of `surefoot info`, or `names` for the names of features that the file of a tree ensemble keeps. Takes the
    /// place of an interface file
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Task")]
    #[arg(requires_all = ["outputs", "policy"], conflicts_with = "scorer")]
    pub inputs: Vec<String>,
    /// The labels of the policy's outputs, in order, or `all` for all labels in the order of `surefoot info`
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',', requires = "inputs", help_heading = "Task")]
    pub outputs: Vec<String>,
    /// What stands between the layers of a state dict: `relu`, `tanh`, `sigmoid`, `elu` or `leaky_relu`
    #[arg(long, value_name = "NAME", requires = "inputs", help_heading = "Task")]
    pub activation: Option<String>,
    /// The layers of a state dict, in order, where names and shapes leave that open
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "inputs", help_heading = "Task")]
    pub layers: Vec<String>,
}

impl ListArguments {
    /// The lists, if there are any.
    fn check(self) -> Option<Lists> {
        let trimmed = |list: Vec<String>| list.iter().map(|name| name.trim().to_string()).collect();
        let ListArguments { inputs, outputs, activation, layers } = self;
        (!inputs.is_empty()).then(|| Lists {
            inputs: trimmed(inputs),
            outputs: trimmed(outputs),
            activation,
            layers: trimmed(layers),
        })
    }
}

/// `on` or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// What goal states are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GoalReading {
    /// States like others
    Ignore,
    /// Runs end there; a goal state that is unsafe counts as unsafe
    Terminal,
    /// Runs end there; a goal state that is unsafe counts as safe
    Strict,
}

impl From<GoalReading> for Goal {
    fn from(reading: GoalReading) -> Self {
        match reading {
            GoalReading::Ignore => Goal::Ignore,
            GoalReading::Terminal => Goal::Terminal,
            GoalReading::Strict => Goal::Strict,
        }
    }
}

/// The arithmetics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ArithmeticName {
    /// Double precision, sums in index order
    F64,
    /// Single precision, sums in index order
    F32,
    /// Real numbers over the parameters as doubles, without rounding
    Real,
    /// Every evaluation in single precision: any order of sums, with or without fused operations
    #[value(name = "any-f32")]
    AnyF32,
}

impl From<ArithmeticName> for Arithmetic {
    fn from(name: ArithmeticName) -> Self {
        match name {
            ArithmeticName::F64 => Arithmetic::F64,
            ArithmeticName::F32 => Arithmetic::F32,
            ArithmeticName::Real => Arithmetic::Real,
            ArithmeticName::AnyF32 => Arithmetic::AnyF32,
        }
    }
}

/// What an update is that leaves a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutOfDomainReading {
    /// A mistake in the model
    Error,
    /// A step that is not possible
    Block,
}

impl From<OutOfDomainReading> for OutOfDomain {
    fn from(reading: OutOfDomainReading) -> Self {
        match reading {
            OutOfDomainReading::Error => OutOfDomain::Error,
            OutOfDomainReading::Block => OutOfDomain::Block,
        }
    }
}

/// Reads `name=value`.
pub fn constant(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected `name=value`")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || value.is_empty() {
        return Err("expected `name=value`".into());
    }
    Ok((name.into(), value.into()))
}

/// The task, checked. What is `None` is left to the files and defaults.
#[derive(Debug, Clone)]
pub struct TaskOptions {
    pub model: PathBuf,
    /// The file with additional properties.
    pub property_file: Option<PathBuf>,
    /// Name or index of the property.
    pub property: Option<String>,
    pub policy: PolicyChoice,
    /// What the policy reads and chooses from, if it has no interface file.
    pub lists: Option<Lists>,
    pub scorer: Option<PathBuf>,
    pub constants: Vec<(String, String)>,
    pub reading: Reading,
    /// A file with predicates, instead of those of the property.
    pub predicate_file: Option<PathBuf>,
    /// Files that are read from here instead of from disk.
    pub memory: Vec<MemoryFile>,
}

/// Where the policy comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyChoice {
    /// The property names it.
    Property,
    /// This interface file; with lists, this scorer.
    File(PathBuf),
    /// There is none.
    Without,
}

/// The reading as far as it was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    pub filter: Option<bool>,
    pub goal: Option<Goal>,
    pub arithmetic: Option<Arithmetic>,
    pub out_of_domain: Option<OutOfDomain>,
}

impl Reading {
    /// This reading, completed by another where it is silent.
    #[must_use]
    pub fn or(self, other: Reading) -> Reading {
        Reading {
            filter: self.filter.or(other.filter),
            goal: self.goal.or(other.goal),
            arithmetic: self.arithmetic.or(other.arithmetic),
            out_of_domain: self.out_of_domain.or(other.out_of_domain),
        }
    }
}

impl TaskArguments {
    /// The checked form.
    pub fn check(self) -> Result<TaskOptions, Failure> {
        self.question.about(self.model)
    }
}

impl QuestionArguments {
    /// The checked form, about a model.
    pub fn about(self, model: PathBuf) -> Result<TaskOptions, Failure> {
        let (files, picks): (Vec<_>, Vec<_>) = self.property.into_iter().partition(|text| names_file(text));
        if files.len() > 1 {
            return Err(Failure::Usage(format!(
                "`--property` names two files, `{}` and `{}`: one file of properties can be added to the model's",
                files[0], files[1]
            )));
        }
        if picks.len() > 1 {
            return Err(Failure::Usage(format!(
                "`--property` picks two properties, `{}` and `{}`: one is verified at a time",
                picks[0], picks[1]
            )));
        }
        let policy = match self.policy {
            Some(file) => PolicyChoice::File(file),
            None if self.no_policy => PolicyChoice::Without,
            None => PolicyChoice::Property,
        };
        Ok(TaskOptions {
            model,
            property_file: files.into_iter().next().map(PathBuf::from),
            property: picks.into_iter().next(),
            policy,
            lists: self.lists.check(),
            scorer: self.scorer,
            constants: self.constants,
            reading: Reading {
                filter: self.filter.map(|switch| switch == Switch::On),
                goal: self.goal.map(Goal::from),
                arithmetic: self.arithmetic.map(Arithmetic::from),
                out_of_domain: self.out_of_domain.map(OutOfDomain::from),
            },
            predicate_file: None,
            memory: Vec::new(),
        })
    }
}

/// Whether `--property` means a file: it exists, or looks like one.
fn names_file(text: &str) -> bool {
    let path = Path::new(text);
    let looks_like_one = path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("jani") || extension.eq_ignore_ascii_case("json")
    });
    looks_like_one || path.exists()
}
