//! `surefoot gen`: benchmark instances and random policies.

mod policy;
pub mod write;

use std::path::Path;

use surefoot_model::domains::line::Direction;
use surefoot_model::domains::racetrack::{self, Track};
use surefoot_model::domains::{
    Generated, GeneratedFile, ParameterError, beluga, blocksworld, line, npuzzle, transport,
};
use surefoot_model::{MemoryFile, Sources};

use crate::arguments::generate::{Generate, GenerateArguments, RacetrackArguments};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Generates and writes.
pub fn run(arguments: GenerateArguments) -> Result<Exit, Failure> {
    let GenerateArguments { what, out, force } = arguments;
    let made = match &what {
        Generate::Policy(arguments) => policy::files(arguments, Vec::new())?,
        _ => domain(what.clone())?.files,
    };
    let files: Vec<(&str, &str)> =
        made.iter().map(|file| (file.name.as_str(), file.contents.as_str())).collect();
    let written = write::files(&out, &files, force)?;
    let next = match &what {
        Generate::Policy(arguments) => policy::next(arguments, &out.join(files[0].0)),
        _ => next(&out, &files),
    };
    output::print(&format!("{written}{next}"))?;
    Ok(Exit::Done)
}

/// Generates an instance of a domain, or a policy for a model that may be in memory.
pub fn files(what: Generate, memory: Vec<MemoryFile>) -> Result<Vec<GeneratedFile>, Failure> {
    match &what {
        Generate::Policy(arguments) => policy::files(arguments, memory),
        _ => Ok(domain(what)?.files),
    }
}

/// An instance of a domain.
fn domain(what: Generate) -> Result<Generated, Failure> {
    let generated = match what {
        Generate::Blocksworld(a) => blocksworld::generate(&a.into()),
        Generate::Npuzzle(a) => npuzzle::generate(&a.into()),
        Generate::Transport(a) => transport::generate(&a.into()),
        Generate::OneWayLine(a) => line::generate(&a.parameters(Direction::OneWay)),
        Generate::TwoWayLine(a) => line::generate(&a.parameters(Direction::TwoWay)),
        Generate::Beluga(a) => beluga::generate(&a.into()),
        Generate::Racetrack(a) => racetrack::generate(&race(a)?),
        Generate::Policy(_) => return Err(Failure::Internal("a policy is no domain".into())),
    };
    generated.map_err(|error| refused(&error))
}

/// A parameter that was refused, in terms of the command line.
fn refused(error: &ParameterError) -> Failure {
    let ParameterError { parameter, given, allowed } = error;
    Failure::Usage(format!("`--{}` is {given}, but must be {allowed}", parameter.replace('_', "-")))
}

/// What to do with an instance.
fn next(out: &Path, files: &[(&str, &str)]) -> String {
    let [model, property] = [0, 1].map(|i| write::quoted(&out.join(files[i].0)));
    format!(
        "next: surefoot verify {model} --property {property} --no-policy\n  \
         or: surefoot gen policy {model} --kind network --out {}\n",
        write::quoted(out)
    )
}

fn race(arguments: RacetrackArguments) -> Result<racetrack::Parameters, Failure> {
    let RacetrackArguments { track, top_speed, failing_probability, start_anywhere } = arguments;
    let path = Path::new(&track);
    let track = if Track::NAMES.contains(&track.as_str()) || !path.exists() {
        Track::named(&track).map_err(|mut error| {
            error.allowed += ", or a file";
            refused(&error)
        })?
    } else {
        let drawing = Sources::default().read(path)?;
        let name = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
        Track { name, drawing }
    };
    Ok(racetrack::Parameters { track, top_speed, failing_probability, start_anywhere })
}
