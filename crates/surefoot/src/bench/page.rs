//! The page: one HTML file with everything in it, without scripts and without the network.

use std::fmt::Write as _;

use super::plot::{self, Plot, escaped};
use super::record::{Record, Verdict};
use super::results::Results;
use super::table;
use crate::report::number::bytes;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}\
h1{line-height:1.2}h2{margin-top:2.5rem}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
.wide{overflow-x:auto}\
th,td{padding:.25rem .75rem;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}\
th:first-child,td:first-child{text-align:left}\
tr.sum td{font-weight:600;border-top:2px solid #8888}\
.plots{display:flex;flex-wrap:wrap;gap:1rem}\
svg{max-width:100%;height:auto}\
.bad{border-left:4px solid #d55e00;padding:.5rem 1rem;background:#d55e0018}\
td.safe{color:#0072b2}td.unsafe{color:#d55e00}td.unknown{opacity:.6}td.error{font-weight:600;text-decoration:underline}\
@media(prefers-color-scheme:dark){td.safe{color:#56b4e9}td.unsafe{color:#e69f00}}";

/// The whole page, with its plots.
pub fn html(results: &Results<'_>, plots: &[Plot]) -> String {
    let name = escaped(results.name);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{name}: surefoot bench</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n"
    );
    let _ = writeln!(
        page,
        "<p>surefoot {}: {} instances, {} configurations. Limits of each run: {} s, {}.</p>",
        env!("CARGO_PKG_VERSION"),
        results.rows.len(),
        results.configurations.len(),
        results.limits.seconds,
        bytes(results.limits.bytes)
    );
    if let Some(sentence) = results.left_sentence() {
        let _ = writeln!(page, "<p>{sentence}</p>");
    }
    page += &findings(results);
    page += &coverage(results);
    let (cactus, scatters) = plots.split_first().expect("there is always a cactus plot");
    let _ = writeln!(
        page,
        "<h2>Time</h2>\n<p>Each line shows how many instances were solved within which time each. Further right and lower is better.</p>\n{}",
        cactus.svg
    );
    if !scatters.is_empty() {
        page += "<p>A point is an instance. Above the diagonal the configuration at the bottom was faster.</p>\n<div class=\"plots\">\n";
        for plot in scatters {
            page += &plot.svg;
        }
        page += "</div>\n";
        let configurations = results.configurations.len();
        if scatters.len() < configurations * (configurations - 1) / 2 {
            let _ =
                writeln!(page, "<p>No more than {} pairs of configurations are shown.</p>", plot::MANY_PAIRS);
        }
    }
    page += &details(results);
    page + "</body>\n</html>\n"
}

fn findings(results: &Results<'_>) -> String {
    if results.findings.is_empty() {
        let known = results.rows.iter().filter(|row| row.instance.expected.is_some()).count();
        return format!(
            "<p>No answer contradicts another one, or what is expected of {known} instances.</p>\n"
        );
    }
    let mut text = String::from("<div class=\"bad\"><p><strong>Contradictions</strong></p>\n<ul>\n");
    for finding in &results.findings {
        let _ = writeln!(text, "<li>{}</li>", escaped(finding));
    }
    text + "</ul></div>\n"
}

fn coverage(results: &Results<'_>) -> String {
    let mut text = String::from(
        "<h2>Solved instances</h2>\n<div class=\"wide\"><table>\n<tr><th>family</th><th>instances</th>",
    );
    for name in &results.configurations {
        let _ = write!(text, "<th>{}</th>", escaped(name));
    }
    text += "</tr>\n";
    let lines = table::lines(results);
    for (index, line) in lines.iter().enumerate() {
        let class = if index + 1 == lines.len() { " class=\"sum\"" } else { "" };
        let _ = write!(text, "<tr{class}><td>{}</td><td>{}</td>", escaped(line.family), line.instances);
        for solved in &line.solved {
            let _ = write!(text, "<td>{solved}</td>");
        }
        text += "</tr>\n";
    }
    for (ending, counts) in table::endings(results) {
        let _ = write!(text, "<tr><td>{ending}</td><td></td>");
        for count in counts {
            let _ = write!(text, "<td>{count}</td>");
        }
        text += "</tr>\n";
    }
    text + "</table></div>\n"
}

fn details(results: &Results<'_>) -> String {
    let mut text = String::from(
        "<h2>All runs</h2>\n<div class=\"wide\"><table>\n<tr><th>instance</th><th>expected</th>",
    );
    for name in &results.configurations {
        let _ = write!(text, "<th>{}</th>", escaped(name));
    }
    text += "</tr>\n";
    for row in &results.rows {
        let expected = row.instance.expected.map_or("", |expected| expected.name());
        let _ = write!(text, "<tr><td>{}</td><td>{expected}</td>", escaped(&row.instance.name));
        for record in &row.records {
            text += &cell(*record);
        }
        text += "</tr>\n";
    }
    text + "</table></div>\n"
}

fn cell(record: Option<&Record>) -> String {
    let Some(record) = record else { return format!("<td>{}</td>", table::NOT_RUN) };
    let class = record.verdict.name().to_lowercase();
    let time = match (record.verdict, &record.reason) {
        (Verdict::Unknown, Some(reason)) => reason.clone(),
        _ => format!("{:.2} s", record.wall_seconds),
    };
    let memory = record.peak_memory_bytes.map_or("not measured".into(), bytes);
    let processor =
        record.processor_seconds.map_or("not measured".into(), |seconds| format!("{seconds:.2} s"));
    let title = format!(
        "{:.2} s, processor {processor}, memory {memory}{}",
        record.wall_seconds,
        record.error.as_ref().map_or(String::new(), |error| format!("\n{error}"))
    );
    let [title, time] = [escaped(&title), escaped(&time)];
    format!("<td class=\"{class}\" title=\"{title}\">{} {time}</td>", record.verdict.name())
}
