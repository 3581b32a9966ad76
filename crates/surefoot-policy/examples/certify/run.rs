//! Answers the questions of a set, one after the other, each on the clock.

use std::path::Path;
use std::time::Instant;

use surefoot_policy::certify::{Budget, Certifier, Possibility};
use surefoot_policy::{Arithmetic, Scorer};

use crate::query::{self, Query};
use crate::subject::Subject;
use crate::{cached, pass};

/// How many queries are asked, and how long each may take.
pub struct Limits {
    pub boxes: u64,
    pub seconds: u64,
    pub queries: usize,
}

/// Seconds of work before the clock counts.
const WARM_UP: u64 = 1;

#[derive(Default)]
struct Answers {
    names: Vec<String>,
    seconds: Vec<f64>,
    witnesses: Vec<String>,
    most_boxes: u64,
    all_boxes: u64,
}

/// Answers and figures as a JSON object.
pub fn run(folder: &Path, arithmetic: Arithmetic, limits: &Limits) -> String {
    let subject = Subject::read(folder);
    let mut queries = query::read(folder);
    queries.truncate(limits.queries);
    let mut certifier = Certifier::new(&subject.policy, arithmetic);
    let start = Instant::now();
    let mut warm_up = Answers::default();
    for query in queries.iter().take_while(|_| start.elapsed().as_secs() < WARM_UP) {
        warm_up.ask(&mut certifier, &subject, query, limits);
    }
    let mut answers = Answers::default();
    for query in &queries {
        answers.ask(&mut certifier, &subject, query, limits);
    }
    let mut fields = vec![
        ("solver", "\"surefoot\"".to_owned()),
        ("version", format!("\"{}\"", env!("CARGO_PKG_VERSION"))),
        ("arithmetic", format!("\"{arithmetic}\"")),
        ("answers", format!("[{}]", answers.names.join(", "))),
        ("seconds", format!("{:?}", answers.seconds)),
        ("witness", format!("[{}]", answers.witnesses.join(", "))),
        ("most_boxes", answers.most_boxes.to_string()),
        ("all_boxes", answers.all_boxes.to_string()),
    ];
    if let Some(bytes) = peak_memory() {
        fields.push(("peak_memory_bytes", bytes.to_string()));
    }
    if let Scorer::Network(_) = subject.policy.scorer {
        fields.push(("one_pass", pass::measure_bounds(&mut certifier, &subject, &queries)));
        fields.push(("first_box", pass::measure_first_box(&mut certifier, &subject, &queries)));
    }
    fields.push(("cache", cached::measure(&subject, arithmetic, &answers.decided_fast(queries))));
    object(&fields)
}

impl Answers {
    fn ask(&mut self, certifier: &mut Certifier, subject: &Subject, query: &Query, limits: &Limits) {
        let asked = query.asked(subject);
        let start = Instant::now();
        let stop = || start.elapsed().as_secs() >= limits.seconds;
        let budget = Budget { boxes: limits.boxes, stop: Some(&stop) };
        let answer = certifier.possible(&asked.question(), &budget);
        self.seconds.push(start.elapsed().as_secs_f64());
        let (name, witness) = match answer {
            Possibility::Never(_) => ("never", "null".to_owned()),
            Possibility::Unknown => ("unknown", "null".to_owned()),
            Possibility::Possible(state) => ("possible", format!("{:?}", subject.values(state))),
        };
        self.names.push(format!("\"{name}\""));
        self.witnesses.push(witness);
        self.most_boxes = self.most_boxes.max(certifier.effort().boxes);
        self.all_boxes += certifier.effort().boxes;
    }

    /// The queries that were decided within a second.
    fn decided_fast(&self, queries: Vec<Query>) -> Vec<Query> {
        let is_fast = |index: usize| self.names[index] != "\"unknown\"" && self.seconds[index] <= 1.0;
        queries.into_iter().enumerate().filter(|&(index, _)| is_fast(index)).map(|(_, query)| query).collect()
    }
}

pub fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", fields.join(", "))
}

/// The median, or null.
pub fn median(mut numbers: Vec<f64>) -> String {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).map_or("null".to_owned(), f64::to_string)
}

/// The most bytes of memory that this process has had so far, where the system says it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(1024 * kibibytes)
}
