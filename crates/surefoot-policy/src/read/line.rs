//! A line of a text file, cut into fields: what the formats that are not JSON consist of.

use std::path::Path;

use surefoot_model::{InputError, Position};

use crate::parameter::Parameter;

/// A line and its fields. Fields are parts of the text, so that messages can say in which column they begin.
pub(super) struct Line<'t> {
    path: &'t Path,
    number: u64,
    text: &'t str,
    fields: Vec<&'t str>,
    /// What the line holds, for messages.
    what: String,
}

impl<'t> Line<'t> {
    /// A line of fields with commas between them.
    pub(super) fn separated_by_commas(path: &'t Path, number: u64, text: &'t str, what: &str) -> Self {
        let mut fields: Vec<&str> = text.split(',').map(str::trim).collect();
        // The comma at the end of a line is optional.
        if fields.len() > 1 && fields.last().is_some_and(|field| field.is_empty()) {
            fields.pop();
        }
        Line { path, number, text, fields, what: what.to_string() }
    }

    /// A line of fields with blanks between them, which begin after the first `skipped` bytes.
    pub(super) fn separated_by_blanks(
        path: &'t Path,
        number: u64,
        (text, skipped): (&'t str, usize),
        what: &str,
    ) -> Self {
        let fields = text[skipped..].split_whitespace().collect();
        Line { path, number, text, fields, what: what.to_string() }
    }

    /// Whether the text of the line, without blanks before it, begins like this.
    pub(super) fn starts_with(&self, beginning: &str) -> bool {
        self.text.trim_start().starts_with(beginning)
    }

    /// An error at a field, or at the end of the line if there is no such field.
    pub(super) fn error_at(&self, field: usize, message: impl Into<String>) -> InputError {
        let before = match self.fields.get(field) {
            // Fields are parts of the text.
            Some(found) => &self.text[..found.as_ptr() as usize - self.text.as_ptr() as usize],
            None => self.text.trim_end(),
        };
        let column = before.chars().count() as u64 + 1;
        InputError::at(self.path, Position { line: self.number, column }, message)
    }

    /// Number of fields.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The first field.
    pub(super) fn first(&self) -> Option<&str> {
        self.fields.first().copied()
    }

    /// Checks the number of fields.
    fn expect(&self, count: usize) -> Result<(), InputError> {
        let found = self.len();
        if found == count {
            return Ok(());
        }
        let numbers = if count == 1 { "1 number" } else { &format!("{count} numbers") };
        let message = format!("expected {numbers} ({}), found {found}", self.what);
        Err(self.error_at(count.min(found), message))
    }

    /// The line as exactly `count` values, each of which `parse` reads from a field.
    pub(super) fn values<T>(
        &self,
        count: usize,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, InputError> {
        let value = |(index, field): (usize, &&str)| {
            parse(field).ok_or_else(|| {
                let found = abbreviate(field);
                self.error_at(index, format!("expected {expected} ({}), found {found}", self.what))
            })
        };
        // A field that is no number explains a wrong count better than the count does.
        let values = self.fields.iter().enumerate().map(value).collect::<Result<_, _>>()?;
        self.expect(count)?;
        Ok(values)
    }

    /// The line as exactly `count` finite numbers.
    pub(super) fn numbers(&self, count: usize) -> Result<Vec<Parameter>, InputError> {
        self.values(count, "a finite number", Parameter::parse)
    }

    /// The line as exactly `count` positive integers.
    pub(super) fn counts(&self, count: usize) -> Result<Vec<usize>, InputError> {
        self.values(count, "a positive integer", |field| {
            field.parse::<u32>().ok().filter(|&number| number > 0).map(|number| number as usize)
        })
    }

    /// The line as a single positive integer.
    pub(super) fn count(&self) -> Result<usize, InputError> {
        Ok(self.counts(1)?[0])
    }
}

/// A field as it is shown in messages.
fn abbreviate(field: &str) -> String {
    if field.is_empty() {
        return "nothing".into();
    }
    match field.char_indices().nth(40) {
        Some((end, _)) => format!("`{}…`", &field[..end]),
        None => format!("`{field}`"),
    }
}
