//! Tests of the whole program: the built binary, its output and its exit codes.

mod bad_input;
mod bench;
mod check;
mod demo;
mod ensemble;
mod explain;
mod generate;
mod ic3;
mod info;
mod lists;
mod ppa;
mod reading;
mod replay;
mod resume;
mod simulate;
mod support;
mod usage;
mod verify;
