//! Every timeout, size and pool bound of the server.
//!
//! Limits of the API's fields are in [`promptarium::limits`], which the SDK shares. Settings
//! that an operator can change have their defaults here.

use std::time::Duration;

// Connections and requests.

/// Default of `--max-connections`.
pub const CONNECTIONS_MAX: usize = 10_000;
/// Connections of the metrics listener.
pub const ADMIN_CONNECTIONS_MAX: usize = 64;
/// File descriptors that are not for client connections: database, files, S3, provider.
pub const DESCRIPTORS_RESERVED: u64 = 128;
/// Default of `--drain-timeout`.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
/// A request head, from its first byte; also a new connection until its first request.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection without a request. Longer than the 60 seconds for which common balancers keep
/// an idle connection: they must be the ones to close, or they send requests into the close.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(75);
/// Response bytes that wait for the peer to read [`PROGRESS_BYTES`].
pub const WRITE_STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// An HTTP/2 request for which neither side transfers [`PROGRESS_BYTES`]. Longer than any wait
/// for the database, the object store or the provider.
pub const REQUEST_STALL_TIMEOUT: Duration = Duration::from_secs(120);
/// An idle connection after it was told to close.
pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// Fewer bytes than this are no progress: a peer that reads one at a time is stalled.
pub const PROGRESS_BYTES: usize = 16 * 1024;
/// Interval of HTTP/2 pings on a quiet connection, and the time for their response.
pub const PING_INTERVAL: Duration = Duration::from_secs(20);
/// See [`PING_INTERVAL`].
pub const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Concurrent requests on one HTTP/2 connection.
pub const STREAMS_MAX: u32 = 200;
/// HTTP/2 flow control window of one request body.
pub const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
/// HTTP/2 flow control window of a connection: enough for all its request bodies, so that
/// those that wait leave room for the others.
pub const CONNECTION_WINDOW_BYTES: u32 = STREAMS_MAX * STREAM_WINDOW_BYTES;
/// First and longest pause after a failed accept, for instance for want of descriptors.
pub const ACCEPT_RETRY_MIN: Duration = Duration::from_millis(5);
/// See [`ACCEPT_RETRY_MIN`].
pub const ACCEPT_RETRY_MAX: Duration = Duration::from_secs(1);

/// A JSON body.
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The arrival of a whole JSON body, in seconds. Large uploads have longer.
pub const BODY_SECONDS_MAX: u64 = 30;
/// How long the rest of a body is read and discarded after the response, and how much of it.
pub const DISCARD_TIMEOUT: Duration = Duration::from_secs(3);
/// See [`DISCARD_TIMEOUT`].
pub const DISCARD_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Chunks of a streamed list are sent when they have this size.
pub const LISTING_CHUNK_BYTES: usize = 32 * 1024;
/// Longest `x-request-id` of a client that is used.
pub const REQUEST_ID_CHARS_MAX: usize = 128;
/// How long `/readyz` waits for the store, so that its client has a response before it times out.
pub const READINESS_TIMEOUT: Duration = Duration::from_secs(2);
/// Value of `Retry-After` on 503, in seconds.
pub const RETRY_AFTER_SECONDS: &str = "2";
/// How often durations are sorted into their buckets, also when no one reads the metrics.
pub const METRICS_UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

// PostgreSQL.

// Generations.

// Uploads and assets.
