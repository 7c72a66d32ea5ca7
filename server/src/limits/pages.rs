//! Limits of what only the dashboard and the commands on accounts do.

use std::time::Duration;

/// The body of a form. The longest prompt has up to 12 bytes for each of its 15,000 characters.
pub(crate) const FORM_BYTES_MAX: usize = 256 * 1024;
/// Pictures that a prompt may have after an upload. All of them are in each response with it.
pub(crate) const PROMPT_IMAGES_MAX: usize = 100;
/// Prompts of one import, and bytes of one over HTTP, of which memory has twice as many.
pub(crate) const IMPORT_PROMPTS_MAX: usize = 100_000;
pub(crate) const IMPORT_BYTES_MAX: usize = 16 << 20;
/// Rows of one statement of an import or of the deletion of an account.
pub(crate) const ACCOUNT_ROWS_AT_ONCE: i64 = 1_000;
/// The longer side of a thumbnail: twice what a page shows, for screens with small pixels.
pub(crate) const THUMBNAIL_PIXELS: u32 = 480;
/// What the pixels of an original may take while its thumbnail is made: a photo of 32 megapixels. A
/// larger original, or a file of more bytes, gets a plain picture.
pub(crate) const THUMBNAIL_MEMORY_MAX: u64 = 96 << 20;
pub(crate) const THUMBNAIL_SOURCE_BYTES_MAX: u64 = 16 << 20;
/// How long a request waits for its turn to make one.
pub(crate) const THUMBNAIL_WAIT: Duration = Duration::from_secs(30);
