//! Neighbourhoods: how far values may stray from those of a state.

use super::Explainer;
use crate::symbolic::StateBox;

/// How far the values of variables may stray from those of a state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Neighbourhood<'s> {
    /// Anywhere in their domains.
    Domains,
    /// By at most so much. Locations have no order: by 1 or more they may be any.
    Within(u32),
    /// A part of the way to another state, `epsilon` in 0..1: the `D(s, other)` of paper 004, Definition 1.
    Towards {
        /// The other state.
        other: &'s [i32],
        /// The part of the way.
        epsilon: f64,
    },
}

impl Explainer<'_> {
    /// The states around a state.
    pub(super) fn neighbours(&self, state: &[i32], within: Neighbourhood<'_>) -> StateBox {
        let mut states = self.domain.clone();
        for (index, &value) in state.iter().enumerate() {
            let (lower, upper) = (&mut states.lower[index], &mut states.upper[index]);
            match within {
                Neighbourhood::Domains => {}
                Neighbourhood::Within(radius) if self.is_nominal(index) && radius > 0 => {}
                Neighbourhood::Within(radius) => {
                    *lower = value.saturating_sub_unsigned(radius).max(*lower);
                    *upper = value.saturating_add_unsigned(radius).min(*upper);
                }
                Neighbourhood::Towards { other, epsilon } => {
                    let end = part_of_the_way(value, other[index], epsilon);
                    (*lower, *upper) = (value.min(end), value.max(end));
                }
            }
        }
        states
    }
}

/// The last value that is at most this part of the way from one to another.
fn part_of_the_way(from: i32, to: i32, epsilon: f64) -> i32 {
    let way = i64::from(to) - i64::from(from);
    let part = (epsilon.clamp(0.0, 1.0) * way as f64).trunc();
    (i64::from(from) + part as i64) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_way_is_rounded_towards_its_beginning() {
        assert_eq!([0.0, 0.3, 0.5, 0.99, 1.0].map(|epsilon| part_of_the_way(2, 7, epsilon)), [2, 3, 4, 6, 7]);
        assert_eq!([0.0, 0.3, 0.5, 1.0].map(|epsilon| part_of_the_way(7, 2, epsilon)), [7, 6, 5, 2]);
        assert_eq!(part_of_the_way(i32::MIN, i32::MAX, 1.0), i32::MAX);
    }
}
