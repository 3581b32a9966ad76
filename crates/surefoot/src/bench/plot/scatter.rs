//! Scatter plots: the times of two configurations for each instance. Below the diagonal the second one is faster.

use std::fmt::Write as _;

use super::axis::{Axis, Frame, line};
use super::{STYLES, escaped};
use crate::bench::record::{Record, Verdict};
use crate::bench::results::Results;

/// The plot of the configurations at two positions.
pub fn svg(results: &Results<'_>, x: usize, y: usize) -> String {
    let frame = Frame { left: 70.0, top: 20.0, width: 300.0, height: 300.0 };
    let axis = Axis::up_to(results.limits.seconds);
    let [one, other] = [x, y].map(|index| results.configurations[index]);
    let mut svg = Frame::open(400.0, 400.0, &format!("times of {one} and {other}"));
    let [one, other] = [one, other].map(escaped);
    svg += &frame.times_upwards(axis);
    svg += &frame.times_rightwards(axis);
    svg += &frame.border();
    svg += &line((frame.x(0.0), frame.y(0.0)), (frame.x(1.0), frame.y(1.0)), 0.5);
    let (middle, below) = (frame.x(0.5), frame.top + frame.height + 36.0);
    let _ = writeln!(svg, "<text x=\"{middle:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{one}</text>");
    let centre = frame.y(0.5);
    let _ = writeln!(
        svg,
        "<text x=\"14\" y=\"{centre:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {centre:.1})\">{other}</text>"
    );
    for row in &results.rows {
        let (Some(first), Some(second)) = (row.records[x], row.records[y]) else { continue };
        let [left, up] = [first, second].map(|record| axis.place(seconds(record)));
        let title = format!("{}: {} and {}", row.instance.name, ending(first), ending(second));
        svg += &mark(frame.x(left), frame.y(up), verdict(first, second), &escaped(&title));
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\">● SAFE  × UNSAFE  □ neither; top or right edge: no answer</text>",
        frame.left - 20.0,
        below + 24.0
    );
    svg + "</svg>\n"
}

/// What is known from either.
fn verdict(first: &Record, second: &Record) -> Verdict {
    if first.verdict.answer().is_some() { first.verdict } else { second.verdict }
}

/// The time of an answer; what has none is at the edge, wherever the axis ends.
fn seconds(record: &Record) -> f64 {
    if record.verdict.answer().is_some() { record.wall_seconds } else { f64::INFINITY }
}

fn ending(record: &Record) -> String {
    format!("{} {} {:.2} s", record.configuration, record.verdict.name(), record.wall_seconds)
}

fn mark(x: f64, y: f64, verdict: Verdict, title: &str) -> String {
    let shape = match verdict {
        Verdict::Safe => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{}\"", STYLES[0].0),
        Verdict::Unsafe => {
            let (left, right, top, bottom) = (x - 3.5, x + 3.5, y - 3.5, y + 3.5);
            format!(
                "<path d=\"M{left:.1} {top:.1}L{right:.1} {bottom:.1}M{left:.1} {bottom:.1}L{right:.1} {top:.1}\" \
                 stroke=\"{}\" stroke-width=\"2\"",
                STYLES[1].0
            )
        }
        Verdict::Unknown | Verdict::Error => format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\" fill=\"none\" stroke=\"currentColor\"",
            x - 3.0,
            y - 3.0
        ),
    };
    let element = shape[1..].split(' ').next().unwrap_or_default().to_string();
    format!("{shape}><title>{title}</title></{element}>\n")
}
