//! The command `promptarium-conformance`: what the library can do, from a shell.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
