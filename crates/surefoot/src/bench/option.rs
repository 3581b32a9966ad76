//! Options in a suite: those of an instance say what is asked, those of a configuration how it is answered, and neither says
//! what the bench decides. Each mistake has its place.

use clap::parser::ValueSource;
use clap::{Args, Command};
use surefoot_model::InputError;

use crate::arguments::task::{TaskArguments, TaskOptions};
use crate::arguments::{VerifyArguments, verify_arguments};
use crate::failure::Failure;

/// A failure of what a suite asks for is a mistake in the suite, unless a file that it names is to blame.
pub fn in_suite(failure: Failure, place: impl Fn(&str) -> InputError) -> Failure {
    match failure {
        Failure::Usage(message) => place(message.trim_end()).into(),
        other => other,
    }
}

/// The arguments of a call of `verify`.
pub fn parse(arguments: &[String]) -> Result<VerifyArguments, Failure> {
    verify_arguments(arguments).map_err(Failure::Usage)
}

/// An option among the arguments of an instance, which `parse` accepts, that is not about how the task is read.
pub fn other_than_task(arguments: &[String]) -> Option<String> {
    let mut task = TaskArguments::augment_args(Command::new("verify"));
    let mut all = VerifyArguments::augment_args(Command::new("verify"));
    task.build();
    all.build();
    let given = all.clone().try_get_matches_from(arguments).ok()?;
    let is_about_task = |id| task.get_arguments().any(|known| known.get_id() == id);
    let is_given = |id: &str| given.value_source(id) == Some(ValueSource::CommandLine);
    all.get_arguments()
        .filter(|argument| !is_about_task(argument.get_id()) && is_given(argument.get_id().as_str()))
        .find_map(|argument| Some(format!("--{}", argument.get_long()?)))
}

/// An option that reads or writes a file which is not part of the question.
pub fn other_file(arguments: &VerifyArguments) -> Option<&'static str> {
    let search = &arguments.search;
    let options = [
        ("--trace", &arguments.trace),
        ("--certificate", &search.proof.certificate),
        ("--save-state", &search.ic3.save_state),
        ("--resume", &search.ic3.resume),
    ];
    options.into_iter().find_map(|(name, file)| file.as_ref().map(|_| name))
}

/// Whether two readings of the command line are about the same question.
pub fn same_question(one: &TaskOptions, other: &TaskOptions) -> bool {
    // All fields count, whatever they are.
    format!("{one:?}") == format!("{other:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(options: &str) -> Option<String> {
        let all = format!("verify m.jani --no-policy {options}");
        other_than_task(&all.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_of_instances_are_those_of_the_task() {
        for options in ["", "--property 1", "--goal strict --out-of-domain block --const a=1,b=2"] {
            assert_eq!(other(options), None, "{options}");
        }
        for option in ["--engine explicit", "--json", "--threads 1", "-q", "--time-limit 1s", "--paper"] {
            let other = other(option).expect("it is another one");
            assert!(other.starts_with(option.split(' ').next().unwrap()) || other == "--quiet", "{other}");
        }
    }
}
