//! State files: what `verify --save-state` writes and `--resume` reads back.
//!
//! The file says what the frames are about: hashes of all inputs, the property, the constants and the reading. Frames of another
//! question are refused.

use std::path::{Path, PathBuf};

use surefoot_engines::ic3::SavedFrames;
use surefoot_model::{InputError, Sources};

use crate::failure::Failure;
use crate::load::Problem;
use crate::replace::replace;
use crate::report::reading;

/// Reads the frames of a question.
pub fn read(path: &Path, problem: &Problem) -> Result<SavedFrames, InputError> {
    let bytes = Sources::default().read_bytes(path)?;
    let frames = SavedFrames::read(&bytes)
        .map_err(|error| InputError::in_file(path, error.to_string()).with_hint(HINT))?;
    match difference(&frames.about, &about(problem)) {
        None => Ok(frames),
        Some(difference) => {
            let message = format!("the state is that of another question: {difference}");
            Err(InputError::in_file(path, message).with_hint(HINT))
        }
    }
}

const HINT: &str = "states are written by `surefoot verify … --engine ic3 --save-state FILE`; `--resume` takes those of the same \
                    model, policy, property, constants and reading";

/// A state that was written.
#[derive(Debug)]
pub struct Written {
    pub file: PathBuf,
    pub depth: u64,
    pub reasons: u64,
    pub bytes: u64,
}

/// Writes frames, which say what they are about.
pub fn write(path: &Path, frames: &SavedFrames) -> Result<Written, Failure> {
    let contents = frames.write();
    replace(path, &contents)?;
    Ok(Written {
        file: path.to_path_buf(),
        depth: frames.depth() as u64,
        reasons: frames.reasons() as u64,
        bytes: contents.len() as u64,
    })
}

/// What frames are about, by name.
pub fn about(problem: &Problem) -> Vec<(String, String)> {
    let task = &problem.task;
    let semantics = task.semantics;
    let mut about: Vec<(String, String)> =
        problem.inputs.iter().map(|input| (format!("{} file", input.role.name()), input.hex())).collect();
    let mut constants = problem.constants.clone();
    constants.sort();
    about.extend(constants.into_iter().map(|(name, value)| (format!("constant {name}"), value)));
    let filter = if semantics.filter { "on" } else { "off" };
    let rest = [
        ("property", task.property.name.as_str()),
        ("arithmetic", semantics.arithmetic.name()),
        ("filter", filter),
        ("goal", reading::goal(semantics.goal)),
        ("out-of-domain", reading::out_of_domain(semantics.out_of_domain)),
    ];
    about.extend(rest.map(|(name, value)| (name.to_string(), value.to_string())));
    about
}

/// Where two questions differ.
fn difference(saved: &[(String, String)], asked: &[(String, String)]) -> Option<String> {
    let lacks = |list: &[(String, String)], name: &str| !list.iter().any(|(known, _)| known == name);
    if let Some((name, _)) = saved.iter().find(|(name, _)| lacks(asked, name)) {
        return Some(format!("it had the {}, this one does not", shown(name)));
    }
    if let Some((name, _)) = asked.iter().find(|(name, _)| lacks(saved, name)) {
        return Some(format!("it did not have the {name}"));
    }
    let differing = saved.iter().zip(asked).find(|(saved, asked)| saved != asked);
    match differing {
        Some(((name, _), (other, _))) if name != other || name.ends_with(" file") => {
            Some(format!("the {other} had other contents"))
        }
        Some(((name, value), (_, now))) => {
            Some(format!("the {name} was `{}`, now it is `{now}`", shown(value)))
        }
        None => (saved.len() != asked.len()).then(|| "there was another number of files".into()),
    }
}

/// A text of a file, for a message.
fn shown(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}
