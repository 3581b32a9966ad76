//! How long the first bounds of a box take.
//!
//! - *Bounds*: one pass from nothing, and nothing else: the values of the network over the box, and the score of each other label minus
//!   that of the label in question. No point is evaluated, the box is not cut, no split is chosen. Over all questions.
//! - *First box*: a question whose budget is one box and whose first few points are known. Counted are questions that the bounds of that
//!   one box decided, or left open. Those whose first few points contain a witness end before, and small boxes are enumerated: what is
//!   left are the larger boxes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use surefoot_policy::certify::{Budget, Certifier, Possibility, Step};

use crate::query::Query;
use crate::run::{median, object};
use crate::subject::Subject;

/// Neither measurement takes much longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often each question is put; the least time counts.
const REPEATS: usize = 5;

/// A certifier remembers the last box that it bounded. Label by label, the next box is another one.
fn in_order(queries: &[Query]) -> Vec<&Query> {
    let mut order: Vec<&Query> = queries.iter().collect();
    order.sort_by_key(|query| query.label);
    order
}

fn is_same_box(one: &Query, other: &Query) -> bool {
    one.lower == other.lower && one.upper == other.upper
}

/// One pass over each question's box.
pub fn measure_bounds(certifier: &mut Certifier, subject: &Subject, queries: &[Query]) -> String {
    let order = in_order(queries);
    let mut least: Vec<Option<f64>> = vec![None; order.len()];
    let mut dominated = 0;
    let start = Instant::now();
    for repeat in 0..REPEATS {
        let mut last: Option<&Query> = None;
        for (query, least) in order.iter().zip(&mut least).take_while(|_| start.elapsed() < PATIENCE) {
            if last.replace(query).is_some_and(|last| is_same_box(last, query)) {
                continue;
            }
            let asked = query.asked(subject);
            let start = Instant::now();
            let by = black_box(certifier.dominator(&asked.question()));
            let seconds = start.elapsed().as_secs_f64();
            *least = Some(least.map_or(seconds, |least| least.min(seconds)));
            dominated += usize::from(repeat == 0 && by.is_some());
        }
    }
    let least: Vec<f64> = least.into_iter().flatten().collect();
    object(&[
        ("boxes", least.len().to_string()),
        ("decided_rate", (dominated as f64 / least.len() as f64).to_string()),
        ("median_seconds", median(least)),
    ])
}

/// One examined box for each question that leads to one.
pub fn measure_first_box(certifier: &mut Certifier, subject: &Subject, queries: &[Query]) -> String {
    let (mut new, mut known) = (Vec::new(), Vec::new());
    let mut last: Option<&Query> = None;
    let start = Instant::now();
    for query in in_order(queries).into_iter().take_while(|_| start.elapsed() < PATIENCE) {
        let same = last.is_some_and(|last| is_same_box(last, query));
        let Some(time) = first_box(certifier, subject, query) else { continue };
        last = Some(query);
        if !same {
            new.push(time);
        }
        known.extend(first_box(certifier, subject, query));
    }
    object(&[
        ("boxes", new.len().to_string()),
        ("new_box_seconds", median(new)),
        ("known_box_seconds", median(known)),
    ])
}

/// The seconds that the first box takes, if the question leads to one.
fn first_box(certifier: &mut Certifier, subject: &Subject, query: &Query) -> Option<f64> {
    let asked = query.asked(subject);
    // Evaluates the first few points, which are remembered.
    certifier.possible(&asked.question(), &Budget::boxes(0));
    let start = Instant::now();
    let answer = certifier.possible(&asked.question(), &Budget::boxes(1));
    let seconds = start.elapsed().as_secs_f64();
    let is_examined = match answer {
        Possibility::Never(evidence) => !evidence.steps().contains(&Step::Enumerated),
        Possibility::Unknown => true,
        Possibility::Possible(_) => false,
    };
    is_examined.then_some(seconds)
}
