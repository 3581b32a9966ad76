//! `surefoot gen`: benchmark instances and random policies.

mod policy;
pub mod write;

use std::path::Path;

use surefoot_model::Sources;
use surefoot_model::domains::line::Direction;
use surefoot_model::domains::racetrack::{self, Track};
use surefoot_model::domains::{Generated, ParameterError, beluga, blocksworld, line, npuzzle, transport};

use crate::arguments::generate::{Generate, GenerateArguments, RacetrackArguments};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Generates and writes.
pub fn run(arguments: GenerateArguments) -> Result<Exit, Failure> {
    let GenerateArguments { what, out, force } = arguments;
    let text = match what {
        Generate::Blocksworld(a) => instance(blocksworld::generate(&a.into()), &out, force),
        Generate::Npuzzle(a) => instance(npuzzle::generate(&a.into()), &out, force),
        Generate::Transport(a) => instance(transport::generate(&a.into()), &out, force),
        Generate::OneWayLine(a) => instance(line::generate(&a.parameters(Direction::OneWay)), &out, force),
        Generate::TwoWayLine(a) => instance(line::generate(&a.parameters(Direction::TwoWay)), &out, force),
        Generate::Beluga(a) => instance(beluga::generate(&a.into()), &out, force),
        Generate::Racetrack(a) => instance(racetrack::generate(&race(a)?), &out, force),
        Generate::Policy(a) => policy::generate(&a, &out, force),
    }?;
    output::print(&text)?;
    Ok(Exit::Done)
}

/// A parameter that was refused, in terms of the command line.
fn refused(error: &ParameterError) -> Failure {
    let ParameterError { parameter, given, allowed } = error;
    Failure::Usage(format!("`--{}` is {given}, but must be {allowed}", parameter.replace('_', "-")))
}

/// Writes an instance; the text says what was written and what to do with it.
fn instance(
    generated: Result<Generated, ParameterError>,
    out: &Path,
    force: bool,
) -> Result<String, Failure> {
    let generated = generated.map_err(|error| refused(&error))?;
    let files: Vec<(&str, &str)> =
        generated.files.iter().map(|file| (file.name.as_str(), file.contents.as_str())).collect();
    let written = write::files(out, &files, force)?;
    let [model, property] = [0, 1].map(|i| write::quoted(&out.join(files[i].0)));
    Ok(format!(
        "{written}next: surefoot verify {model} --property {property} --no-policy\n  \
         or: surefoot gen policy {model} --kind network --out {}\n",
        write::quoted(out)
    ))
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
