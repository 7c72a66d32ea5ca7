//! The limits of the API, for programs that validate input before they send it.
//!
//! The client checks none of them, except that an upload must have at least one byte. The service
//! checks them, and names the failing fields in its error
//! ([`is_invalid`](crate::Error::is_invalid)). The length of text is its number of [`char`]s.

use std::ops::RangeInclusive;

/// Items per page of `GET /prompts`.
pub const PAGE_SIZE: RangeInclusive<u32> = 1..=100;

/// Items per page by default.
pub const PAGE_SIZE_DEFAULT: u32 = 20;

/// Most characters of a search for prompts.
pub const PROMPT_SEARCH_CHARS_MAX: usize = 200;

/// Characters in the title of a prompt.
pub const PROMPT_TITLE_CHARS: RangeInclusive<usize> = 1..=120;

/// Characters in the text of a prompt.
pub const PROMPT_TEXT_CHARS: RangeInclusive<usize> = 1..=15_000;

/// Most characters in the aspect ratio of a prompt.
pub const PROMPT_ASPECT_RATIO_CHARS_MAX: usize = 20;

/// Most reference media URLs of a prompt.
pub const PROMPT_REFERENCE_MEDIA_URLS_MAX: usize = 10;

/// Most characters in the platform of a prompt.
pub const PROMPT_PLATFORM_CHARS_MAX: usize = 200;

/// Most characters in the id of a model.
pub const MODEL_ID_CHARS_MAX: usize = 256;

/// Most characters in a URL of a request.
pub const URL_CHARS_MAX: usize = 2_048;

/// Characters in the name of a vault.
pub const VAULT_NAME_CHARS: RangeInclusive<usize> = 1..=50;

/// Most characters in the description of a vault.
pub const VAULT_DESCRIPTION_CHARS_MAX: usize = 200;

/// Characters in the name of an API key.
pub const API_KEY_NAME_CHARS: RangeInclusive<usize> = 1..=100;

/// Most characters in the description of a webhook.
pub const WEBHOOK_DESCRIPTION_CHARS_MAX: usize = 200;

/// Prompts that one request can add to a vault.
pub const ADDED_PROMPTS: RangeInclusive<usize> = 1..=50;

/// Most characters in the prompt of a generation.
pub const GENERATION_PROMPT_CHARS_MAX: usize = 100_000;

/// Most characters in the negative prompt of a generation.
pub const GENERATION_NEGATIVE_PROMPT_CHARS_MAX: usize = 100_000;

/// Most source images (`imageInputs`) of a generation.
pub const GENERATION_IMAGE_INPUTS_MAX: usize = 7;

/// Most reference images (`referenceImageUrls`) of a generation.
pub const GENERATION_REFERENCE_IMAGE_URLS_MAX: usize = 7;

/// Outputs of one generation.
pub const GENERATION_BATCH_COUNT: RangeInclusive<u32> = 1..=4;

/// Outputs of one generation by default.
pub const GENERATION_BATCH_COUNT_DEFAULT: u32 = 1;

/// Characters in a `clientJobId`. The ids `.` and `..` are invalid too, since URL libraries
/// remove them from a path.
pub const CLIENT_JOB_ID_CHARS: RangeInclusive<usize> = 1..=256;

/// Characters in the `modelId` and in the `imageEditEndpointId` of a generation.
pub const GENERATION_MODEL_ID_CHARS: RangeInclusive<usize> = 1..=256;

/// Most characters in the `aspectRatio` of a generation.
pub const GENERATION_ASPECT_RATIO_CHARS_MAX: usize = 64;

/// Most bytes in the JSON text of a generation's `parameters`.
pub const GENERATION_PARAMETERS_BYTES_MAX: usize = 262_144;

/// Most levels of objects and arrays in a generation's `parameters`, the outermost object included.
pub const GENERATION_PARAMETERS_DEPTH_MAX: usize = 64;

/// Most values in a generation's `parameters`, at all levels together, the outermost object
/// included.
pub const GENERATION_PARAMETERS_VALUES_MAX: usize = 10_000;

/// The aspect ratio of a generation by default.
pub const GENERATION_ASPECT_RATIO_DEFAULT: &str = "1:1";

/// Bytes in an uploaded image. The client itself refuses an empty one only.
pub const UPLOAD_SIZE_BYTES: RangeInclusive<u64> = 1..=10_485_760;

/// The lifetime of an upload slot in seconds.
pub const UPLOAD_SLOT_LIFETIME_SECONDS: u64 = 7_200;
