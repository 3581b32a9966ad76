//! Limits: how long, how much memory, how many threads.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;

/// Limits of a run.
#[derive(Debug, Clone, Args)]
pub struct LimitArguments {
    /// Stop with UNKNOWN after this time: `90s`, `5m`, `1h30m`; a plain number is seconds
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub time_limit: Option<Duration>,
    /// Stop with UNKNOWN when the states take more memory than this: `4GB`, `512MiB`; a plain number is bytes [default: 85 %
    /// of what is free, where the system says how much that is]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Limits")]
    pub memory_limit: Option<u64>,
    /// Number of worker threads; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub threads: Option<NonZeroUsize>,
}

impl LimitArguments {
    /// The bytes that a run may use.
    pub fn memory_limit(&self) -> Option<u64> {
        self.memory_limit.or_else(|| free_memory().map(|free| free / 100 * 85))
    }

    /// The number of threads to use.
    pub fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.threads.map_or_else(all, NonZeroUsize::get)
    }
}

/// The bytes that are free for this process: of the machine, and of its control group if that has a limit. `None` where the
/// system does not say (anything but Linux).
fn free_memory() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
    });
    let group = |file: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse().ok()
    };
    let group = group("memory.max").zip(group("memory.current"));
    let group = group.map(|(limit, used)| limit.saturating_sub(used));
    machine.into_iter().chain(group).min()
}

/// Splits off a number, with or without fraction, at the beginning.
fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, &text[end..]))
}

pub fn duration(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str = "expected a time such as `90s`, `5m` or `1h30m`";
    let mut rest = text;
    let mut seconds = 0.0;
    loop {
        let (amount, after) = number(rest).ok_or(EXPECTED)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let unit = match after[..end].trim() {
            "ms" => 1e-3,
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86400.0,
            _ => return Err(EXPECTED.into()),
        };
        seconds += amount * unit;
        rest = &after[end..];
        if rest.is_empty() {
            return Duration::try_from_secs_f64(seconds).map_err(|_| EXPECTED.into());
        }
    }
}

pub fn size(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "expected a size such as `4GB` or `512MiB`";
    let (amount, unit) = number(text).ok_or(EXPECTED)?;
    let factor: u64 = match unit.trim() {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return Err(EXPECTED.into()),
    };
    // Fractions of a byte do not matter, and a size beyond 64 bits is no limit.
    Ok((amount * factor as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let cases =
            [("0", 0.0), ("90", 90.0), ("90s", 90.0), ("250ms", 0.25), ("1.5h", 5400.0), ("1h30m", 5400.0)];
        for (text, expected) in cases {
            assert_eq!(duration(text), Ok(Duration::from_secs_f64(expected)), "{text}");
        }
        for text in ["", "s", "-1", "5 parsecs", "1..2", "1h30x", "1e400"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_units() {
        let cases =
            [("0", 0), ("1024", 1024), ("4GB", 4_000_000_000), ("1.5 GiB", 3 << 29), ("512MiB", 512 << 20)];
        for (text, expected) in cases {
            assert_eq!(size(text), Ok(expected), "{text}");
        }
        for text in ["", "GB", "-1", "4 gibibytes"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
