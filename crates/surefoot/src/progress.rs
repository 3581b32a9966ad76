//! The live line on stderr while a run goes on.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use surefoot_engines::{Observer, Progress};

use crate::report::number::{bytes, counted, grouped, rate, seconds};

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
        let _ = write!(io::stderr(), "\r\x1b[K{line}");
    }
}

/// What the line says.
fn line(progress: &Progress) -> String {
    match progress {
        Progress::Explicit { elapsed, states, depth, memory, .. } => format!(
            "{} states, {} states/s, depth {}, {}, {}",
            grouped(*states),
            rate(*states, *elapsed),
            grouped(*depth),
            bytes(*memory),
            seconds(*elapsed)
        ),
        Progress::Ic3(statistics) => format!(
            "depth {}, {}, {}, {}, {}",
            grouped(statistics.depth),
            counted(statistics.reasons, "reason"),
            counted(statistics.obligations, "obligation"),
            counted(statistics.states, "state"),
            seconds(statistics.time)
        ),
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        let written = self.shown.as_ref().is_some_and(|shown| shown.lock().is_ok_and(|last| last.is_some()));
        if written {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
