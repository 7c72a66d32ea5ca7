//! Timeouts, sizes and bounds that an operator sets, that a test needs, or that two places use. Any
//! other stands beside its one user. Limits of the API's fields are in [`promptarium::limits`].

pub(crate) mod product;

use std::time::Duration;

// How many connections are there, and how long may one be idle or slow?
/// Default of `--max-connections`.
pub(crate) const CONNECTIONS_MAX: usize = 10_000;
pub(crate) const LISTEN_BACKLOG: u32 = 1024;

// How large and how slow may a request be, and what may it take?
/// All that the kernel holds of a response that is not read.
pub(crate) const UNREAD_BYTES: usize = 128 * 1024;
/// For all connections. An address may have its share; whoever exceeds that is closed sooner.
pub(crate) const UNREAD_BYTES_MAX: usize = 64 * 1024 * 1024;
pub(crate) const UNREAD_TIMEOUT_BEYOND_QUOTA: Duration = Duration::from_secs(5);
/// A JSON body, and the body of a form.
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Seconds until the whole body has arrived.
pub const BODY_SECONDS_MAX: u64 = 30;
/// Chunks of a streamed list are sent when they have this size.
pub(crate) const LISTING_CHUNK_BYTES: usize = 32 * 1024;
/// Default of `--memory-budget`, in MiB: what bodies may take in all.
pub(crate) const MEMORY_BUDGET_MIB: usize = 128;
/// Which part of it one account may take; all requests without an account share as much.
pub(crate) const MEMORY_SHARE_DIVISOR: usize = 4;
/// Responses up to this size do not count in the budget: they fit into the socket's buffer.
pub(crate) const RESPONSE_BYTES_UNCOUNTED: usize = 16 * 1024;

// How long do codes, sessions and keys last, and how many are there?
/// How long a one-time code can be used.
pub(crate) const SIGN_IN_CODE_LIFETIME: Duration = Duration::from_secs(15 * 60);
/// How long a session lasts at most, and how long without a request.
pub(crate) const SESSION_MAX: Duration = Duration::from_secs(30 * 24 * 3600);
pub(crate) const SESSION_IDLE: Duration = Duration::from_secs(7 * 24 * 3600);
/// Between two recorded uses of a session or a key.
pub(crate) const LAST_USE_PRECISION: Duration = Duration::from_secs(60);
/// Keys of one account that are not revoked.
pub(crate) const API_KEYS_MAX: usize = 100;
/// A key that is not valid is refused after this time, which is longer than most look-ups.
pub(crate) const KEY_REFUSAL_TIME: Duration = Duration::from_millis(5);

// How much may an account have?
/// Default of `--vaults-max`: vaults of one account. All of them are in one response.
pub(crate) const VAULTS_MAX: usize = 10_000;
/// Prompts that an account in memory may have after a fork, in 180 MiB if they are short.
pub(crate) const MEMORY_FORK_PROMPTS_MAX: usize = 250_000;

/// How far the clock of a server may be from the database's.
pub(crate) const CLOCKS_DIFFER_MAX: Duration = Duration::from_secs(2);

// How long does a request wait for PostgreSQL, and how much of it may one account use?
/// How often the check at the start tries to catch a pooler in changing the connection below ours.
pub(crate) const POOLER_CHECKS: u32 = 10;
/// Default and least value of `--database-pool`: all connections.
pub(crate) const DATABASE_CONNECTIONS: usize = 16;
pub(crate) const DATABASE_CONNECTIONS_MIN: usize = 3;
/// The most pipelined connections among them, and the most as a part of all.
pub(crate) const SHARED_CLIENTS_MAX: usize = 4;
pub(crate) const SHARED_CLIENTS_PART: usize = 4;
/// How long a statement waits for a connection, and how long for its share of them.
pub(crate) const POOL_WAIT: Duration = Duration::from_secs(4);
/// For connecting to one host: name, TCP, TLS, password, session settings.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// All that one request waits for the database, except for [`LONG_WRITE_TIMEOUT`].
pub(crate) const REQUEST_DATABASE_TIMEOUT: Duration = Duration::from_secs(9);
/// `statement_timeout` of a session. With [`POOL_WAIT`] it is [`REQUEST_DATABASE_TIMEOUT`].
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(5);
/// How much longer than `statement_timeout` we wait for a server that says nothing.
pub(crate) const STATEMENT_GRACE: Duration = Duration::from_secs(2);
/// A fork or deletion of a vault with more prompts than this is a long write.
pub(crate) const LONG_WRITE_PROMPTS: i64 = 1_000;
/// For the statement of a long write: what exceeds it can never be done.
pub(crate) const LONG_WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// Long writes of one account at once. All accounts together have a quarter of the pool.
pub(crate) const LONG_WRITES_PER_ACCOUNT: usize = 1;
/// Look-ups at once of keys that are not cached, and of sessions: anybody can send wrong ones.
pub(crate) const KEY_LOOKUPS_MAX: usize = 8;
/// How often a statement is sent at most, and the pause between two attempts.
pub(crate) const STATEMENT_ATTEMPTS: u32 = 10;
pub(crate) const RETRY_PAUSE_MIN: Duration = Duration::from_millis(4);
pub(crate) const RETRY_PAUSE_MAX: Duration = Duration::from_millis(128);
/// A vault with more prompts than this is read in batches.
pub(crate) const SMALL_VAULT_PROMPTS: usize = 64;
/// Prompts in a batch, and what the largest ones take.
pub(crate) const LISTING_BATCH: usize = 32;
pub(crate) const LISTING_BATCH_BYTES: usize = LISTING_BATCH * 64 * 1024;
/// Rows of lists read at once for one account: 8 of the largest pages; 8 times as many in all.
pub(crate) const LIST_ROWS_PER_ACCOUNT: usize = 808;
pub(crate) const KEY_CACHE_SIZE: usize = 10_000;
/// Idle workers look for the jobs of other servers before this time has passed.
pub(crate) const JOB_POLL: Duration = Duration::from_secs(1);

// What does a search read?
/// Prompts in one chunk, and for PostgreSQL the bytes of texts after which a chunk ends.
pub(crate) const SEARCH_CHUNK: usize = 500;
pub(crate) const SEARCH_CHUNK_BYTES: usize = 2 << 20;

// How long is a generation tried, and what may its outputs take?
/// Longest submission to a provider.
pub(crate) const SUBMIT_TIMEOUT: Duration = Duration::from_secs(60);
/// A submission without a result for this long, more than the two times around it, has failed.
pub(crate) const SUBMIT_LIMIT: Duration = Duration::from_secs(120);
/// How long submissions in progress may take once no connection is left. A longer one is lost with
/// the process; the log has its request id.
pub(crate) const SUBMIT_FINISH_TIMEOUT: Duration = Duration::from_secs(8);
/// How long a request waits while the result of its submission cannot be recorded.
pub(crate) const SUBMIT_RECORD_RETRY_FOR: Duration = Duration::from_secs(10);
/// How long it is retried after that. Ended jobs are kept at least as long: the name is not reused.
pub(crate) const SUBMIT_UNRECORDED_RETRY_FOR: Duration = Duration::from_secs(24 * 3600);
/// After an outage of the store, late submissions are not failed for this long, but recorded.
pub(crate) const SUBMIT_LATE_GRACE: Duration = Duration::from_secs(20);
/// How long a repeated request waits for the first one's submission.
pub(crate) const SUBMIT_WAIT: Duration = Duration::from_secs(30);
/// First and longest pause between two looks at the store during a submission; it doubles.
pub(crate) const SUBMIT_RETRY_DELAY_MIN: Duration = Duration::from_millis(5);
pub(crate) const SUBMIT_RETRY_DELAY_MAX: Duration = Duration::from_secs(3);
/// Late submissions that are failed, and ended jobs that are deleted, by one statement.
pub(crate) const JOBS_AT_ONCE: usize = 1000;
/// How long a claimed job belongs to its worker without a heartbeat.
pub(crate) const JOB_LEASE: Duration = Duration::from_secs(20);
/// Longest poll of a provider, without the download of the outputs.
pub(crate) const JOB_POLL_TIMEOUT: Duration = Duration::from_secs(60);
/// First and longest delay after a failed attempt; it doubles.
pub(crate) const JOB_RETRY_DELAY_MIN: Duration = Duration::from_secs(1);
pub(crate) const JOB_RETRY_DELAY_MAX: Duration = Duration::from_secs(300);
/// When a job that the provider still has fails, and what a longer `Retry-After` of it counts as.
pub(crate) const JOB_PROVIDER_LIMIT: Duration = Duration::from_secs(7 * 24 * 3600);
pub(crate) const PROVIDER_RETRY_AFTER_MAX: Duration = Duration::from_secs(3600);
/// For how long what is probably lost is asked for again, for example a deleted output.
pub(crate) const JOB_DOUBT_LIMIT: Duration = Duration::from_secs(120);
/// `Retry-After` if the provider is busy and names no time, and if it refuses this service.
pub(crate) const PROVIDER_BUSY_WAIT: Duration = Duration::from_secs(5);
pub(crate) const PROVIDER_REFUSED_WAIT: Duration = Duration::from_secs(300);
/// Defaults of `--job-retry-hours` and `--job-keep-days`.
pub(crate) const JOB_RETRY_HOURS: usize = 24;
pub(crate) const JOB_KEEP_DAYS: usize = 30;
/// Interval at which ended jobs are deleted, and at which late submissions are failed.
pub(crate) const JOB_DELETE_INTERVAL: Duration = Duration::from_secs(3600);
pub(crate) const SUBMIT_CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Default of `--workers`. They wait for the provider most of the time.
pub(crate) const WORKERS_DEFAULT: usize = 64;
/// Default of `--output-max-mib`: MiB of the largest output.
pub(crate) const OUTPUT_MAX_MIB: usize = 512;
/// Until the first byte of an output arrives, and between two pieces.
pub(crate) const OUTPUT_STALL_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes per second of an output, beyond that time: 512 MiB may take 35 minutes.
pub(crate) const OUTPUT_RATE_MIN: u64 = 256 * 1024;
/// Bytes of every output that may be on disk. A larger one needs one of these permits.
pub(crate) const OUTPUT_BYTES_FREE: u64 = 16 << 20;
pub(crate) const LARGE_OUTPUTS_MAX: usize = 8;
pub(crate) const LARGE_OUTPUTS_PER_ACCOUNT: usize = 2;
/// Bytes of an output that are read for the size of its image.
pub(crate) const OUTPUT_HEAD_BYTES_MAX: u64 = 2 << 20;
/// Characters of a provider's reason that are stored with a failed job.
pub(crate) const PROVIDER_REASON_CHARS_MAX: usize = 1000;

// How large and how slow may a file be, and how long is its store waited for?
/// Bytes per second of an upload, beyond the time of every body: 10 MiB may take 350 seconds.
pub(crate) const UPLOAD_RATE_MIN: u64 = 32 * 1024;
/// Bytes of an upload that are buffered before they are written to a file.
pub(crate) const UPLOAD_BUFFER_BYTES: usize = 256 * 1024;
/// One step of the store of files but for a put to S3.
pub(crate) const BLOBS_TIMEOUT: Duration = Duration::from_secs(8);
/// Bytes per second of a put to S3, beyond that time: 10 MiB may take 48 seconds.
pub(crate) const S3_RATE_MIN: u64 = 256 * 1024;
/// A piece of a file that is read, which the response takes while a client does not read it.
pub(crate) const FOLDER_DOWNLOAD_BYTES: usize = 32 * 1024;

// What do the dashboard and the commands on accounts do at most?
/// The body of a form. The longest prompt has up to 12 bytes for each of its 15,000 characters.
pub(crate) const FORM_BYTES_MAX: usize = 256 * 1024;
/// Pictures that a prompt may have after an upload. All of them are in each response with it.
pub(crate) const PROMPT_IMAGES_MAX: usize = 100;
/// Rows of one statement of an import or of the deletion of an account.
pub(crate) const ACCOUNT_ROWS_AT_ONCE: i64 = 1_000;
