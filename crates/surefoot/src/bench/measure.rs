//! The process between the bench and a run: it starts the run, kills it if it does not keep to its limits, and measures it.
//!
//! The system says how much time and memory the children of a process have used, all together. So each run has a parent
//! of its own. It ends, and the run with it, when the bench does: then its standard input is closed. If it is killed itself,
//! the system kills the run (Linux; elsewhere the run goes on until its own limits).

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{option, plan};
use crate::arguments::bench::MeasureArguments;
use crate::command::verify;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{interrupt, output};

/// What was measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measured {
    /// The exit code; `None` if the run was killed.
    pub code: Option<i32>,
    /// Whether it was killed because of its time.
    pub late: bool,
    pub wall_seconds: f64,
    pub processor_seconds: Option<f64>,
    pub peak_memory_bytes: Option<u64>,
    pub stdout: String,
    pub stderr: String,
}

/// Most bytes of messages that are kept.
const MESSAGES: usize = 4000;

/// How long the run is left alone before it is seen again whether it has ended: a part of its time so far, within bounds. What
/// is measured is that much too long at most.
const PAUSE_PART: u32 = 100;
const SHORTEST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Runs the program once and prints what was measured; or is that run.
pub fn run(arguments: &MeasureArguments) -> Result<Exit, Failure> {
    match arguments.run_of {
        Some(parent) => {
            end_with(parent)?;
            verify::run(option::parse(&arguments.arguments)?)
        }
        None => measure(arguments),
    }
}

fn measure(arguments: &MeasureArguments) -> Result<Exit, Failure> {
    // Ctrl-C is for the run, which ends and says so.
    interrupt::install();
    limit_memory(arguments.kill_above);
    let began = Instant::now();
    let mut command = Command::new(plan::program()?);
    command
        .arg("measure")
        .args(["--run-of", &std::process::id().to_string(), "--"])
        .args(&arguments.arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| Failure::Internal(format!("no run: {error}")))?;
    let [stdout, stderr] = [
        collect(child.stdout.take().expect("it is piped")),
        collect(child.stderr.take().expect("it is piped")),
    ];
    let abandoned = watch_parent();
    let deadline =
        Duration::try_from_secs_f64(arguments.kill_after).ok().and_then(|after| began.checked_add(after));
    let (status, late) = wait(&mut child, began, deadline, &abandoned)
        .map_err(|error| Failure::Internal(format!("the run cannot be waited for: {error}")))?;
    let wall_seconds = began.elapsed().as_secs_f64();
    let text = |thread: std::thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&thread.join().unwrap_or_default()).into_owned()
    };
    let usage = usage();
    let mut stderr = text(stderr);
    if let Some((cut, _)) = stderr.char_indices().nth(MESSAGES) {
        stderr.truncate(cut);
    }
    let measured = Measured {
        code: status.code(),
        late,
        wall_seconds,
        processor_seconds: usage.map(|(processor, _)| processor),
        peak_memory_bytes: usage.map(|(_, peak)| peak),
        stdout: text(stdout),
        stderr,
    };
    let line = serde_json::to_string(&measured).map_err(|error| Failure::Internal(error.to_string()))?;
    output::print(&line)?;
    Ok(Exit::Done)
}

/// Reads to the end in a thread, so that the run never waits for a reader.
fn collect(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until an error is all there is.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// A flag that is set when the bench is gone.
fn watch_parent() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let gone = Arc::clone(&flag);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        gone.store(true, Ordering::Relaxed);
    });
    flag
}

/// Waits for the end, or makes it; also says whether it was made because of the time.
fn wait(
    child: &mut Child,
    began: Instant,
    deadline: Option<Instant>,
    abandoned: &AtomicBool,
) -> std::io::Result<(ExitStatus, bool)> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        let late = deadline.is_some_and(|deadline| Instant::now() > deadline);
        if late || abandoned.load(Ordering::Relaxed) {
            child.kill()?;
            return Ok((child.wait()?, late));
        }
        std::thread::sleep(pause(began.elapsed()));
    }
}

/// How long to wait after some time.
fn pause(elapsed: Duration) -> Duration {
    (elapsed / PAUSE_PART).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

/// Makes the system kill this process when the one that has started it is gone.
#[cfg(target_os = "linux")]
fn end_with(parent: u32) -> Result<(), Failure> {
    use nix::sys::{prctl, signal::Signal};
    // Where this fails, the run goes on until its own limits.
    let _ = prctl::set_pdeathsig(Signal::SIGKILL);
    if std::os::unix::process::parent_id() == parent {
        Ok(())
    } else {
        Err(Failure::Usage("`--run-of` is not the process that has started this one".into()))
    }
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
fn end_with(_: u32) -> Result<(), Failure> {
    Ok(())
}

/// Seconds of processor time and most bytes of memory of the run.
#[cfg(unix)]
fn usage() -> Option<(f64, u64)> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let microseconds = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // Linux counts in kibibytes, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Some((microseconds as f64 / 1e6, u64::try_from(usage.max_rss()).ok()? * unit))
}

#[cfg(not(unix))]
fn usage() -> Option<(f64, u64)> {
    None
}

/// Makes the system refuse memory to the run beyond a limit. That is a net under the limit that the run keeps itself.
#[cfg(unix)]
fn limit_memory(bytes: u64) {
    use nix::sys::resource::{Resource, setrlimit};
    // Where this fails, the net is missing.
    let _ = setrlimit(Resource::RLIMIT_AS, bytes, bytes);
}

#[cfg(not(unix))]
fn limit_memory(_: u64) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_are_not_rounded_to_long_pauses() {
        let micros = |elapsed: u64| pause(Duration::from_micros(elapsed)).as_micros();
        assert_eq!([0, 1_000, 20_000, 150_000, 1_000_000].map(micros), [200, 200, 200, 1_500, 10_000]);
        assert_eq!([2_000_000, 600_000_000].map(micros), [20_000, 20_000]);
    }
}
