use crate::arguments::ReplayArguments;
use crate::exit::Exit;
use crate::failure::Failure;

pub fn run(_: ReplayArguments) -> Result<Exit, Failure> {
    todo!()
}
