//! Where to cut cells whose regions seem to lead to a bad one.
//!
//! States of random runs are reachable, so their cells must not be doomed in the end. Where a doomed region holds such states and is bad itself, or
//! leads to a doomed region that holds none, a state that is to blame is looked for: one that is bad, or from which a step leads there. The cell is cut between it and the
//! reachable states. If the policy does not take that step there, the cell is cut so that the tests see it.

use super::Grown;
use super::partition::Partition;
use super::regions::Regions;
use crate::ic3::reason::Reason;
use crate::ic3::{Run, Stop};
use crate::symbolic::{self, Choice};

/// Reachable states that are looked at for each region.
const MOST: usize = 64;

/// Boxes that may be bounded to answer a policy test.
const BOXES: u64 = 2000;

impl Run<'_> {
    /// Cuts cells; the new partition, if there was anything to do.
    pub(super) fn refine(&mut self, Grown { regions, doomed }: Grown) -> Result<Option<Partition>, Stop> {
        let reachable = self.reachable(&regions, &doomed);
        let mut cuts = Vec::new();
        let all = regions.all();
        let mut is_done = vec![false; all.len()];
        for (index, region) in all.iter().enumerate().filter(|&(index, _)| doomed[index]) {
            if !reachable[index].is_empty() {
                if let Some(bad) = &region.bad {
                    is_done[index] = true;
                    cuts.extend(match region.error {
                        None => cut_between(&region.states, bad, &reachable[index]),
                        Some(command) => self.blame(&region.states, command, bad, &reachable[index])?,
                    });
                }
                continue;
            }
            for &(from, command) in &region.from {
                if reachable[from].is_empty() || std::mem::replace(&mut is_done[from], true) {
                    continue;
                }
                self.look_around()?;
                let source = &all[from].states;
                cuts.extend(match self.steps.step_into(source, command, &region.states)? {
                    Some(state) => self.blame(source, command, &state, &reachable[from])?,
                    None => halve(source),
                });
            }
        }
        if cuts.is_empty() {
            return Ok(None);
        }
        let mut partition = regions.into_partition();
        for Cut { state, variable, at } in cuts {
            partition.cut(&state, variable, at);
        }
        Ok(Some(partition))
    }

    /// Reachable states of doomed regions.
    fn reachable(&self, regions: &Regions, doomed: &[bool]) -> Vec<Vec<Vec<i32>>> {
        let mut reachable = vec![Vec::new(); doomed.len()];
        for state in (0..self.samples.len()).map(|index| self.samples.state(index)) {
            let Some(index) = regions.of_state(state).filter(|&index| doomed[index]) else { continue };
            if reachable[index].len() < MOST {
                reachable[index].push(state.to_vec());
            }
        }
        reachable
    }

    /// Where to cut a region from which a command leads to where it must not, from this state for one.
    fn blame(
        &mut self,
        states: &Reason,
        command: usize,
        state: &[i32],
        reachable: &[Vec<i32>],
    ) -> Result<Option<Cut>, Stop> {
        let info = &self.problem.commands[command];
        let Some(output) = info.output.filter(|&output| !self.steps.policy.chooses(state, output)) else {
            return Ok(cut_between(states, state, reachable));
        };
        let hull = info.hull.as_ref().expect("the command is enabled somewhere");
        let part = hull.intersection(states).expect("the command is enabled here");
        let Choice::At(chosen) = self.steps.policy.test(&part, output, BOXES)? else {
            return Ok(halve(&part));
        };
        let divided = self.steps.policy.divide(states, state, &chosen);
        Ok(divided.map(|(variable, _, high)| Cut {
            state: state.to_vec(),
            variable,
            at: high.lower[variable],
        }))
    }
}

/// Where to cut the cell of a state: a variable, and its least value above the cut.
struct Cut {
    state: Vec<i32>,
    variable: usize,
    at: i32,
}

/// Cuts a box in the middle of its widest variable.
fn halve(states: &Reason) -> Option<Cut> {
    let (variable, _, high) = symbolic::halve(states)?;
    let at = high.lower[variable];
    Some(Cut { state: states.lower.clone(), variable, at })
}

/// The cut that parts a state of a box from the most of other states, with the widest gap. `None` if it is one of the others.
fn cut_between(states: &Reason, state: &[i32], others: &[Vec<i32>]) -> Option<Cut> {
    if others.iter().any(|other| other == state) {
        return None;
    }
    let mut best = None;
    for variable in 0..state.len() {
        let width = i64::from(states.upper[variable]) - i64::from(states.lower[variable]) + 1;
        let own = state[variable];
        let above = others.iter().map(|other| other[variable]).filter(|&value| value > own);
        let below = others.iter().map(|other| other[variable]).filter(|&value| value < own);
        let nearest = [(above.clone().min(), above.count()), (below.clone().max(), below.count())];
        for (value, parted) in nearest {
            let Some(value) = value else { continue };
            let gap = 1000 * (i64::from(value) - i64::from(own)).abs() / width;
            let at = i32::midpoint(value.min(own), value.max(own) - 1) + 1;
            best = best.max(Some((parted, gap, variable, at)));
        }
    }
    best.map(|(_, _, variable, at)| Cut { state: state.to_vec(), variable, at })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(state: &[i32], others: &[&[i32]]) -> Option<(usize, i32)> {
        let states = Reason { lower: vec![0, 0], upper: vec![9, 99] };
        let others: Vec<Vec<i32>> = others.iter().map(|other| other.to_vec()).collect();
        cut_between(&states, state, &others).map(|cut| (cut.variable, cut.at))
    }

    #[test]
    fn a_cut_parts_a_state_from_most_others() {
        assert_eq!(cut(&[5, 50], &[&[7, 50], &[3, 60], &[4, 70]]), Some((1, 55)));
        assert_eq!(cut(&[5, 50], &[&[5, 51]]), Some((1, 51)));
        assert_eq!(cut(&[5, 50], &[&[4, 50]]), Some((0, 5)));
        // Both variables part it from all; the gap is wider in the first, for its domain.
        assert_eq!(cut(&[0, 0], &[&[6, 10], &[8, 10]]), Some((0, 3)));
    }

    #[test]
    fn no_cut_parts_a_state_from_itself() {
        assert_eq!(cut(&[5, 50], &[&[4, 50], &[5, 50]]), None);
        assert_eq!(cut(&[5, 50], &[]), None);
    }

    #[test]
    fn a_box_is_halved_in_its_widest_variable() {
        let states = Reason { lower: vec![0, 10], upper: vec![9, 12] };
        let cut = halve(&states).expect("two halves");
        assert_eq!((cut.variable, cut.at), (0, 5));
        assert!(halve(&Reason::of_state(&[1, 2])).is_none());
    }
}
