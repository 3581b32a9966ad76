//! Writing generated files without destroying anything.

use std::fmt::Write as _;
use std::path::Path;

use crate::failure::Failure;

/// Writes files (name and contents) to a folder, all or none; the text says which.
///
/// A file that exists with other contents is overwritten only by `force`.
pub fn files(folder: &Path, files: &[(&str, &str)], force: bool) -> Result<String, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
    if !force {
        for (name, contents) in files {
            let path = folder.join(name);
            let differs = path.exists() && std::fs::read(&path).ok().as_deref() != Some(contents.as_bytes());
            if differs {
                let path = path.display();
                return Err(Failure::Usage(format!(
                    "{path} exists and differs; nothing was written\n  hint: pass `--force` to overwrite it"
                )));
            }
        }
    }
    let mut text = String::new();
    for (name, contents) in files {
        let path = folder.join(name);
        std::fs::write(&path, contents).map_err(|error| Failure::writing(&path, &error))?;
        let _ = writeln!(text, "wrote {}", path.display());
    }
    Ok(text)
}

/// A path as an argument of a command line.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/\\._-+:,=@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
