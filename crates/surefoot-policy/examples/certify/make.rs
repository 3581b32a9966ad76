//! Writes query sets: a folder each, with model, policy, interface and queries.

use std::fs;
use std::path::Path;

use surefoot_model::domains::Generated;
use surefoot_model::domains::blocksworld::{self, Parameters};
use surefoot_model::domains::policy::{Interface, PolicyFiles, random_ensemble, random_network};
use surefoot_model::json::{Document, Json};
use surefoot_policy::Arithmetic;
use surefoot_policy::certify::{Budget, Certifier};

use crate::imitate::imitate;
use crate::query::{self, Query};
use crate::sets::{HARD_PUBLISHED, PUBLISHED, Questions, Set, Source};
use crate::subject::Subject;

/// Hard sets are the hardest of many questions. None of these is worked on for longer than this many boxes.
const CANDIDATES: usize = 20_000;
const HARDEST: usize = 100;
const MOST_BOXES: u64 = 100_000;

/// Makes a set of at most `count` random questions, or of the hardest ones.
pub fn make(folder: &Path, set: &Set, count: usize) {
    let folder = folder.join(set.name);
    fs::create_dir_all(&folder).expect("a folder");
    let (kind, description) = write_policy(&folder, set);
    let subject = Subject::read(&folder);
    match set.questions {
        Questions::AtMost(most) => {
            let queries = draw(&subject, count.min(most), set.seed);
            query::write(&folder, kind, &description, &queries);
        }
        Questions::Around => {
            let labels = subject.policy.outputs.len();
            let queries = query::draw_around(&subject.domains_read(), labels, count, set.seed);
            query::write(&folder, kind, &description, &queries);
        }
        Questions::Hardest => {
            let description = format!("{description}; the hardest {HARDEST} of {CANDIDATES} questions");
            query::write(&folder, kind, &description, &hardest(&subject, set.seed));
        }
    }
}

/// Makes the sets of the published network from a model and the interface of the network.
pub fn make_published(folder: &Path, model: &Path, interface: &Path, count: usize) {
    let name = interface.file_stem().and_then(|name| name.to_str()).expect("it has a name");
    let description = format!("published network {name}");
    let plain = copy_published(&folder.join(PUBLISHED), model, interface);
    let queries = draw(&plain, count, 0);
    query::write(&folder.join(PUBLISHED), "network", &description, &queries);
    let hard = copy_published(&folder.join(HARD_PUBLISHED), model, interface);
    let description = format!("{description}; the hardest {HARDEST} of {CANDIDATES} questions");
    query::write(&folder.join(HARD_PUBLISHED), "network", &description, &hardest(&hard, 0));
}

fn copy_published(folder: &Path, model: &Path, interface: &Path) -> Subject {
    fs::create_dir_all(folder).expect("a folder");
    fs::copy(model, folder.join("model.jani")).expect("a model");
    let text = fs::read_to_string(interface).expect("an interface");
    let document = Document::parse(interface, &text).expect("JSON");
    let network = document.root().require("file").and_then(Json::str).expect("the name of a network");
    fs::copy(interface.with_file_name(network), folder.join("policy.nnet")).expect("a network");
    fs::write(folder.join("interface.json"), text.replace(network, "policy.nnet")).expect("a file");
    Subject::read(folder)
}

/// Writes the policy of a set, if it has a file; its kind and a description.
fn write_policy(folder: &Path, set: &Set) -> (&'static str, String) {
    match set.source {
        Source::Sparse { .. } => return ("network without a file", "random sparse network".to_owned()),
        Source::Wide { .. } => {
            return ("network without a file", "random network with 100 inputs".to_owned());
        }
        Source::Random(_) | Source::Trained(_) | Source::Ensemble(_) => {}
    }
    let parameters = Parameters { blocks: set.blocks, table_limit: set.blocks - 1, ..Parameters::default() };
    let generated = blocksworld::generate(&parameters).expect("valid parameters");
    let interface = Interface::of(&generated, "policy");
    let domain = format!("on blocksworld with {} blocks", set.blocks);
    let random = format!("random policy {domain}");
    let (kind, description, files) = match set.source {
        Source::Random(hidden) => ("network", random, random_network(&interface, hidden, set.seed)),
        Source::Ensemble(shape) => ("ensemble", random, random_ensemble(&interface, shape, set.seed)),
        Source::Trained(hidden) => {
            let (files, accuracy) = imitate(&generated, &interface, set.blocks, hidden, set.seed);
            let description = format!(
                "trained policy {domain}, chooses what its teacher does in {:.1} % of held-out states",
                100.0 * accuracy
            );
            ("network", description, Ok(files))
        }
        Source::Sparse { .. } | Source::Wide { .. } => unreachable!("they have no file"),
    };
    write_files(folder, &generated, &files.expect("valid parameters"));
    (kind, description)
}

fn write_files(folder: &Path, generated: &Generated, files: &PolicyFiles) {
    fs::write(folder.join("model.jani"), &generated.files[0].contents).expect("a file");
    let extension = Path::new(&files.policy.name).extension().expect("it has one");
    let name = Path::new("policy").with_extension(extension);
    let name = name.to_str().expect("plain letters");
    fs::write(folder.join(name), &files.policy.contents).expect("a file");
    let interface = files.interface.contents.replace(&files.policy.name, name);
    fs::write(folder.join("interface.json"), interface).expect("a file");
}

fn draw(subject: &Subject, count: usize, seed: u64) -> Vec<Query> {
    query::draw(&subject.domains_read(), subject.policy.outputs.len(), count, seed)
}

/// The questions for which the search needs most boxes, hardest first. Time is no measure: it differs from run to run.
fn hardest(subject: &Subject, seed: u64) -> Vec<Query> {
    let mut certifier = Certifier::new(&subject.policy, Arithmetic::F64);
    let mut effort = |query: &Query| {
        certifier.possible(&query.asked(subject).question(), &Budget::boxes(MOST_BOXES));
        certifier.effort().boxes
    };
    let mut queries: Vec<(u64, Query)> =
        draw(subject, CANDIDATES, seed).into_iter().map(|query| (effort(&query), query)).collect();
    // Stable: ties in the order in which they were drawn.
    queries.sort_by_key(|(boxes, _)| std::cmp::Reverse(*boxes));
    queries.into_iter().take(HARDEST).map(|(_, query)| query).collect()
}
