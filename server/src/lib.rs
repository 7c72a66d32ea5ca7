#![doc = include_str!("../README.md")]

pub mod embedded;
pub use embedded::{EmbedError, EmbeddedServer, EmbeddedServerBuilder};

pub mod manage;
pub mod run;

pub mod config;
pub mod log;
pub mod ready;
pub mod signals;

pub mod start;

pub mod serve;

pub mod api;
pub mod http;
pub mod openapi;
pub mod seed;

pub mod generate;

pub mod blobs;
pub mod outbound;

pub mod store;

pub mod clock;
pub mod domain;
mod error_chain;
pub mod limits;
