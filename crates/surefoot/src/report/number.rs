//! Numbers for people: `18,688,170`, `7.7 s`, `512.0 MiB`.

use std::time::Duration;

/// Digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 state`, `2 states`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// A duration with a precision that suits its length.
pub fn seconds(duration: Duration) -> String {
    let total = duration.as_secs_f64();
    if total < 1.0 {
        format!("{total:.3} s")
    } else if total < 120.0 {
        format!("{total:.1} s")
    } else {
        let whole = duration.as_secs();
        let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
        if hours > 0 {
            format!("{hours} h {minutes} min {seconds} s")
        } else {
            format!("{minutes} min {seconds} s")
        }
    }
}

/// A number of bytes in binary units.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{number} {}", UNITS[0]) } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// A part of a whole in percent; `-` where there is nothing.
pub fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.0} %", 100.0 * part / whole) } else { "-".into() }
}

/// How many per second, to three digits or so; `-` where the time is too short to tell.
pub fn rate(number: u64, time: Duration) -> String {
    let time = time.as_secs_f64();
    if time < 1e-3 {
        return "-".into();
    }
    let per_second = number as f64 / time;
    let step = 10f64.powf((per_second.max(1.0).log10().floor() - 2.0).max(0.0));
    grouped(((per_second / step).round() * step) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (18_688_170, "18,688,170")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn durations_and_sizes_have_units() {
        assert_eq!(seconds(Duration::from_millis(12)), "0.012 s");
        assert_eq!(seconds(Duration::from_millis(7_720)), "7.7 s");
        assert_eq!(seconds(Duration::from_secs(3_723)), "1 h 2 min 3 s");
        assert_eq!(bytes(12), "12 bytes");
        assert_eq!(bytes(3 << 29), "1.5 GiB");
        assert_eq!(rate(18_688_170, Duration::from_millis(7_700)), "2,430,000");
        assert_eq!(rate(5, Duration::ZERO), "-");
        assert_eq!((percent(2.0, 3.0), percent(0.0, 0.0)), ("67 %".into(), "-".into()));
    }
}
