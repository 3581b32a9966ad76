//! "Did you mean": the known name that is closest to a misspelt one.

/// A hint that names the closest of `known`, if one is close enough to be meant.
pub(super) fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let limit = name.chars().count().div_ceil(3);
    let closest = known.map(|other| (distance(name, other), other)).min_by_key(|&(distance, _)| distance)?;
    (closest.0 <= limit).then(|| format!("did you mean {:?}?", closest.1))
}

/// Number of characters to insert, delete or replace to get from one name to the other; letter case counts nothing.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    // Names of very different lengths are never close, and long ones would cost quadratic time.
    if a.len().abs_diff(b.len()) > 10 || a.len() > 200 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, &from) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_suggested() {
        let known = ["move_left", "move_right", "stay"];
        let suggest = |name| did_you_mean(name, known.into_iter());
        assert_eq!(suggest("move_lift").as_deref(), Some("did you mean \"move_left\"?"));
        assert_eq!(suggest("Stay").as_deref(), Some("did you mean \"stay\"?"));
        assert_eq!(suggest("jump"), None);
        assert_eq!(did_you_mean("x", std::iter::empty()), None);
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }
}
