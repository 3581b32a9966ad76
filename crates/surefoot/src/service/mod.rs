//! The commands for other programs: the same arguments as on the command line, results as values.
//!
//! Arguments are those of the subcommand without its name. Nothing is printed, and options that write files or choose what is
//! printed are left to the caller, who gets everything. Files may be in memory ([`Host::memory`]).

mod parse;

use std::sync::atomic::Ordering;
use std::time::Instant;

use serde_json::Value;
use surefoot_engines::{Task, Verdict};
use surefoot_model::domains::GeneratedFile;
use surefoot_model::{InputError, Rewards};
use surefoot_policy::Score;

use crate::arguments::explain::ExplainArguments;
use crate::arguments::generate::GenerateArguments;
use crate::arguments::task::TaskOptions;
use crate::arguments::{CheckArguments, InfoArguments, SimulateArguments, VerifyArguments};
use crate::command::{check, explain, generate, info, simulate, verify};
use crate::failure::Failure;
use crate::host::Host;
use crate::load::{self, Problem};
use crate::{progress, report, state_file, trace_file};
use parse::parse;

pub use surefoot_engines::Progress;

/// What `verify` found.
#[derive(Debug)]
pub struct Verified {
    /// The result, `surefoot-result/1`.
    pub document: Value,
    /// The report for people; its last line is the verdict.
    pub text: String,
    /// The contents of the certificate of a SAFE.
    pub certificate: Option<Vec<u8>>,
    /// The contents of a trace file, `surefoot-trace/1`.
    pub trace: Option<Value>,
}

/// Verifies.
pub fn verify(arguments: &[String], host: &Host<'_>) -> Result<Verified, Failure> {
    let began = Instant::now();
    let VerifyArguments { task, search: arguments, limits, .. } = parse("verify", arguments)?;
    let search = arguments.check()?;
    let predicate_file = arguments.abstraction.predicates.clone();
    let options = TaskOptions { predicate_file, memory: host.memory.clone(), ..task.check()? };
    let problem = load::problem(&options)?;
    let frames = arguments.ic3.resume.map(|file| state_file::read(&file, &problem)).transpose()?;
    let answer = verify::answer(&problem, search, frames, &limits, began, host)?;
    let state = match arguments.ic3.save_state.as_ref().zip(answer.frames()) {
        Some((file, frames)) => Some(state_file::write(file, frames)?),
        None => None,
    };
    let files = report::json::Files { certificate: None, state: state.as_ref() };
    Ok(Verified {
        document: report::json::result(&problem, &answer, files),
        text: report::outcome::text(&problem, &answer, state.as_ref()),
        certificate: answer.certificate().map(|issued| issued.contents.clone()),
        trace: match &answer.outcome.verdict {
            Verdict::Unsafe(trace) => Some(trace_file::document(&problem, trace)),
            _ => None,
        },
    })
}

/// One line about how far a run has come.
pub fn progress_line(progress: &Progress) -> String {
    progress::line(progress)
}

/// A result as JSON and as text for people.
#[derive(Debug)]
pub struct Reported {
    /// The result; `docs/json.md` describes it.
    pub document: Value,
    /// The report for people.
    pub text: String,
}

/// Makes random runs: `surefoot-simulation/1`; nothing if the host has cancelled them, since making the document may take seconds.
pub fn simulate(arguments: &[String], host: &Host<'_>) -> Result<Value, Failure> {
    let arguments = SimulateArguments { json: true, ..parse("simulate", arguments)? };
    let problem = problem(arguments.task.clone().check()?, host)?;
    let runs =
        simulate::simulate(&problem, &arguments, host, |_, _| Ok(std::ops::ControlFlow::Continue(())))?;
    if host.cancelled.load(Ordering::Relaxed) {
        return Ok(Value::Null);
    }
    Ok(runs.document(&problem, &arguments))
}

/// Explains a choice: `surefoot-explanation/1`.
pub fn explain(arguments: &[String], host: &Host<'_>) -> Result<Reported, Failure> {
    let began = Instant::now();
    let arguments: ExplainArguments = parse("explain", arguments)?;
    let problem = problem(arguments.task.clone().check()?, host)?;
    let explanation = explain::explanation(&problem, &arguments, None, began, host)?;
    Ok(Reported {
        document: report::explain::document(&problem, &arguments, &explanation),
        text: report::explain::text(&problem, &explanation),
    })
}

/// Checks a certificate: `surefoot-check/1`.
pub fn check(arguments: &[String], host: &Host<'_>) -> Result<Reported, Failure> {
    let began = Instant::now();
    let CheckArguments { certificate: file, model, question, time_limit, .. } = parse("check", arguments)?;
    let (contents, certificate) = check::read(&file, host.sources())?;
    let mut options = question.about(model)?;
    options.reading = options.reading.or(check::reading(certificate.semantics));
    let problem = problem(options, host)?;
    let control = host.control(time_limit.and_then(|limit| began.checked_add(limit)));
    let checked = check::checked(&file, contents.len(), &certificate, &problem, &control)?;
    Ok(Reported {
        document: report::check::document(&problem, &checked),
        text: report::check::text(&problem, &checked),
    })
}

/// Says what a model consists of: `surefoot-info/1`.
pub fn info(arguments: &[String], host: &Host<'_>) -> Result<Reported, Failure> {
    let InfoArguments { task, .. } = parse("info", arguments)?;
    let options = TaskOptions { memory: host.memory.clone(), ..task.check()? };
    let info = info::collect(&options)?;
    Ok(Reported { document: report::info::document(&info), text: report::info::text(&info) })
}

/// Generates files: a model and its property, or the interface and the scorer of a policy.
pub fn generate(arguments: &[String], host: &Host<'_>) -> Result<Vec<GeneratedFile>, Failure> {
    let GenerateArguments { what, .. } = parse("gen", arguments)?;
    generate::files(what, host.memory.clone())
}

/// The long options of a subcommand (`verify`, or `gen` and what is generated), and which of them are flags without a value.
pub fn options(command: &[String]) -> Result<Vec<(String, bool)>, Failure> {
    match command.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["verify"] => Ok(parse::options(&parse::command::<VerifyArguments>("verify"))),
        ["gen", what] => {
            let all = parse::command::<GenerateArguments>("gen");
            let what = all.find_subcommand(what);
            what.map(parse::options).ok_or_else(|| Failure::Usage("there is no such domain".into()))
        }
        _ => Err(Failure::Internal("options of other commands are not asked for".into())),
    }
}

/// A task that was read.
#[derive(Debug)]
pub struct Question {
    /// The task.
    pub task: Task,
    /// What the property says about rewards of learning.
    pub rewards: Result<Rewards, InputError>,
}

/// Reads a task; arguments are those of `info`.
pub fn question(arguments: &[String], host: &Host<'_>) -> Result<Question, Failure> {
    let InfoArguments { task, .. } = parse("info", arguments)?;
    let Problem { task, rewards, .. } = problem(task.check()?, host)?;
    Ok(Question { task, rewards })
}

impl Question {
    /// The scores of the policy at a state, one by output.
    pub fn scores(&self, state: &[i32]) -> Result<Vec<Score>, Failure> {
        let policy = self.task.policy.as_ref();
        let policy = policy.ok_or_else(|| Failure::Task("there is no policy that has scores".into()))?;
        Ok(policy.scores(self.task.semantics.arithmetic, state))
    }
}

/// Reads a task whose files may be in memory.
fn problem(options: TaskOptions, host: &Host<'_>) -> Result<Problem, Failure> {
    load::problem(&TaskOptions { memory: host.memory.clone(), ..options })
}
