//! How long one pass over a network takes: a question whose budget is one box, and whose first few points are known.
//!
//! Counted are questions that the bounds of that one box decided, or left open. Those whose first few points contain
//! a witness end before a pass, and small boxes are enumerated.

use std::time::{Duration, Instant};

use surefoot_policy::certify::{Budget, Certifier, Possibility, Step};

use crate::query::Query;
use crate::run::{median, object};
use crate::subject::Subject;

/// The whole measurement takes not much longer.
const PATIENCE: Duration = Duration::from_secs(20);

pub fn measure(certifier: &mut Certifier, subject: &Subject, queries: &[Query]) -> String {
    // A certifier remembers the last box that it bounded. Label by label, the next box is another one.
    let mut order: Vec<&Query> = queries.iter().collect();
    order.sort_by_key(|query| query.label);
    let (mut new, mut known) = (Vec::new(), Vec::new());
    let mut last: Option<&Query> = None;
    let start = Instant::now();
    for query in order.into_iter().take_while(|_| start.elapsed() < PATIENCE) {
        let same = last.is_some_and(|last| last.lower == query.lower && last.upper == query.upper);
        let Some(time) = one_pass(certifier, subject, query) else { continue };
        last = Some(query);
        if !same {
            new.push(time);
        }
        known.extend(one_pass(certifier, subject, query));
    }
    object(&[
        ("passes", new.len().to_string()),
        ("new_box_seconds", median(new)),
        ("known_box_seconds", median(known)),
    ])
}

/// The seconds that one pass takes, if the question leads to one.
fn one_pass(certifier: &mut Certifier, subject: &Subject, query: &Query) -> Option<f64> {
    let asked = query.asked(subject);
    // Evaluates the first few points, which are remembered.
    certifier.possible(&asked.question(), &Budget::boxes(0));
    let start = Instant::now();
    let answer = certifier.possible(&asked.question(), &Budget::boxes(1));
    let seconds = start.elapsed().as_secs_f64();
    let is_pass = match answer {
        Possibility::Never(evidence) => !evidence.steps().contains(&Step::Enumerated),
        Possibility::Unknown => true,
        Possibility::Possible(_) => false,
    };
    is_pass.then_some(seconds)
}
