//! The results of a bench as tables and plots need them: the record of each instance and configuration.

use super::judge;
use super::plan::Plan;
use super::record::{Journal, Limits, Record};
use super::suite::{Instance, Suite};

/// All results.
pub struct Results<'r> {
    /// What the suite is called.
    pub name: &'r str,
    pub configurations: Vec<&'r str>,
    pub rows: Vec<Row<'r>>,
    pub limits: Limits,
    /// What contradicts what is known, or each other.
    pub findings: Vec<String>,
}

/// The results of an instance.
pub struct Row<'r> {
    pub instance: &'r Instance,
    /// One per configuration; `None` where there is none yet.
    pub records: Vec<Option<&'r Record>>,
}

impl<'r> Results<'r> {
    /// The results of a plan as far as they are there.
    pub fn new(suite: &'r Suite, plan: &'r Plan<'_>, journal: &'r Journal) -> Self {
        let configurations: Vec<&str> =
            plan.configurations.iter().map(|configuration| configuration.name.as_str()).collect();
        let rows = plan.runs.chunks(configurations.len());
        let rows: Vec<Row<'r>> = rows
            .map(|runs| Row {
                instance: runs[0].instance,
                records: runs.iter().map(|run| journal.find(&run.key, run.names(), plan.limits)).collect(),
            })
            .collect();
        let findings = rows.iter().flat_map(judge::findings).collect();
        Results { name: &suite.name, configurations, rows, limits: plan.limits, findings }
    }

    /// The families, in the order of the suite.
    pub fn families(&self) -> Vec<&'r str> {
        let mut families: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !families.contains(&row.instance.family.as_str()) {
                families.push(&row.instance.family);
            }
        }
        families
    }

    /// How many runs were stopped or not begun.
    pub fn left(&self) -> usize {
        self.rows.iter().flat_map(|row| &row.records).filter(|record| record.is_none()).count()
    }

    /// What to say about them, if there are some.
    pub fn left_sentence(&self) -> Option<String> {
        let (left, all) = (self.left(), self.rows.len() * self.configurations.len());
        (left > 0).then(|| {
            format!("{left} of {all} runs were stopped or not begun. The same command goes on with them.")
        })
    }

    /// The records of a configuration, by its position.
    pub fn column(&self, configuration: usize) -> impl Iterator<Item = (&Row<'r>, &'r Record)> {
        self.rows.iter().filter_map(move |row| Some((row, row.records[configuration]?)))
    }
}
