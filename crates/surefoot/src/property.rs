//! Which of the properties is meant.

use std::ops::Range;
use std::path::Path;

use surefoot_model::InputError;
use surefoot_model::jani::{Loaded, LoadedProperty};

use crate::arguments::task::TaskOptions;

/// The operator of the policy safety properties of `PlaJA`.
const POLICY_SAFETY: &str = "PA";

/// The index of the property to use.
pub fn choose(loaded: &Loaded, options: &TaskOptions) -> Result<usize, InputError> {
    let choice = Choice { properties: &loaded.properties, options };
    match &options.property {
        Some(pick) => choice.by_name_or_index(pick),
        None => choice.only_one(),
    }
}

struct Choice<'a> {
    properties: &'a [LoadedProperty],
    options: &'a TaskOptions,
}

impl Choice<'_> {
    /// The file that a message is about.
    fn file(&self) -> &Path {
        self.options.property_file.as_deref().unwrap_or(&self.options.model)
    }

    /// The properties that are meant where nothing else is said: those of the property file, else the model's.
    fn candidates(&self) -> Range<usize> {
        // Those of the property file come last.
        let others = match &self.options.property_file {
            Some(file) => self.properties.iter().take_while(|property| property.file != *file).count(),
            None => 0,
        };
        others..self.properties.len()
    }

    fn by_name_or_index(&self, pick: &str) -> Result<usize, InputError> {
        let named = |range: Range<usize>| -> Vec<usize> {
            range.filter(|&i| self.properties[i].name == pick).collect()
        };
        let mut matches = named(self.candidates());
        if matches.is_empty() {
            matches = named(0..self.properties.len());
        }
        match matches[..] {
            [only] => Ok(only),
            [] => pick.parse().ok().filter(|&index| index < self.properties.len()).ok_or_else(|| {
                let message = format!("there is no property `{pick}`{}", self.list(0..self.properties.len()));
                InputError::in_file(self.file(), message)
            }),
            _ => {
                let message =
                    format!("several properties are called `{pick}`{}", self.list(0..self.properties.len()));
                Err(InputError::in_file(self.file(), message).with_hint("pick one with `--property INDEX`"))
            }
        }
    }

    fn only_one(&self) -> Result<usize, InputError> {
        let candidates = self.candidates();
        if candidates.is_empty() {
            let error = InputError::in_file(self.file(), "there is no property in this file");
            return Err(error.with_hint("name a file with properties: `--property FILE`"));
        }
        if candidates.len() == 1 {
            return Ok(candidates.start);
        }
        let mut about_policies =
            candidates.clone().filter(|&index| self.properties[index].operator == POLICY_SAFETY);
        if let (Some(only), None) = (about_policies.next(), about_policies.next()) {
            return Ok(only);
        }
        let message = format!("several properties could be meant{}", self.list(candidates));
        let hint = "pick one with `--property NAME` or `--property INDEX`";
        Err(InputError::in_file(self.file(), message).with_hint(hint))
    }

    /// The properties with index and name, one per line.
    fn list(&self, range: Range<usize>) -> String {
        let line = |index: usize| {
            let property = &self.properties[index];
            let remark = if property.question.is_ok() { "" } else { " (not supported)" };
            format!("\n    {index}: `{}`{remark}", property.name)
        };
        if range.is_empty() { String::new() } else { format!(":{}", range.map(line).collect::<String>()) }
    }
}
