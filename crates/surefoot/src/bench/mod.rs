//! `surefoot bench`: a suite of instances, each run by several engines, with limits.
//!
//! A [`suite`] and the command line give a [`plan`]: one run per instance and configuration. Each run is a
//! process of its own, [measured](measure) by another one, so a crash or a run without end costs one result. Results are
//! [records](record) in a file that grows line by line: a killed bench goes on where it was. At the end the results are
//! [judged](judge), and shown as [tables](table), [plots](plot) and a [`page`].

mod compare;
mod execute;
mod generated;
mod judge;
pub mod measure;
mod name;
mod option;
mod page;
mod plan;
mod plot;
mod record;
mod results;
mod suite;
mod table;

use std::path::Path;

use crate::arguments::bench::BenchArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{interrupt, output};
use plan::Plan;
use record::Journal;
use results::Results;
use suite::Suite;

/// The file with the records in the folder of a bench.
const JOURNAL: &str = "results.jsonl";

/// Runs what is missing, and reports.
pub fn run(arguments: &BenchArguments) -> Result<Exit, Failure> {
    if let [before, after] = &arguments.compare[..] {
        return compare::run(before, after);
    }
    let file = arguments.suite.as_deref().expect("clap asks for a suite unless runs are compared");
    let suite = Suite::read(file)?;
    let out = &arguments.out;
    std::fs::create_dir_all(out).map_err(|error| Failure::writing(out, &error))?;
    let mut journal = Journal::open(&out.join(JOURNAL))?;
    let plan = Plan::new(&suite, arguments)?;
    let mut missing = Vec::new();
    for run in &plan.runs {
        if journal.find_or_copy(&run.key, run.names(), plan.limits)?.is_none() {
            missing.push(run);
        }
    }
    let done = plan.runs.len() - missing.len();
    if done > 0 {
        output::note(&format!("{done} of {} runs have a result in {}", plan.runs.len(), out.display()));
    }
    let cancelled = interrupt::install();
    execute::all(&missing, &plan, &cancelled, |record| journal.append(record))?;
    let results = Results::new(&suite, &plan, &journal);
    report(&results, out)?;
    if let Some(sentence) = results.left_sentence() {
        output::note(&sentence);
    }
    Ok(match (results.findings.is_empty(), results.left()) {
        (false, _) => Exit::Contradicted,
        (true, 0) => Exit::Done,
        (true, _) => Exit::Unknown,
    })
}

fn report(results: &Results<'_>, out: &Path) -> Result<(), Failure> {
    let write = |name: &str, contents: &str| {
        let path = out.join(name);
        std::fs::write(&path, contents).map_err(|error| Failure::writing(&path, &error))
    };
    let table = table::text(results);
    write("coverage.txt", &table)?;
    let plots = plot::all(results);
    write("index.html", &page::html(results, &plots))?;
    remove_scatters(out).map_err(|error| Failure::writing(out, &error))?;
    for plot in &plots {
        write(&plot.file, &plot.svg)?;
    }
    output::print(&table)?;
    for finding in &results.findings {
        output::error(&name::printable(finding));
    }
    output::note(&format!("{} has tables and plots", out.join("index.html").display()));
    Ok(())
}

/// Removes the scatter plots of an earlier bench: their numbers are those of other configurations.
fn remove_scatters(out: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(out)? {
        let path = entry?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(plot::is_scatter) {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}
