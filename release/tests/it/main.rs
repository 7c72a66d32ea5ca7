//! What `docs/releasing.md` promises of the published crates, as far as it can be told
//! from cargo's metadata and from rustdoc's JSON.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "what a test takes for granted fails the test where it is not so"
)]

mod api;
mod comparison;
mod growth;
mod msrv;
mod rustdoc;
