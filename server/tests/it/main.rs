//! What only a socket or a process can show. The scenarios of the conformance suite prove
//! the behaviour of the API.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails where something unexpected happens"
)]

#[path = "../support/lib.rs"]
#[expect(dead_code, reason = "each test program uses a part")]
mod support;

mod command_line;
mod process;

mod account_commands;
mod addresses;
mod commands;
mod database;
mod pooler;

mod connections;
mod dashboard;
mod docs;
mod embedded;
#[cfg(unix)]
mod folder;
#[cfg(target_os = "linux")]
mod folder_faults;
mod generations;
mod http;
mod metrics;
mod openapi;
mod rates;
mod sessions;
mod uploads;
mod webhooks;

mod hops;
mod paths;
mod tidy;
