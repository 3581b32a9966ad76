//! Plots as SVG: they need nothing but a viewer, and are part of the page as they are.

mod axis;
mod cactus;
mod scatter;

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

/// The cactus plot, and a scatter plot for each pair of configurations. Files have the positions of the two in their names:
/// their own names may be equal as names of files, or too long.
pub fn all(results: &Results<'_>) -> Vec<Plot> {
    let mut plots = vec![Plot { file: "cactus.svg".into(), svg: cactus::svg(results) }];
    let count = results.configurations.len();
    let pairs = (0..count).flat_map(|x| (x + 1..count).map(move |y| (x, y)));
    for (x, y) in pairs.take(MANY_PAIRS) {
        plots.push(Plot {
            file: format!("scatter-{}-{}.svg", x + 1, y + 1),
            svg: scatter::svg(results, x, y),
        });
    }
    plots
}

/// Whether a file has the name of a scatter plot.
pub fn is_scatter(file: &str) -> bool {
    let pair = file.strip_prefix("scatter-").and_then(|rest| rest.strip_suffix(".svg")?.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    pair.is_some_and(|(x, y)| is_number(x) && is_number(y))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_two_numbers_are_those_of_scatter_plots() {
        for (file, expected) in [
            ("scatter-1-2.svg", true),
            ("scatter-12-28.svg", true),
            ("scatter-1-.svg", false),
            ("scatter-1-2-3.svg", false),
            ("scatter-ic3-ppa.svg", false),
            ("my-scatter-1-2.svg", false),
        ] {
            assert_eq!(is_scatter(file), expected, "{file}");
        }
    }
}
