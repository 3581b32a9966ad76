//! Runs a fuzz target over its corpus and over random changes of it, without a fuzzer.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Changes per file of the corpus, unless the environment variable `SUREFOOT_CORPUS_ROUNDS` says otherwise.
const ROUNDS: usize = 1000;

/// Texts that are inserted: what means something to one of the readers, and numbers at the edge of a range.
const TOKENS: &[&str] = &[
    "0",
    "-1",
    "1e999",
    "1e38",
    "0.5",
    "4294967295",
    "2147483648",
    "-9223372036854775808",
    "99999999999999999999",
    "NaN",
    ",",
    ":",
    "\n",
    " ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "//",
    "\\u2227",
    "\\ud800",
    "\u{feff}",
    "ü",
    "null",
    "true",
    "{}",
    "[]",
    "\"op\"",
    "\"∧\"",
    "\"x\"",
    "\"index\"",
    "\"exp\"",
    "\"value\"",
    "\"aa\"",
    "\"ite\"",
    "\"call\"",
];

/// `SplitMix64`: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Runs `body` on every text of `fuzz/corpus/<target>` and on changed versions of it. Files whose name begins with
/// `bad-` must be refused, all others accepted.
pub fn replay(target: &str, body: fn(&str) -> bool) {
    replay_bytes(target, |bytes| body(&String::from_utf8_lossy(bytes)));
}

/// Like [`replay`], for files that are no text.
pub fn replay_bytes(target: &str, body: impl Fn(&[u8]) -> bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no files", folder.display());
    let texts: Vec<Vec<u8>> =
        files.iter().map(|file| fs::read(file).expect("the file can be read")).collect();
    let rounds = std::env::var("SUREFOOT_CORPUS_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    let mut random = Random(1);
    for (file, text) in files.iter().zip(&texts) {
        let bad = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("bad-"));
        assert_eq!(run(&body, file, text), !bad, "{}", file.display());
        for _ in 0..rounds {
            run(&body, file, &changed(text, &texts, &mut random));
        }
    }
}

/// Runs `body`; if it panics, shows the contents first.
fn run(body: &impl Fn(&[u8]) -> bool, file: &Path, contents: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| body(contents))).unwrap_or_else(|panic| {
        let shown = match std::str::from_utf8(contents) {
            Ok(text) => text.to_string(),
            Err(_) => contents.escape_ascii().to_string(),
        };
        eprintln!("this, a change of {}, makes the reader panic:\n{shown}", file.display());
        std::panic::resume_unwind(panic)
    })
}

fn changed(text: &[u8], others: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(16)).min(bytes.len());
        let token = TOKENS[random.below(TOKENS.len())];
        match random.below(8) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, token.bytes())),
            2 | 3 => replace_value(&mut bytes, at, token),
            4 => {
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                drop(bytes.splice(to..to, copy));
            }
            5 => {
                let other = &others[random.below(others.len())];
                let from = random.below(other.len() + 1);
                let part = &other[from..(from + random.below(60)).min(other.len())];
                drop(bytes.splice(at..end, part.iter().copied()));
            }
            6 => bytes.truncate(at.max(bytes.len() / 2)),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.next() as u8),
        }
    }
    bytes
}

/// Replaces the word, number or string around `at`: the text often stays well-formed, and the change gets past the parser.
fn replace_value(bytes: &mut Vec<u8>, at: usize, token: &str) {
    let ends = |byte: &u8| b",:=[]{} \n\r".contains(byte);
    let from = bytes[..at].iter().rposition(ends).map_or(0, |i| i + 1);
    let to = bytes[at..].iter().position(ends).map_or(bytes.len(), |i| at + i);
    drop(bytes.splice(from..to, token.bytes()));
}
