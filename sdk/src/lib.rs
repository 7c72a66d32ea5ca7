//! Async and blocking client for the Promptarium API: prompts, vaults, image uploads, and image
//! and video generations.
//!
//! ```console
//! $ cargo add promptarium
//! $ cargo add tokio --features macros,rt-multi-thread
//! ```
//!
//! ```no_run
//! use promptarium::Client;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), promptarium::Error> {
//!     let client = Client::from_env()?;
//!     let vault = client.vaults().create("Harbours").await?;
//!     let prompt = client.prompts().create("Dusk", "A harbour at dusk").vault(vault.id).await?;
//!     println!("prompt {} is in vault {}", prompt.id, vault.name);
//!     Ok(())
//! }
//! ```
//!
//! A [`Client`] has one method for each resource ([`resources`]), a resource one method for each
//! call, and a call has a method for each optional argument ([`request`]).
//! `.await` sends it, which needs a Tokio runtime; with the feature `blocking`, `.send_blocking()`
//! needs none. Every failure is an [`Error`].
//!
//! # Common tasks
//!
//! The examples have a [`Client`] `client`, a [`VaultId`] `vault` and a [`PromptId`] `id`.
//!
//! Connect: [`Client::from_env`], [`Client::new`] or [`Client::builder`].
//!
//! Store a prompt ([`CreatePrompt`](request::CreatePrompt)) and change it
//! ([`UpdatePrompt`](request::UpdatePrompt)); fields that are not set remain:
//!
//! ```
//! # use promptarium::*; async fn example(client: Client, vault: VaultId) -> Result<(), Error> {
//! let prompt = client.prompts().create("Dusk", "A harbour").image("local/plasma").vault(vault).await?;
//! let prompt = client.prompts().update(prompt.id).title("Dawn").clear_platform().await?;
//! # Ok(()) }
//! ```
//!
//! Read all prompts ([`ListPrompts`](request::ListPrompts)), in one vector or page by page:
//!
//! ```
//! # use promptarium::*; async fn example(client: Client, vault: VaultId) -> Result<(), Error> {
//! let all = client.prompts().list().vault(vault).collect().await?;
//!
//! let mut prompts = client.prompts().list().vault(vault).items();
//! while let Some(prompt) = prompts.try_next().await? { println!("{}", prompt.title) }
//! # Ok(()) }
//! ```
//!
//! Pin a prompt in a vault ([`VaultContents`](resources::VaultContents)):
//!
//! ```
//! # use promptarium::*; async fn example(client: Client, vault: VaultId, id: PromptId) -> Result<(), Error> {
//! let contents = client.vault(vault);
//! let Some(member) = contents.find(id).await? else { return Ok(()) };
//! contents.pin(member.vault_prompt_id).await?;
//! # Ok(()) }
//! ```
//!
//! Upload an image ([`UploadImage`](request::UploadImage)):
//!
//! ```
//! # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
//! let url = client.uploads().image("harbour.png").await?.url;
//! # Ok(()) }
//! ```
//!
//! Generate images, wait and download ([`CreateGeneration`](request::CreateGeneration), which is
//! never repeated blindly):
//!
//! ```
//! # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
//! let finished = client.generations().create("local/plasma", "A harbour").and_wait().await?;
//! let Some(image) = finished.images().next() else { return Ok(()) };
//! client.assets().download(&image.url).save("dusk.png").await?;
//! # Ok(()) }
//! ```
//!
//! Handle an error ([`Error`]):
//!
//! ```
//! # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
//! match client.prompts().create("", "A harbour").await {
//!     Err(error) if error.is_invalid() => println!("invalid: {:?}", error.field_error("title")),
//!     created => println!("{}", created?.id),
//! }
//! # Ok(()) }
//! ```
//!
//! Set retries and timeouts of a call, or of all calls in [`ClientBuilder`]:
//!
//! ```
//! # use promptarium::*; async fn example(client: Client, id: PromptId) -> Result<(), Error> {
//! # use std::time::Duration;
//! let policy = RetryPolicy::new().max_attempts(5).max_backoff(Duration::from_secs(30));
//! let prompt = client.prompts().get(id).retry(policy).timeout(Duration::from_secs(300)).await?;
//! # Ok(()) }
//! ```
//!
//! Resume a list in another process ([`Cursor`]):
//!
//! ```
//! # use promptarium::*; async fn example(client: Client, mut prompts: Items<Prompt>) -> Result<(), Error> {
//! let stored: Option<String> = prompts.cursor().map(ToString::to_string);
//! let mut rest = client.prompts().list().set_cursor(stored).items();
//! # Ok(()) }
//! ```
//!
//! # Retries
//!
//! A failed call is retried where that is safe, with exponential backoff and jitter
//! ([`RetryPolicy`]), after `Retry-After`, and within the [`RetryBudget`] of the client:
//!
//! | what happened | GET | idempotent POST | DELETE, PUT | other POST, PATCH |
//! |---|---|---|---|---|
//! | no connection | yes | yes | yes | yes |
//! | 429 (rate limit) | yes | yes | yes | yes |
//! | 408, 502, 503, 504 | yes | yes | yes | no |
//! | 500 | yes | yes | no | no |
//! | connection lost before a response | yes | yes | yes | no |
//! | timeout before a response | yes | yes | yes | no |
//! | success with an incomplete body | yes | yes | no | no |
//! | success with a body that cannot be decoded | no | no | no | no |
//! | redirect that is not followed | no | no | no | no |
//! | any other error status | no | no | no | no |
//!
//! Pinning, unpinning and requesting an upload slot are idempotent. `POST /generations` is not: see
//! [`CreateGeneration`](request::CreateGeneration). A `DELETE` that is retried may fail with
//! [`is_not_found`](Error::is_not_found) because the first attempt succeeded.
//!
//! # Raw requests
//!
//! The escape hatch for endpoints and fields that this version does not know: [`Client::request`]
//! and its shorthands send any request, and `send_with_meta` of a call returns the response with the
//! value ([`WithMeta`]). [`ClientBuilder::http_client`] takes a `reqwest::Client` with a proxy or
//! certificates of its own; [`transport`] is for other HTTP clients.
//!
//! # Features
//!
//! | feature | default | |
//! |---|---|---|
//! | `client` | yes | the client; without it only the models and [`limits`], and no HTTP crate |
//! | `rustls` | yes | TLS by rustls with aws-lc |
//! | `rustls-no-provider` | no | TLS by rustls with the `CryptoProvider` that the program installs |
//! | `native-tls` | no | TLS by the operating system |
//! | `gzip` | no | compressed responses |
//! | `http2` | no | HTTP/2 where the server offers it over TLS |
//! | `blocking` | no | calls without an async runtime |
//! | `durable` | no | a journal of writes, for programs that are stopped and started again |
//! | `testing` | no | a scripted server and fixtures for tests |
//! | `tracing` | no | spans of calls and attempts, with OpenTelemetry's names |
//!
//! [`blocking`] has the calls without an async runtime, [`testing`] the tools for tests. Without a
//! TLS feature the client supports plain HTTP only. The minimum supported Rust version is 1.89.
//!
//! # Tracing
//!
//! With the feature `tracing` there is a span for each call and each attempt, with the names of
//! OpenTelemetry's conventions for HTTP clients, so that layers such as `tracing-opentelemetry` need
//! no mapping. All have the level `INFO` and the target `promptarium`. No field contains a key, a
//! token, a query, a body or a prompt.
//!
//! | span | meaning | kind |
//! |---|---|---|
//! | `call` | a call, until its response has been decoded | internal |
//! | `attempt` | one request: of a call, an upload or a download | client |
//! | `upload` | an upload with its slots and attempts | internal |
//! | `asset` | a download with its redirects | internal |
//! | `wait` | waiting for a generation, with its polls | internal |
//!
//! | field | of | meaning |
//! |---|---|---|
//! | `otel.name`, `otel.kind` | all | the name, such as `GET /prompts/{promptId}`, and kind of the span |
//! | `http.request.method` | `call`, `attempt` | the method |
//! | `url.template` | `call`, `attempt` | the path template; not for raw requests, uploads and downloads |
//! | `server.address`, `server.port` | `call`, `attempt` | host and port |
//! | `http.request.resend_count` | `attempt` | the number of the retry, from 1 |
//! | `http.request.body.size` | `attempt` | the size of an upload |
//! | `http.response.status_code` | `call`, `attempt` | the status of the response |
//! | `error.type` | all | the status of an error response, else [`ErrorKind::as_str`] |
//! | `otel.status_code` | all | `ERROR` after a failure |
//! | `promptarium.job.id` | `wait` | the id of the generation |
//!
//! Events are `retry after a delay`, with `error.type`, `delay_ms` and `http.request.resend_count`,
//! and `job status changed`, with `promptarium.job.status`. A span that ends without a status was
//! dropped.

#![cfg_attr(docsrs, feature(doc_cfg))]
// Public types can grow in a minor release.
#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]
#![cfg_attr(
    not(all(feature = "blocking", feature = "client", feature = "durable", feature = "testing")),
    allow(rustdoc::broken_intra_doc_links, reason = "the links are to items of all features")
)]

#[cfg(all(doctest, feature = "blocking", feature = "testing"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "blocking")]
pub mod blocking;
#[cfg(feature = "client")]
mod call;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "durable")]
pub mod durable;
#[cfg(feature = "client")]
mod error;
#[cfg(feature = "client")]
mod macros;
#[cfg(feature = "client")]
mod pages;
#[cfg(feature = "client")]
pub mod resources;
#[cfg(feature = "client")]
mod response;
#[cfg(feature = "client")]
mod send;
#[cfg(feature = "client")]
pub mod transport;

#[cfg(feature = "client")]
pub use {
    client::{Client, ClientBuilder},
    error::{Error, ErrorKind},
    pages::{Items, Pages},
    resources::assets::Asset,
    resources::generations::{FinishedGeneration, GenerationRef, Watch},
    resources::uploads::{UploadProgress, UploadSource, UploadedImage},
    response::{RawResponse, WithMeta},
    send::outcome::Outcome,
    send::policy::{RetryBudget, RetryPolicy},
    send::throttle::Pressure,
};
/// The calls of the API: a type for each that has optional arguments, with the methods that set
/// them, and [`Call`](request::Call) for the others.
#[cfg(feature = "client")]
pub mod request {
    pub use crate::call::Call;
    pub use crate::resources::{
        assets::{DownloadAsset, SaveAsset},
        generations::{CreateGeneration, Wait},
        prompts::{CreatePrompt, ListPrompts, UpdatePrompt},
        raw::RawRequest,
        uploads::UploadImage,
        vaults::{CreateVault, UpdateVault},
    };
}

pub mod limits;

// For servers of the API; programs that use the client need no paths.
#[doc(hidden)]
#[warn(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)]
pub mod path;

#[cfg(feature = "testing")]
pub mod testing;

#[warn(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)]
mod model;
pub use model::{
    AddedPrompts, AssetUrl, Cursor, Deleted, GenerationJob, GenerationState, GenerationStatus,
    GenerationType, ImageContentType, JobId, MovedPrompt, Page, PinState, Prompt, PromptId,
    PromptImage, PromptStatus, PromptType, RemovedPrompt, Timestamp, UnknownValue, UploadSlot,
    UploadToken, UploadUrl, Vault, VaultId, VaultPrompt, VaultPromptId, Visibility,
};
