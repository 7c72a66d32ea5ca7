//! The limits of what is around the reference: the program, other providers and stores of files,
//! pages. The rest is in [`crate::limits`].

use std::time::Duration;

// The program.
/// How long the command `health` waits for `/readyz`.
pub(crate) const HEALTH_TIMEOUT: Duration = Duration::from_secs(3);
/// The least `--memory-budget`: then the share of an account is the largest JSON body and what is
/// parsed from it.
pub(crate) const MEMORY_BUDGET_MIB_MIN: usize = 48;
/// How long a line of the log may wait. A killed process loses the lines of this time at most.
pub(crate) const LOG_FLUSH_DELAY: Duration = Duration::from_millis(50);
/// Bytes of lines that wait for the writer. Further lines are dropped.
pub(crate) const LOG_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long a line is waited for, and the last lines at the end of the program.
pub(crate) const LOG_WRITE_TIMEOUT: Duration = Duration::from_millis(500);

/// Between two attempts of a start at opening its database.
pub(crate) const DATABASE_WAIT_PAUSE: Duration = Duration::from_secs(3);

// Searches.
/// When a search stops: its result says where to go on.
pub(crate) const SEARCH_PROMPTS_MAX: usize = 20_000;
pub(crate) const SEARCH_TIME_MAX: Duration = Duration::from_secs(2);
/// Searches at once in all. An account has one at a time.
pub(crate) const SEARCHES_MAX: usize = 8;

// The queue provider, and HTTP to other hosts.
/// A submission to the queue provider. Less than [`SUBMIT_TIMEOUT`](super::SUBMIT_TIMEOUT), which
/// would hide the reason.
pub(crate) const QUEUE_SUBMIT_TIMEOUT: Duration = Duration::from_secs(45);
/// A status or result request to the queue provider.
pub(crate) const QUEUE_POLL_TIMEOUT: Duration = Duration::from_secs(20);
/// Largest JSON response of the queue provider, other than a result.
pub(crate) const QUEUE_RESPONSE_BYTES_MAX: usize = 1 << 20;
/// Largest result of the queue provider. It may contain outputs as `data:` URLs.
pub(crate) const QUEUE_RESULT_BYTES_MAX: usize = 64 << 20;
/// Bytes of results in memory, beyond the first [`QUEUE_RESPONSE_BYTES_MAX`] of each.
pub(crate) const QUEUE_RESULTS_BYTES: usize = 2 * QUEUE_RESULT_BYTES_MAX;
/// Redirects of a download that are followed.
pub(crate) const OUTPUT_REDIRECTS_MAX: usize = 5;
/// Characters in a provider's id of a request, and bytes of its addresses that are stored.
pub(crate) const PROVIDER_REQUEST_ID_CHARS_MAX: usize = 256;
pub(crate) const PROVIDER_STATE_BYTES_MAX: usize = 64 * 1024;
/// Time limit of name resolution, TCP connect and TLS handshake together.
pub(crate) const OUTBOUND_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Idle outbound connections. Most servers close theirs later.
pub(crate) const OUTBOUND_IDLE_TIMEOUT: Duration = Duration::from_secs(20);

// Webhooks.
/// Deliveries of one webhook at once, of all servers together.
pub(crate) const WEBHOOK_DELIVERIES_AT_ONCE: usize = 4;
/// Deliveries of one server at once.
pub(crate) const WEBHOOK_WORKERS: usize = 64;
/// One attempt; less than the lease on a delivery, which is not renewed.
pub(crate) const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(15);
/// How much of a response is read, and how much of that is kept.
pub(crate) const WEBHOOK_RESPONSE_BYTES_MAX: usize = 64 << 10;
pub(crate) const WEBHOOK_RESPONSE_BYTES_KEPT: usize = 1 << 10;
/// The longest `Retry-After` that is respected.
pub(crate) const WEBHOOK_RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 3600);
/// A webhook that has failed for this long is disabled.
pub(crate) const WEBHOOK_FAILING_MAX: Duration = Duration::from_secs(5 * 24 * 3600);
/// How long the secret before signs.
pub(crate) const WEBHOOK_ROTATION: Duration = Duration::from_secs(24 * 3600);
/// How long deliveries are stored.
pub(crate) const WEBHOOK_DELIVERIES_KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

// Files in S3.
/// The check at the start that the bucket works.
pub(crate) const BLOBS_OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of uploads that are in memory at once on their way to S3.
pub(crate) const S3_UPLOAD_BYTES_MAX: usize = 40 * 1024 * 1024;
/// How long a complete upload waits for its share of [`S3_UPLOAD_BYTES_MAX`].
pub(crate) const S3_UPLOAD_WAIT: Duration = Duration::from_secs(30);
/// A larger file goes to S3 in parts of this size.
pub(crate) const S3_WHOLE_BYTES_MAX: u64 = 2 * S3_PART_BYTES;
pub(crate) const S3_PART_BYTES: u64 = 8 << 20;
/// Until S3 responds, the sending of the largest upload included, and between two pieces.
pub(crate) const S3_READ_TIMEOUT: Duration = Duration::from_secs(60);
/// Retries of a request to S3, and when the last may start. Few, because a client waits.
pub(crate) const S3_RETRIES_MAX: usize = 3;
pub(crate) const S3_RETRY_FOR: Duration = Duration::from_secs(4);
/// First and longest wait before a retry of a request to S3; it doubles.
pub(crate) const S3_BACKOFF_FIRST: Duration = Duration::from_millis(100);
pub(crate) const S3_BACKOFF_MAX: Duration = Duration::from_secs(2);
/// The request that finds out whether a failed put has stored the file.
pub(crate) const S3_CONFIRM_TIMEOUT: Duration = Duration::from_secs(3);

// The dashboard and the commands on accounts.
/// Prompts of one import, and bytes of one over HTTP, of which memory has twice as many.
pub(crate) const IMPORT_PROMPTS_MAX: usize = 100_000;
pub(crate) const IMPORT_BYTES_MAX: usize = 16 << 20;
/// The longer side of a thumbnail: twice what a page shows, for screens with small pixels.
pub(crate) const THUMBNAIL_PIXELS: u32 = 480;
/// What the pixels of an original may take while its thumbnail is made: a photo of 32 megapixels. A
/// larger original, or a file of more bytes, gets a plain picture.
pub(crate) const THUMBNAIL_MEMORY_MAX: u64 = 96 << 20;
pub(crate) const THUMBNAIL_SOURCE_BYTES_MAX: u64 = 16 << 20;
/// How long a request waits for its turn to make one.
pub(crate) const THUMBNAIL_WAIT: Duration = Duration::from_secs(30);

// The data folder.
/// How long a start waits for a command, or an ending server, that uses its folder.
pub(crate) const FOLDER_LOCK_WAIT: Duration = Duration::from_secs(2);
