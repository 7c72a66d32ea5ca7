//! From a socket to a handler and back: connections, routing, authentication, metrics.

pub mod admin;
mod connection;
pub mod listener;
pub mod metrics;
mod request_id;
pub mod routes;
pub mod service;
