//! Files that are compressed with gzip: their contents, and no more than a limit of them.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::input::InputError;

/// The most that a compressed file may expand to. A small file can claim to hold anything.
pub const MOST_BYTES: u64 = 1 << 30;

/// What a file with these bytes holds: what was compressed if it is a gzip file, else the bytes themselves.
///
/// Text and the formats that surefoot reads never begin like a gzip file does, so the extension does not matter.
pub fn expand(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, InputError> {
    expand_up_to(MOST_BYTES, path, bytes)
}

fn expand_up_to(limit: u64, path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, InputError> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut contents = Vec::new();
    let read = MultiGzDecoder::new(bytes.as_slice()).take(limit + 1).read_to_end(&mut contents);
    if let Err(error) = read {
        let message = format!("the file is compressed with gzip, but damaged: {error}");
        return Err(InputError::in_file(path, message).with_hint("the file may be cut off"));
    }
    if contents.len() as u64 > limit {
        let message = format!("the file is compressed with gzip and expands to more than {limit} bytes");
        return Err(InputError::in_file(path, message));
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compressed(contents: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(contents).expect("memory is writable");
        encoder.finish().expect("memory is writable")
    }

    #[test]
    fn compressed_files_are_expanded_and_others_are_not() {
        let path = Path::new("model.jani.gz");
        assert_eq!(expand(path, b"plain".to_vec()), Ok(b"plain".to_vec()));
        assert_eq!(expand(path, Vec::new()), Ok(Vec::new()));
        assert_eq!(expand(path, compressed(b"packed")), Ok(b"packed".to_vec()));
        // What `cat` makes of two compressed files is one.
        let both = [compressed(b"one "), compressed(b"two")].concat();
        assert_eq!(expand(path, both), Ok(b"one two".to_vec()));
    }

    #[test]
    fn damaged_files_are_refused() {
        let path = Path::new("policy.gz");
        let whole = compressed(&[7; 1000]);
        for end in 2..whole.len() {
            let error = expand(path, whole[..end].to_vec()).expect_err("cut off");
            assert!(error.message.contains("damaged"), "{error}");
        }
        let mut changed = whole.clone();
        let checksum = changed.len() - 8;
        changed[checksum] ^= 1;
        assert!(expand(path, changed).is_err());
    }

    #[test]
    fn expansion_has_a_limit() {
        let path = Path::new("policy.gz");
        assert!(expand_up_to(1000, path, compressed(&[0; 1000])).is_ok());
        let error = expand_up_to(1000, path, compressed(&[0; 1001])).expect_err("too large");
        assert!(error.message.contains("more than 1000 bytes"), "{error}");
    }
}
