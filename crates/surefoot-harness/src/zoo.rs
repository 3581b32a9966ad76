//! The zoo: folders with a model, a property, perhaps a policy, and the results that every engine must give.
//!
//! `zoo/README.md` describes the format. A case has several *runs*: settings under which the task is verified, and what is
//! expected then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use surefoot_engines::{Goal, OutOfDomain, Semantics, Task};
use surefoot_model::jani;
use surefoot_policy::{Arithmetic, Policy};

/// The contents of `expect.toml`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Case {
    /// What the case shows.
    pub about: String,
    /// The runs, at least one.
    #[serde(rename = "run")]
    pub runs: Vec<Run>,
    /// Where the case stands.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// Settings and what is expected under them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Run {
    /// What the settings are about.
    pub name: String,
    /// Name of the property; without it the first one.
    pub property: Option<String>,
    /// Values of constants, as text.
    #[serde(default)]
    pub constants: BTreeMap<String, String>,
    /// The policy interface; without it the one that the property names, or `policy.jani2nnet` if there is one.
    pub policy: Option<String>,
    /// Whether the policy filters; without it what the interface says.
    pub filter: Option<bool>,
    /// What goals are.
    #[serde(default)]
    pub goal: GoalReading,
    /// What leaving a domain is.
    #[serde(default)]
    pub out_of_domain: DomainReading,
    /// Name of the arithmetic.
    #[serde(default = "double")]
    pub arithmetic: String,
    /// The answer.
    pub verdict: ExpectedVerdict,
    /// A part of the message, if the answer is an error.
    pub error: Option<String>,
    /// Length of a shortest trace, if the answer is unsafe.
    pub trace: Option<usize>,
    /// A part of a warning that reading gives.
    pub warning: Option<String>,
    /// Counts of the whole task, by name.
    #[serde(default)]
    pub counts: BTreeMap<String, u64>,
    /// Names of the reasons for which the answer says little.
    #[serde(default)]
    pub vacuity: Vec<String>,
}

fn double() -> String {
    Arithmetic::F64.name().into()
}

/// What goals are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GoalReading {
    /// States like others.
    #[default]
    Ignore,
    /// Runs end there.
    Terminal,
    /// Runs end there, safely.
    Strict,
}

/// What leaving a domain is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DomainReading {
    /// A mistake in the model.
    #[default]
    Error,
    /// No step.
    Block,
}

/// The answer to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedVerdict {
    /// No unsafe state is reachable.
    Safe,
    /// An unsafe state is reachable.
    Unsafe,
    /// The model is wrong at a reachable state.
    Wrong,
    /// The files cannot be read.
    Rejected,
}

/// A task that was read, with the warnings that came with it.
#[derive(Debug)]
pub struct ReadTask {
    /// The task.
    pub task: Task,
    /// The warnings, as text.
    pub warnings: Vec<String>,
}

/// All cases of the zoo, by name.
///
/// # Panics
/// A case cannot be read.
pub fn cases() -> Vec<Case> {
    let zoo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo");
    let entries = std::fs::read_dir(&zoo).expect("the zoo is a folder");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    folders.iter().map(|folder| case(folder)).collect()
}

fn case(folder: &Path) -> Case {
    let path = folder.join("expect.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let case: Case = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Case { folder: folder.to_path_buf(), ..case }
}

impl Case {
    /// Name of the folder.
    pub fn name(&self) -> &str {
        self.folder.file_name().and_then(|name| name.to_str()).expect("folders have names")
    }

    /// The task of a run.
    ///
    /// # Errors
    /// What is wrong with the files.
    pub fn read(&self, run: &Run) -> Result<ReadTask, String> {
        let property_file = Some(self.folder.join("property.jani")).filter(|path| path.exists());
        let constants = run.constants.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let model = self.folder.join("model.jani");
        let loaded = jani::read(
            &model,
            property_file.as_deref(),
            &jani::ReadOptions { constants, ..jani::ReadOptions::default() },
        )
        .map_err(|error| error.to_string())?;
        let property = match &run.property {
            Some(name) => loaded.properties.iter().find(|property| property.name == *name),
            None => loaded.properties.first(),
        };
        let property =
            property.map(|property| property.question.as_ref()).ok_or("there is no such property")?;
        let property = property.map_err(ToString::to_string)?.clone();
        let mut warnings = loaded.warnings;
        let mut sources = loaded.sources;
        let interface = match &run.policy {
            Some(name) => Some(self.folder.join(name)),
            None => property
                .policy_file
                .clone()
                .or_else(|| Some(self.folder.join("policy.jani2nnet")).filter(|path| path.exists())),
        };
        let policy = interface
            .map(|path| surefoot_policy::read(&path, &loaded.system, &mut sources, &mut warnings))
            .transpose()
            .map_err(|error| error.to_string())?;
        let semantics = run.semantics(policy.as_ref());
        let task = Task { system: loaded.system, property, policy, semantics };
        Ok(ReadTask { task, warnings: warnings.iter().map(ToString::to_string).collect() })
    }
}

impl Run {
    fn semantics(&self, policy: Option<&Policy>) -> Semantics {
        Semantics {
            filter: self.filter.unwrap_or_else(|| policy.is_some_and(|policy| policy.filter)),
            goal: match self.goal {
                GoalReading::Ignore => Goal::Ignore,
                GoalReading::Terminal => Goal::Terminal,
                GoalReading::Strict => Goal::Strict,
            },
            out_of_domain: match self.out_of_domain {
                DomainReading::Error => OutOfDomain::Error,
                DomainReading::Block => OutOfDomain::Block,
            },
            arithmetic: self.arithmetic.parse().unwrap_or_else(|error| panic!("{error}")),
        }
    }
}
