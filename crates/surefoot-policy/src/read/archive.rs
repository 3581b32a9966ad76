//! Zip archives: the files in them, each as large as the archive says, and no more than a limit of all of them.

use std::io::{Cursor, Read};
use std::path::Path;

use surefoot_model::InputError;
use zip::ZipArchive;
use zip::result::ZipError;

/// The most that the files of an archive may expand to. A small archive can claim to hold anything.
const MOST_BYTES: u64 = 1 << 30;

/// An archive in memory.
pub(super) struct Archive<'c> {
    path: &'c Path,
    zip: ZipArchive<Cursor<&'c [u8]>>,
    names: Vec<String>,
    /// Bytes that may still be read.
    left: u64,
}

/// Whether the contents begin like an archive.
pub(super) fn recognise(contents: &[u8]) -> bool {
    contents.starts_with(b"PK\x03\x04")
}

impl<'c> Archive<'c> {
    /// Reads the list of files; `path` is where the archive is, for messages.
    pub(super) fn open(path: &'c Path, contents: &'c [u8]) -> Result<Self, InputError> {
        Archive::open_up_to(MOST_BYTES, path, contents)
    }

    fn open_up_to(limit: u64, path: &'c Path, contents: &'c [u8]) -> Result<Self, InputError> {
        let zip = ZipArchive::new(Cursor::new(contents)).map_err(|error| {
            InputError::in_file(path, format!("the file is a damaged zip archive: {error}"))
                .with_hint("the file may be truncated")
        })?;
        // Names that are no text are none of those that are looked for.
        let names = zip.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
        Ok(Archive { path, zip, names, left: limit })
    }

    /// The names of all files.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The contents of a file, if there is one of this name.
    pub(super) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, InputError> {
        let fail =
            |what: String| InputError::in_file(self.path, format!("{name:?} in the zip archive {what}"));
        let file = match self.zip.by_name(name) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(fail(format!("cannot be read: {error}"))),
        };
        let size = file.size();
        if size > self.left {
            return Err(fail(format!("has {size} bytes, more than are left of what an archive may hold")));
        }
        let mut contents = Vec::new();
        file.take(size + 1)
            .read_to_end(&mut contents)
            .map_err(|error| fail(format!("is damaged: {error}")))?;
        if contents.len() as u64 != size {
            return Err(fail(format!("has another size than the {size} bytes that the archive announces")));
        }
        self.left -= size;
        Ok(Some(contents))
    }

    /// Like [`read`](Self::read), where the file must be there.
    pub(super) fn require(&mut self, name: &str) -> Result<Vec<u8>, InputError> {
        self.read(name)?
            .ok_or_else(|| InputError::in_file(self.path, format!("the zip archive holds no file {name:?}")))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    /// An archive with files of zeros, deflated.
    fn zeros(sizes: &[usize]) -> Vec<u8> {
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (number, &size) in sizes.iter().enumerate() {
            writer.start_file(number.to_string(), options).expect("memory is writable");
            writer.write_all(&vec![0; size]).expect("memory is writable");
        }
        writer.finish().expect("memory is writable").into_inner()
    }

    #[test]
    fn all_files_together_have_a_limit() {
        let contents = zeros(&[600, 400, 1]);
        let mut archive = Archive::open_up_to(1000, Path::new("a.zip"), &contents).expect("an archive");
        assert_eq!(archive.read("0").expect("readable").map(|bytes| bytes.len()), Some(600));
        assert_eq!(archive.read("1").expect("readable").map(|bytes| bytes.len()), Some(400));
        let error = archive.read("2").expect_err("too much").to_string();
        assert!(error.contains("a.zip: \"2\" in the zip archive has 1 bytes, more than"), "{error}");
        assert_eq!(archive.read("3").expect("readable"), None);
    }

    #[test]
    fn sizes_that_are_not_true_are_refused() {
        let mut contents = zeros(&[70_000]);
        // The size stands in the file's own header and in the directory.
        let announced = 70_000_u32.to_le_bytes();
        let places: Vec<usize> =
            (0..contents.len() - 4).filter(|&place| contents[place..place + 4] == announced).collect();
        assert!(!places.is_empty());
        for place in places {
            contents[place..place + 4].copy_from_slice(&7_u32.to_le_bytes());
        }
        let read = Archive::open(Path::new("a.zip"), &contents).and_then(|mut archive| archive.read("0"));
        assert!(read.is_err(), "{read:?}");
    }
}
