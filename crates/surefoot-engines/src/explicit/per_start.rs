//! Which start states are unsafe: backwards from the unsafe states over the transitions of a complete search.

use std::ops::ControlFlow;

use surefoot_model::enumerate::solutions;
use surefoot_model::pass::Reduction;

use super::search::Search;
use crate::control::Control;
use crate::outcome::PerStart;
use crate::task::Task;

/// Classifies the start states; `None` if a limit does not allow it.
pub fn classify(
    task: &Task,
    reduction: &Reduction,
    search: &Search<'_>,
    control: &Control<'_>,
) -> Option<PerStart> {
    let bad = backward(search, control)?;
    let offsets = search.offsets();
    let mut result = PerStart { unsafe_starts: Vec::new(), safe_count: 0 };
    let mut packed = vec![0; search.compiled.layout.words()];
    let mut seen = rustc_hash::FxHashSet::default();
    let mut visit = |state: &[i32]| {
        if seen.insert(state.to_vec()) {
            search.compiled.layout.pack(&reduction.restore.project(state), &mut packed);
            let position = search.position(&offsets, &packed).expect("start states are stored");
            if bad[position as usize] {
                result.unsafe_starts.push(state.to_vec());
            } else {
                result.safe_count += 1;
            }
        }
        ControlFlow::Continue(())
    };
    for state in &task.property.start.listed {
        let _: ControlFlow<()> = visit(state);
    }
    if let Some(condition) = task.property.start.condition {
        let (lower, upper): (Vec<i32>, Vec<i32>) =
            task.system.variables.iter().filter_map(|v| v.ty.bounds()).unzip();
        solutions(&task.system.exprs, condition, &lower, &upper, || ControlFlow::Continue(()), visit);
    }
    Some(result)
}

/// For each state, whether an unsafe state is reachable from it.
fn backward(search: &Search<'_>, control: &Control<'_>) -> Option<Vec<bool>> {
    let states = search.states() as usize;
    let transitions = search.counts.transitions as usize;
    // Edges, their reversal by target, and a byte and a mark per state.
    let needed = search.memory() + (transitions * 12 + states * 9) as u64;
    if states.max(transitions) > u32::MAX as usize || control.exhausted(needed).is_some() {
        return None;
    }
    let mut edges = Vec::with_capacity(transitions);
    search.for_each_edge(control, |from, to| edges.push((from, to))).ok()?;
    // Counting sort by target: `first[t]..first[t + 1]` are the sources of `t`.
    let mut first = vec![0u32; states + 1];
    for &(_, to) in &edges {
        first[to as usize + 1] += 1;
    }
    for t in 0..states {
        first[t + 1] += first[t];
    }
    let mut next = first.clone();
    let mut sources = vec![0u32; edges.len()];
    for (from, to) in edges {
        sources[next[to as usize] as usize] = from;
        next[to as usize] += 1;
    }
    let mut bad = vec![false; states];
    let mut queue = search.unsafe_positions();
    for &position in &queue {
        bad[position as usize] = true;
    }
    while let Some(state) = queue.pop() {
        let state = state as usize;
        for &source in &sources[first[state] as usize..first[state + 1] as usize] {
            if !std::mem::replace(&mut bad[source as usize], true) {
                queue.push(source);
            }
        }
    }
    Some(bad)
}
