//! The runs of a bench: one per instance and configuration, each with a key of everything that its result depends on.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use surefoot_model::Sources;

use super::generated;
use super::record::Limits;
use super::suite::{Configuration, Instance, PolicySource, Source, Suite};
use crate::arguments::bench::BenchArguments;
use crate::arguments::search::Engine;
use crate::arguments::task::TaskOptions;
use crate::arguments::{VerifyArguments, verify_arguments};
use crate::failure::Failure;
use crate::load;

/// What is run if neither the suite nor the command line says it.
const ENGINES: [&str; 3] = ["explicit", "ic3", "ppa"];

/// Digits of a hash that tell programs apart.
const PROGRAM_DIGITS: usize = 16;

/// What to run, and how.
pub struct Plan<'s> {
    pub runs: Vec<Run<'s>>,
    /// The instances that take part.
    pub instances: Vec<&'s Instance>,
    pub configurations: Vec<Configuration>,
    pub limits: Limits,
    pub threads: usize,
    pub jobs: usize,
    /// The beginning of the SHA-256 of the program.
    pub program: String,
}

/// One run.
pub struct Run<'s> {
    pub instance: &'s Instance,
    pub configuration: String,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// SHA-256 of the files that are read, the arguments without limits, and the program.
    pub key: String,
}

impl<'s> Plan<'s> {
    /// Chooses instances and configurations, makes generated models, and reads all files once.
    pub fn new(suite: &'s Suite, arguments: &BenchArguments) -> Result<Self, Failure> {
        let configurations = configurations(suite, arguments)?;
        let wanted = |instance: &&Instance| {
            let family = arguments.family.is_empty() || arguments.family.contains(&instance.family);
            family && arguments.filter.as_ref().is_none_or(|pattern| matches(pattern, &instance.name))
        };
        let instances: Vec<&Instance> = suite.instances.iter().filter(wanted).collect();
        if instances.is_empty() {
            return Err(Failure::Usage("no instance of the suite is of this family and name".into()));
        }
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let threads = arguments.threads.get();
        let program = program_hash()?;
        let mut plan = Plan {
            runs: Vec::new(),
            instances,
            configurations,
            limits: Limits { seconds: arguments.time_limit.as_secs_f64(), bytes: arguments.memory_limit },
            threads,
            jobs: arguments.jobs.map_or((cores / threads).max(1), std::num::NonZeroUsize::get),
            program: program.chars().take(PROGRAM_DIGITS).collect(),
        };
        for instance in plan.instances.clone() {
            plan.add(suite, instance, &arguments.out, &program)?;
        }
        Ok(plan)
    }

    /// Adds the runs of an instance.
    fn add(
        &mut self,
        suite: &Suite,
        instance: &'s Instance,
        out: &Path,
        program: &str,
    ) -> Result<(), Failure> {
        let task = task_arguments(instance, out)?;
        let parse = |arguments: &[String]| -> Result<VerifyArguments, Failure> {
            let parsed = verify_arguments(arguments);
            Ok(parsed.map_err(|message| suite.instance_error(instance, message.trim_end()))?)
        };
        let question = parse(&task)?.task.check()?;
        let files = load::problem(&question)?.sources.files;
        let hashes: Vec<&str> = files.iter().map(|file| file.sha256.as_str()).collect();
        for configuration in &self.configurations {
            let mut arguments = task.clone();
            arguments.extend(["--engine".into(), configuration.engine.clone()]);
            arguments.extend(configuration.options.iter().cloned());
            arguments.extend(["--json".into(), "--threads".into(), format!("{}", self.threads)]);
            let everything = format!("{program}\n{}\n{}", hashes.join(" "), arguments.join("\0"));
            let key = hash(&everything);
            arguments.extend(["--time-limit".into(), format!("{}", self.limits.seconds)]);
            arguments.extend(["--memory-limit".into(), format!("{}", self.limits.bytes)]);
            let parsed = parse(&arguments)?;
            parsed.search.check()?;
            if !same_question(&parsed.task.check()?, &question) {
                let message = format!(
                    "the options of the configuration `{}` change the question; put them into `options` of instances",
                    configuration.name
                );
                return Err(suite.instance_error(instance, &message).into());
            }
            let configuration = configuration.name.clone();
            self.runs.push(Run { instance, configuration, arguments, key });
        }
        Ok(())
    }
}

/// Whether two readings of the command line are about the same question.
fn same_question(one: &TaskOptions, other: &TaskOptions) -> bool {
    // All fields count, whatever they are.
    format!("{one:?}") == format!("{other:?}")
}

fn configurations(suite: &Suite, arguments: &BenchArguments) -> Result<Vec<Configuration>, Failure> {
    let names: Vec<String> = if !arguments.engines.is_empty() {
        arguments.engines.clone()
    } else if suite.configurations.is_empty() {
        ENGINES.map(String::from).to_vec()
    } else {
        suite.configurations.iter().map(|configuration| configuration.name.clone()).collect()
    };
    let is_engine = |name: &str| Engine::from_str(name, false).is_ok();
    if let Some(wrong) = suite.configurations.iter().find(|configuration| !is_engine(&configuration.engine)) {
        let message = format!("the configuration `{}` has an unknown engine `{}`", wrong.name, wrong.engine);
        return Err(suite.whole_error(message).into());
    }
    let mut chosen: Vec<Configuration> = Vec::new();
    for name in names {
        let known = suite.configurations.iter().find(|configuration| configuration.name == name);
        let configuration = match known {
            Some(configuration) => configuration.clone(),
            None if is_engine(&name) => {
                Configuration { name: name.clone(), engine: name, options: Vec::new() }
            }
            None => {
                let known: Vec<&str> = suite.configurations.iter().map(|known| known.name.as_str()).collect();
                let message = format!(
                    "`--engines`: `{name}` is neither an engine nor a configuration of the suite ({})",
                    known.join(", ")
                );
                return Err(Failure::Usage(message));
            }
        };
        if !chosen.contains(&configuration) {
            chosen.push(configuration);
        }
    }
    Ok(chosen)
}

/// `verify`, the model, the property, the policy and how they are read.
fn task_arguments(instance: &Instance, out: &Path) -> Result<Vec<String>, Failure> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut properties = instance.properties.clone();
    let model = match &instance.source {
        Source::File(file) => file.clone(),
        Source::Generated(arguments) => {
            let folder = out.join("models").join(file_name(&instance.name));
            let (model, property) = generated::model(arguments, &folder)?;
            // A name of a property may be picked from the generated file.
            properties.insert(0, text(&property));
            model
        }
    };
    let mut arguments = vec!["verify".into(), text(&model)];
    for property in properties {
        arguments.extend(["--property".into(), property]);
    }
    match &instance.policy {
        PolicySource::Property => {}
        PolicySource::File(file) => arguments.extend(["--policy".into(), text(file)]),
        PolicySource::Without => arguments.push("--no-policy".into()),
    }
    arguments.extend(instance.options.iter().cloned());
    Ok(arguments)
}

/// A name that is one of a file on every system.
pub fn file_name(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    name.chars().map(kept).collect()
}

/// Whether a name contains a pattern, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut rest = name;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// The hash of the program: results of another one are not its own.
fn program_hash() -> Result<String, Failure> {
    let program = program()?;
    let mut sources = Sources::default();
    sources.read_bytes(&program)?;
    Ok(sources.files.remove(0).sha256)
}

/// The program that is running.
pub fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::Internal(format!("the program cannot find itself: {error}")))
}

fn hash(text: &str) -> String {
    let mut sources = Sources::default();
    sources.record(Path::new("key"), text.as_bytes());
    sources.files.remove(0).sha256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_parts_of_names() {
        for pattern in ["", "blocks", "4", "b*4", "*", "blocks-4-cost", "s*-*-c"] {
            assert!(matches(pattern, "blocks-4-cost"), "{pattern}");
        }
        for pattern in ["blocks-5", "cost*4", "4*4"] {
            assert!(!matches(pattern, "blocks-4-cost"), "{pattern}");
        }
    }

    #[test]
    fn names_become_names_of_files() {
        assert_eq!(file_name("a/b c:ü.1"), "a_b_c__.1");
    }
}
