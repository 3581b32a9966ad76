//! Questions: how they are drawn, written and read.

use std::fs;
use std::path::Path;

use surefoot_model::json::{Document, Json};
use surefoot_policy::certify::{OutputSet, Question};

use crate::random::Random;
use crate::subject::Subject;

/// A box over the variables that the policy reads, and a label.
#[derive(Clone)]
pub struct Query {
    pub lower: Vec<i32>,
    pub upper: Vec<i32>,
    pub label: usize,
}

/// A query as the certifier is asked it.
pub struct Asked {
    lower: Vec<i32>,
    upper: Vec<i32>,
    label: usize,
    all: OutputSet,
}

impl Query {
    pub fn asked(&self, subject: &Subject) -> Asked {
        Asked {
            lower: subject.state(&self.lower),
            upper: subject.state(&self.upper),
            label: self.label,
            all: OutputSet::all(subject.policy.outputs.len()),
        }
    }
}

impl Asked {
    pub fn question(&self) -> Question<'_> {
        Question {
            lower: &self.lower,
            upper: &self.upper,
            facts: &[],
            output: self.label,
            competing: &self.all,
        }
    }
}

/// Random questions: some variables of a random state are freed to their whole domain, and each such box is asked for
/// every label.
pub fn draw(domains: &[(i32, i32)], labels: usize, count: usize, seed: u64) -> Vec<Query> {
    let mut random = Random(seed);
    let mut queries = Vec::new();
    while queries.len() < count {
        let mut lower: Vec<i32> =
            domains.iter().map(|&(lower, upper)| random.between(lower, upper)).collect();
        let mut upper = lower.clone();
        for _ in 0..=random.below(domains.len() / 2) {
            let freed = random.below(domains.len());
            (lower[freed], upper[freed]) = domains[freed];
        }
        queries.extend((0..labels).map(|label| Query { lower: lower.clone(), upper: upper.clone(), label }));
    }
    queries.truncate(count);
    queries
}

/// Random questions: about half of the variables of a random state may differ by up to `AROUND`.
pub fn draw_around(domains: &[(i32, i32)], labels: usize, count: usize, seed: u64) -> Vec<Query> {
    const AROUND: i32 = 4;
    let mut random = Random(seed);
    let mut queries = Vec::new();
    while queries.len() < count {
        let state: Vec<i32> = domains.iter().map(|&(lower, upper)| random.between(lower, upper)).collect();
        let radii: Vec<i32> = domains.iter().map(|_| AROUND * random.between(0, 1)).collect();
        let end = |sign: i32| {
            let ends = state.iter().zip(&radii).zip(domains);
            ends.map(|((value, radius), &(least, greatest))| (value + sign * radius).clamp(least, greatest))
                .collect()
        };
        let (lower, upper): (Vec<i32>, Vec<i32>) = (end(-1), end(1));
        queries.extend((0..labels).map(|label| Query { lower: lower.clone(), upper: upper.clone(), label }));
    }
    queries.truncate(count);
    queries
}

pub fn write(folder: &Path, kind: &str, description: &str, queries: &[Query]) {
    let name = folder.file_name().and_then(|name| name.to_str()).expect("a set has a name");
    let line = |Query { lower, upper, label }: &Query| {
        format!("{{\"lower\": {lower:?}, \"upper\": {upper:?}, \"label\": {label}}}")
    };
    let lines: Vec<String> = queries.iter().map(line).collect();
    let text = format!(
        "{{\"name\": \"{name}\", \"kind\": \"{kind}\", \"description\": \"{description}\", \
         \"queries\": [\n{}\n]}}\n",
        lines.join(",\n")
    );
    fs::write(folder.join("queries.json"), text).expect("a file");
}

pub fn read(folder: &Path) -> Vec<Query> {
    let file = folder.join("queries.json");
    let text = fs::read_to_string(&file).expect("queries");
    let document = Document::parse(&file, &text).expect("JSON");
    let integer = |value: Json<'_>| value.i64().expect("an integer") as i32;
    let ends = |query: Json<'_>, key: &str| {
        query.require(key).expect("ends").array().expect("a list").map(integer).collect()
    };
    let query = |query: Json<'_>| Query {
        lower: ends(query, "lower"),
        upper: ends(query, "upper"),
        label: integer(query.require("label").expect("a label")) as usize,
    };
    document.root().require("queries").expect("queries").array().expect("a list").map(query).collect()
}
