//! `surefoot demo`.

use crate::support::Folder;

#[test]
fn it_shows_a_safe_and_an_unsafe_policy() {
    let began = std::time::Instant::now();
    let run = Folder::empty().run(&["demo"]).exits(0).prints(&[
        "The environment",
        "The question",
        "The careful policy",
        "SAFE  259 states",
        "SAFE means proved",
        "The hasty policy",
        "start state\n    position = 0, battery = 10, parcel = 0",
        "step 1  load",
        "parcel: 0 → 5",
        "unsafe state\n    position = 5, battery = 0, parcel = 5",
        "UNSAFE  unsafe state reached in 6 steps",
        "What to run next",
        "surefoot verify robot/robot.jani --policy robot/careful.jani2nnet",
    ]);
    assert_eq!(run.stderr, "");
    assert!(began.elapsed().as_secs() < 2);
}

#[test]
fn its_files_can_be_written_and_verified_as_it_says() {
    let folder = Folder::empty();
    folder.run(&["demo", "--out", "robot"]).exits(0).prints(&[
        "wrote",
        "robot.jani",
        "next: surefoot verify",
    ]);
    // The commands that the demo suggests work as they stand.
    let codes = [0, 0, 10, 10, 0, 0, 0];
    let page = folder.run(&["demo"]).stdout;
    let commands = page.lines().filter_map(|line| line.strip_prefix("  surefoot "));
    let mut count = 0;
    for (command, code) in commands.zip(codes) {
        let command = command.split("   ").next().expect("not empty");
        folder.run(&command.split_whitespace().collect::<Vec<_>>()).exits(code);
        count += 1;
    }
    assert_eq!(count, codes.len());
}

#[test]
fn changed_files_are_not_overwritten() {
    let folder = Folder::empty();
    folder.run(&["demo", "--out", "."]).exits(0);
    folder.run(&["demo", "--out", "."]).exits(0);
    folder.write("careful.nnet", "mine");
    folder.run(&["demo", "--out", "."]).exits(2).complains(&["careful.nnet exists and differs", "--force"]);
    assert_eq!(folder.read("careful.nnet"), "mine");
    folder.run(&["demo", "--out", ".", "--force"]).exits(0);
    assert_ne!(folder.read("careful.nnet"), "mine");
}
