//! The command `promptarium-conformance` with the built-in scenarios.

use std::process::ExitCode;

use promptarium_conformance::Suite;

fn main() -> ExitCode {
    promptarium_conformance::cli::main(&Suite::builtin())
}
