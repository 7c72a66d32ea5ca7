//! The program as people run it: sessions against the embedded server and against servers that are
//! not ours.

#[path = "../../../conformance/tests/independent"]
mod independent {
    #[allow(dead_code, unused_imports, reason = "only some of its servers are used here")]
    pub(crate) mod alternative;
}
#[path = "../../../examples/tests/proxy.rs"]
#[allow(dead_code, reason = "only a part of it is used here")]
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
