//! Models that a suite does not hold but describes: arguments of `surefoot gen`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::plan;
use crate::failure::Failure;

/// Generates an instance into a folder of its own; the files of its model and its property.
pub fn model(arguments: &[String], folder: &Path) -> Result<(PathBuf, PathBuf), Failure> {
    let mut command = Command::new(plan::program()?);
    command.arg("gen").args(arguments).arg("--out").arg(folder).arg("--force");
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure::Internal(format!("nothing can be generated: {error}")))?;
    let asked = arguments.join(" ");
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::Task(format!("`surefoot gen {asked}` fails: {}", text.trim())));
    }
    let entries = std::fs::read_dir(folder).map_err(|error| Failure::writing(folder, &error))?;
    let (mut models, mut properties) = (Vec::new(), Vec::new());
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        if name.ends_with(".property.jani") {
            properties.push(path);
        } else if path.extension().is_some_and(|extension| extension == "jani") {
            models.push(path);
        }
    }
    match (&models[..], &properties[..]) {
        ([model], [property]) => Ok((model.clone(), property.clone())),
        _ => Err(Failure::Task(format!(
            "{}: expected one model and one property of `surefoot gen {asked}`\n  hint: remove the folder if it has files of \
             another instance",
            folder.display()
        ))),
    }
}
