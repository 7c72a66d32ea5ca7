#![cfg_attr(docsrs, feature(doc_cfg))]
// Public types can grow in a minor release.
#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]
#![cfg_attr(feature = "client", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "client"),
    doc = "The models, limits and paths of the Promptarium API, without an HTTP client."
)]

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "blocking")]
pub use client::blocking;
#[cfg(feature = "client")]
pub use client::{
    Asset, Client, ClientBuilder, Error, ErrorKind, FinishedGeneration, GenerationRef, Items, Meta,
    Pages, RawResponse, RetryBudget, RetryPolicy, UploadProgress, UploadSource, UploadedImage,
    Watch, WithMeta, transport,
};

/// The resources of the API, as the methods of [`Client`] return them.
#[cfg(feature = "client")]
pub mod resources {
    pub use crate::client::{
        Assets, Generations, JobHandle, Prompts, Uploads, VaultContents, VaultHandle, Vaults,
    };
}

/// The calls of the API, one type each, with the methods that set optional arguments.
#[cfg(feature = "client")]
pub mod request {
    pub use crate::client::{
        AddPrompts, CreateAndWait, CreateGeneration, CreatePrompt, CreateUploadSlot, CreateVault,
        DeletePrompt, DeleteVault, DownloadAsset, FindVaultPrompt, ForkVault, GetGenerationStatus,
        GetPrompt, GetPromptOpt, GetVault, GetVaultOpt, ListPrompts, ListVaultPrompts, ListVaults,
        MovePrompt, PinPrompt, RawRequest, RemovePrompt, SaveAsset, SavePrompt, UpdatePrompt,
        UpdateVault, UploadImage, Wait,
    };
}

pub mod limits;

pub mod server;
#[cfg(feature = "client")]
use server::path;

#[cfg(feature = "testing")]
pub mod testing;

#[warn(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)]
mod model;
pub use model::{
    AddedPrompts, AssetUrl, Cursor, Deleted, FieldErrors, GenerationJob, GenerationState,
    GenerationStatus, GenerationType, ImageContentType, JobId, MovedPrompt, Page, ParseIdError,
    PinState, Prompt, PromptId, PromptImage, PromptStatus, PromptType, RemovedPrompt, Timestamp,
    UnknownValue, UploadSlot, UploadToken, UploadUrl, Vault, VaultId, VaultPrompt, VaultPromptId,
    Visibility,
};
