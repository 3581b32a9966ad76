//! Arguments of a subcommand, from a list of texts.

use clap::{ArgAction, Args, Command};

use crate::failure::Failure;

/// Reads the arguments of a subcommand.
pub(super) fn parse<A: Args>(name: &'static str, arguments: &[String]) -> Result<A, Failure> {
    let matches = command::<A>(name).try_get_matches_from(arguments).map_err(|error| refused(&error))?;
    A::from_arg_matches(&matches).map_err(|error| refused(&error))
}

/// The subcommand with these arguments.
pub(super) fn command<A: Args>(name: &'static str) -> Command {
    A::augment_args(Command::new(name)).no_binary_name(true).disable_help_flag(true)
}

/// The long options of a command, and which of them are flags without a value.
pub(super) fn options(command: &Command) -> Vec<(String, bool)> {
    let flag = |action: &ArgAction| matches!(action, ArgAction::SetTrue);
    let options = command.get_arguments().filter_map(|a| Some((a.get_long()?, flag(a.get_action()))));
    options.map(|(name, is_flag)| (name.to_string(), is_flag)).collect()
}

/// What is wrong, without the advice to read the help of a program that was not started.
fn refused(error: &clap::Error) -> Failure {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end = text.find("\n\nUsage:").or_else(|| text.find("\n\nFor more information")).unwrap_or(text.len());
    Failure::Usage(text[..end].trim_end().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::VerifyArguments;

    #[test]
    fn options_are_listed() {
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().copied().map(String::from).collect();
            crate::service::options(&words).expect("a command")
        };
        assert!(names(&["verify"]).contains(&("per-start".into(), true)));
        assert!(names(&["verify"]).contains(&("samples".into(), false)));
        assert!(names(&["gen", "blocksworld"]).contains(&("cost-terminal".into(), false)));
        assert!(names(&["gen", "policy"]).contains(&("filter".into(), true)));
    }

    #[test]
    fn mistakes_are_told_without_usage() {
        let arguments = ["model.jani", "--engine", "magic"].map(String::from);
        let Err(Failure::Usage(message)) = parse::<VerifyArguments>("verify", &arguments) else {
            panic!("there is no such engine");
        };
        assert!(message.starts_with("invalid value 'magic' for '--engine <ENGINE>'"), "{message}");
        assert!(message.contains("explicit") && !message.contains("--help"), "{message}");
    }
}
