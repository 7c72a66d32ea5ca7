#![doc = include_str!("../README.md")]

pub mod embed;
pub use embed::{EmbedError, EmbeddedServer, EmbeddedServerBuilder};

pub mod manage;
pub mod run;

pub mod config;
pub mod log;
pub mod ready;
pub mod signals;

pub mod public_url;
pub mod start;

pub mod admin;
pub mod serve;

pub mod app;
pub mod error;
pub mod host;
pub mod place;
pub mod readiness;
pub mod route;

pub mod auth;
pub mod key;
pub mod seed;

pub mod api;
pub mod body;
pub mod cursor;
pub mod respond;
pub mod validate;

pub mod metrics;
pub mod outbound;

pub mod generate;

pub mod assets;
pub mod blobs;
pub mod uploads;

pub mod clock;
pub mod store;
