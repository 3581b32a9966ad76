//! `surefoot bench`: whole runs of small suites.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Folder, INTERFACE, Run, WALK, network};

/// Two policies of the walk, the environment alone, and a generated model.
const SUITE: &str = r#"name = "walks & <more>"

[[configuration]]
name = "ic3-paper"
engine = "ic3"
options = ["--paper"]

[[configuration]]
name = "explicit"
engine = "explicit"

[[instance]]
name = "careful"
family = "walk"
model = "walk.jani"
policy = "careful.jani2nnet"
expected = "safe"
known-by = "explicit"

[[instance]]
name = "hasty"
family = "walk"
model = "walk.jani"
policy = "hasty.jani2nnet"
options = ["--filter", "on"]
expected = "unsafe"

[[instance]]
name = "line"
family = "line"
generate = ["one-way-line", "--packages", "1", "--locations", "4"]
no-policy = true
"#;

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("walk.jani", WALK);
    for (name, score) in [("careful", "4"), ("hasty", "100")] {
        folder
            .write(&format!("{name}.jani2nnet"), &INTERFACE.replace("policy.nnet", &format!("{name}.nnet")));
        folder.write(&format!("{name}.nnet"), &network(score));
    }
    folder.write("suite.toml", SUITE);
    folder
}

fn bench(folder: &Folder, more: &[&str]) -> Run {
    folder.run(&[&["bench", "suite.toml", "--out", "out", "--time-limit", "1m"], more].concat())
}

fn records(folder: &Folder, name: &str) -> Vec<Value> {
    folder.read(name).lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

fn lines(folder: &Folder) -> usize {
    records(folder, "out/results.jsonl").len()
}

#[test]
fn a_suite_is_run_and_shown() {
    let folder = folder();
    let run = bench(&folder, &["--jobs", "2"]).exits(0);
    run.prints(&[
        "family  instances  ic3-paper  explicit",
        "walk            2          2         2",
        "all             3",
    ]);
    let records = records(&folder, "out/results.jsonl");
    assert_eq!(records.len(), 6);
    for record in &records {
        assert_eq!(record["schema"], "surefoot-bench/1");
        let expected = if record["instance"] == "hasty" { "UNSAFE" } else { "SAFE" };
        if record["instance"] != "line" {
            assert_eq!(record["verdict"], expected, "{record}");
        }
        assert!(record["wall_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
        if cfg!(unix) {
            assert!(record["peak_memory_bytes"].as_u64().is_some_and(|bytes| bytes > 100_000), "{record}");
            assert!(record["processor_seconds"].as_f64().is_some());
        }
    }
    let page = folder.read("out/index.html");
    for part in [
        "<h1>walks &amp; &lt;more&gt;</h1>",
        "<svg",
        "careful",
        "ic3-paper: 3 of 3",
        "Limits of each run: 60 s",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Everything is in the page: no scripts, and nothing from elsewhere but the name of the SVG format.
    assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("href="));
    assert_eq!(page.matches("http").count(), page.matches("http://www.w3.org/2000/svg").count());
    for plot in ["cactus.svg", "scatter-1-2.svg"] {
        let svg = folder.read(&format!("out/{plot}"));
        assert!(svg.starts_with("<svg xmlns") && svg.ends_with("</svg>\n"), "{plot}");
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }
    let scatter = folder.read("out/scatter-1-2.svg");
    assert!(scatter.contains("<title>times of ic3-paper and explicit</title>"));
    assert!(scatter.contains("<title>hasty: ic3-paper UNSAFE"));
    assert!(folder.read("out/coverage.txt").contains("ic3-paper: "));
    for file in ["index.html", "coverage.txt"] {
        assert!(!folder.read(&format!("out/{file}")).contains("not run"), "{file}");
    }
}

#[test]
fn instances_and_engines_are_chosen() {
    let folder = folder();
    bench(&folder, &["--engines", "explicit,ppa", "--family", "walk", "--filter", "h*ty"]).exits(0);
    let all = records(&folder, "out/results.jsonl");
    let names: Vec<_> =
        all.iter().map(|record| (record["instance"].as_str(), record["configuration"].as_str())).collect();
    assert_eq!(names.len(), 2);
    assert!(
        names.contains(&(Some("hasty"), Some("explicit"))) && names.contains(&(Some("hasty"), Some("ppa")))
    );
    bench(&folder, &["--filter", "nothing"]).exits(2).complains(&["no instance of the suite"]);
    let known = "`bmc` is neither an engine nor a configuration of the suite (ic3-paper, explicit)";
    bench(&folder, &["--engines", "bmc"]).exits(2).complains(&[known]);
}

#[test]
fn a_killed_bench_goes_on() {
    let folder = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefoot"));
    command.args(["bench", "suite.toml", "--out", "out", "--time-limit", "1m", "--jobs", "1"]);
    command.current_dir(folder.path("")).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program runs");
    let journal = folder.path("out/results.jsonl");
    let recorded = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    while recorded() == 0 && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("it may have ended");
    child.wait().expect("a child");
    // What was there is marked, so that it shows if it is done again; the last line is cut off.
    let text = std::fs::read_to_string(&journal).expect("records");
    let first = text.lines().next().expect("a record");
    let mut record: Value = serde_json::from_str(first).expect("a record");
    record["wall_seconds"] = 1234.5.into();
    std::fs::write(&journal, format!("{record}\n{}", &first[..first.len() / 2])).expect("written");
    bench(&folder, &[]).exits(0).complains(&["1 of 6 runs have a result"]);
    let text = folder.read("out/results.jsonl");
    assert_eq!(text.lines().next(), Some(record.to_string().as_str()));
    assert_eq!(lines(&folder), 6);
    // Now there is nothing left to do, unless a file changes.
    bench(&folder, &[]).exits(0).complains(&["6 of 6 runs have a result"]);
    folder.write("hasty.nnet", &network("99"));
    bench(&folder, &[]).exits(0).complains(&["4 of 6 runs have a result"]);
    // Tighter limits can lead to other results, and so can wider ones where there was no answer.
    let before = lines(&folder);
    bench(&folder, &["--memory-limit", "1GB", "--filter", "careful"]).exits(0);
    assert_eq!(lines(&folder), before + 2);
    let tight = ["--memory-limit", "1GB", "--filter", "careful"];
    bench(&folder, &tight).exits(0).complains(&["2 of 2 runs have a result"]);
    let wide = ["--memory-limit", "2GB", "--filter", "careful"];
    bench(&folder, &wide).exits(0).complains(&["2 of 2 runs have a result"]);
    let text = folder.read("out/results.jsonl").replace("\"SAFE\"", "\"UNKNOWN\"");
    folder.write("out/results.jsonl", &text);
    bench(&folder, &tight).exits(0).complains(&["2 of 2 runs have a result"]);
    let again = bench(&folder, &wide).exits(0);
    assert!(!again.stderr.contains("have a result"), "{}", again.stderr);
}

#[test]
fn results_belong_to_contents_wherever_they_are() {
    let folder = folder();
    folder
        .write("suite.toml", &format!("{SUITE}property = 0\n").replace("model = ", "property = 0\nmodel = "));
    let all = ["--engines", "explicit,ppa"];
    bench(&folder, &all).exits(0);
    // The folder has another name, and is named otherwise.
    let absolute = folder.path("suite.toml").display().to_string();
    std::fs::rename(folder.path("out"), folder.path("moved")).expect("it is there");
    let moved = ["bench", &absolute, "--out", "moved", "--time-limit", "1m"];
    folder.run(&[&moved[..], &all].concat()).exits(0).complains(&["6 of 6 runs have a result"]);
    // Predicates are files of the question, too.
    let predicates =
        "\n[[configuration]]\nname = \"given\"\nengine = \"pa\"\noptions = [\"--predicates\", \"p.json\"]\n";
    folder.write("suite.toml", &format!("{}{predicates}", folder.read("suite.toml")));
    let given = [&moved[..], &["--engines", "given", "--family", "walk"]].concat();
    folder.write("p.json", r#"[{"op": "≤", "left": "x", "right": 3}]"#);
    folder.run(&given).exits(0);
    folder.run(&given).exits(0).complains(&["2 of 2 runs have a result"]);
    folder.write("p.json", r#"[{"op": "≤", "left": "x", "right": 4}]"#);
    let again = folder.run(&given).exits(0);
    assert!(!again.stderr.contains("have a result"), "{}", again.stderr);
}

#[test]
fn what_has_another_name_is_not_run_again() {
    let folder = folder();
    let family = ["--family", "walk"];
    bench(&folder, &family).exits(0);
    let before = records(&folder, "out/results.jsonl");
    // `twin` has the options of another configuration.
    let twin = "\n[[configuration]]\nname = \"twin\"\nengine = \"explicit\"\n";
    let renamed = SUITE.replace("\"hasty\"", "\"quick\"").replace("name = \"ic3-paper\"", "name = \"paper\"");
    folder.write("suite.toml", &format!("{renamed}{twin}"));
    let run = bench(&folder, &family).exits(0).complains(&["6 of 6 runs have a result"]);
    run.prints(&["walk            2      2         2      2"]);
    let after = records(&folder, "out/results.jsonl");
    assert_eq!(after[..4], before);
    let mut names: Vec<_> = after[4..]
        .iter()
        .map(|record| (record["instance"].as_str(), record["configuration"].as_str()))
        .collect();
    names.sort_unstable();
    let expected = [
        ("careful", "paper"),
        ("careful", "twin"),
        ("quick", "explicit"),
        ("quick", "paper"),
        ("quick", "twin"),
    ];
    assert_eq!(names, expected.map(|(instance, configuration)| (Some(instance), Some(configuration))));
    for copy in &after[4..] {
        let measured = |record: &&Value| ["key", "wall_seconds"].iter().all(|key| record[key] == copy[key]);
        assert!(before.iter().any(|record| measured(&record)), "{copy}");
    }
    bench(&folder, &family).exits(0);
    assert_eq!(lines(&folder), after.len());
}

#[test]
fn an_answer_about_a_policy_that_was_replaced_is_not_the_last_one() {
    let folder = folder();
    folder.replace("suite.toml", "expected = \"unsafe\"", "");
    let hasty = ["bench", "suite.toml", "--out", "out", "--filter", "hasty", "--engines", "explicit"];
    folder.run(&[&hasty[..], &["--time-limit", "1m"]].concat()).exits(0);
    folder.write("before.jsonl", &folder.read("out/results.jsonl"));
    folder.write("hasty.nnet", &network("4"));
    // The older answer had more time.
    folder.run(&[&hasty[..], &["--time-limit", "30s"]].concat()).exits(0);
    assert_eq!(lines(&folder), 2);
    let compared = folder.run(&["bench", "--compare", "before.jsonl", "out"]).exits(1);
    compared.prints(&["contradictions: 1\n  hasty explicit: UNSAFE → SAFE (within 60 s, within 30 s)"]);
}

#[test]
fn scatter_plots_of_names_that_are_alike_or_long_are_all_there() {
    let folder = folder();
    let long = "long".repeat(100);
    let configuration =
        |name: &str| format!("\n[[configuration]]\nname = \"{name}\"\nengine = \"explicit\"\n");
    let more: String = ["a:b", "a/b", &long].map(configuration).concat();
    folder.write("suite.toml", &format!("{SUITE}{more}"));
    let names = format!("a:b,a/b,{long}");
    bench(&folder, &["--family", "walk", "--engines", &names]).exits(0);
    let titles = [("1-2", "a:b and a/b"), ("1-3", "a:b and long"), ("2-3", "a/b and long")];
    for (file, names) in titles {
        let svg = folder.read(&format!("out/scatter-{file}.svg"));
        assert!(svg.contains(&format!("<title>times of {names}")), "{file}");
    }
    // Now 1 and 2 are others, and there is no 3.
    folder.write("out/scatter-notes.svg", "mine");
    bench(&folder, &["--family", "walk", "--engines", "a/b,ppa"]).exits(0);
    assert!(folder.read("out/scatter-1-2.svg").contains("<title>times of a/b and ppa</title>"));
    assert!(!folder.path("out/scatter-1-3.svg").exists() && !folder.path("out/scatter-2-3.svg").exists());
    assert_eq!(folder.read("out/scatter-notes.svg"), "mine");
}

#[test]
fn names_do_not_steer_the_terminal() {
    let folder = folder();
    folder.replace("suite.toml", "name = \"hasty\"", "name = \"hasty\\u001b[31m\"");
    folder.replace("suite.toml", "expected = \"unsafe\"", "expected = \"safe\"");
    let suite = folder.read("suite.toml").replace("\"walk\"", "\"\\u009b2Jwalk\"");
    folder.write("suite.toml", &suite.replace("name = \"explicit\"", "name = \"explicit\\r\""));
    let run = bench(&folder, &["--filter", "hasty", "--engines", "explicit\r"]).exits(1);
    let run = run.prints(&[r"explicit\r", r"\u{9b}2Jwalk          1", r"explicit\r: 0 SAFE, 1 UNSAFE"]);
    let run = run.complains(&[
        r"[1/1] hasty\u{1b}[31m explicit\r: UNSAFE",
        r"error: hasty\u{1b}[31m: explicit\r says",
    ]);
    let compared = folder.run(&["bench", "--compare", "out", "out"]).exits(0);
    for text in [run.stdout, run.stderr, compared.stdout] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
}

#[test]
fn what_was_generated_with_other_arguments_is_not_left_behind() {
    let folder = folder();
    let line = ["--family", "line", "--engines", "explicit"];
    bench(&folder, &line).exits(0);
    folder.replace("suite.toml", "\"--locations\", \"4\"", "\"--locations\", \"5\"");
    bench(&folder, &line).exits(0);
    assert_eq!(lines(&folder), 2);
    // What bench has not made itself is not removed.
    std::fs::remove_dir_all(folder.path("out/models")).expect("it is there");
    std::fs::create_dir_all(folder.path("out/models/line")).expect("a folder");
    folder.write("out/models/line/mine.jani", "mine");
    let place = "suite.toml:28:1: `line`: expected one model and one property of `surefoot gen one-way-line";
    bench(&folder, &line).exits(3).complains(&[place, "found 2 and 1", "hint: remove the folder"]);
    assert_eq!(folder.read("out/models/line/mine.jani"), "mine");
}

/// The first run takes its time to read a policy from a pipe; then the policy is another one.
#[cfg(unix)]
#[test]
fn a_file_that_changes_in_between_is_noticed() {
    let folder = folder();
    folder.write("slow.jani2nnet", &INTERFACE.replace("policy.nnet", "slow.nnet"));
    let instance = "[[instance]]\nname = \"slow\"\nmodel = \"walk.jani\"\npolicy = \"slow.jani2nnet\"\n";
    folder.write("suite.toml", &format!("{instance}{}", instance.replace("\"slow\"", "\"late\"")));
    let made = Command::new("mkfifo").arg(folder.path("slow.nnet")).status().expect("mkfifo runs");
    assert!(made.success());
    // Readers of the pipe: the plan, twice, and then each run.
    let pipe = folder.path("slow.nnet");
    let writer = std::thread::spawn(move || {
        for score in ["4", "4", "100"] {
            std::fs::write(&pipe, network(score)).expect("there is a reader");
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let run = bench(&folder, &["--engines", "explicit", "--jobs", "1"]).exits(3);
    run.complains(&["slow: slow.nnet has changed since the bench began", "hint: call it again"]);
    writer.join().expect("all was read");
    assert_eq!(lines(&folder), 0);
}

/// A bench at work on its first instance, and the processes of that run: the one that measures it, and itself.
#[cfg(target_os = "linux")]
fn bench_at_work(folder: &Folder, first: &str) -> (Child, PathBuf, PathBuf) {
    let instance = format!("[[instance]]\nname = \"slow\"\n{first}\n");
    folder.write("suite.toml", &format!("{instance}{}", &SUITE[SUITE.find("[[instance]]").expect("one")..]));
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefoot"));
    command.args(["bench", "suite.toml", "--out", "out", "--engines", "explicit", "--jobs", "1"]);
    command.current_dir(folder.path("")).stdout(Stdio::null()).stderr(Stdio::null());
    let mut bench = command.spawn().expect("the program runs");
    loop {
        if let (Some(measure), Some(run)) = (process(folder, "--kill-after"), process(folder, "--run-of")) {
            return (bench, measure, run);
        }
        assert!(bench.try_wait().expect("a child").is_none(), "the run takes longer than to look for it");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The process in a folder that has this as its second argument, in `/proc`.
#[cfg(target_os = "linux")]
fn process(folder: &Folder, option: &str) -> Option<PathBuf> {
    let here = std::fs::canonicalize(folder.path("")).expect("a folder");
    let is_it = |process: &PathBuf| {
        let text = std::fs::read_to_string(process.join("cmdline")).unwrap_or_default();
        let is_in = std::fs::read_link(process.join("cwd")).is_ok_and(|folder| folder == here);
        is_in && text.split('\0').nth(2) == Some(option)
    };
    let all = std::fs::read_dir("/proc").expect("Linux");
    all.filter_map(|entry| Some(entry.ok()?.path())).find(is_it)
}

#[cfg(target_os = "linux")]
fn kill(signal: &str, process: &Path) {
    let id = process.file_name().expect("a number");
    Command::new("kill").arg(signal).arg(id).stderr(Stdio::null()).status().expect("kill runs");
}

/// One run is interrupted, not the bench.
#[cfg(target_os = "linux")]
#[test]
fn the_others_go_on_where_one_run_is_stopped() {
    let folder = folder();
    let slow = "generate = [\"blocksworld\", \"--blocks\", \"8\"]\nno-policy = true";
    let (mut bench, _, run) = bench_at_work(&folder, slow);
    // It may not listen to signals yet.
    while process(&folder, "--run-of").as_ref() == Some(&run) {
        kill("-INT", &run);
        std::thread::sleep(Duration::from_millis(300));
    }
    let code = bench.wait().expect("it ends").code();
    let results = records(&folder, "out/results.jsonl");
    assert!(
        results.iter().all(|record| record["instance"] != "slow" || record["verdict"] == "ERROR"),
        "{results:?}"
    );
    assert!(
        results.len() >= 3 && code == Some(if results.len() == 3 { 11 } else { 0 }),
        "{code:?} {results:?}"
    );
    if results.len() == 3 {
        let table = folder.read("out/coverage.txt");
        assert!(table.contains("0 ERROR, 1 not run\n\n1 of 4 runs were stopped or not begun."), "{table}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_ends_with_the_process_that_measures_it_and_the_others_go_on() {
    let folder = folder();
    folder.write("slow.jani2nnet", &INTERFACE.replace("policy.nnet", "slow.nnet"));
    let pipe = folder.path("slow.nnet");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    // The plan reads the pipe; the run waits for more.
    let writer = std::thread::spawn(move || std::fs::write(&pipe, network("4")).expect("there is a reader"));
    let slow = "model = \"walk.jani\"\npolicy = \"slow.jani2nnet\"";
    let (mut bench, measure, run) = bench_at_work(&folder, slow);
    writer.join().expect("all was read");
    kill("-KILL", &measure);
    while process(&folder, "--run-of").as_ref() == Some(&run) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(bench.wait().expect("it ends").code(), Some(0));
    let results = records(&folder, "out/results.jsonl");
    assert_eq!(results.len(), 4);
    let slow = results.iter().find(|record| record["instance"] == "slow").expect("a record");
    assert_eq!(slow["verdict"], "ERROR");
    let error = slow["error"].as_str().expect("it says why");
    assert!(
        error.contains("the process that measures the run has ended without a result: signal: 9"),
        "{error}"
    );
}

#[test]
fn contradicted_expectations_are_errors() {
    let folder = folder();
    folder.replace("suite.toml", "expected = \"unsafe\"", "expected = \"safe\"\nknown-by = \"hearsay\"");
    let run = bench(&folder, &["--filter", "hasty", "--engines", "explicit"]).exits(1);
    run.complains(&["hasty: explicit says UNSAFE, expected SAFE (known by hearsay)"]);
    assert!(folder.read("out/index.html").contains("<strong>Contradictions</strong>"));
}

#[test]
fn errors_of_runs_are_results() {
    let folder = folder();
    // An update that leaves the domain shows only when the model is run.
    folder.replace(
        "walk.jani",
        r#"{"op": "≤", "left": "x", "right": 7}"#,
        r#"{"op": "≤", "left": "x", "right": 9}"#,
    );
    folder.replace("suite.toml", "expected = \"unsafe\"", "");
    folder.write("hasty.nnet", &network("100"));
    folder.replace(
        "walk.jani",
        r#""reach": {"op": "=", "left": "x", "right": "top"}"#,
        r#""reach": {"op": "∧", "left": {"op": "=", "left": "x", "right": 0}, "right": "moved"}"#,
    );
    let run = bench(&folder, &["--filter", "hasty", "--engines", "explicit"]).exits(0);
    run.prints(&["explicit: 0 SAFE, 0 UNSAFE, 0 UNKNOWN, 1 ERROR"]);
    let record = &records(&folder, "out/results.jsonl")[0];
    assert!(record["error"].as_str().is_some_and(|error| error.contains("exit code 3")), "{record}");
}

#[test]
fn wrong_suites_are_refused_with_their_place() {
    let folder = folder();
    let refused = |suite: &str, words: &[&str]| {
        folder.write("suite.toml", suite);
        bench(&folder, &[]).exits(3).complains(words);
    };
    refused("[[instance]]\nname = \"a\"\nmodel = 3\n", &["suite.toml:3:9: "]);
    refused("[[instance]]\nname = \"a\"\nmodle = \"m\"\n", &["suite.toml:3:1: ", "modle"]);
    refused("[[instance]\n", &["suite.toml:1:"]);
    refused("name = \"empty\"\n", &["suite.toml: the suite has no instances", "hint: "]);
    refused("\n[[instance]]\nname = \"a\"\n", &["suite.toml:2:1: `a` has neither `model` nor `generate`"]);
    refused("[[instance]]\nname = \"a\"\nmodel = \"m\"\ngenerate = []\n", &["suite.toml:1:1: `a` has both"]);
    let twice = "[[instance]]\nname = \"a\"\nmodel = \"m\"\n[[instance]]\nname = \"a\"\nmodel = \"m\"\n";
    refused(twice, &["suite.toml:5:8: there are two instances `a`"]);
    refused(
        "[[instance]]\nname = \"a\"\nmodel = \"m\"\nexpected = \"maybe\"\n",
        &["suite.toml:4:12: ", "maybe"],
    );
    refused("[[instance]]\nname = \"a\"\nmodel = \"missing.jani\"\n", &["missing.jani: no such file"]);
    let options =
        "[[instance]]\nname = \"a\"\nmodel = \"walk.jani\"\nno-policy = true\noptions = [\"--fast\"]\n";
    refused(options, &["suite.toml:1:1: `a`: ", "--fast"]);
    let reading = "[[configuration]]\nname = \"c\"\nengine = \"explicit\"\noptions = [\"--goal\", \"terminal\"]\n\
                   [[instance]]\nname = \"a\"\nmodel = \"walk.jani\"\nno-policy = true\n";
    refused(reading, &["suite.toml:1:1: the configuration `c`: its options change the question"]);
    let engine = "[[configuration]]\nname = \"c\"\nengine = \"magic\"\n[[instance]]\nname = \"a\"\nmodel = \"walk.jani\"\n";
    refused(engine, &["suite.toml:1:1: the configuration `c`: there is no engine `magic`"]);
    let configuration = |options: &str| {
        let instance = "[[instance]]\nname = \"a\"\nmodel = \"walk.jani\"\nno-policy = true\n";
        format!("{instance}[[configuration]]\nname = \"c\"\nengine = \"ic3\"\noptions = {options}\n")
    };
    let place = "suite.toml:5:1: the configuration `c`: ";
    refused(&configuration("[\"--per-start\"]"), &[place, "`--per-start` needs `--engine explicit`"]);
    refused(&configuration("[\"--fast\"]"), &[place, "--fast"]);
    refused(&configuration("[\"--certificate\", \"c\"]"), &[place, "`--certificate` names a file"]);
    refused(&configuration("[\"--resume\", \"c\"]"), &[place, "`--resume` names a file"]);
    let properties =
        "[[instance]]\nname = \"a\"\nmodel = \"walk.jani\"\nproperty = [\"a.jani\", \"b.jani\"]\n";
    refused(properties, &["suite.toml:1:1: `a`: `--property` names two files"]);
    refused(
        "[[instance]]\nname = \"a\"\nmodel = \"walk.jani\"\nproperty = true\n",
        &["suite.toml:4:12: expected the file, the name or the index"],
    );
    let alike = "[[instance]]\nname = \"a:b\"\nmodel = \"walk.jani\"\nno-policy = true\n\
                 [[instance]]\nname = \"A/b\"\nmodel = \"walk.jani\"\nno-policy = true\n";
    refused(alike, &["suite.toml:5:1: `A/b`: its files would be those of `a:b`: choose another name"]);
    let generated =
        "[[instance]]\nname = \"a\"\ngenerate = [\"blocksworld\", \"--blocks\", \"0\"]\nno-policy = true\n";
    refused(generated, &["suite.toml:1:1: `a`: `surefoot gen blocksworld --blocks 0` fails"]);
    for option in [
        "--time-limit=1s",
        "--memory-limit=1GB",
        "--threads=1",
        "--engine=explicit",
        "--json",
        "--quiet",
        "--paper",
    ] {
        let instance = format!(
            "[[instance]]\nname = \"a\"\nmodel = \"walk.jani\"\nno-policy = true\noptions = [\"{option}\"]\n"
        );
        let name = option.split('=').next().unwrap_or_default();
        let message = format!("suite.toml:1:1: `a`: `{name}` does not say how the task is read");
        refused(&instance, &[&message, "hint: engines and their options are for a `[[configuration]]`"]);
    }
    bench(&folder, &["--compare", "a", "b"]).exits(2);
    folder.run(&["bench", "--family", "walk", "--compare", "a", "b"]).exits(2);
    folder.run(&["bench"]).exits(2);
}

#[test]
fn two_benches_are_compared() {
    let folder = folder();
    bench(&folder, &["--engines", "explicit", "--family", "walk"]).exits(0);
    let text = folder.read("out/results.jsonl");
    let change = |instance: &str, key: &str, value: Value| {
        let line = |line: &str| {
            let mut record: Value = serde_json::from_str(line).expect("a record");
            record["wall_seconds"] = 1.0.into();
            if record["instance"] == instance {
                record[key] = value.clone();
            }
            format!("{record}\n")
        };
        text.lines().map(line).collect::<String>()
    };
    folder.write("before.jsonl", &change("", "", Value::Null));
    let compare = |after: &str| {
        folder.write("after.jsonl", after);
        folder.run(&["bench", "--compare", "before.jsonl", "after.jsonl"])
    };
    compare(&change("", "", Value::Null)).exits(0).prints(&[
        "2 runs are in both",
        "faster: 0\n",
        "slower: 0\n",
    ]);
    // The last program counts, which is part of the key, and there what ended for want of time is not said again.
    let stale = change("hasty", "verdict", "UNKNOWN".into()).replace("60.0", "20.0");
    compare(&format!("{}{stale}", change("", "", Value::Null))).exits(0).prints(&["no longer solved: 0\n"]);
    let other = stale.replace("\"key\":\"", "\"key\":\"other");
    compare(&format!("{}{other}", change("", "", Value::Null)))
        .exits(0)
        .prints(&["no longer solved: 1\n  hasty explicit: UNSAFE → UNKNOWN (within 60 s, within 20 s)"]);
    let slower = change("hasty", "wall_seconds", 3.0.into());
    compare(&slower).exits(0).prints(&["slower: 1\n  hasty explicit: 1.00 s → 3.00 s"]);
    let lost = change("hasty", "verdict", "UNKNOWN".into());
    compare(&lost).exits(0).prints(&["no longer solved: 1\n  hasty explicit: UNSAFE → UNKNOWN"]);
    let wrong = change("hasty", "verdict", "SAFE".into());
    compare(&wrong).exits(1).prints(&["contradictions: 1\n  hasty explicit: UNSAFE → SAFE"]);
    folder.run(&["bench", "--compare", "out", "nowhere"]).exits(3).complains(&["nowhere: no such file"]);
}

/// A run that never ends: it waits for a model that nobody writes.
#[cfg(unix)]
fn endless(folder: &Folder, kill_after: &str, stdin: Stdio) -> Value {
    let made = Command::new("mkfifo").arg(folder.path("never.jani")).status().expect("mkfifo runs");
    assert!(made.success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefoot"));
    command.args([
        "measure",
        "--kill-after",
        kill_after,
        "--kill-above",
        "9000000000",
        "--",
        "verify",
        "never.jani",
    ]);
    let mut child =
        command.current_dir(folder.path("")).stdin(stdin).stdout(Stdio::piped()).spawn().expect("it runs");
    let input = child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    drop(input);
    serde_json::from_slice(&output.stdout).expect("what was measured")
}

#[cfg(unix)]
#[test]
fn a_run_without_end_is_killed() {
    let measured = endless(&Folder::empty(), "0.05", Stdio::piped());
    assert_eq!((&measured["late"], &measured["code"]), (&true.into(), &Value::Null));
}

#[cfg(unix)]
#[test]
fn a_run_ends_with_its_bench() {
    // Nobody holds the other end of the input: the bench is gone.
    let measured = endless(&Folder::empty(), "1e9", Stdio::null());
    assert_eq!((&measured["late"], &measured["code"]), (&false.into(), &Value::Null));
}
