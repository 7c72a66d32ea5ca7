//! The program `promptarium-server`; everything is in the library.

use std::process::ExitCode;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    promptarium_server::run(std::env::args_os())
}
