//! Takes over saved frames, as far as they are true.
//!
//! What a file claims is believed by nobody. All reasons are supposed to hold at their levels, and each is tested as IC3 tests
//! its own: no state is bad, and no step leads into the frame of one level less. If all tests succeed, all reasons hold, by induction over the
//! number of steps. If not, those that failed move down to where their tests succeed, or go, and all others are tested again, by a solver that has not heard of
//! what was wrong. `docs/ic3.md` has the argument in full.

use super::frames::{FOREVER, Frames};
use super::saved::{self, SavedFrames};
use super::statistics::Kept;
use super::steps::{Leads, Target};
use super::{Run, Stop};

/// How often a test is tried whose budget for splitting boxes is spent. Where boxes are split depends on the states that solvers happen to
/// give; the reasons of a run are those that were lucky once, and one that is lost takes others along.
const ATTEMPTS: usize = 64;

impl Run<'_> {
    /// Takes over saved frames. They remain saved if a limit comes first.
    pub(super) fn resume(&mut self, frames: SavedFrames) -> Result<(), Stop> {
        self.levels = frames.depth();
        let established = self.establish(&frames);
        if let Ok(kept) = established {
            self.resumed.as_mut().expect("there are saved frames").kept = Some(kept);
        } else {
            self.levels = 1;
            self.frames = Frames::default();
            self.saved = Some(frames);
        }
        established.map(|_| ())
    }

    /// Fills the frames with what holds of the saved ones.
    fn establish(&mut self, saved: &SavedFrames) -> Result<Kept, Stop> {
        let memory = saved.memory();
        let mut claimed = Vec::new();
        for (bounds, level) in saved.boxes() {
            self.look_around_with(memory)?;
            let reason = saved::reason(bounds, &self.problem.domain);
            if self.states.bad(&reason)?.is_none() {
                self.frames.add(reason, level);
                claimed.push(level);
            }
        }
        loop {
            for entry in self.frames.entries() {
                self.steps.add(&entry.reason, entry.level);
            }
            let mut all_hold = true;
            let mut index = 0;
            while index < claimed.len() {
                self.look_around_with(memory)?;
                let level = self.highest_level(index)?;
                all_hold &= level == self.frames.entries()[index].level;
                if level == 0 {
                    self.frames.remove(index);
                    claimed.swap_remove(index);
                } else {
                    self.frames.set_level(index, level);
                    index += 1;
                }
            }
            if all_hold {
                break;
            }
            self.steps.forget();
        }
        for entry in self.frames.entries() {
            self.states.add(&entry.reason, entry.level);
        }
        let weaker =
            self.frames.entries().iter().zip(&claimed).filter(|(entry, level)| entry.level < **level);
        Ok(Kept { reasons: claimed.len() as u64, weaker: weaker.count() as u64 })
    }

    /// The highest level, not above its own, at which a reason passes its test. 0 if there is none.
    fn highest_level(&mut self, index: usize) -> Result<usize, Stop> {
        let level = self.frames.entries()[index].level;
        if self.holds_at(index, level)? {
            self.steps.keep();
            return Ok(level);
        }
        // Bisection: it passes at `low`, and does not above `high`.
        let (mut low, mut high) = (0, if level == FOREVER { self.levels + 1 } else { level - 1 });
        while low < high {
            let middle = usize::midpoint(low, high + 1);
            if self.holds_at(index, middle)? {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Ok(low)
    }

    /// Whether no step leads from a reason into the frame of one level less.
    fn holds_at(&mut self, index: usize, level: usize) -> Result<bool, Stop> {
        let reason = self.frames.entries()[index].reason.clone();
        let level = if level == FOREVER { FOREVER } else { level - 1 };
        let target = Target { level, except: Some(&reason) };
        for _ in 0..ATTEMPTS {
            match self.steps.leads(&mut self.states, &self.frames, &reason, target)? {
                Leads::No => return Ok(true),
                Leads::From(_) => return Ok(false),
                Leads::Perhaps => self.look_around()?,
            }
        }
        Ok(false)
    }
}
