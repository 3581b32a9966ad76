//! The live line on stderr while a run goes on.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use surefoot_engines::ic3::Statistics;
use surefoot_engines::{Observer, Progress, pa};

use crate::report::number::{bytes, counted, grouped, percent, rate, seconds};

/// Time between two updates of the line.
const INTERVAL: Duration = Duration::from_millis(200);

/// Shows progress on a terminal, at a pace that people can read; clears the line at the end.
pub struct ProgressLine {
    /// When the line was last written; `None` where nothing is shown.
    shown: Option<Mutex<Option<Instant>>>,
}

impl ProgressLine {
    /// A line on stderr if that is a terminal and `wanted`.
    pub fn new(wanted: bool) -> Self {
        let visible = wanted && io::stderr().is_terminal();
        ProgressLine { shown: visible.then(|| Mutex::new(None)) }
    }
}

impl Observer for ProgressLine {
    fn progress(&self, progress: &Progress) {
        let Some(shown) = &self.shown else { return };
        // Another thread that is writing the line right now is as good as this one.
        let Ok(mut last) = shown.try_lock() else { return };
        if last.is_some_and(|last| last.elapsed() < INTERVAL) {
            return;
        }
        *last = Some(Instant::now());
        let line = line(progress);
        // A line that is too long is cut off: wrapped, it could not be cleared.
        let _ = write!(io::stderr(), "\r\x1b[K\x1b[?7l{line}\x1b[?7h");
    }
}

/// What the line says.
pub fn line(progress: &Progress) -> String {
    match progress {
        Progress::Explicit { elapsed, states, depth, memory, .. } => format!(
            "{} states, {} states/s, depth {}, {}, {}",
            grouped(*states),
            rate(*states, *elapsed),
            grouped(*depth),
            bytes(*memory),
            seconds(*elapsed)
        ),
        Progress::Ic3(statistics) => ic3(statistics),
        Progress::Pa(statistics) => pa(statistics),
    }
}

fn pa(statistics: &pa::Statistics) -> String {
    let tests = &statistics.tests;
    let questions = tests.environment.count + tests.state.count + tests.policy.count;
    let iteration = statistics.iterations.last().map_or_else(String::new, |last| {
        let number = grouped(statistics.iterations.len() as u64 + 1);
        format!("iteration {number} (last path {}), ", counted(last.steps, "step"))
    });
    format!(
        "{iteration}{}, {}, {} expanded, {} queries/s, cache {}, {}",
        counted(statistics.predicates, "predicate"),
        counted(statistics.states, "abstract state"),
        grouped(statistics.expanded),
        rate(questions, statistics.time),
        percent(tests.policy_known as f64, tests.policy.count as f64),
        seconds(statistics.time)
    )
}

/// Levels whose numbers of reasons are shown.
const LEVELS: usize = 4;

fn ic3(statistics: &Statistics) -> String {
    let tests = &statistics.tests;
    let last = &statistics.levels[statistics.levels.len().saturating_sub(LEVELS)..];
    let last: Vec<String> = last.iter().map(u64::to_string).collect();
    let hits = |part: u64, whole: u64| percent(part as f64, whole as f64);
    let questions = tests.environment.count + tests.state.count + tests.policy.count;
    format!(
        "depth {}, {} (last {}), {}, {} queries/s, hits: states {}, cores {}, cache {}, {}",
        grouped(statistics.depth),
        counted(statistics.reasons, "reason"),
        last.join(" "),
        counted(statistics.obligations, "obligation"),
        rate(questions, statistics.time),
        hits(tests.boxes_by_state, tests.boxes.count),
        hits(tests.environment_known, tests.environment_known + tests.environment.count),
        hits(tests.policy_known, tests.policy.count),
        seconds(statistics.time)
    )
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        let written = self.shown.as_ref().is_some_and(|shown| shown.lock().is_ok_and(|last| last.is_some()));
        if written {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surefoot_engines::Tally;
    use surefoot_engines::ic3::Tests;

    #[test]
    fn the_line_of_ic3_has_levels_and_hit_rates() {
        let tally = |count| Tally { count, time: Duration::ZERO };
        let tests = Tests {
            boxes: tally(10),
            boxes_by_state: 4,
            environment: tally(500),
            environment_known: 1500,
            state: tally(500),
            policy: tally(1000),
            policy_known: 0,
        };
        let levels = vec![9, 8, 7, 6, 5];
        let time = Duration::from_secs(2);
        let statistics = Statistics {
            depth: 4,
            reasons: 35,
            levels,
            obligations: 1,
            time,
            tests,
            ..Statistics::default()
        };
        assert_eq!(
            ic3(&statistics),
            "depth 4, 35 reasons (last 8 7 6 5), 1 obligation, 1,000 queries/s, \
             hits: states 40 %, cores 75 %, cache 0 %, 2.0 s"
        );
    }

    #[test]
    fn the_line_of_predicate_abstraction_has_the_iteration() {
        let tally = |count| Tally { count, time: Duration::ZERO };
        let tests =
            pa::Tests { state: tally(300), policy: tally(700), policy_known: 350, ..pa::Tests::default() };
        let time = Duration::from_secs(2);
        let mut statistics = pa::Statistics {
            predicates: 3,
            states: 1200,
            expanded: 1,
            time,
            tests,
            ..pa::Statistics::default()
        };
        let rest = "3 predicates, 1,200 abstract states, 1 expanded, 500 queries/s, cache 50 %, 2.0 s";
        assert_eq!(pa(&statistics), rest);
        statistics.iterations.push(pa::Iteration {
            predicates: pa::PredicateCounts::default(),
            states: 1,
            steps: 5,
            cause: pa::Cause::Policy,
            added: 3,
            tests,
            time,
        });
        assert_eq!(pa(&statistics), format!("iteration 2 (last path 5 steps), {rest}"));
    }
}
