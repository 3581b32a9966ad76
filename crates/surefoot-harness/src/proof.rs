//! Invariants, state by state.

use surefoot_certificate::{Bound, Fact, Region};
use surefoot_engines::step::Stepper;
use surefoot_engines::{Task, replay};

use crate::reference::all_states;

/// Whether start states are in the regions, unsafe states are not, and no step leads out of them. Tasks with more states than `limit` are passed over.
///
/// # Errors
/// What is wrong with the regions.
pub fn inductive(task: &Task, regions: &[Region], limit: usize) -> Result<(), String> {
    let mut stepper = Stepper::new(task);
    let inside = |state: &[i32]| regions.iter().any(|region| holds(region, state));
    for state in all_states(task, limit).unwrap_or_default() {
        if replay::is_start(task, &state) && !inside(&state) {
            return Err(format!("the start state {state:?} is in no region"));
        }
        if !inside(&state) {
            continue;
        }
        let status = stepper.status(&state).map_err(|error| error.to_string())?;
        if status.is_unsafe {
            return Err(format!("{state:?} is unsafe"));
        }
        if status.ends_run {
            continue;
        }
        for step in stepper.successors(&state).map_err(|error| error.to_string())? {
            if !inside(&step.state) {
                return Err(format!("{state:?} leads to {:?}, outside", step.state));
            }
        }
    }
    Ok(())
}

fn holds(region: &Region, state: &[i32]) -> bool {
    let bound = |bound: &Bound| (bound.lower..=bound.upper).contains(&state[bound.variable as usize]);
    let fact = |fact: &Fact| {
        let term = |&(v, factor): &(u32, i32)| i64::from(factor) * i64::from(state[v as usize]);
        fact.terms.iter().map(term).sum::<i64>() <= fact.limit
    };
    region.bounds.iter().all(bound) && region.facts.iter().all(fact)
}
