//! Plots as SVG: they need nothing but a viewer, and are part of the page as they are.

mod axis;
mod cactus;
mod scatter;

use super::plan::file_name;
use super::results::Results;

/// Pairs of configurations that get a plot of their own at most.
pub const MANY_PAIRS: usize = 28;

/// Colours that people tell apart whatever their eyes are like (Okabe and Ito), and dashes for prints.
pub const STYLES: [(&str, &str); 8] = [
    ("#0072b2", ""),
    ("#d55e00", "6 3"),
    ("#009e73", "2 3"),
    ("#cc79a7", "8 3 2 3"),
    ("#e69f00", ""),
    ("#56b4e9", "6 3"),
    ("currentColor", "2 3"),
    ("#8a7f00", "8 3 2 3"),
];

/// A plot.
pub struct Plot {
    /// The name of its file.
    pub file: String,
    pub svg: String,
}

/// The cactus plot, and a scatter plot for each pair of configurations.
pub fn all(results: &Results<'_>) -> Vec<Plot> {
    let mut plots = vec![Plot { file: "cactus.svg".into(), svg: cactus::svg(results) }];
    let count = results.configurations.len();
    let pairs = (0..count).flat_map(|x| (x + 1..count).map(move |y| (x, y)));
    for (x, y) in pairs.take(MANY_PAIRS) {
        let [one, other] = [x, y].map(|index| file_name(results.configurations[index]));
        let svg = scatter::svg(results, x, y);
        plots.push(Plot { file: format!("scatter-{one}-{other}.svg"), svg });
    }
    plots
}

/// Text as part of XML.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            // XML has no way to write these.
            c if c.is_control() && c != '\n' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
