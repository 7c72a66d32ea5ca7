//! The server with its dashboard, as the tour uses it: without PostgreSQL, S3 and the queue provider.
//!
//! ```console
//! $ cargo run --example server
//! ```
//!
//! An example and not `cargo run -p promptarium-server`, which has other features, so that Cargo
//! would compile the server and half of its dependencies once more.

use std::process::ExitCode;

fn main() -> ExitCode {
    promptarium_server::run(std::env::args_os())
}
