//! Policies without an interface file: lists of inputs and outputs, and formats that training writes.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::Folder;

/// Like `support::network`, with a second input that is not used: `up` has the score `up_score`, `down` has the score of input 0.
fn network(up_score: &str) -> String {
    format!("2,2,2,2,\n2,1,2,\n0,\n0,0,\n9,9,\n0,0,0,\n1,1,1,\n1,0,\n0,\n0,\n1,\n{up_score},\n0,\n")
}

const TASK: [&str; 4] = ["walk.jani", "--policy", "policy.nnet", "--inputs"];

fn folder(up_score: &str) -> Folder {
    let folder = Folder::walk(up_score);
    folder.write("policy.nnet", &network(up_score));
    folder
}

fn verify(folder: &Folder, inputs: &str, outputs: &str, more: &[&str]) -> crate::support::Run {
    folder.run(&[&["verify"], &TASK[..], &[inputs, "--outputs", outputs], more].concat())
}

/// A seed of a fuzz target, under another name.
fn seed(folder: &Folder, target: &str, name: &str, copy: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target).join(name);
    std::fs::copy(from, folder.path(copy)).expect("a seed");
}

#[test]
fn lists_take_the_place_of_an_interface() {
    let folder = folder("4");
    verify(&folder, "x,moved", "up,down", &[]).exits(0).prints(&["policy.nnet: neural network 2-1-2"]);
    // Now `down` has the score 4: it is chosen at all start states, and stalls at 0.
    verify(&folder, "x,moved", "down,up", &[]).exits(0).prints(&["stalls            1"]);
    verify(&folder, " x , top ", "up, down", &[]).exits(0);
    let info = [&["info"], &TASK[..], &["x,top", "--outputs", "all"]].concat();
    folder.run(&info).exits(0).prints(&["    x, 9\n", "    up, down\n"]);
    // The reading is that of the options.
    verify(&folder, "x,moved", "up,down", &["--filter", "on"]).exits(0).prints(&["filter on"]);
}

#[test]
fn all_is_everything_in_the_order_of_the_model() {
    let folder = folder("4");
    // The location of the walker comes first: three variables.
    verify(&folder, "all", "all", &[]).exits(3).complains(&["lists 3 inputs", "policy.nnet has 2"]);
    verify(&folder, "x,moved", "all", &[]).exits(0);
    folder.replace(
        "walk.jani",
        r#"{"name": "top", "type": "int", "value": 9}"#,
        r#"{"name": "top", "type": "int", "value": 9}, {"name": "all", "type": "int", "value": 1}"#,
    );
    verify(&folder, "all", "all", &[]).exits(3).complains(&["the word `all`", "write an interface file"]);
}

#[test]
fn wrong_lists_are_refused() {
    let folder = folder("4");
    verify(&folder, "x,moves", "up,down", &[])
        .exits(3)
        .complains(&["no variable or constant \"moves\"", "did you mean \"moved\"?"]);
    verify(&folder, "x,moved", "up,dawn", &[])
        .exits(3)
        .complains(&["no label \"dawn\"", "did you mean \"down\"?"]);
    verify(&folder, "x,moved", "up,up", &[]).exits(3).complains(&["listed twice"]);
    verify(&folder, "x", "up,down", &[])
        .exits(3)
        .complains(&["(command line): the interface lists 1 inputs"]);
    verify(&folder, "x,moved", "up,down", &["--activation", "relu"])
        .exits(3)
        .complains(&["is for state dicts"]);
    let interface =
        ["verify", "walk.jani", "--policy", "policy.jani2nnet", "--inputs", "x", "--outputs", "up,down"];
    folder.run(&interface).exits(3).complains(&["this is a policy interface"]);
    folder.run(&["verify", "walk.jani", "--policy", "policy.nnet", "--inputs", "x"]).exits(2);
    folder.run(&["verify", "walk.jani", "--policy", "policy.nnet", "--outputs", "up,down"]).exits(2);
    folder.run(&["verify", "walk.jani", "--inputs", "x", "--outputs", "up,down"]).exits(2);
    folder
        .run(&["verify", "walk.jani", "--policy", "policy.nnet"])
        .exits(3)
        .complains(&["`--inputs` and `--outputs`"]);
}

#[test]
fn constants_of_the_model_are_inputs_of_interfaces_too() {
    let folder = folder("4");
    let interface = |name: &str| {
        format!(
            r#"{{"file": "policy.nnet", "input": [{{"name": {name:?}, "automaton": null}}, {{"name": "x", "automaton": null}}],
            "output": ["up", "down"]}}"#
        )
    };
    // `down` has the score of `top`, 9, and always wins.
    folder.write("policy.jani2nnet", &interface("top"));
    folder.verify(&["--json"]).exits(0).prints(&["\"stalls\": 1"]);
    folder.write("policy.jani2nnet", &interface("tip"));
    folder.verify(&[]).exits(3).complains(&["no variable \"tip\""]);
}

#[test]
fn certificates_are_bound_to_the_lists() {
    let folder = folder("4");
    let engine = ["--engine", "ic3", "--certificate", "safe.cert"];
    verify(&folder, "x,moved", "up,down", &engine).exits(0);
    let check = |inputs: &str, outputs: &str, more: &[&str]| {
        let task = ["check", "safe.cert", "--model", "walk.jani", "--policy", "policy.nnet"];
        folder.run(&[&task, &["--inputs", inputs, "--outputs", outputs][..], more].concat())
    };
    check("x,moved", "up,down", &[]).exits(0);
    // In each of these the policy may be as safe as before; it is another one.
    check("moved,x", "up,down", &[]).exits(3).prints(&["its policy interface has SHA-256"]);
    check("x,top", "up,down", &[]).exits(3).prints(&["its policy interface has SHA-256"]);
    check("x,moved", "down,up", &[]).exits(3).prints(&["its policy has other outputs"]);
    // The same lists in other words are the same lists.
    check(" x, moved", "all", &[]).exits(0);
}

#[test]
fn traces_are_bound_to_the_lists() {
    let folder = folder("100");
    verify(&folder, "x,moved", "up,down", &["--trace", "trace.json", "--filter", "on"]).exits(10);
    let replay = |inputs: &str| {
        let task = ["replay", "trace.json", "walk.jani", "--policy", "policy.nnet", "--outputs", "up,down"];
        folder.run(&[&task, &["--inputs", inputs][..]].concat())
    };
    replay("x,moved").exits(10);
    let other = replay("moved,x");
    assert!(other.stderr.contains("(command line)"), "{}", other.stderr);
}

#[test]
fn archives_of_stable_baselines_are_policies() {
    let folder = folder("4");
    seed(&folder, "archive", "ppo.zip", "policy.zip");
    let task = ["walk.jani", "--policy", "policy.zip", "--inputs", "x,moved", "--outputs", "up,down"];
    let info = folder.run(&[&["info"], &task[..]].concat()).exits(0);
    let info = info.prints(&["policy.zip: neural network 2-3-2 (tanh)", "    x, moved\n"]);
    info.complains(&[
        "input 0, \"x\", has values from 0 to 9, but the policy was trained on observations from -2 to 5",
    ]);
    let code = folder.run(&[&["verify"], &task[..]].concat()).code;
    assert!(code == Some(0) || code == Some(10), "{code:?}");
}

#[test]
fn files_that_know_the_names_of_their_inputs() {
    let folder = folder("4");
    let info = |file: &str, inputs: &str| {
        folder.run(&["info", "walk.jani", "--policy", file, "--inputs", inputs, "--outputs", "up,down"])
    };
    seed(&folder, "lightgbm", "boosted.txt", "trees.txt");
    folder.replace("trees.txt", "feature_names=x b", "feature_names=moved x");
    seed(&folder, "xgboost", "boosted.json", "trees.json");
    folder.replace("trees.json", r#""feature_names": []"#, r#""feature_names": ["moved", "x"]"#);
    for file in ["trees.txt", "trees.json"] {
        info(file, "names").exits(0).prints(&["    moved, x\n"]);
        info(file, "moved,x").exits(0);
        for other in ["x,moved", "top,x"] {
            info(file, other).exits(3).complains(&[
                &format!("(command line): input 0 is another one than the feature \"moved\" of {file}"),
                "in the order of the features: moved, x",
            ]);
        }
    }
    // Constants have names too; names that the model does not know say nothing.
    folder.replace("trees.txt", "feature_names=moved x", "feature_names=top f1");
    info("trees.txt", "top,x").exits(0);
    info("trees.txt", "x,top").exits(3).complains(&["the feature \"top\""]);
    info("trees.txt", "names").exits(3).complains(&["no variable or constant \"f1\""]);
    info("policy.nnet", "names").exits(3).complains(&["does not say what the inputs are called"]);
    folder.replace(
        "walk.jani",
        r#"{"name": "top", "type""#,
        r#"{"name": "names", "type": "int", "value": 1}, {"name": "top", "type""#,
    );
    info("trees.txt", "names").exits(3).complains(&["the word `names` stands for several names"]);
}

#[test]
fn names_of_features_are_lists_like_others() {
    let folder = folder("4");
    seed(&folder, "lightgbm", "boosted.txt", "trees.txt");
    folder.replace("trees.txt", "feature_names=x b", "feature_names=x moved");
    let lists = |inputs| ["--policy", "trees.txt", "--inputs", inputs, "--outputs", "up,down"];
    let verify = ["verify", "walk.jani", "--engine", "ic3", "--certificate", "safe.cert"];
    folder.run(&[&verify[..], &lists("names")].concat()).exits(0);
    let check = ["check", "safe.cert", "--model", "walk.jani"];
    for inputs in ["names", "x,moved"] {
        folder.run(&[&check[..], &lists(inputs)].concat()).exits(0);
    }
}

#[test]
fn state_dicts_need_their_activation() {
    let folder = folder("4");
    seed(&folder, "archive", "chain.pt", "policy.pt");
    let task = ["info", "walk.jani", "--policy", "policy.pt", "--inputs", "x,moved", "--outputs", "up,down"];
    folder.run(&task).exits(3).complains(&["does not say which activation", "`--activation relu`"]);
    let shown = |more: &[&str]| folder.run(&[&task[..], more].concat()).exits(0);
    shown(&["--activation", "tanh"]).prints(&["2-3-2 (tanh)"]);
    shown(&["--activation", "relu", "--layers", "0,2"]).prints(&["2-3-2, choosing"]);
    let run = folder.run(&[&task[..], &["--activation", "relu", "--layers", "2,0"]].concat());
    run.exits(3).complains(&["the interface lists 2 inputs", "neural network 3-2-3"]);
    seed(&folder, "archive", "bad-module.pt", "policy.pt");
    let run = folder.run(&[&task[..], &["--activation", "relu"]].concat());
    run.exits(3)
        .complains(&["a pickle that asks for `torch.nn.modules.container.Sequential`", "state_dict()"]);
}

#[test]
fn compressed_files_are_read_as_they_are() {
    let folder = folder("4");
    let compress = |name: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(folder.read(name).as_bytes()).expect("memory is writable");
        std::fs::write(folder.path(&format!("{name}.gz")), encoder.finish().expect("memory is writable"))
            .expect("writable");
    };
    compress("walk.jani");
    compress("policy.nnet");
    let lists = ["--inputs", "x,moved", "--outputs", "up,down"];
    let run = folder.run(&[&["verify", "walk.jani.gz", "--policy", "policy.nnet.gz"], &lists[..]].concat());
    assert_eq!(run.exits(0).verdict().split("  ").next(), Some("SAFE"));
    let contents = std::fs::read(folder.path("policy.nnet.gz")).expect("a file");
    std::fs::write(folder.path("policy.nnet.gz"), &contents[..contents.len() - 9]).expect("writable");
    let run = folder.run(&[&["verify", "walk.jani.gz", "--policy", "policy.nnet.gz"], &lists[..]].concat());
    run.exits(3).complains(&["policy.nnet.gz: the file is compressed with gzip, but damaged"]);
}
