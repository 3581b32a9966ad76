//! What the decision cache answers, and how fast.
//!
//! Decided questions are asked again, to fill the cache. Then three kinds of questions are looked up, with a budget of no
//! box, so that nothing but a few points is searched: the same ones; parts of their boxes, as generalisation asks;
//! single states of these.

use std::time::Instant;

use surefoot_policy::Arithmetic;
use surefoot_policy::certify::{Budget, CachedCertifier};

use crate::query::{Asked, Query};
use crate::random::Random;
use crate::run::{median, object};
use crate::subject::Subject;

const BYTES: usize = 64 << 20;
/// Parts of each box.
const PARTS: usize = 4;

struct Lookups {
    certifier: CachedCertifier,
    hits: Vec<f64>,
    misses: Vec<f64>,
}

pub fn measure(subject: &Subject, arithmetic: Arithmetic, decided: &[Query]) -> String {
    let (lower, upper): (Vec<i32>, Vec<i32>) = subject.domains.iter().copied().unzip();
    let mut certifier = CachedCertifier::new(&subject.policy, arithmetic, &lower, &upper, BYTES);
    for query in decided {
        certifier.possible(&query.asked(subject).question(), &Budget::UNLIMITED);
    }
    let mut lookups = Lookups { certifier, hits: Vec::new(), misses: Vec::new() };
    let entries = lookups.certifier.cache().statistics().entries;
    let mut random = Random(1);
    let mut shrink = |queries: &[Query], ends: fn(i32, i32, &mut Random) -> (i32, i32)| {
        queries.iter().map(|query| part(query, |lower, upper| ends(lower, upper, &mut random))).collect()
    };
    let repeated: Vec<Query> =
        decided.iter().flat_map(|query| std::iter::repeat_n(query.clone(), PARTS)).collect();
    let parts: Vec<Query> = shrink(&repeated, interval);
    let states: Vec<Query> = shrink(&parts, value);
    let [same, parts] = [decided, &parts].map(|queries| lookups.rate(subject, queries));
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
    /// Looks questions up; the part that is answered.
    fn rate(&mut self, subject: &Subject, queries: &[Query]) -> String {
        let hits = queries.iter().filter(|query| self.look_up(&query.asked(subject))).count();
        if queries.is_empty() { "null".to_owned() } else { (hits as f64 / queries.len() as f64).to_string() }
    }

    /// Whether the cache has the answer.
    fn look_up(&mut self, asked: &Asked) -> bool {
        let question = asked.question();
        let nothing = Budget::boxes(0);
        // What a miss takes besides the lookup: evaluating a few points. The first time is for warming up.
        self.certifier.certifier().possible(&question, &nothing);
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
            self.misses.push(seconds - besides);
        }
        is_hit
    }
}
