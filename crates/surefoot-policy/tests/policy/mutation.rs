//! Readers must survive any text: thousands of random changes to good files, none of which may panic.

use surefoot_policy::Arithmetic;

use crate::fixture::{Random, read};

const NETWORK_INTERFACE: &str = r#"{"file": "n", "filter": true, "elements": [2], "comment": "ä", "input": [
 {"name": "robot", "index": 1}, {"name": "a", "index": 2, "automaton": null},
 {"name": "y", "automaton": {"name": "robot", "index": 1}}], "output": ["left", "stay"]}"#;

const NETWORK: &str = "// net\n2,3,2,3,\n3,2,2,\n0,\n0,0,0,\n1,1,1,\n0,0,0,0,\n1,1,1,1,\n\
    0.5,-1.5,1e-3\n1,2,3\n0.5\n-1\n1,-1\n-1.25,1\n0\n0.125\n";

const ENSEMBLE: &str = r#"{"at_type": "REGR", "base_scores": [0.5, 0.0], "trees": [{"num_leaf_values": 2,
 "structure": {"feat_id": 0, "split_value": 2.5, "left": {"leaf_value": [1.0, 0.0]}, "right": {"feat_id": 1, "split_value": 0.5,
 "left": {"leaf_value": [0, 2]}, "right": {"leaf_value": [0, -1e-2]}}}}]}"#;

fn mutate(text: &str, random: &mut Random) -> String {
    const TOKENS: [&str; 20] = [
        "0",
        "-",
        "1e999",
        "1e38",
        ",",
        "\n",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "null",
        "NaN",
        "4294967295",
        "//",
        "\u{feff}",
        "ü",
        " ",
        "99999999999999999999",
        ":",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(12)).min(bytes.len());
        match random.below(6) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, TOKENS[random.below(TOKENS.len())].bytes())),
            2 => drop(bytes.splice(at..end, TOKENS[random.below(TOKENS.len())].bytes())),
            3 => {
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                drop(bytes.splice(to..to, copy));
            }
            4 => bytes.truncate(at),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.next() as u8),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads what may be nonsense; what is accepted must evaluate.
fn try_out(interface: &str, scorer: &str) -> bool {
    let (policy, _) = read(interface, scorer);
    let Ok(policy) = policy else { return false };
    let state = [1, 0, 3, -4, 5, 0, 2, 1];
    for arithmetic in Arithmetic::ALL {
        assert!(!policy.possible(arithmetic, &state, |_| true).is_empty());
        let mut evaluator = policy.evaluator(arithmetic);
        evaluator.run(1, |_| &[1]);
        let mut found = 0;
        evaluator.possible(0, |_| true, |_| found += 1);
        assert!(found > 0);
    }
    true
}

#[test]
fn changed_files_never_panic() {
    let mut random = Random(7);
    let mut accepted = 0;
    for _ in 0..4000 {
        accepted += u32::from(try_out(NETWORK_INTERFACE, &mutate(NETWORK, &mut random)));
        accepted += u32::from(try_out(NETWORK_INTERFACE, &mutate(ENSEMBLE, &mut random)));
        accepted += u32::from(try_out(&mutate(NETWORK_INTERFACE, &mut random), NETWORK));
        accepted += u32::from(try_out(&mutate(NETWORK_INTERFACE, &mut random), ENSEMBLE));
    }
    assert!(accepted > 100, "the changes are too violent to test what is accepted: {accepted}");
}
