//! Makes sets of questions about policies and answers them; the Rust side of `bench/certify`.
//!
//! ```text
//! certify make DIR [--queries N] [--sets A,B]          writes a folder per set: model, policy, interface, queries.json
//! certify published DIR MODEL INTERFACE [--queries N]  the same for a network that somebody else trained
//! certify run DIR/SET [--arithmetic A] [--boxes N] [--limit N] [--seconds S]   prints answers and figures as JSON
//! ```
//!
//! A question frees some variables of a random state to their whole domain and asks for one label; each box is asked
//! for every label. Sparse networks have no file: both commands make them from the name of the set.

mod cached;
mod imitate;
mod make;
mod pass;
mod query;
mod random;
mod run;
mod sets;
mod sparse;
mod subject;
mod teacher;
mod train;
mod wide;

use std::path::Path;

use sets::sets;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        Some(arguments.get(place + 1).expect("an option has a value").as_str())
    };
    let number = |name: &str| option(name).map(|value| value.parse().expect("a number"));
    let queries = number("--queries").unwrap_or(300);
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", folder, ..] => {
            let chosen: Option<Vec<&str>> = option("--sets").map(|names| names.split(',').collect());
            for set in
                sets().iter().filter(|set| chosen.as_ref().is_none_or(|names| names.contains(&set.name)))
            {
                make::make(Path::new(folder), set, queries);
            }
        }
        ["published", folder, model, interface, ..] => {
            make::make_published(Path::new(folder), Path::new(model), Path::new(interface), queries);
        }
        ["run", folder, ..] => {
            let arithmetic = option("--arithmetic").unwrap_or("f64").parse().expect("an arithmetic");
            let limits = run::Limits {
                boxes: number("--boxes").map_or(u64::MAX, |boxes| boxes as u64),
                seconds: number("--seconds").unwrap_or(10) as u64,
                queries: number("--limit").unwrap_or(usize::MAX),
            };
            println!("{}", run::run(Path::new(folder), arithmetic, &limits));
        }
        _ => panic!("usage: certify make DIR | certify published DIR MODEL INTERFACE | certify run DIR/SET"),
    }
}
