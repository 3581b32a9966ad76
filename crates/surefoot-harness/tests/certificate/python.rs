//! The second checker, `tools/check_certificate.py`, against brute force.

use std::path::{Path, PathBuf};
use std::process::Command;

use surefoot_certificate::{Certificate, Subject, dump};

/// Runs Python; `None` if there is none.
pub struct Python {
    folder: PathBuf,
}

impl Python {
    pub fn new(name: &str) -> Option<Python> {
        let works =
            Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
        if !works {
            eprintln!("there is no python3: the second checker is not tested");
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        Some(Python { folder })
    }

    /// Whether the second checker accepts, and what it says; `None` if it cannot check this task.
    pub fn accepts(&self, certificate: &Certificate, subject: &Subject<'_>) -> Option<(bool, String)> {
        let (task, file) = (self.folder.join("task.json"), self.folder.join("certificate"));
        std::fs::write(&task, dump(subject)).expect("the file can be written");
        std::fs::write(&file, certificate.write()).expect("the file can be written");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/check_certificate.py");
        let output = Command::new("python3").arg(script).arg(&task).arg(&file).output().expect("Python runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.code() {
            Some(0) => Some((true, text)),
            Some(1) if text.starts_with("rejected") => Some((false, text)),
            Some(2) if text.starts_with("not checked") => None,
            _ => panic!("{text}{}", String::from_utf8_lossy(&output.stderr)),
        }
    }
}
