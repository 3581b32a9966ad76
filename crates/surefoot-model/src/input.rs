//! Input files and what can be wrong with them: every message names the file, the place, what was expected and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::compressed;

/// A place in a text file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line.
    pub line: u64,
    /// Column, in characters.
    pub column: u64,
}

/// A mistake in an input file. Printed as `file:line:column: message`, then the JSON path and a hint on lines of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    /// The file.
    pub path: PathBuf,
    /// The place, if the mistake has one.
    pub position: Option<Position>,
    /// Path of the JSON value, such as `$.automata[0].edges[3].guard`; empty for other formats.
    pub json_path: String,
    /// What is wrong, and what was expected.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl InputError {
    /// A mistake that concerns a whole file.
    pub fn in_file(path: &Path, message: impl Into<String>) -> Self {
        InputError {
            path: path.to_path_buf(),
            position: None,
            json_path: String::new(),
            message: message.into(),
            hint: None,
        }
    }

    /// A mistake at a place of a text file.
    pub fn at(path: &Path, position: Position, message: impl Into<String>) -> Self {
        InputError { position: Some(position), ..Self::in_file(path, message) }
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(Position { line, column }) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        if !self.json_path.is_empty() {
            write!(f, "\n  at {}", self.json_path)?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}

/// A file that was read, with the hash that binds results to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Path as it was opened.
    pub path: PathBuf,
    /// SHA-256 of the contents, in lower-case hexadecimal.
    pub sha256: String,
}

/// A file that is given by its contents, instead of one on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    /// The path under which others refer to it.
    pub path: PathBuf,
    /// What would stand in it.
    pub contents: Vec<u8>,
}

/// Reads files and remembers which.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// All files read so far, in order, each once.
    pub files: Vec<SourceFile>,
    /// Files that are read from here instead of from disk.
    memory: Vec<MemoryFile>,
}

impl Sources {
    /// Reads files of these paths from memory and all others from disk.
    pub fn with_memory(memory: Vec<MemoryFile>) -> Self {
        Sources { files: Vec::new(), memory }
    }

    /// The contents of a UTF-8 text file, which may be compressed.
    pub fn read(&mut self, path: &Path) -> Result<String, InputError> {
        utf8_text(path, self.read_contents(path)?)
    }

    /// The contents of a file of any kind; a file that is compressed with gzip is expanded. What is remembered is the
    /// hash of the file as it is.
    pub fn read_contents(&mut self, path: &Path) -> Result<Vec<u8>, InputError> {
        compressed::expand(path, self.read_bytes(path)?)
    }

    /// The bytes of a file of any kind.
    pub fn read_bytes(&mut self, path: &Path) -> Result<Vec<u8>, InputError> {
        if let Some(file) = self.memory.iter().find(|file| file.path == path) {
            let contents = file.contents.clone();
            self.record(path, &contents);
            return Ok(contents);
        }
        if path.is_dir() {
            return Err(InputError::in_file(path, "this is a directory, a file was expected"));
        }
        let bytes = std::fs::read(path).map_err(|e| {
            let reason = match e.kind() {
                std::io::ErrorKind::NotFound => "no such file".to_string(),
                _ => format!("cannot read the file: {e}"),
            };
            InputError::in_file(path, reason)
        })?;
        self.record(path, &bytes);
        Ok(bytes)
    }

    /// Notes that a file with these contents was read.
    pub fn record(&mut self, path: &Path, contents: &[u8]) {
        if !self.files.iter().any(|f| f.path == path) {
            self.files.push(SourceFile {
                path: path.to_path_buf(),
                sha256: format!("{:x}", Sha256::digest(contents)),
            });
        }
    }
}

/// The text of a file with these contents; the error names the place of the first byte that is no UTF-8.
pub fn utf8_text(path: &Path, contents: Vec<u8>) -> Result<String, InputError> {
    String::from_utf8(contents).map_err(|e| {
        let valid = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = valid.split(|&b| b == b'\n').count() as u64;
        let line_start = valid.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        let column = 1 + String::from_utf8_lossy(&valid[line_start..]).chars().count() as u64;
        InputError::at(path, Position { line, column }, "the file is not UTF-8 text")
    })
}
