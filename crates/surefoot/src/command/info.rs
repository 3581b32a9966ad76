use crate::arguments::InfoArguments;
use crate::exit::Exit;
use crate::failure::Failure;

pub fn run(_: InfoArguments) -> Result<Exit, Failure> {
    todo!()
}
