//! What a call tells `tracing`: a span for the call, one for each time it is sent, and
//! an event when it is sent again.
//!
//! The names are those of OpenTelemetry's conventions for HTTP clients; the README of
//! the crate lists them. An address shows by its host and port only, and a path by its
//! template, so that no field can hold a key, a token, a signature or what a user
//! wrote. Without the feature `tracing` there is nothing here, and it costs nothing.

#[cfg(not(feature = "tracing"))]
mod nothing;
#[cfg(feature = "tracing")]
mod spans;

#[cfg(not(feature = "tracing"))]
pub(super) use nothing::Span;
#[cfg(feature = "tracing")]
pub(super) use spans::Span;
