#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(feature = "client"))))]
// Public types can grow in a minor release.
#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]
#![cfg_attr(
    not(all(feature = "blocking", feature = "client", feature = "durable", feature = "testing")),
    allow(rustdoc::broken_intra_doc_links, reason = "the links are to items of all features")
)]

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
mod send;
#[cfg(feature = "client")]
mod time;
#[cfg(feature = "client")]
pub mod transport;

#[doc(no_inline)]
#[cfg(feature = "client")]
pub use {bytes, http, reqwest};

#[cfg(feature = "client")]
pub use {
    client::{Client, ClientBuilder},
    error::{Error, ErrorKind, Outcome},
    pages::{Items, Pages},
    resources::assets::{Asset, AssetStream, DownloadProgress},
    resources::generations::{FinishedGeneration, GenerationRef, Watch},
    resources::uploads::{UploadProgress, UploadSource, UploadedImage},
    send::policy::{RetryBudget, RetryPolicy},
    send::reply::{RawResponse, WithMeta},
    send::throttle::Pressure,
};
/// The calls of the API: a type for each that has optional arguments, with the methods that set
/// them, and [`Call`](request::Call) for the others.
#[cfg(feature = "client")]
pub mod request {
    pub use crate::call::Call;
    #[cfg(not(target_arch = "wasm32"))]
    pub use crate::resources::assets::SaveAsset;
    #[cfg(feature = "webhook")]
    pub use crate::resources::webhooks::SetWebhook;
    pub use crate::resources::{
        assets::DownloadAsset,
        generations::{CreateGeneration, Wait},
        prompts::{CreatePrompt, ListPrompts, UpdatePrompt},
        raw::RawRequest,
        uploads::UploadImage,
        vaults::{CreateVault, ForkVault, UpdateVault},
    };
}

#[doc(no_inline)]
pub use url;

#[cfg(feature = "client")]
#[doc = include_str!("guide.md")]
pub mod guide {}

pub mod limits;

// For servers of the API; programs that use the client need no paths.
#[doc(hidden)]
#[warn(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)]
pub mod path;

#[cfg(feature = "testing")]
pub mod testing;

#[warn(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)]
mod model;
pub use model::*;
