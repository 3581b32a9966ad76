//! "Did you mean …?" for unknown names.

use crate::input::InputError;

/// Adds the known name that is closest to `name` as a hint, if one is close.
pub(super) fn did_you_mean<'n>(
    error: InputError,
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> InputError {
    match closest(name, known) {
        Some(candidate) => error.with_hint(format!("did you mean {candidate:?}?")),
        None => error,
    }
}

fn closest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let name: Vec<char> = name.chars().take(100).collect();
    let limit = (name.len() / 3).min(3);
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= 400)
        .filter_map(|candidate| Some((distance_within(&name, candidate, limit)?, candidate)))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Number of inserted, deleted, replaced characters between the two, if it is at most `limit`.
fn distance_within(a: &[char], b: &str, limit: usize) -> Option<usize> {
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = previous[j] + usize::from(!x.eq_ignore_ascii_case(y));
            row.push(replaced.min(previous[j + 1] + 1).min(row[j] + 1));
        }
        previous = row;
    }
    previous.last().copied().filter(|&distance| distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_close_names_are_suggested() {
        let known = ["block_0", "block_1", "hand-empty"];
        assert_eq!(closest("blok_0", known), Some("block_0"));
        assert_eq!(closest("Hand-Empty", known), Some("hand-empty"));
        assert_eq!(closest("table", known), None);
        assert_eq!(closest("x", ["y", "X"]), Some("X"));
        assert_eq!(closest("", []), None);
    }
}
