//! Tests of the public API, in one binary: requests, streams, errors and their texts, settings,
//! models.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic is how a test fails"
)]

mod listening;
mod stub;

mod answers;
mod assets;
mod blocking;
mod config;
mod connections;
mod documentation;
mod durable;
mod errors;
mod generations;
mod keys;
mod layers;
mod models;
mod outside;
mod pages;
mod raw;
mod requests;
mod retries;
mod secrets;
mod sending;
mod stored;
mod testing;
mod traces;
mod uploads;
mod webhooks;
