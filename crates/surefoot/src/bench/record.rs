//! Records of runs, and the file that they are kept in: a JSON document per line, in the order in which runs ended.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use surefoot_model::{InputError, Position, Sources, utf8_text};

use crate::failure::Failure;

/// The schema of a record.
pub const SCHEMA: &str = "surefoot-bench/1";

/// How the line of each record begins.
const RECORD_BEGINS: &[u8] = br#"{"schema":"surefoot-bench/1","#;

const NO_RECORD: &str = "this is no record of a run";
const HINT: &str = "`surefoot bench` writes this file";

/// What can be known of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    Safe,
    Unsafe,
}

impl Answer {
    /// As verdicts are written.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Safe => "SAFE",
            Answer::Unsafe => "UNSAFE",
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    Safe,
    Unsafe,
    Unknown,
    /// A crash, bad input, or an answer that makes no sense.
    Error,
}

impl Verdict {
    /// The answer, if there is one.
    pub fn answer(self) -> Option<Answer> {
        match self {
            Verdict::Safe => Some(Answer::Safe),
            Verdict::Unsafe => Some(Answer::Unsafe),
            Verdict::Unknown | Verdict::Error => None,
        }
    }

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Safe => "SAFE",
            Verdict::Unsafe => "UNSAFE",
            Verdict::Unknown => "UNKNOWN",
            Verdict::Error => "ERROR",
        }
    }
}

/// Limits of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    pub seconds: f64,
    pub bytes: u64,
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub schema: String,
    /// The version of the program.
    pub surefoot: String,
    /// The beginning of its SHA-256: builds of one version differ. Records of older builds have none.
    #[serde(default)]
    pub program: Option<String>,
    /// SHA-256 of everything that the result depends on but limits: files, arguments, program.
    pub key: String,
    pub instance: String,
    pub family: String,
    pub configuration: String,
    pub verdict: Verdict,
    /// Why there is no verdict: `time`, `memory` and so on.
    pub reason: Option<String>,
    pub wall_seconds: f64,
    /// Of user and system; `None` where the system does not say.
    pub processor_seconds: Option<f64>,
    pub peak_memory_bytes: Option<u64>,
    pub time_limit_seconds: f64,
    pub memory_limit_bytes: u64,
    pub threads: usize,
    /// How many runs there were at the same time; records of older builds do not say.
    #[serde(default)]
    pub jobs: Option<usize>,
    /// The arguments of the run.
    pub command: Vec<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// What the engine counted.
    pub counts: Value,
}

impl Record {
    /// Whether a run within these limits would end like this one: it had the same, or it found an answer within tighter ones.
    fn holds_within(&self, limits: Limits) -> bool {
        let own = Limits { seconds: self.time_limit_seconds, bytes: self.memory_limit_bytes };
        let is_tighter = own.seconds <= limits.seconds && own.bytes <= limits.bytes;
        own == limits || (is_tighter && self.verdict.answer().is_some())
    }

    /// Whether it is what a run is called.
    fn is_called(&self, names: Names<'_>) -> bool {
        names == Names { instance: &self.instance, family: &self.family, configuration: &self.configuration }
    }
}

/// What a run is called in a suite. Its result does not depend on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names<'n> {
    pub instance: &'n str,
    pub family: &'n str,
    pub configuration: &'n str,
}

/// The file with all records.
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Whether a line may have been written in part. Nothing may follow it.
    is_torn: bool,
    /// By key, in the order of the file.
    records: HashMap<String, Vec<Record>>,
}

impl Journal {
    /// Opens the file, or makes one. As long as it is open, no other bench can.
    pub fn open(path: &Path) -> Result<Journal, Failure> {
        let fail = |error: std::io::Error| Failure::writing(path, &error);
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::Output(format!(
                    "{}: another bench is at work in this folder\n  hint: choose another one with `--out`",
                    path.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
        let mut contents = Sources::default().read_bytes(path)?;
        let rest = contents.split_off(whole_lines(&contents));
        let end = contents.len() as u64;
        let records = parse(path, contents)?;
        let is_cut_off = rest.iter().zip(RECORD_BEGINS).all(|(found, expected)| found == expected);
        if !is_cut_off {
            let position = Position { line: records.len() as u64 + 1, column: 1 };
            return Err(InputError::at(path, position, NO_RECORD).with_hint(HINT).into());
        }
        // If a bench was killed while it recorded a run, that run is done again.
        file.set_len(end).map_err(fail)?;
        let mut journal = Journal { path: path.to_path_buf(), file, is_torn: false, records: HashMap::new() };
        for record in records {
            journal.remember(record);
        }
        Ok(journal)
    }

    /// The last record with this key and these names that says what happens within these limits.
    pub fn find(&self, key: &str, names: Names<'_>, limits: Limits) -> Option<&Record> {
        self.valid(key, limits).find(|record| record.is_called(names))
    }

    /// The same, which is made of a record with other names if there is none with these.
    pub fn find_or_copy(
        &mut self,
        key: &str,
        names: Names<'_>,
        limits: Limits,
    ) -> Result<Option<&Record>, Failure> {
        let other = self.valid(key, limits).next().cloned();
        if let Some(other) = other.filter(|_| self.find(key, names, limits).is_none()) {
            let Names { instance, family, configuration } = names;
            let [instance, family, configuration] = [instance, family, configuration].map(String::from);
            self.append(Record { instance, family, configuration, ..other })?;
        }
        Ok(self.find(key, names, limits))
    }

    /// Records with this key that say what happens within these limits, the last one first.
    fn valid(&self, key: &str, limits: Limits) -> impl Iterator<Item = &Record> {
        let records = self.records.get(key).into_iter().flatten();
        records.rev().filter(move |record| record.holds_within(limits))
    }

    /// Appends a record. When this returns, it is on the disk.
    pub fn append(&mut self, record: Record) -> Result<(), Failure> {
        let line = serde_json::to_string(&record).map_err(|error| Failure::Internal(error.to_string()))?;
        if self.is_torn {
            let message = "cannot write the file: an earlier line was not written as a whole";
            return Err(Failure::Output(format!("{}: {message}", self.path.display())));
        }
        let written =
            self.file.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.file.sync_data());
        self.is_torn = written.is_err();
        written.map_err(|error| Failure::writing(&self.path, &error))?;
        self.remember(record);
        Ok(())
    }

    fn remember(&mut self, record: Record) {
        self.records.entry(record.key.clone()).or_default().push(record);
    }
}

/// Reads all records, the last one of each instance and configuration last. A line that is cut off at the end is left out.
pub fn read(path: &Path) -> Result<Vec<Record>, InputError> {
    let mut contents = Sources::default().read_contents(path)?;
    contents.truncate(whole_lines(&contents));
    parse(path, contents)
}

/// How many bytes there are up to the end of the last line that has one.
fn whole_lines(contents: &[u8]) -> usize {
    contents.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
}

fn parse(path: &Path, contents: Vec<u8>) -> Result<Vec<Record>, InputError> {
    let text = utf8_text(path, contents)?;
    let record = |(index, line)| {
        let message = match serde_json::from_str::<Record>(line) {
            Ok(record) if record.schema == SCHEMA => return Ok(record),
            Ok(record) => format!("expected the schema {SCHEMA:?}, found {:?}", record.schema),
            Err(error) => format!("{NO_RECORD}: {error}"),
        };
        let position = Position { line: index as u64 + 1, column: 1 };
        Err(InputError::at(path, position, message).with_hint(HINT))
    };
    text.lines().enumerate().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { seconds: 1.0, bytes: 1 };
    const NAMES: Names<'_> = Names { instance: "i", family: "f", configuration: "c" };

    fn record(key: &str) -> Record {
        Record {
            schema: SCHEMA.into(),
            surefoot: "0".into(),
            program: Some("1234".into()),
            key: key.into(),
            instance: "i".into(),
            family: "f".into(),
            configuration: "c".into(),
            verdict: Verdict::Safe,
            reason: None,
            wall_seconds: 0.5,
            processor_seconds: None,
            peak_memory_bytes: Some(7),
            time_limit_seconds: LIMITS.seconds,
            memory_limit_bytes: LIMITS.bytes,
            threads: 1,
            jobs: Some(1),
            command: vec!["verify".into()],
            error: Some("∅".into()),
            counts: Value::Null,
        }
    }

    #[test]
    fn a_line_that_is_cut_off_is_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("results.jsonl");
        let mut journal = Journal::open(&path).expect("a new file");
        journal.append(record("a")).expect("written");
        journal.append(record("b")).expect("written");
        drop(journal);
        let contents = std::fs::read(&path).expect("a file");
        let first = contents.iter().position(|&byte| byte == b'\n').expect("a line") + 1;
        for end in first..contents.len() {
            std::fs::write(&path, &contents[..end]).expect("written");
            assert_eq!(read(&path).expect("records"), [record("a")]);
            let mut journal = Journal::open(&path).expect("what is there is kept");
            let [a, b] = ["a", "b"].map(|key| journal.find(key, NAMES, LIMITS).is_some());
            assert!(a && !b);
            journal.append(record("b")).expect("written");
            assert_eq!(std::fs::read(&path).expect("a file"), contents);
        }
    }

    #[test]
    fn nothing_is_written_behind_a_line_that_was_not_written_as_a_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("results.jsonl");
        let mut journal = Journal::open(&path).expect("a new file");
        // What is opened for reading cannot be written, as if the disk were full.
        let whole = std::mem::replace(&mut journal.file, File::open(&path).expect("a file"));
        journal.append(record("a")).expect_err("it cannot be written");
        journal.file = whole;
        let error = journal.append(record("b")).expect_err("there is room again").to_string();
        assert!(error.contains("results.jsonl: cannot write the file: an earlier line"), "{error}");
        assert_eq!(std::fs::read(&path).expect("a file"), b"");
    }

    #[test]
    fn records_are_found_by_their_names_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("results.jsonl");
        let mut journal = Journal::open(&path).expect("a new file");
        let other = Names { configuration: "other", ..NAMES };
        let same = Record { configuration: "other".into(), wall_seconds: 0.25, ..record("a") };
        journal.append(same.clone()).expect("written");
        assert_eq!(journal.find("a", NAMES, LIMITS), None);
        let copy = Record { wall_seconds: 0.25, ..record("a") };
        for _ in 0..2 {
            assert_eq!(journal.find_or_copy("a", NAMES, LIMITS).expect("written"), Some(&copy));
            assert_eq!(journal.find_or_copy("a", other, LIMITS).expect("written"), Some(&same));
            assert_eq!(journal.find_or_copy("b", NAMES, LIMITS).expect("nothing to write"), None);
        }
        assert_eq!(read(&path).expect("records"), [same, copy]);
    }

    #[test]
    fn one_bench_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("results.jsonl");
        let first = Journal::open(&path).expect("a new file");
        let second = Journal::open(&path).err().expect("refused").to_string();
        assert!(second.contains("another bench is at work"), "{second}");
        drop(first);
        Journal::open(&path).expect("free again");
    }

    #[test]
    fn answers_hold_within_wider_limits() {
        let unknown = Record { verdict: Verdict::Unknown, ..record("a") };
        for (seconds, bytes, answered, ended) in
            [(1.0, 1, true, true), (2.0, 1, true, false), (1.0, 2, true, false), (0.5, 2, false, false)]
        {
            let limits = Limits { seconds, bytes };
            assert_eq!(record("a").holds_within(limits), answered);
            assert_eq!(unknown.holds_within(limits), ended);
        }
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("results.jsonl");
        for text in ["text\n", "{}\n", "[1, 2]\n", "text", "{\"schema\":\"other\"", "\u{feff}"] {
            std::fs::write(&path, text).expect("written");
            let error = Journal::open(&path).err().expect("refused").to_string();
            assert!(error.contains("results.jsonl:1:1: this is no record"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), text);
        }
    }
}
