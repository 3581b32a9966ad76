use crate::arguments::SimulateArguments;
use crate::exit::Exit;
use crate::failure::Failure;

pub fn run(_: SimulateArguments) -> Result<Exit, Failure> {
    todo!()
}
