//! `surefoot explain`: why the policy chooses what it does in a state.

use std::time::Instant;

use surefoot_engines::explain::{Explainer, Neighbourhood, decision};
use surefoot_engines::replay::check_state;
use surefoot_engines::{NoObserver, Task, TaskError};
use surefoot_model::Sources;
use surefoot_model::enumerate::first_solution;

use crate::arguments::explain::{Epsilon, ExplainArguments};
use crate::arguments::task::PolicyChoice;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::Host;
use crate::load::Problem;
use crate::report::explain::{Explanation, Origin, Parts};
use crate::trace_file::TraceFile;
use crate::{load, output, report, state};

/// Explains and reports.
pub fn run(arguments: &ExplainArguments) -> Result<Exit, Failure> {
    let began = Instant::now();
    let file = arguments.trace.as_ref().map(|path| TraceFile::read(path)).transpose()?;
    let mut options = arguments.task.clone().check()?;
    if let Some(file) = &file {
        file.complete(&mut options)?;
    }
    if options.policy == PolicyChoice::Without {
        return Err(TaskError::NoPolicy.into());
    }
    let problem = load::problem(&options)?;
    output::warnings(&problem.warnings);
    if let Some(file) = &file {
        for name in file.changed_files(&problem.sources)? {
            output::warning(&format!(
                "{name} is not the file that the trace was found with: its contents differ"
            ));
        }
    }
    let explanation = explanation(&problem, arguments, file.as_ref(), began, &Host::terminal(&NoObserver))?;
    if arguments.json {
        output::print_json(&report::explain::document(&problem, arguments, &explanation))?;
    } else {
        output::print(&report::explain::text(&problem, &explanation))?;
    }
    Ok(if explanation.parts.is_complete() { Exit::Done } else { Exit::Unknown })
}

/// What can be said about the choice in the state that is meant.
pub fn explanation(
    problem: &Problem,
    arguments: &ExplainArguments,
    file: Option<&TraceFile>,
    began: Instant,
    host: &Host<'_>,
) -> Result<Explanation, Failure> {
    let task = &problem.task;
    let control = host.control(arguments.time_limit.and_then(|limit| began.checked_add(limit)));
    let mut explainer = Explainer::new(task, &control)?;
    let (state, origin) = subject(task, arguments, file, &mut host.sources())?;
    let decision = decision(task, &state)?;
    let parts = explain(&mut explainer, &state, arguments);
    let stopped = if parts.is_complete() { None } else { control.interrupted() };
    if stopped.is_none() && !parts.is_complete() {
        return Err(Failure::Internal("a solver gave up without a limit".into()));
    }
    Ok(Explanation { state, origin, decision, parts, stopped, time: began.elapsed() })
}

/// Everything that is proved.
fn explain(explainer: &mut Explainer<'_>, state: &[i32], arguments: &ExplainArguments) -> Parts {
    let radius = (arguments.epsilon == Some(Epsilon::Least)).then(|| explainer.radius(state));
    let epsilon = match (arguments.epsilon, radius) {
        (Some(Epsilon::Given(epsilon)), _) => Some(epsilon),
        (_, Some(radius)) => radius.differs_within,
        _ => None,
    };
    let within = epsilon.map_or(Neighbourhood::Domains, Neighbourhood::Within);
    let nearest = explainer.nearest(state);
    let relevance = explainer.relevant(state, within, arguments.order.order(arguments.seed));
    let rule = explainer.rule(state, within, &relevance);
    let nearest_choice = nearest.state.as_ref().map(|(state, _)| explainer.choice(state));
    Parts { radius, epsilon, relevance, rule, nearest, nearest_choice }
}

/// The state to explain.
fn subject(
    task: &Task,
    arguments: &ExplainArguments,
    file: Option<&TraceFile>,
    sources: &mut Sources,
) -> Result<(Vec<i32>, Origin), Failure> {
    if let Some(file) = file {
        let trace = file.trace(task)?;
        let (step, steps) = (arguments.step, trace.steps.len());
        if step == 0 || step > steps + 1 {
            return Err(Failure::Usage(format!(
                "`--step` is {step}, but the trace has the steps 1 to {steps} ({} is its last state)",
                steps + 1
            )));
        }
        let state = if step == 1 { trace.start.clone() } else { trace.steps[step - 2].state.clone() };
        check_state(task, &state).map_err(|reason| {
            Failure::Task(format!("state {step} of the trace is not one of the model: {reason}"))
        })?;
        let command = trace.steps.get(step - 1).map(|step| step.command);
        return Ok((state, Origin::Trace { step, command }));
    }
    if let Some(text) = &arguments.state {
        return Ok((state::from_argument(task, "--state", text, sources)?, Origin::Given));
    }
    let start = &task.property.start;
    let (lower, upper): (Vec<i32>, Vec<i32>) =
        task.system.variables.iter().filter_map(|variable| variable.ty.bounds()).unzip();
    let solution =
        start.condition.and_then(|condition| first_solution(&task.system.exprs, condition, &lower, &upper));
    let listed = || start.listed.iter().find(|state| check_state(task, state).is_ok()).cloned();
    match solution.or_else(listed) {
        Some(state) => Ok((state, Origin::Start)),
        None => Err(Failure::Task(
            "the property has no start state that could be explained\n  hint: pass a state with `--state`"
                .into(),
        )),
    }
}
