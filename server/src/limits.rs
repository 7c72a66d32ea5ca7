//! Every timeout, size and pool bound of the server.
//!
//! Limits of the API's fields are in [`promptarium::limits`], which the SDK shares. Settings
//! that an operator can change have their defaults here.

use std::time::Duration;

// Connections and requests.

// PostgreSQL.

/// Connections of one server, unless the address or a flag says otherwise. One more listens
/// for jobs.
pub(crate) const DATABASE_CONNECTIONS: usize = 16;
/// The most pipelined connections among them, and the most as a part of all.
pub(crate) const SHARED_CLIENTS_MAX: usize = 4;
pub(crate) const SHARED_CLIENTS_PART: usize = 4;
/// How long a statement waits for a connection, failed attempts at connecting included.
pub(crate) const POOL_WAIT: Duration = Duration::from_secs(4);
/// For connecting to one host: name, TCP, TLS, password, session settings.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long sent bytes may go unacknowledged (Linux).
pub(crate) const TCP_USER_TIMEOUT: Duration = Duration::from_secs(10);
/// After this time an idle connection is probed, in this interval, and closed after this many
/// probes without an answer.
pub(crate) const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
pub(crate) const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
pub(crate) const KEEPALIVE_RETRIES: u32 = 3;
/// `statement_timeout` of a session.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);
/// How much longer than `statement_timeout` we wait for a server that says nothing.
pub(crate) const STATEMENT_GRACE: Duration = Duration::from_secs(5);
/// `idle_in_transaction_session_timeout` of a session.
pub(crate) const IDLE_IN_TRANSACTION_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a statement is sent at most, and the pause between two attempts.
pub(crate) const STATEMENT_ATTEMPTS: u32 = 10;
pub(crate) const RETRY_PAUSE_MIN: Duration = Duration::from_millis(4);
pub(crate) const RETRY_PAUSE_MAX: Duration = Duration::from_millis(128);
/// A vault with more prompts than this is streamed.
pub(crate) const STREAM_BATCH: usize = 64;
/// Streams of one account at once. All accounts together have half of the pool.
pub(crate) const STREAMS_PER_ACCOUNT: usize = 2;
/// How long a request waits until it may stream.
pub(crate) const STREAM_WAIT: Duration = Duration::from_secs(5);
/// How long the reader of a stream may take no batch before its connection is closed.
pub(crate) const STREAM_STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Keys in the cache.
pub(crate) const KEY_CACHE_SIZE: usize = 10_000;
/// How long an idle worker waits for a notification before it looks for jobs itself.
pub(crate) const JOB_POLL: Duration = Duration::from_secs(1);
/// For the statement that starts listening, and the pause before it is tried again.
pub(crate) const LISTEN_TIMEOUT: Duration = Duration::from_secs(5);
pub(crate) const LISTEN_PAUSE_MIN: Duration = Duration::from_millis(100);
pub(crate) const LISTEN_PAUSE_MAX: Duration = Duration::from_secs(5);

// Generations.

// Uploads and assets.
