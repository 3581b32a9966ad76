//! Which answers cannot all be right: those against what is known, and those of two engines about the same instance.

use super::results::Row;

/// What is wrong with the answers about an instance.
pub fn findings(row: &Row<'_>) -> Vec<String> {
    let instance = row.instance;
    let answers =
        || row.records.iter().flatten().filter_map(|record| Some((record, record.verdict.answer()?)));
    let mut findings = Vec::new();
    if let Some(expected) = instance.expected {
        for (record, answer) in answers().filter(|(_, answer)| *answer != expected) {
            let by = instance.known_by.as_ref().map_or(String::new(), |by| format!(" (known by {by})"));
            findings.push(format!(
                "{}: {} says {}, expected {}{by}",
                instance.name,
                record.configuration,
                answer.name(),
                expected.name()
            ));
        }
    }
    if let Some((first, answer)) = answers().next()
        && let Some((other, opposite)) = answers().find(|(_, other)| *other != answer)
    {
        findings.push(format!(
            "{}: {} says {}, but {} says {}",
            instance.name,
            first.configuration,
            answer.name(),
            other.configuration,
            opposite.name()
        ));
    }
    findings
}
