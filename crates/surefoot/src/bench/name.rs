//! Names of instances, families and configurations: as names of files, on a terminal, and in patterns.

use std::borrow::Cow;

/// A name that is one of a file on every system, and of no folder that is there already.
pub fn file_name(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    // `.` and `..` are folders.
    if name.chars().all(|c| c == '.') { name.replace('.', "_") } else { name.chars().map(kept).collect() }
}

/// A name as it is printed: characters that would steer a terminal are escaped.
pub fn printable(name: &str) -> Cow<'_, str> {
    if !name.chars().any(char::is_control) {
        return name.into();
    }
    let mut text = String::new();
    for c in name.chars() {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text.into()
}

/// Whether a name contains a pattern, in which `*` stands for any text.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut rest = name;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_parts_of_names() {
        for pattern in ["", "blocks", "4", "b*4", "*", "blocks-4-cost", "s*-*-c"] {
            assert!(matches(pattern, "blocks-4-cost"), "{pattern}");
        }
        for pattern in ["blocks-5", "cost*4", "4*4"] {
            assert!(!matches(pattern, "blocks-4-cost"), "{pattern}");
        }
    }

    #[test]
    fn names_become_names_of_files() {
        assert_eq!(file_name("a/b c:ü.1"), "a_b_c__.1");
    }

    #[test]
    fn no_name_is_that_of_the_folder_itself_or_the_one_above() {
        assert_eq!([".", "..", "...", "..a"].map(file_name), ["_", "__", "___", "..a"]);
    }

    #[test]
    fn names_do_not_steer_the_terminal() {
        assert_eq!(printable("red\u{1b}[31m\r\n\u{9b}2J"), r"red\u{1b}[31m\r\n\u{9b}2J");
        assert_eq!(printable("ü – `a`"), "ü – `a`");
    }
}
