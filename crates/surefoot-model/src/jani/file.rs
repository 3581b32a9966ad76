//! Files, from disk or memory, and the indirection `{"file": "x.jani"}`.

use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::input::{InputError, MemoryFile, Sources};
use crate::json::{Document, Json};

/// Opens and parses files, each once.
#[derive(Debug, Default)]
pub(super) struct Loader<'f> {
    /// Files by path, instead of those on disk.
    memory: Option<FxHashMap<PathBuf, &'f str>>,
    documents: FxHashMap<PathBuf, Rc<Document>>,
    pub(super) sources: Sources,
}

impl<'f> Loader<'f> {
    /// Opens files on disk, but these.
    pub(super) fn from_disk(memory: Vec<MemoryFile>) -> Self {
        Loader { sources: Sources::with_memory(memory), ..Self::default() }
    }

    /// Opens only these files.
    pub(super) fn from_memory(files: &[(&'f str, &'f str)]) -> Self {
        let files = files.iter().map(|(path, text)| (tidy(Path::new(path)), *text)).collect();
        Loader { memory: Some(files), ..Self::default() }
    }

    /// The parsed file.
    pub(super) fn document(&mut self, path: &Path) -> Result<Rc<Document>, InputError> {
        let path = if self.memory.is_some() { tidy(path) } else { path.components().collect() };
        if let Some(document) = self.documents.get(&path) {
            return Ok(Rc::clone(document));
        }
        let document = match &self.memory {
            None => Document::parse(&path, &self.sources.read(&path)?)?,
            Some(files) => {
                let text = *files.get(&path).ok_or_else(|| InputError::in_file(&path, "no such file"))?;
                self.sources.record(&path, text.as_bytes());
                Document::parse(&path, text)?
            }
        };
        let document = Rc::new(document);
        self.documents.insert(path, Rc::clone(&document));
        Ok(document)
    }

    /// The file that replaces `json`, if `json` is `{"file": …}`. Paths are relative to `folder`, the folder of the file that
    /// the user named, or else to that of the file that holds the reference.
    pub(super) fn follow(
        &mut self,
        json: Json<'_>,
        folder: &Path,
    ) -> Result<Option<Rc<Document>>, InputError> {
        let Some(mut document) = self.referred(json, folder)? else { return Ok(None) };
        let mut seen = vec![document.root().file().to_path_buf()];
        while let Some(next) = self.referred(document.root(), folder)? {
            document = next;
            let path = document.root().file().to_path_buf();
            if seen.contains(&path) {
                return Err(
                    json.error(format!("files refer to each other in a circle, through {}", path.display()))
                );
            }
            seen.push(path);
        }
        Ok(Some(document))
    }

    fn referred(&mut self, json: Json<'_>, folder: &Path) -> Result<Option<Rc<Document>>, InputError> {
        let mut members = json.members().filter(|(key, _)| *key != "comment");
        let (Some((key, place)), None) = (members.next(), members.next()) else { return Ok(None) };
        match key {
            "file" => {}
            "label" => return Err(json.error("references to labels are not supported")),
            _ => return Ok(None),
        }
        let name = place.str()?;
        let first = folder.join(name);
        match self.document(&first) {
            Err(error) if error.position.is_none() => {
                let nested = json.file().parent().map(|folder| folder.join(name));
                if let Some(document) = nested.and_then(|path| self.document(&path).ok()) {
                    return Ok(Some(document));
                }
                let path = error.path.display();
                Err(place.error(format!("cannot open {path}: {}", error.message)))
            }
            result => result.map(Some),
        }
    }
}

/// The path without `.` and, where possible, `..`. On disk `..` would have to heed symbolic links.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(tidy.components().next_back(), Some(Component::Normal(_))) => {
                tidy.pop();
            }
            other => tidy.push(other),
        }
    }
    tidy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_tidied_without_leaving_the_root() {
        for (path, expected) in [
            ("a/./b", "a/b"),
            ("a/../b", "b"),
            ("../a", "../a"),
            ("a/b/../../../c", "../c"),
            ("./x.jani", "x.jani"),
        ] {
            assert_eq!(tidy(Path::new(path)), Path::new(expected));
        }
    }
}
