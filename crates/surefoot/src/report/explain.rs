//! The result of `explain` as text and as JSON.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use surefoot_engines::explain::{Decision, Nearest, Radius, Relevance, Rule};
use surefoot_engines::step::describe_command;
use surefoot_engines::{StopReason, Task};
use surefoot_model::{VarId, Variable};
use surefoot_policy::{Policy, Score};

use super::number::{counted, seconds};
use super::{json, outcome, reading, trace};
use crate::arguments::explain::ExplainArguments;
use crate::load::Problem;

/// What was found out about a choice.
pub struct Explanation {
    pub state: Vec<i32>,
    pub origin: Origin,
    pub decision: Decision,
    pub parts: Parts,
    /// The limit that left something open.
    pub stopped: Option<StopReason>,
    pub time: Duration,
}

/// Where a state comes from.
pub enum Origin {
    /// It is the first start state.
    Start,
    /// It was given.
    Given,
    /// It is the state of a trace in which this step is taken, by this command.
    Trace { step: usize, command: Option<usize> },
}

/// What is proved about a choice.
pub struct Parts {
    /// How far the choice is the same in all directions, where that was asked for.
    pub radius: Option<Radius>,
    /// How far values may stray; `None`: anywhere in their domains.
    pub epsilon: Option<u32>,
    pub relevance: Relevance,
    pub rule: Rule,
    pub nearest: Nearest,
    /// What can be chosen in the nearest state.
    pub nearest_choice: Option<Vec<usize>>,
}

impl Parts {
    /// Whether nothing was left open.
    pub fn is_complete(&self) -> bool {
        self.radius.is_none_or(|radius| radius.is_exact)
            && self.relevance.open.is_empty()
            && self.rule.is_maximal
            && self.nearest.is_exact
    }
}

/// The report. The last line says what came out.
pub fn text(problem: &Problem, explanation: &Explanation) -> String {
    let task = &problem.task;
    let Explanation { state, decision, parts, .. } = explanation;
    let mut text = outcome::subject(problem);
    let _ = write!(text, "\n{}\n{}", heading(task, &explanation.origin), trace::state(task, state));
    let _ = write!(text, "scores\n{}", trace::wrapped(scores(task, decision)));
    text += &dependence(task, parts);
    text += &rule(task, decision, &parts.rule);
    text.push('\n');
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<18}{value}");
    };
    row("choice", &choice(task, decision));
    if let Some(radius) = parts.radius {
        row("least epsilon", &radius_text(radius));
    }
    row("nearest other", &nearest(task, state, parts));
    row("time", &seconds(explanation.time));
    let _ = writeln!(text, "\n{}", verdict(task, explanation));
    text
}

/// Which state it is.
fn heading(task: &Task, origin: &Origin) -> String {
    match origin {
        Origin::Start => "first start state".into(),
        Origin::Given => "state".into(),
        Origin::Trace { step, command: None } => format!("state {step} of the trace, the last one"),
        Origin::Trace { step, command: Some(command) } => {
            let command = describe_command(task, &task.system.commands[*command]);
            format!("state before step {step} of the trace, which is {command}")
        }
    }
}

fn policy(task: &Task) -> &Policy {
    task.policy.as_ref().expect("explanations are about policies")
}

fn label(task: &Task, output: usize) -> &str {
    &task.system.labels[policy(task).outputs[output].index()].name
}

/// `a`, `a or b`, `no label`.
fn labels(task: &Task, outputs: &[usize]) -> String {
    let names: Vec<&str> = outputs.iter().map(|&output| label(task, output)).collect();
    if names.is_empty() { "no label".into() } else { names.join(" or ") }
}

/// `load, score 3, margin 1 to forward`.
fn choice(task: &Task, decision: &Decision) -> String {
    let Some(&first) = decision.chosen.first() else {
        return "no label: none that the policy can choose is applicable".into();
    };
    let mut text = labels(task, &decision.chosen);
    if decision.chosen.len() > 1 {
        text += " (their scores are too close to tell)";
    }
    if decision.chosen.iter().any(|&output| !decision.applicable[output]) {
        text += " (not applicable: the policy stalls)";
    }
    let _ = write!(text, ", score {}", score(decision.scores[first]));
    match (decision.runner_up, decision.margin) {
        (Some(other), Some(margin)) => {
            let _ = write!(text, ", margin {} to {}", score(margin), label(task, other));
        }
        (Some(other), None) => {
            let _ = write!(text, ", runner-up {}", label(task, other));
        }
        (None, _) => text += ", nothing else to choose from",
    }
    text
}

/// A number, or an interval around one.
fn score(score: Score) -> String {
    // The last bit of a number that was rounded is nothing to read.
    let middle = f64::midpoint(score.lower, score.upper);
    if score.upper - score.lower <= 1e-15 * middle.abs() || score.lower == score.upper {
        return middle.to_string();
    }
    let middle: f64 = format!("{middle:.6e}").parse().expect("a number was printed");
    let radius = (score.upper - middle).max(middle - score.lower);
    if radius.is_finite() {
        // Two digits round by less than 5 %: what is printed holds the whole interval.
        format!("{middle} ± {:.1e}", 1.06 * radius)
    } else {
        format!("{}..{}", score.lower, score.upper)
    }
}

/// The scores of all outputs, the highest first.
fn scores(task: &Task, decision: &Decision) -> Vec<String> {
    let mut outputs: Vec<usize> = (0..decision.scores.len()).collect();
    outputs.sort_by(|&a, &b| decision.scores[b].upper.total_cmp(&decision.scores[a].upper));
    let item = |output: usize| {
        let remark = if decision.applicable[output] { "" } else { " (not applicable)" };
        format!("{} {}{remark}", label(task, output), score(decision.scores[output]))
    };
    outputs.into_iter().map(item).collect()
}

fn radius_text(radius: Radius) -> String {
    match radius {
        Radius { same_within, differs_within: Some(least), is_exact: true } => {
            format!("{least}: the choice is the same if all values change by at most {same_within}")
        }
        Radius { is_exact: true, .. } => "none: the choice is the same in all states".into(),
        Radius { same_within, differs_within, .. } => {
            let most = differs_within.map_or(String::new(), |most| format!(", at most {most}"));
            format!("not decided: above {same_within}{most}")
        }
    }
}

/// Variables that have more than one value.
fn names(task: &Task, variables: &[VarId]) -> Vec<String> {
    let variables = variables.iter().map(|v| &task.system.variables[v.index()]);
    let several = |v: &&Variable| v.ty.bounds().is_some_and(|(lower, upper)| lower < upper);
    variables.filter(several).map(|v| v.name.clone()).collect()
}

/// The relevant variables and the others.
fn dependence(task: &Task, parts: &Parts) -> String {
    let Relevance { relevant, irrelevant, open, .. } = &parts.relevance;
    let stray = match parts.epsilon {
        None => "whatever their values are".into(),
        Some(epsilon) => format!("as long as their values change by at most {epsilon}"),
    };
    let mut text = String::new();
    for (title, variables) in [
        ("depends on".into(), relevant),
        ("not decided".into(), open),
        (format!("does not depend on, {stray}"), irrelevant),
    ] {
        let names = names(task, variables);
        if !names.is_empty() {
            let _ = write!(text, "{title}\n{}", trace::wrapped(names));
        }
    }
    text
}

/// A rule that covers the state: under which conditions the choice is the same.
fn rule(task: &Task, decision: &Decision, rule: &Rule) -> String {
    let bounds = rule.states.lower.iter().zip(&rule.states.upper);
    let conditions: Vec<String> = task
        .system
        .variables
        .iter()
        .zip(bounds)
        .filter_map(|(variable, (&lower, &upper))| condition(variable, lower, upper))
        .collect();
    let choice = labels(task, &decision.chosen);
    let doubt = if rule.is_maximal { "" } else { " (perhaps not the widest)" };
    if conditions.is_empty() {
        format!("rule: {choice} in all states\n")
    } else {
        format!("rule{doubt}: {choice} if\n{}", trace::wrapped(conditions))
    }
}

/// What bounds say about a variable; `None` if they are those of its domain.
fn condition(variable: &Variable, lower: i32, upper: i32) -> Option<String> {
    let (least, greatest) = variable.ty.bounds()?;
    let name = &variable.name;
    let show = |value| variable.display(value);
    Some(match (lower > least, upper < greatest) {
        (false, false) => return None,
        _ if lower == upper => format!("{name} = {}", show(lower)),
        _ if !variable.value_names.is_empty() => {
            let values: Vec<String> = (lower..=upper).map(show).collect();
            format!("{name} one of {}", values.join(" "))
        }
        (true, false) => format!("{name} ≥ {}", show(lower)),
        (false, true) => format!("{name} ≤ {}", show(upper)),
        (true, true) => format!("{} ≤ {name} ≤ {}", show(lower), show(upper)),
    })
}

fn nearest(task: &Task, state: &[i32], parts: &Parts) -> String {
    let Nearest { state: found, at_least, is_exact } = &parts.nearest;
    let Some((other, distance)) = found else {
        return if *is_exact {
            "none: no state has another choice".into()
        } else {
            format!("not decided: no other choice was found, at least at distance {at_least}")
        };
    };
    let choice = labels(task, parts.nearest_choice.as_deref().unwrap_or(&[]));
    let changes = trace::changes(task, state, other);
    let doubt =
        if *is_exact { String::new() } else { format!(" (not proved to be nearest: at least {at_least})") };
    format!("{choice} at distance {distance}: {changes}{doubt}")
}

/// The last line.
fn verdict(task: &Task, explanation: &Explanation) -> String {
    let Explanation { decision, parts, .. } = explanation;
    let choice = labels(task, &decision.chosen);
    let Relevance { relevant, irrelevant, open, .. } = &parts.relevance;
    let [relevant, irrelevant, open] =
        [relevant, irrelevant, open].map(|list| names(task, list).len() as u64);
    let all = counted(relevant + irrelevant + open, "variable");
    if let Some(reason) = explanation.stopped {
        let time = seconds(explanation.time);
        let most = if open > 0 { format!(" to {}", relevant + open) } else { String::new() };
        return format!("PARTIAL  {reason} after {time}: {choice} depends on {relevant}{most} of {all}");
    }
    let nearest = match &parts.nearest.state {
        Some((_, distance)) => format!("the nearest other choice is at distance {distance}"),
        None => "no state has another choice".into(),
    };
    format!("EXPLAINED  {choice} depends on {relevant} of {all}, {nearest}")
}

/// The same as JSON.
pub fn document(problem: &Problem, arguments: &ExplainArguments, explanation: &Explanation) -> Value {
    let task = &problem.task;
    let Explanation { state, decision, parts, .. } = explanation;
    let names = |variables: &[VarId]| -> Vec<&str> {
        variables.iter().map(|v| task.system.variables[v.index()].name.as_str()).collect()
    };
    let step = match explanation.origin {
        Origin::Trace { step, .. } => Some(step),
        _ => None,
    };
    let output = |output: usize| {
        json!({
            "label": label(task, output),
            "score": interval(decision.scores[output]),
            "applicable": decision.applicable[output],
            "chosen": decision.chosen.contains(&output),
        })
    };
    let margin = decision
        .runner_up
        .map(|other| json!({"runner_up": label(task, other), "margin": decision.margin.map(interval)}));
    let radius = parts.radius.map(|radius| {
        json!({
            "same_within": radius.same_within,
            "differs_within": radius.differs_within,
            "proved": radius.is_exact,
        })
    });
    let mut document = json::header("surefoot-explanation/1");
    document.extend(json::members(json!({
        "complete": parts.is_complete(),
        "reason": explanation.stopped.map(reading::stop_reason),
    })));
    document.extend(json::subject(problem));
    document.extend(json::members(json!({
        "from": match explanation.origin {
            Origin::Start => "start",
            Origin::Given => "given",
            Origin::Trace { .. } => "trace",
        },
        "step": step,
        "state": json::state(task, state),
        "choice": chosen(task, &decision.chosen),
        "outputs": (0..decision.scores.len()).map(output).collect::<Vec<_>>(),
        "margin": margin,
        "epsilon": parts.epsilon,
        "least": radius,
        "order": arguments.order.name(),
        "seed": arguments.seed,
        "relevant": names(&parts.relevance.relevant),
        "irrelevant": names(&parts.relevance.irrelevant),
        "undecided": names(&parts.relevance.open),
        "rule": rule_document(task, &parts.rule),
        "nearest": nearest_document(task, state, parts),
        "time_seconds": explanation.time.as_secs_f64(),
        "warnings": json::warnings(&problem.warnings),
        "files": json::files(&problem.sources),
    })));
    Value::Object(document)
}

fn chosen(task: &Task, outputs: &[usize]) -> Vec<String> {
    outputs.iter().map(|&output| label(task, output).to_string()).collect()
}

/// Infinite ends are `null`.
fn interval(score: Score) -> Value {
    json!({"lower": score.lower, "upper": score.upper})
}

fn rule_document(task: &Task, rule: &Rule) -> Value {
    let bounds = rule.states.lower.iter().zip(&rule.states.upper);
    let bounds = task
        .system
        .variables
        .iter()
        .zip(bounds)
        .filter(|(variable, (lower, upper))| variable.ty.bounds() != Some((**lower, **upper)));
    let bounds = bounds.map(|(variable, (&lower, &upper))| {
        let value = |value| json::scalar(variable, value);
        (variable.name.clone(), json!({"lower": value(lower), "upper": value(upper)}))
    });
    json!({"bounds": Value::Object(bounds.collect()), "maximal": rule.is_maximal})
}

fn nearest_document(task: &Task, state: &[i32], parts: &Parts) -> Value {
    let Nearest { state: found, at_least, is_exact } = &parts.nearest;
    let choice = parts.nearest_choice.as_deref().map(|outputs| chosen(task, outputs));
    let (other, distance) = found.as_ref().map(|(other, distance)| (other, *distance)).unzip();
    let changes = other.map(|other| {
        let changed = (0..state.len()).filter(|&v| state[v] != other[v]);
        json::values(task, other, changed)
    });
    json!({
        "proved": is_exact,
        "distance": distance,
        "at_least": (!is_exact || found.is_some()).then_some(at_least),
        "choice": choice,
        "changes": changes,
        "state": other.map(|other| json::state(task, other)),
    })
}
