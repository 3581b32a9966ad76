//! Coverage: how many instances each configuration has solved, by family.

use std::fmt::Write as _;

use super::record::Verdict;
use super::results::{Results, Row};

/// A line of the table: a family, its instances, and the solved ones by configuration.
pub struct Line<'r> {
    pub family: &'r str,
    pub instances: usize,
    pub solved: Vec<usize>,
}

/// All families, and all instances at the end.
pub fn lines<'r>(results: &Results<'r>) -> Vec<Line<'r>> {
    let line = |family: &'r str, belongs: &dyn Fn(&Row<'_>) -> bool| Line {
        family,
        instances: results.rows.iter().filter(|row| belongs(row)).count(),
        solved: (0..results.configurations.len())
            .map(|configuration| {
                let solved = results.column(configuration);
                solved.filter(|(row, record)| belongs(row) && record.verdict.answer().is_some()).count()
            })
            .collect(),
    };
    let mut lines: Vec<Line<'r>> = results
        .families()
        .into_iter()
        .map(|family| line(family, &|row| row.instance.family == family))
        .collect();
    lines.push(line("all", &|_| true));
    lines
}

/// How often a configuration ended in each way, by its position.
pub fn endings(results: &Results<'_>, configuration: usize) -> [(Verdict, usize); 4] {
    [Verdict::Safe, Verdict::Unsafe, Verdict::Unknown, Verdict::Error].map(|verdict| {
        (verdict, results.column(configuration).filter(|(_, record)| record.verdict == verdict).count())
    })
}

/// The table as text.
pub fn text(results: &Results<'_>) -> String {
    let lines = lines(results);
    let first = lines.iter().map(|line| line.family.chars().count()).max().unwrap_or(0).max(6);
    let width = |name: &str| name.chars().count().max(5) + 2;
    let mut text = format!("solved instances\n\n{:<first$}  {:>9}", "family", "instances");
    for name in &results.configurations {
        let _ = write!(text, "{name:>0$}", width(name));
    }
    text.push('\n');
    for line in &lines {
        let _ = write!(text, "{:<first$}  {:>9}", line.family, line.instances);
        for (name, solved) in results.configurations.iter().zip(&line.solved) {
            let _ = write!(text, "{solved:>0$}", width(name));
        }
        text.push('\n');
    }
    text.push('\n');
    for (index, name) in results.configurations.iter().enumerate() {
        let endings = endings(results, index).map(|(verdict, count)| format!("{count} {}", verdict.name()));
        let _ = writeln!(text, "{name}: {}", endings.join(", "));
    }
    text
}
