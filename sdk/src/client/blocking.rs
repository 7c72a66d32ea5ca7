//! The client for programs without an async runtime: the same calls, which the
//! calling thread waits for.
//!
//! Everything is asked as of [`promptarium::Client`](crate::Client), with `.send()` in
//! place of `.await` and iterators in place of streams:
//!
//! ```no_run
//! use promptarium::blocking::Client;
//!
//! fn main() -> Result<(), promptarium::Error> {
//!     let client = Client::from_env()?;
//!     let vault = client.vaults().create("Harbours").send()?;
//!     client.prompts().create("Dusk", "A harbour at dusk").vault(vault.id).send()?;
//!     for prompt in client.prompts().list().vault(vault.id).items() {
//!         println!("{}", prompt?.title);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! | asked of | awaited | blocking |
//! |---|---|---|
//! | any call | `.await`, `.send().await` | `.send()` |
//! | an upload, an asset, waiting for a job | `.await` | `.send()` |
//! | a list | `.stream()`, `.pages()` | `.items()`, `.pages()` |
//! | what becomes of a job | `.watch()`, a stream | `.watch()`, an iterator |
//!
//! # Threads
//!
//! A client has one thread of its own, which looks after connections and timers; clones
//! share it, and it ends with the last of them and of what was made by them. Calls run
//! on the thread that makes them, so any number of threads can call at once, closures
//! like `on_progress` run where the call was made, and a panic in one of them is the
//! caller's own.
//!
//! Within async code a blocking call works too, on a thread made for it, but holds up
//! whatever else the calling thread has to do;
//! [`promptarium::Client`](crate::Client) does not.

mod client;
mod lists;
mod reader;
mod runtime;
mod send;
mod steps;
mod watch;

use std::fmt;
use std::sync::Arc;

pub use client::Client;
pub use lists::{Items, Pages};
pub use reader::reader;
pub use watch::Watch;

use super::Error;
use super::mode::{Mode, sealed::Sealed};
use runtime::Runtime;

/// Calls are waited for by the thread that makes them.
#[derive(Clone)]
pub struct Blocking(Arc<Runtime>);

impl Blocking {
    fn start() -> Result<Self, Error> {
        Runtime::start().map(|runtime| Self(Arc::new(runtime))).map_err(Error::no_thread)
    }
}

impl Sealed for Blocking {}

impl Mode for Blocking {}

impl fmt::Debug for Blocking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blocking")
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_thread_that_cannot_be_started_is_a_matter_of_set_up() {
        let error = Error::no_thread(io::Error::from(io::ErrorKind::WouldBlock));
        assert!(error.is_config() && !error.is_retryable());
        assert_eq!(error.to_string(), "the thread that blocking calls need cannot be set up");
        let source = std::error::Error::source(&error).unwrap();
        assert!(source.is::<io::Error>());
    }
}
