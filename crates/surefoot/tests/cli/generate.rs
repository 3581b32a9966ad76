//! `surefoot gen`: benchmark instances and random policies.

use serde_json::Value;

use crate::support::Folder;

/// A small instance of each domain: arguments and the name of its files.
const SMALL: [(&[&str], &str); 7] = [
    (&["blocksworld", "--blocks", "4", "--table-limit", "3", "--cost-bound", "1"], "blocksworld_4_3"),
    (&["npuzzle", "--width", "2", "--height", "3", "--cost-bound", "1"], "npuzzle_2_3"),
    (&["transport", "--packages", "3", "--locations", "3", "--truck-capacity", "3"], "transport_3_3"),
    (&["one-way-line", "--packages", "3", "--locations", "4", "--truck-capacity", "3"], "one_way_line_3_4"),
    (&["two-way-line", "--packages", "3", "--locations", "4", "--truck-capacity", "3"], "two_way_line_3_4"),
    (&["beluga", "--jigs", "3", "--racks", "2"], "beluga_3_2"),
    (&["racetrack", "--track", "tiny"], "racetrack_tiny"),
];

fn generate(folder: &Folder, arguments: &[&str]) {
    folder
        .run(&[&["gen"], arguments, &["--out", "."]].concat())
        .exits(0)
        .prints(&["wrote ", "next: surefoot verify"]);
}

fn environment(folder: &Folder, name: &str) -> Value {
    let (model, property) = (format!("{name}.jani"), format!("{name}.property.jani"));
    let run =
        folder.run(&["verify", &model, "--property", &property, "--no-policy", "--exhaustive", "--json"]);
    assert!(matches!(run.code, Some(0 | 10)), "{name}: {}", run.stderr);
    assert_eq!(run.stderr, "", "{name}");
    run.json()
}

#[test]
fn every_domain_can_be_generated_shown_and_verified() {
    for (arguments, name) in SMALL {
        let folder = Folder::empty();
        generate(&folder, arguments);
        let (model, property) = (format!("{name}.jani"), format!("{name}.property.jani"));
        let info = folder.run(&["info", &model, "--property", &property]).exits(0);
        info.prints(&["variables in", "properties", "(PA, chosen)", "passes"]);
        let document = environment(&folder, name);
        assert!(document["counts"]["states"].as_u64() > Some(10), "{name}");
        assert_eq!(document["vacuity"], Value::Array(Vec::new()), "{name}");
    }
}

#[test]
fn equal_parameters_give_equal_files() {
    for (arguments, name) in SMALL {
        let [first, second] = [Folder::empty(), Folder::empty()];
        for folder in [&first, &second] {
            generate(folder, arguments);
            let model = format!("{name}.jani");
            for kind in ["network", "forest", "boosted"] {
                generate(folder, &["policy", &model, "--kind", kind, "--seed", "5", "--name", kind]);
            }
        }
        for file in std::fs::read_dir(first.path("")).expect("a folder") {
            let file = file.expect("a file").file_name().into_string().expect("UTF-8");
            assert_eq!(first.read(&file), second.read(&file), "{file}");
        }
    }
}

#[test]
fn blocksworld_has_the_known_number_of_states() {
    let folder = Folder::empty();
    for (bound, counts) in [("1", [14, 2000, 4352, 16]), ("2", [14, 15424, 48592, 160])] {
        let arguments =
            ["blocksworld", "--blocks", "4", "--table-limit", "3", "--cost-terminal", "true", "--force"];
        generate(&folder, &[&arguments[..], &["--cost-bound", bound]].concat());
        let document = environment(&folder, "blocksworld_4_3");
        let found = ["start_states", "states", "transitions", "unsafe_states"]
            .map(|name| document["counts"][name].as_u64());
        assert_eq!(found, counts.map(Some), "bound {bound}");
    }
}

#[test]
fn random_policies_of_every_kind_can_be_verified() {
    let folder = Folder::empty();
    let (arguments, name) = SMALL[0];
    generate(&folder, arguments);
    let (model, property) = (format!("{name}.jani"), format!("{name}.property.jani"));
    for (kind, interface) in
        [("network", "jani2nnet"), ("forest", "interface.json"), ("boosted", "interface.json")]
    {
        let run = folder.run(&["gen", "policy", &model, "--kind", kind, "--filter"]).exits(0);
        // The command that is suggested works as it stands.
        let next = run.verdict().strip_prefix("next: surefoot ").expect("a command");
        assert_eq!(
            next,
            format!("verify {model} --property {property} --policy ./{name}.{kind}.{interface}")
        );
        let run = folder.run(&next.split(' ').collect::<Vec<_>>());
        assert!(matches!(run.code, Some(0 | 10)), "{kind}: {}", run.stderr);
    }
    let inputs = ["--inputs", "hand-empty,block_0", "--hidden", "3", "--name", "small"];
    folder.run(&[&["gen", "policy", &model, "--kind", "network"], &inputs[..]].concat()).exits(0);
    folder.run(&["info", &model, "--policy", "small.jani2nnet"]).exits(0).prints(&["neural network 2-3-5"]);
}

#[test]
fn policies_can_read_locations_locals_and_arrays() {
    let folder = Folder::walk("4.5");
    folder.replace("walk.jani", r#"[{"name": "on"}]"#, r#"[{"name": "on"}, {"name": "off"}], "variables": [
      {"name": "own", "type": {"kind": "array", "base": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 3}},
       "initial-value": {"op": "av", "elements": [1, 2]}}, {"name": "flag", "type": "bool", "initial-value": true}]"#);
    folder.replace(
        "walk.jani",
        r#""op": "state-condition","#,
        r#""op": "state-condition", "locations": [{"automaton": "walker", "index": 0, "location": "on"}],"#,
    );
    folder.run(&["gen", "policy", "walk.jani", "--kind", "forest", "--name", "all"]).exits(0);
    let document =
        folder.run(&["info", "walk.jani", "--policy", "all.interface.json", "--json"]).exits(0).json();
    assert_eq!(
        document["policy"]["inputs"].as_array().map(Vec::len),
        document["variables"].as_array().map(Vec::len)
    );
}

#[test]
fn parameters_are_checked() {
    let folder = Folder::walk("4.5");
    let gen_run = |arguments: &[&str]| folder.run(&[&["gen"], arguments].concat());
    gen_run(&["blocksworld", "--blocks", "1"]).exits(2).complains(&["error: `--blocks` is 1, but must be"]);
    gen_run(&["blocksworld", "--table-limit", "9"]).exits(2).complains(&["`--table-limit` is 9"]);
    gen_run(&["racetrack", "--track", "nosuch"]).exits(2).complains(&["`tiny`, `ring`, `corner`, or a file"]);
    gen_run(&["beluga", "--jigs", "3", "--line-0", "0"]).exits(2);
    gen_run(&["policy", "walk.jani", "--kind", "network", "--inputs", "z"])
        .exits(2)
        .complains(&["no variable `z`"]);
    gen_run(&["policy", "walk.jani", "--kind", "network", "--hidden", "0"])
        .exits(2)
        .complains(&["`--hidden` is 0"]);
    gen_run(&["policy", "walk.jani", "--kind", "network", "--trees", "3"])
        .exits(2)
        .complains(&["`--trees` is a parameter of an ensemble"]);
    gen_run(&["policy", "walk.jani", "--kind", "forest", "--hidden", "8"])
        .exits(2)
        .complains(&["`--hidden` is a parameter of a network"]);
    gen_run(&["policy", "missing.jani", "--kind", "network"])
        .exits(3)
        .complains(&["missing.jani: no such file"]);
}

#[test]
fn a_track_can_be_drawn_in_a_file() {
    let folder = Folder::empty();
    folder.write("lane.txt", "S...F\n");
    generate(&folder, &["racetrack", "--track", "lane.txt", "--top-speed", "1"]);
    environment(&folder, "racetrack_lane");
}

#[test]
fn different_files_are_not_overwritten() {
    let folder = Folder::empty();
    let generate = |more: &[&str]| folder.run(&[&["gen", "racetrack", "--out", "new/folder"], more].concat());
    generate(&[]).exits(0);
    generate(&[]).exits(0);
    generate(&["--top-speed", "1"])
        .exits(2)
        .complains(&["exists and differs; nothing was written", "--force"]);
    generate(&["--top-speed", "1", "--force"]).exits(0);
}
