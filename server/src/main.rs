//! The program `promptarium-server`; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    promptarium_server::run(std::env::args_os())
}
