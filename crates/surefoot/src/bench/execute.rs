//! Runs, several at a time, each in processes of its own.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use surefoot_model::SourceFile;

use super::measure::Measured;
use super::name::printable;
use super::plan::{self, Plan, Run};
use super::record::{Record, SCHEMA, Verdict};
use crate::failure::Failure;
use crate::output;
use crate::report::number::bytes;

/// How often it is seen whether a run has ended. It is measured elsewhere.
const POLL: Duration = Duration::from_millis(10);
/// What a run may take beyond its limit, since it reads files first and reports at the end.
const GRACE_SECONDS: f64 = 30.0;
/// Address space beyond the limit of memory: code, stacks, and what allocators keep.
const GRACE_BYTES: u64 = 2 << 30;

/// Executes runs. Each is kept as soon as it has ended; those that were interrupted are not.
pub fn all(
    runs: &[&Run<'_>],
    plan: &Plan<'_>,
    cancelled: &AtomicBool,
    keep: impl FnMut(Record) -> Result<(), Failure> + Send,
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let ended = Mutex::new((keep, 0_usize));
    let failed: Mutex<Option<Failure>> = Mutex::new(None);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let stop = cancelled.load(Ordering::Relaxed) || failed.lock().expect("no panic here").is_some();
            let Some(run) = runs.get(index).filter(|_| !stop) else { return };
            let result = execute(run, plan, cancelled);
            let was_cancelled = |record: &Record| record.reason.as_deref() == Some("cancelled");
            if cancelled.load(Ordering::Relaxed) || result.as_ref().is_ok_and(was_cancelled) {
                continue;
            }
            let mut ended = ended.lock().expect("no panic here");
            let kept = result.and_then(|record| {
                let line = line(&record);
                (ended.0)(record)?;
                ended.1 += 1;
                output::note(&format!("[{}/{}] {line}", ended.1, runs.len()));
                Ok(())
            });
            if let Err(failure) = kept {
                failed.lock().expect("no panic here").get_or_insert(failure);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.min(runs.len()) {
            scope.spawn(work);
        }
    });
    failed.into_inner().expect("no panic here").map_or(Ok(()), Err)
}

/// A record as a line of progress.
fn line(record: &Record) -> String {
    let memory = record.peak_memory_bytes.map_or(String::new(), |peak| format!(", {}", bytes(peak)));
    format!(
        "{} {}: {} {:.2} s{memory}",
        printable(&record.instance),
        printable(&record.configuration),
        record.verdict.name(),
        record.wall_seconds
    )
}

fn execute(run: &Run<'_>, plan: &Plan<'_>, cancelled: &AtomicBool) -> Result<Record, Failure> {
    let kill_after = 1.5 * plan.limits.seconds + GRACE_SECONDS;
    let kill_above = plan.limits.bytes.saturating_mul(2).saturating_add(GRACE_BYTES);
    let mut command = Command::new(plan::program()?);
    command.arg("measure").args(["--kill-after", &kill_after.to_string()]);
    command.args(["--kill-above", &kill_above.to_string(), "--"]).args(&run.arguments);
    // The pipe stays open as long as this process lives: the other one notices when it does not.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let began = Instant::now();
    let child = command.spawn().map_err(|error| Failure::Internal(format!("no run: {error}")))?;
    let (output, status) =
        wait(child, cancelled).map_err(|error| Failure::Internal(format!("no result of a run: {error}")))?;
    let measured: Measured =
        serde_json::from_slice(&output).unwrap_or_else(|_| not_measured(began.elapsed(), status));
    let document: Option<Value> = serde_json::from_str(&measured.stdout).ok();
    if let Some(file) = document.as_ref().and_then(|document| changed(run, &document["files"])) {
        let file = file.path.display();
        return Err(Failure::Task(format!(
            "{}: {file} has changed since the bench began\n  hint: call it again; what was run before that is kept",
            printable(&run.instance.name)
        )));
    }
    Ok(record(run, plan, &measured, document))
}

/// What is known of a run if the process that measures it was killed, or has failed: the other runs are none the worse.
fn not_measured(elapsed: Duration, status: ExitStatus) -> Measured {
    Measured {
        code: None,
        late: false,
        wall_seconds: elapsed.as_secs_f64(),
        processor_seconds: None,
        peak_memory_bytes: None,
        stdout: String::new(),
        stderr: format!("the process that measures the run has ended without a result: {status}"),
    }
}

/// A file that a run has read with other contents than those that its key is about.
fn changed<'r>(run: &'r Run<'_>, files: &Value) -> Option<&'r SourceFile> {
    let hash = |file: &SourceFile| {
        let path = file.path.display().to_string();
        let found = files.as_array()?.iter().find(|found| found["path"] == path.as_str())?;
        found["sha256"].as_str()
    };
    run.files.iter().find(|file| hash(file).is_some_and(|hash| hash != file.sha256))
}

/// The output of a process, and how it has ended. Its input stays open until then, unless everything is to stop.
fn wait(mut child: Child, cancelled: &AtomicBool) -> std::io::Result<(Vec<u8>, ExitStatus)> {
    let mut input = child.stdin.take();
    let mut pipe = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut output = Vec::new();
        pipe.read_to_end(&mut output).map(|_| output)
    });
    while !reader.is_finished() {
        if cancelled.load(Ordering::Relaxed) {
            drop(input.take());
        }
        std::thread::sleep(POLL);
    }
    let status = child.wait()?;
    let output = reader.join().unwrap_or_else(|_| Err(std::io::Error::other("its output cannot be read")))?;
    Ok((output, status))
}

fn record(run: &Run<'_>, plan: &Plan<'_>, measured: &Measured, document: Option<Value>) -> Record {
    let said = document.as_ref().and_then(|document| document["verdict"].as_str());
    let reason = document.as_ref().and_then(|document| document["reason"].as_str()).map(String::from);
    // The exit code and the document must say the same.
    let (verdict, reason) = match (measured.code, said) {
        (Some(0), Some("SAFE")) => (Verdict::Safe, None),
        (Some(10), Some("UNSAFE")) => (Verdict::Unsafe, None),
        (Some(11), Some("UNKNOWN")) => (Verdict::Unknown, reason),
        _ if measured.late => (Verdict::Unknown, Some("time".into())),
        // The system has refused memory, or killed the run for want of it.
        (None, _) if out_of_memory(measured, plan.limits.bytes) => (Verdict::Unknown, Some("memory".into())),
        _ => (Verdict::Error, None),
    };
    let error = (verdict == Verdict::Error).then(|| {
        let code = measured.code.map_or("a signal".into(), |code| format!("exit code {code}"));
        format!("ended with {code}\n{}", measured.stderr.trim_end())
    });
    let counts = document.map_or(
        Value::Null,
        |document| json!({"counts": document["counts"], "ic3": document["ic3"], "pa": document["pa"]}),
    );
    Record {
        schema: SCHEMA.into(),
        surefoot: env!("CARGO_PKG_VERSION").into(),
        program: Some(plan.program.clone()),
        key: run.key.clone(),
        instance: run.instance.name.clone(),
        family: run.instance.family.clone(),
        configuration: run.configuration.clone(),
        verdict,
        reason,
        wall_seconds: measured.wall_seconds,
        processor_seconds: measured.processor_seconds,
        peak_memory_bytes: measured.peak_memory_bytes,
        time_limit_seconds: plan.limits.seconds,
        memory_limit_bytes: plan.limits.bytes,
        threads: plan.threads,
        jobs: Some(plan.jobs),
        command: run.arguments.clone(),
        error,
        counts,
    }
}

fn out_of_memory(measured: &Measured, limit: u64) -> bool {
    measured.stderr.contains("memory allocation of")
        || measured.peak_memory_bytes.is_some_and(|peak| peak > limit)
}
