//! Every timeout, size and pool bound of the server.
//!
//! Limits of the API's fields are in [`promptarium::limits`], which the SDK shares. Settings
//! that an operator can change have their defaults here.

use std::time::Duration;

// Connections and requests.

// PostgreSQL.

// Generations.

// Uploads and assets.

/// Minimum rate of an upload in bytes per second, beyond the seconds that every body has. An
/// upload of 10 MiB may take 350 seconds.
pub const UPLOAD_RATE_MIN: u64 = 32 * 1024;
/// Bytes of an upload that are collected in memory before they are written to a file.
pub const UPLOAD_BUFFER_BYTES: usize = 256 * 1024;
/// Bytes of uploads that are in memory at once on their way to S3.
pub const S3_UPLOAD_BYTES_MAX: u32 = 40 * 1024 * 1024;
/// How long a complete upload waits for its share of [`S3_UPLOAD_BYTES_MAX`].
pub const S3_UPLOAD_WAIT: Duration = Duration::from_secs(30);
/// Maximum time until S3 responds, and between two pieces of a response. The largest upload is
/// sent within it.
pub const S3_READ_TIMEOUT: Duration = Duration::from_secs(60);
/// Retries of a request to S3. A client waits for the outcome, so they are few.
pub const S3_RETRIES_MAX: usize = 3;
/// No retry of a request to S3 starts later than this.
pub const S3_RETRY_FOR: Duration = Duration::from_secs(20);
/// Files are read in pieces of this size; each costs a thread switch.
pub const ASSET_PIECE_BYTES: usize = 128 * 1024;
/// Time limit of name resolution, TCP connect and TLS handshake together.
pub const OUTBOUND_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Idle outbound connections are closed after this time. Most servers wait longer, so requests
/// rarely meet a connection that the other side is closing.
pub const OUTBOUND_IDLE_TIMEOUT: Duration = Duration::from_secs(20);
/// Wait before the first retry of a request to S3; it doubles up to [`S3_BACKOFF_MAX`].
pub const S3_BACKOFF_FIRST: Duration = Duration::from_millis(100);
/// Longest wait between two tries of a request to S3.
pub const S3_BACKOFF_MAX: Duration = Duration::from_secs(2);
/// How long a look may take that settles whether a failed put has stored the file.
pub const S3_CONFIRM_TIMEOUT: Duration = Duration::from_secs(10);
