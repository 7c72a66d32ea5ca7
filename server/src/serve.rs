//! From a socket to a handler and back: connections, routing, authentication, metrics.

pub(crate) mod admin;
mod connection;
pub(crate) mod listener;
pub(crate) mod metrics;
mod request_id;
pub(crate) mod routes;
pub(crate) mod service;
