//! The runs of a bench: one per instance and configuration, each with a key of everything that its result depends on.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use surefoot_model::{SourceFile, Sources};

use super::generated;
use super::name::{file_name, matches, printable};
use super::option::{in_suite, other_file, other_than_task, parse, same_question};
use super::record::{Limits, Names};
use super::suite::{Configuration, Instance, PolicySource, Source, Suite};
use crate::arguments::bench::BenchArguments;
use crate::arguments::search::Engine;
use crate::failure::Failure;
use crate::load;

/// What is run if neither the suite nor the command line says it.
const ENGINES: [&str; 3] = ["explicit", "ic3", "ppa"];

/// What to do with an option that is not for instances.
const SEARCH: &str = "engines and their options are for a `[[configuration]]`; limits and threads are options of `surefoot bench`";

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
    /// SHA-256 of the files that are read, the arguments without limits and without the places of files, and the program.
    pub key: String,
    /// The files that are read.
    pub files: Vec<SourceFile>,
}

impl Run<'_> {
    /// What it is called.
    pub fn names(&self) -> Names<'_> {
        let Run { instance, configuration, .. } = self;
        Names { instance: &instance.name, family: &instance.family, configuration }
    }
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
        let mut folders: HashMap<String, &Instance> = HashMap::new();
        for instance in plan.instances.clone() {
            let folder = file_name(&instance.name);
            if let Some(other) = folders.insert(folder.to_lowercase(), instance) {
                let message =
                    format!("its files would be those of `{}`: choose another name", printable(&other.name));
                return Err(suite.instance_error(instance, &message).into());
            }
            plan.add(suite, instance, &arguments.out.join("models").join(folder), &program)?;
        }
        Ok(plan)
    }

    /// Adds the runs of an instance. A model that is generated is kept in a folder.
    fn add(
        &mut self,
        suite: &Suite,
        instance: &'s Instance,
        folder: &Path,
        program: &str,
    ) -> Result<(), Failure> {
        let wrong = |message: &str| suite.instance_error(instance, message);
        let task = task_arguments(instance, folder).map_err(|failure| in_suite(failure, wrong))?;
        let parsed = parse(&task).and_then(|parsed| parsed.task.check());
        let question = parsed.map_err(|failure| in_suite(failure, wrong))?;
        if let Some(option) = other_than_task(&task) {
            return Err(wrong(&format!("`{option}` does not say how the task is read"))
                .with_hint(SEARCH)
                .into());
        }
        let files = load::problem(&question)?.sources.files;
        for configuration in &self.configurations {
            let wrong = |message: &str| suite.configuration_error(configuration, message);
            let mut search = vec!["--engine".into(), configuration.engine.clone()];
            search.extend(configuration.options.iter().cloned());
            search.extend(["--json".into(), "--threads".into(), format!("{}", self.threads)]);
            let mut arguments = task.clone();
            arguments.extend(search.iter().cloned());
            arguments.extend(["--time-limit".into(), format!("{}", self.limits.seconds)]);
            arguments.extend(["--memory-limit".into(), format!("{}", self.limits.bytes)]);
            let parsed = parse(&arguments).map_err(|failure| in_suite(failure, wrong))?;
            parsed.search.check().map_err(|failure| in_suite(failure, wrong))?;
            if let Some(option) = other_file(&parsed) {
                return Err(wrong(&format!(
                    "`{option}` names a file that runs would share; it is not for suites"
                ))
                .into());
            }
            if !same_question(&parsed.task.check()?, &question) {
                let message = "its options change the question; put them into `options` of instances";
                return Err(wrong(message).into());
            }
            let mut files = files.clone();
            if let Some(file) = &parsed.search.abstraction.predicates {
                let mut sources = Sources::default();
                sources.read_bytes(file)?;
                files.append(&mut sources.files);
            }
            let hashes: Vec<&str> = files.iter().map(|file| file.sha256.as_str()).collect();
            let asked = format!("{}\0{}", asked(instance).join("\0"), search.join("\0"));
            let key = hash(&format!("{program}\n{}\n{asked}", hashes.join(" ")));
            let configuration = configuration.name.clone();
            self.runs.push(Run { instance, configuration, arguments, key, files });
        }
        Ok(())
    }
}

/// What an instance asks about its files, wherever these are.
fn asked(instance: &Instance) -> Vec<&str> {
    let is_name = |property: &&str| !Path::new(property).is_file();
    let names = instance.properties.iter().map(String::as_str).filter(is_name);
    let policy = match instance.policy {
        PolicySource::Property => "the property's policy",
        PolicySource::File(_) => "a policy",
        PolicySource::Without => "no policy",
    };
    names.chain([policy]).chain(instance.options.iter().map(String::as_str)).collect()
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
        let message = format!("there is no engine `{}`", printable(&wrong.engine));
        return Err(suite.configuration_error(wrong, &message).into());
    }
    let mut chosen: Vec<Configuration> = Vec::new();
    for name in names {
        let known = suite.configurations.iter().find(|configuration| configuration.name == name);
        let configuration = match known {
            Some(configuration) => configuration.clone(),
            None if is_engine(&name) => Configuration::engine(&name),
            None => {
                let known: Vec<_> = suite.configurations.iter().map(|known| printable(&known.name)).collect();
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
fn task_arguments(instance: &Instance, folder: &Path) -> Result<Vec<String>, Failure> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut properties = instance.properties.clone();
    let model = match &instance.source {
        Source::File(file) => file.clone(),
        Source::Generated(arguments) => {
            let (model, property) = generated::model(arguments, folder)?;
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
