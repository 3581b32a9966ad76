//! Frames that outlive a run: as data, and as the contents of a file. `docs/formats.md` has the grammar.
//!
//! A file may say anything: it is read with memory in proportion to its length, and what it claims is tested before it is used
//! (`resume.rs`). The hash at its end is for accidents only.

use sha2::{Digest, Sha256};
use surefoot_certificate::Bound;
use surefoot_certificate::encoding::{ReadError, Reader, Writer};

use super::frames::{Entry, FOREVER, Frames};
use super::reason::Reason;
use crate::symbolic::Problem;

const MAGIC: &[u8; 8] = b"SFTSTAT\n";
const VERSION: u64 = 1;
const HASH: usize = 32;

/// Levels that a file can have, so that no file takes long to prepare for.
const LEVELS: usize = 1 << 16;

/// Frames of a run that did not come to an end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedFrames {
    /// What the frames are about: names and values. It is for the caller to fill in and to compare.
    pub about: Vec<(String, String)>,
    /// Reasons by level, from 1 to one more than the depth: bounds that are narrower than the domains, ascending by variable.
    pub levels: Vec<Vec<Vec<Bound>>>,
    /// Reasons that hold for any number of steps.
    pub closed: Vec<Vec<Bound>>,
}

/// Why bytes are no saved frames.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    /// They begin with something else.
    #[error("this is not a state that surefoot has saved")]
    Magic,
    /// Another version.
    #[error("saved states of version {0} are not known, only those of version 1 are")]
    Version(u64),
    /// The hash is that of other contents.
    #[error("the saved state is cut off or damaged: its contents do not have the hash at its end")]
    Hash,
    /// They end within a value.
    #[error("the saved state is cut off: it ends at byte {0}")]
    End(usize),
    /// A value cannot be what it should be.
    #[error("the saved state is damaged at byte {at}: {what}")]
    Value {
        /// Where.
        at: usize,
        /// What was expected.
        what: &'static str,
    },
    /// The contents do not fit together, or not the task.
    #[error("the saved state is inconsistent: {0}")]
    Inconsistent(String),
}

impl From<ReadError> for SavedError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::End(length) => SavedError::End(length),
            ReadError::Value { at, what } => SavedError::Value { at, what },
        }
    }
}

impl SavedFrames {
    /// The frames as the contents of a file.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = Writer::new(MAGIC);
        writer.number(VERSION);
        writer.list(&self.about, |writer, (name, value)| {
            writer.text(name);
            writer.text(value);
        });
        let boxes = |writer: &mut Writer, boxes: &Vec<Vec<Bound>>| {
            writer.list(boxes, |writer, bounds| writer.bounds(bounds));
        };
        writer.list(&self.levels, boxes);
        boxes(&mut writer, &self.closed);
        let mut bytes = writer.bytes;
        bytes.extend(Sha256::digest(&bytes));
        bytes
    }

    /// Reads the contents of a file.
    ///
    /// # Errors
    /// They are no saved frames.
    pub fn read(bytes: &[u8]) -> Result<SavedFrames, SavedError> {
        let mut reader = Reader::new(bytes, MAGIC).ok_or(SavedError::Magic)?;
        let version = reader.number()?;
        if version != VERSION {
            return Err(SavedError::Version(version));
        }
        let contents = bytes.len().saturating_sub(HASH);
        if Sha256::digest(&bytes[..contents])[..] != bytes[contents..] {
            return Err(SavedError::Hash);
        }
        let about = reader.list(|reader| Ok::<_, ReadError>((reader.text()?, reader.text()?)))?;
        let levels = reader.list(|reader| reader.list(Reader::bounds))?;
        let closed = reader.list(Reader::bounds)?;
        if reader.left() != HASH {
            return reader.fail("the hash, and nothing after it");
        }
        let frames = SavedFrames { about, levels, closed };
        frames.validate()?;
        Ok(frames)
    }

    /// The number of frames besides that of the unsafe states.
    pub fn depth(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// The number of reasons.
    pub fn reasons(&self) -> usize {
        self.levels.iter().map(Vec::len).sum::<usize>() + self.closed.len()
    }

    /// The frames of a run of this depth.
    pub(super) fn new(frames: &Frames, depth: usize, domain: &Reason) -> SavedFrames {
        let mut levels = vec![Vec::new(); depth.min(LEVELS - 1) + 1];
        let mut closed = Vec::new();
        for Entry { reason, level, .. } in frames.entries() {
            let bound = |index: usize| Bound {
                variable: index as u32,
                lower: reason.lower[index],
                upper: reason.upper[index],
            };
            let bounds = reason.narrow(domain).map(bound).collect();
            if *level == FOREVER {
                closed.push(bounds);
            } else {
                levels[(level - 1).min(LEVELS - 1)].push(bounds);
            }
        }
        SavedFrames { about: Vec::new(), levels, closed }
    }

    /// The boxes with their levels.
    pub(super) fn boxes(&self) -> impl Iterator<Item = (&[Bound], usize)> {
        let of_levels = self.levels.iter().zip(1..);
        let of_levels =
            of_levels.flat_map(|(boxes, level)| boxes.iter().map(move |bounds| (&bounds[..], level)));
        of_levels.chain(self.closed.iter().map(|bounds| (&bounds[..], FOREVER)))
    }

    /// Bytes, roughly.
    pub(super) fn memory(&self) -> u64 {
        let bounds: usize = self.boxes().map(|(bounds, _)| bounds.len()).sum();
        let lists = self.levels.len() + self.reasons();
        (bounds * size_of::<Bound>() + lists * size_of::<Vec<Bound>>()) as u64
    }

    fn validate(&self) -> Result<(), SavedError> {
        let fail = |text: &str| Err(SavedError::Inconsistent(text.into()));
        if !(2..=LEVELS).contains(&self.levels.len()) {
            return fail(&format!("there are {} levels, not 2 to {LEVELS}", self.levels.len()));
        }
        for (bounds, _) in self.boxes() {
            if !bounds.windows(2).all(|pair| pair[0].variable < pair[1].variable) {
                return fail("bounds are not on ascending variables");
            }
        }
        Ok(())
    }

    /// Checks that all reasons are boxes of states of a task.
    pub(super) fn fit(&self, problem: &Problem) -> Result<(), SavedError> {
        self.validate()?;
        let fail = |text: String| Err(SavedError::Inconsistent(text));
        let (domain, variables) = (&problem.domain, &problem.task.system.variables);
        for bound in self.boxes().flat_map(|(bounds, _)| bounds) {
            let Some(variable) = variables.get(bound.variable as usize) else {
                return fail(format!("there is no variable {}", bound.variable));
            };
            let index = bound.variable as usize;
            let is_inside = domain.lower[index] <= bound.lower && bound.upper <= domain.upper[index];
            if !is_inside || bound.lower > bound.upper {
                return fail(format!("the bounds of `{}` are not within its domain", variable.name));
            }
        }
        Ok(())
    }
}

/// The box within these bounds.
pub(super) fn reason(bounds: &[Bound], domain: &Reason) -> Reason {
    let mut reason = domain.clone();
    for bound in bounds {
        reason.lower[bound.variable as usize] = bound.lower;
        reason.upper[bound.variable as usize] = bound.upper;
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> SavedFrames {
        let bound = |variable, lower, upper| Bound { variable, lower, upper };
        SavedFrames {
            about: vec![("model".into(), "ab".into()), ("arithmetic".into(), "f64".into())],
            levels: vec![
                vec![vec![bound(0, -3, 7), bound(2, 0, 0)], vec![]],
                vec![],
                vec![vec![bound(1, i32::MIN, i32::MAX)]],
            ],
            closed: vec![vec![bound(1, 5, 300)]],
        }
    }

    fn sealed(contents: &[u8]) -> Vec<u8> {
        [contents, &Sha256::digest(contents)[..]].concat()
    }

    #[test]
    fn what_was_written_is_read() {
        let frames = sample();
        assert_eq!(SavedFrames::read(&frames.write()), Ok(frames.clone()));
        assert_eq!((frames.depth(), frames.reasons()), (2, 4));
    }

    #[test]
    fn every_prefix_and_every_change_is_refused() {
        let bytes = sample().write();
        for end in 0..bytes.len() {
            SavedFrames::read(&bytes[..end]).expect_err("cut off");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            SavedFrames::read(&changed).expect_err("damaged");
        }
        assert_eq!(SavedFrames::read(&[&bytes[..], &[0]].concat()), Err(SavedError::Hash));
    }

    #[test]
    fn with_the_right_hash_every_prefix_is_refused_and_every_change_written_alike() {
        let bytes = sample().write();
        let contents = &bytes[..bytes.len() - HASH];
        for end in 8..contents.len() {
            SavedFrames::read(&sealed(&contents[..end])).expect_err("cut off");
        }
        SavedFrames::read(&sealed(&[contents, &[0]].concat())).expect_err("longer");
        for at in 8..contents.len() {
            for value in 0..=255 {
                let mut changed = contents.to_vec();
                changed[at] = value;
                let changed = sealed(&changed);
                if let Ok(frames) = SavedFrames::read(&changed) {
                    assert_eq!(frames.write(), changed);
                }
            }
        }
    }

    #[test]
    fn frames_have_at_least_two_levels_and_not_too_many() {
        for (levels, is_right) in [(0, false), (1, false), (2, true), (LEVELS, true), (LEVELS + 1, false)] {
            let frames = SavedFrames { levels: vec![Vec::new(); levels], ..SavedFrames::default() };
            assert_eq!(SavedFrames::read(&frames.write()).is_ok(), is_right, "{levels}");
        }
        let mut frames = sample();
        frames.levels[0][0].reverse();
        let error = SavedFrames::read(&frames.write()).expect_err("bounds out of order");
        assert!(error.to_string().contains("ascending"), "{error}");
    }
}
