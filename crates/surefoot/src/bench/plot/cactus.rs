//! The cactus plot: how many instances each configuration solves within which time each.

use std::fmt::Write as _;

use super::axis::{Axis, Frame};
use super::{STYLES, escaped};
use crate::bench::results::Results;

/// The plot.
pub fn svg(results: &Results<'_>) -> String {
    let legend = 20.0 * results.configurations.len() as f64;
    let frame = Frame { left: 60.0, top: 20.0, width: 560.0, height: 320.0 };
    let height = frame.top + frame.height + 50.0 + legend;
    let axis = Axis::up_to(results.limits.seconds);
    let mut svg = Frame::open(640.0, height, "instances solved within a time, by configuration");
    svg += &frame.times_upwards(axis);
    svg += &frame.border();
    let all = results.rows.len().max(1);
    for count in counts(all) {
        let x = frame.x(count as f64 / all as f64);
        let y = frame.top + frame.height + 16.0;
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{count}</text>");
    }
    let (middle, below) = (frame.x(0.5), frame.top + frame.height + 36.0);
    let _ = writeln!(
        svg,
        "<text x=\"{middle:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">instances solved</text>"
    );
    for (index, name) in results.configurations.iter().enumerate() {
        let (colour, dashes) = STYLES[index % STYLES.len()];
        let solved = results.column(index).filter(|(_, record)| record.verdict.answer().is_some());
        let mut times: Vec<f64> = solved.map(|(_, record)| record.wall_seconds).collect();
        times.sort_by(f64::total_cmp);
        let style = format!("stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"");
        let points: Vec<String> = (1..)
            .zip(&times)
            .map(|(count, &time)| {
                format!("{:.1},{:.1}", frame.x(f64::from(count) / all as f64), frame.y(axis.place(time)))
            })
            .collect();
        let _ = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" {style}/>", points.join(" "));
        for point in &points {
            let (x, y) = point.split_once(',').expect("made above");
            let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"2.5\" fill=\"{colour}\"/>");
        }
        let y = below + 20.0 + 20.0 * index as f64;
        let _ = writeln!(svg, "<line x1=\"60\" y1=\"{y:.1}\" x2=\"100\" y2=\"{y:.1}\" {style}/>");
        let text = format!("{}: {} of {}", escaped(name), times.len(), results.rows.len());
        let _ = writeln!(svg, "<text x=\"110\" y=\"{:.1}\">{text}</text>", y + 4.0);
    }
    svg + "</svg>\n"
}

/// Numbers at the bottom, at most about ten.
fn counts(all: usize) -> impl Iterator<Item = usize> {
    let step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].into_iter().find(|step| all / step <= 10);
    (0..=all).step_by(step.unwrap_or(all))
}
