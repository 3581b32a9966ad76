//! Names of readings, the same on the command line, in text and in JSON.

use surefoot_engines::{Goal, OutOfDomain, Semantics, StopReason, Vacuity};

/// `ignore`, `terminal` or `strict`.
pub fn goal(goal: Goal) -> &'static str {
    match goal {
        Goal::Ignore => "ignore",
        Goal::Terminal => "terminal",
        Goal::Strict => "strict",
    }
}

/// `error` or `block`.
pub fn out_of_domain(reading: OutOfDomain) -> &'static str {
    match reading {
        OutOfDomain::Error => "error",
        OutOfDomain::Block => "block",
    }
}

/// `time`, `memory`, `cancelled` or `abstraction`.
pub fn stop_reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Time => "time",
        StopReason::Memory => "memory",
        StopReason::Cancelled => "cancelled",
        StopReason::Abstraction => "abstraction",
    }
}

/// `no-start-state`, ….
pub fn vacuity(vacuity: Vacuity) -> &'static str {
    match vacuity {
        Vacuity::NoStartState => "no-start-state",
        Vacuity::NoUnsafeState => "no-unsafe-state",
        Vacuity::NoSteps => "no-steps",
        Vacuity::AllStall => "all-stall",
    }
}

/// The reading in words.
pub fn describe(semantics: Semantics, has_policy: bool) -> String {
    let rest =
        format!("goal {}, out-of-domain {}", goal(semantics.goal), out_of_domain(semantics.out_of_domain));
    if has_policy {
        let filter = if semantics.filter { "on" } else { "off" };
        format!("arithmetic {}, filter {filter}, {rest}", semantics.arithmetic)
    } else {
        rest
    }
}
