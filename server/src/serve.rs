//! From a socket to a handler and back: connections, routing, authentication, metrics.

mod connection;
pub(crate) mod listener;
pub(crate) mod metrics;
pub(crate) mod routes;
pub(crate) mod service;
