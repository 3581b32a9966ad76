//! Ctrl-C: the first asks the run to stop and report what was covered, the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::INTERRUPTED;
use crate::output;

/// The flag that Ctrl-C sets from now on.
pub fn install() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let cancelled = Arc::clone(&flag);
    let installed = ctrlc::set_handler(move || {
        if cancelled.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
        output::note("stopping; press Ctrl-C again to end at once");
    });
    if let Err(error) = installed {
        // The default action of the system stays: Ctrl-C ends the program.
        output::warning(&format!("Ctrl-C will end the program without a report: {error}"));
    }
    flag
}
