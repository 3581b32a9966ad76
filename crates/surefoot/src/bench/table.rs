//! Coverage: how many instances each configuration has solved, by family.

use std::fmt::Write as _;

use super::name::printable;
use super::record::Verdict;
use super::results::{Results, Row};

/// What stands for the ending of a run that was stopped or not begun.
pub const NOT_RUN: &str = "not run";

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

/// How runs ended: what that is called, and how often it was so, by configuration. Runs that were stopped or not
/// begun show only if there are some.
pub fn endings(results: &Results<'_>) -> Vec<(&'static str, Vec<usize>)> {
    let columns = || 0..results.configurations.len();
    let made = |index, verdict| results.column(index).filter(|(_, record)| record.verdict == verdict).count();
    let mut endings: Vec<(&str, Vec<usize>)> =
        [Verdict::Safe, Verdict::Unsafe, Verdict::Unknown, Verdict::Error]
            .map(|verdict| (verdict.name(), columns().map(|index| made(index, verdict)).collect()))
            .into();
    if results.left() > 0 {
        let left = |index| results.rows.len() - results.column(index).count();
        endings.push((NOT_RUN, columns().map(left).collect()));
    }
    endings
}

/// The table as text, for terminals too.
pub fn text(results: &Results<'_>) -> String {
    let lines = lines(results);
    let names: Vec<_> = results.configurations.iter().map(|name| printable(name)).collect();
    let families = lines.iter().map(|line| printable(line.family).chars().count());
    let first = families.max().unwrap_or(0).max(6);
    let width = |name: &str| name.chars().count().max(5) + 2;
    let mut text = format!("solved instances\n\n{:<first$}  {:>9}", "family", "instances");
    for name in &names {
        let _ = write!(text, "{name:>0$}", width(name));
    }
    text.push('\n');
    for line in &lines {
        let _ = write!(text, "{:<first$}  {:>9}", printable(line.family), line.instances);
        for (name, solved) in names.iter().zip(&line.solved) {
            let _ = write!(text, "{solved:>0$}", width(name));
        }
        text.push('\n');
    }
    text.push('\n');
    let endings = endings(results);
    for (index, name) in names.iter().enumerate() {
        let counts = endings.iter().map(|(ending, counts)| format!("{} {ending}", counts[index]));
        let _ = writeln!(text, "{name}: {}", counts.collect::<Vec<_>>().join(", "));
    }
    if let Some(sentence) = results.left_sentence() {
        let _ = writeln!(text, "\n{sentence}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::page;
    use crate::bench::record::Limits;
    use crate::bench::suite::Suite;

    #[test]
    fn runs_that_were_not_begun_are_not_runs_without_an_answer() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("suite.toml");
        std::fs::write(&file, "[[instance]]\nname = \"a\"\nmodel = \"m\"\n").expect("written");
        let suite = Suite::read(&file).expect("a suite");
        let mut results = Results {
            name: "s",
            configurations: vec!["c", "d"],
            rows: vec![Row { instance: &suite.instances[0], records: vec![None, None] }],
            limits: Limits { seconds: 1.0, bytes: 1 },
            findings: Vec::new(),
        };
        let sentence = "2 of 2 runs were stopped or not begun. The same command goes on with them.";
        let table = text(&results);
        assert!(table.contains("c: 0 SAFE, 0 UNSAFE, 0 UNKNOWN, 0 ERROR, 1 not run\n"), "{table}");
        assert!(table.ends_with(&format!("\n\n{sentence}\n")), "{table}");
        let html = page::html(&results, &crate::bench::plot::all(&results));
        for part in [&format!("<p>{sentence}</p>"), "<tr><td>not run</td><td></td><td>1</td><td>1</td></tr>"]
        {
            assert!(html.contains(part), "{html}");
        }
        results.rows.clear();
        assert_eq!((endings(&results).len(), results.left_sentence()), (4, None));
    }
}
