//! What the decision cache answers, and how fast.
//!
//! All questions are asked once, to fill the cache. Then three kinds of questions are looked up, with a budget of no box,
//! so that nothing new is searched: the same ones; parts of their boxes, as generalisation asks; single states of these.

use std::time::Instant;

use surefoot_policy::Arithmetic;
use surefoot_policy::certify::{Budget, CachedCertifier, CachedPossibility};

use crate::query::{Asked, Query};
use crate::random::Random;
use crate::run::{median, object};
use crate::subject::Subject;

const BYTES: usize = 64 << 20;
/// Seconds for each question while the cache is filled.
const SECONDS: u64 = 1;
/// Parts of each box.
const PARTS: usize = 4;

struct Lookups {
    certifier: CachedCertifier,
    hits: Vec<f64>,
    misses: Vec<f64>,
}

pub fn measure(subject: &Subject, arithmetic: Arithmetic, queries: &[Query]) -> String {
    let (lower, upper): (Vec<i32>, Vec<i32>) = subject.domains.iter().copied().unzip();
    let certifier = CachedCertifier::new(&subject.policy, arithmetic, &lower, &upper, BYTES);
    let mut lookups = Lookups { certifier, hits: Vec::new(), misses: Vec::new() };
    let decided: Vec<&Query> = queries.iter().filter(|query| lookups.fill(&query.asked(subject))).collect();
    let entries = lookups.certifier.cache().statistics().entries;
    let mut random = Random(1);
    let mut shrink = |queries: &[Query], ends: fn(i32, i32, &mut Random) -> (i32, i32)| {
        queries.iter().map(|query| part(query, |lower, upper| ends(lower, upper, &mut random))).collect()
    };
    let same: Vec<Query> = decided.into_iter().cloned().collect();
    let repeated: Vec<Query> =
        same.iter().flat_map(|query| std::iter::repeat_n(query.clone(), PARTS)).collect();
    let parts: Vec<Query> = shrink(&repeated, interval);
    let states: Vec<Query> = shrink(&parts, value);
    let [same, parts] = [same, parts].map(|queries| lookups.rate(subject, &queries));
    // Misses of large boxes are not timed: evaluating points takes long there, and blurs the difference.
    lookups.misses.clear();
    let states = lookups.rate(subject, &states);
    object(&[
        ("entries", entries.to_string()),
        ("same_hit_rate", same),
        ("part_hit_rate", parts),
        ("state_hit_rate", states),
        ("hit_seconds", median(lookups.hits)),
        ("miss_seconds", median(lookups.misses)),
    ])
}

/// The query about a part of the box.
fn part(query: &Query, mut ends: impl FnMut(i32, i32) -> (i32, i32)) -> Query {
    let (lower, upper) =
        query.lower.iter().zip(&query.upper).map(|(&lower, &upper)| ends(lower, upper)).unzip();
    Query { lower, upper, label: query.label }
}

fn interval(lower: i32, upper: i32, random: &mut Random) -> (i32, i32) {
    let [one, other] = [random.between(lower, upper), random.between(lower, upper)];
    (one.min(other), one.max(other))
}

fn value(lower: i32, upper: i32, random: &mut Random) -> (i32, i32) {
    let value = random.between(lower, upper);
    (value, value)
}

impl Lookups {
    /// Answers a question and stores the answer; whether there is one.
    fn fill(&mut self, asked: &Asked) -> bool {
        let start = Instant::now();
        let stop = || start.elapsed().as_secs() >= SECONDS;
        let budget = Budget { stop: Some(&stop), ..Budget::UNLIMITED };
        self.certifier.possible(&asked.question(), &budget) != CachedPossibility::Unknown
    }

    /// Looks questions up; the part that is answered.
    fn rate(&mut self, subject: &Subject, queries: &[Query]) -> String {
        let hits = queries.iter().filter(|query| self.look_up(&query.asked(subject))).count();
        if queries.is_empty() { "null".to_owned() } else { (hits as f64 / queries.len() as f64).to_string() }
    }

    /// Whether the cache has the answer.
    fn look_up(&mut self, asked: &Asked) -> bool {
        let question = asked.question();
        let nothing = Budget::boxes(0);
        // What a miss takes besides the lookup: evaluating a few points.
        let start = Instant::now();
        self.certifier.certifier().possible(&question, &nothing);
        let besides = start.elapsed().as_secs_f64();
        let before = self.certifier.cache().statistics().hits();
        let start = Instant::now();
        self.certifier.possible(&question, &nothing);
        let seconds = start.elapsed().as_secs_f64();
        let is_hit = self.certifier.cache().statistics().hits() > before;
        if is_hit {
            self.hits.push(seconds);
        } else {
            self.misses.push((seconds - besides).max(0.0));
        }
        is_hit
    }
}
