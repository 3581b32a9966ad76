//! Two benches side by side: which answers changed, and which runs got faster or slower.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::JOURNAL;
use super::name::printable;
use super::record::{self, Record};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Times that differ by less than this factor count as equal, and so do those below a tenth of a second.
const FACTOR: f64 = 1.2;
const SHORT_SECONDS: f64 = 0.1;

/// Prints the comparison of two benches. Answers that contradict each other are an error.
pub fn run(before: &Path, after: &Path) -> Result<Exit, Failure> {
    let [one, other] = [read(before)?, read(after)?];
    let mut parts = Parts::default();
    let mut common = 0;
    for (place, before) in &one {
        let Some(after) = other.get(place) else { continue };
        common += 1;
        parts.add(&format!("{} {}", printable(&place.0), printable(&place.1)), before, after);
    }
    let only = |these: &Runs, those: &Runs| these.keys().filter(|place| !those.contains_key(*place)).count();
    let mut text = format!(
        "{common} runs are in both, {} only in {}, {} only in {}\n",
        only(&one, &other),
        before.display(),
        only(&other, &one),
        after.display()
    );
    for (title, lines) in [
        ("contradictions", &parts.contradictions),
        ("newly solved", &parts.solved),
        ("no longer solved", &parts.lost),
        ("other endings", &parts.other),
        ("faster", &parts.faster),
        ("slower", &parts.slower),
    ] {
        let _ = write!(text, "\n{title}: {}\n", lines.len());
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    }
    let _ = writeln!(
        text,
        "\n{} runs were solved in both, in {:.2} s before and {:.2} s after",
        parts.both, parts.seconds.0, parts.seconds.1
    );
    output::print(&text)?;
    Ok(if parts.contradictions.is_empty() { Exit::Done } else { Exit::Contradicted })
}

type Runs = BTreeMap<(String, String), Record>;

/// The current record of each instance and configuration in a folder, or in a file of records: of those that are about the
/// same question and program as the last one its answer, else that with the longest time.
fn read(path: &Path) -> Result<Runs, Failure> {
    let file: PathBuf = if path.is_dir() { path.join(JOURNAL) } else { path.to_path_buf() };
    let mut runs = Runs::new();
    for record in record::read(&file)? {
        let place = (record.instance.clone(), record.configuration.clone());
        let rank = |record: &Record| (record.verdict.answer().is_some(), record.time_limit_seconds);
        let says_more = |known: &Record| known.key != record.key || rank(&record) >= rank(known);
        if runs.get(&place).is_none_or(says_more) {
            runs.insert(place, record);
        }
    }
    Ok(runs)
}

/// The time limits of two runs, if they differ.
fn limits(before: &Record, after: &Record) -> String {
    let (before, after) = (before.time_limit_seconds, after.time_limit_seconds);
    if before == after { String::new() } else { format!(" (within {before} s, within {after} s)") }
}

#[derive(Default)]
struct Parts {
    contradictions: Vec<String>,
    solved: Vec<String>,
    lost: Vec<String>,
    other: Vec<String>,
    faster: Vec<String>,
    slower: Vec<String>,
    both: usize,
    seconds: (f64, f64),
}

impl Parts {
    fn add(&mut self, name: &str, before: &Record, after: &Record) {
        let verdicts =
            format!("{name}: {} → {}{}", before.verdict.name(), after.verdict.name(), limits(before, after));
        let (one, other) = (before.wall_seconds, after.wall_seconds);
        match (before.verdict.answer(), after.verdict.answer()) {
            (Some(before), Some(after)) if before != after => self.contradictions.push(verdicts),
            (None, Some(_)) => self.solved.push(verdicts),
            (Some(_), None) => self.lost.push(verdicts),
            (None, None) if before.verdict != after.verdict => self.other.push(verdicts),
            (None, None) => {}
            (Some(_), Some(_)) => {
                self.both += 1;
                self.seconds.0 += one;
                self.seconds.1 += other;
                let line = format!("{name}: {one:.2} s → {other:.2} s");
                if one.max(other) < SHORT_SECONDS {
                } else if one > FACTOR * other {
                    self.faster.push(line);
                } else if other > FACTOR * one {
                    self.slower.push(line);
                }
            }
        }
    }
}
