//! The program as people run it: sessions against the embedded server and against servers that are
//! not ours.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic is how a test fails"
)]

#[path = "../../../conformance/tests/independent"]
mod independent {
    #[allow(dead_code, unused_imports, reason = "only some of its servers are used here")]
    pub(crate) mod alternative;
}
#[path = "../../../examples/tests/proxy.rs"]
#[allow(dead_code, reason = "code of other tests, of which a part is used")]
mod proxy;

mod files;
mod foreign;
mod generations;
mod kill;
mod mcp;
mod program;
mod prompts;
mod settings;
mod terminal;
