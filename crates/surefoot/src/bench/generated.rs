//! Models that a suite does not hold but describes: arguments of `surefoot gen`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::name::printable;
use super::plan;
use crate::failure::Failure;

/// A file in the folders that were made here. They, and no others, are emptied.
const MARK: &str = ".made-by-surefoot-bench";

/// Generates an instance into a folder of its own; the files of its model and its property. A mistake in the arguments is one of usage.
pub fn model(arguments: &[String], folder: &Path) -> Result<(PathBuf, PathBuf), Failure> {
    prepare(folder).map_err(|error| Failure::writing(folder, &error))?;
    let mut command = Command::new(plan::program()?);
    command.arg("gen").args(arguments).arg("--out").arg(folder).arg("--force");
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure::Internal(format!("nothing can be generated: {error}")))?;
    let asked = arguments.join(" ");
    let asked = printable(&asked);
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::Usage(format!("`surefoot gen {asked}` fails: {}", text.trim())));
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
        _ => Err(Failure::Usage(format!(
            "expected one model and one property of `surefoot gen {asked}` in {}, found {} and {}\n  hint: remove the \
             folder if it has files of another instance",
            folder.display(),
            models.len(),
            properties.len()
        ))),
    }
}

/// Makes the folder; or takes away what was generated there before, which may have had other arguments and so other names.
fn prepare(folder: &Path) -> std::io::Result<()> {
    let mark = folder.join(MARK);
    if mark.is_file() && !folder.is_symlink() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_file() && path.file_name() != Some(OsStr::new(MARK)) {
                std::fs::remove_file(path)?;
            }
        }
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    if std::fs::read_dir(folder)?.next().is_none() {
        std::fs::write(mark, "")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_that_were_made_here_are_emptied() {
        let root = tempfile::tempdir().expect("a folder");
        let (own, other) = (root.path().join("models/own"), root.path().join("other"));
        std::fs::create_dir(&other).expect("a folder");
        std::fs::write(other.join("old.jani"), "").expect("written");
        for folder in [&own, &other, &own, &other] {
            prepare(folder).expect("a folder");
            std::fs::write(folder.join("new.jani"), "").expect("written");
        }
        prepare(&own).expect("a folder");
        prepare(&other).expect("a folder");
        let names = |folder: &Path| std::fs::read_dir(folder).expect("a folder").count();
        assert_eq!((names(&own), names(&other)), (1, 2));
        assert!(own.join(MARK).exists() && !other.join(MARK).exists());
    }
}
