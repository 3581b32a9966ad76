//! Who runs a command: how it is stopped, who watches it, and which files are not on disk.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use surefoot_engines::{Control, NoObserver, Observer};
use surefoot_model::{MemoryFile, Sources};

use crate::interrupt;

/// What a command gets from the program that runs it.
pub struct Host<'o> {
    /// Set from outside to stop the run.
    pub cancelled: Arc<AtomicBool>,
    /// Told about progress.
    pub observer: &'o dyn Observer,
    /// Files that are read from here instead of from disk.
    pub memory: Vec<MemoryFile>,
}

impl<'o> Host<'o> {
    /// A host that stops the run at Ctrl-C.
    pub(crate) fn terminal(observer: &'o dyn Observer) -> Self {
        Host { cancelled: interrupt::install(), observer, memory: Vec::new() }
    }

    /// The files of memory and disk.
    pub(crate) fn sources(&self) -> Sources {
        Sources::with_memory(self.memory.clone())
    }

    /// Limits of a run that has a deadline at most.
    pub(crate) fn control(&self, deadline: Option<Instant>) -> Control<'o> {
        Control {
            deadline,
            cancelled: Arc::clone(&self.cancelled),
            observer: self.observer,
            ..Control::unlimited()
        }
    }
}

impl Default for Host<'static> {
    /// Nobody stops the run or watches it, and all files are on disk.
    fn default() -> Self {
        Host { cancelled: Arc::default(), observer: &NoObserver, memory: Vec::new() }
    }
}
