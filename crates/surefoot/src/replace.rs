//! Writing a result at once: whoever stops the program finds the old contents or the new ones, never a part.

use std::ffi::OsString;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use crate::failure::Failure;

/// Writes a file at once. What is not a file, such as a pipe or a terminal, is written to as it is.
pub fn replace(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    let written = match std::fs::canonicalize(path) {
        // Links stay links: what they lead to is replaced.
        Ok(target) if target.is_file() => by_rename(&target, contents),
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => by_rename(path, contents),
        _ => std::fs::write(path, contents),
    };
    written.map_err(|error| Failure::writing(path, &error))
}

fn by_rename(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    let mut name = OsString::from(path);
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = Path::new(&name);
    let written = std::fs::File::create(temporary)
        .and_then(|mut file| file.write_all(contents).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(temporary, path));
    if written.is_err() {
        // It may not exist.
        let _ = std::fs::remove_file(temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_and_nothing_is_left_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("result");
        for contents in [&b"a long first text"[..], b"short"] {
            replace(&file, contents).expect("written");
            assert_eq!(std::fs::read(&file).expect("a file"), contents);
            assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
        }
        let error = replace(&folder.path().join("no/folder"), b"").expect_err("there is no such folder");
        assert!(error.to_string().contains("folder"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_stay_what_they_are() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").expect("written");
        symlink(&file, &link).expect("linked");
        replace(&link, b"new").expect("written");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).expect("a file"), b"new");
        replace(Path::new("/dev/null"), b"gone").expect("written");
        assert!(!Path::new("/dev/null").is_file());
    }
}
