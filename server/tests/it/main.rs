//! What only a socket or a process shows; the scenarios of the conformance suite
//! show the rest.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what a test takes for granted fails the test where it is not so"
)]

mod support;

mod command_line;
mod process;

mod commands;
mod database;

mod connections;
mod embedded;
mod failing_store;
mod generations;
mod limits;
mod metrics;
mod openapi;
mod streams;
mod uploads;

mod paths;
mod tidy;
