#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(feature = "test-support"),
    expect(unreachable_pub, reason = "some items are reachable through `test_support` only")
)]
// This is the one place that allows for what only the features use.
#![cfg_attr(
    not(all(
        feature = "dashboard",
        feature = "postgres",
        feature = "provider-queue",
        feature = "s3",
        feature = "webhooks"
    )),
    allow(dead_code, unused_imports, reason = "for the features that are off")
)]

mod program;
mod run;

mod config;
mod embedded;
mod start;

mod serve;

#[cfg(feature = "dashboard")]
mod web;

mod search;

mod api;
mod http;

mod generate;

mod blobs;
#[cfg(any(feature = "provider-queue", feature = "webhooks"))]
mod outbound;

#[cfg(not(feature = "test-support"))]
mod store;
#[cfg(feature = "test-support")]
pub mod store;

mod clock;
mod domain;
mod error_chain;
mod limits;
mod quota;

/// Internals for the tests and benchmarks of this repository. Semantic versioning does not cover
/// them. Without the feature they are private.
#[cfg(feature = "test-support")]
pub mod test_support {
    pub use crate::api::openapi::document as openapi_document;
    #[cfg(feature = "webhooks")]
    pub use crate::api::webhooks::table as webhook_table;
    pub use crate::blobs::Blobs;
    pub use crate::config::Config;
    pub use crate::domain::{BASE_PATH, ModelNamespace, PublicUrl};
    pub use crate::http::body::{BODY_BYTES_MAX, BODY_SECONDS_MAX};
    pub use crate::http::response::{Response, ResponseBody, ResponseBodyError};
    pub use crate::program::start;
    pub use crate::serve::listener::{HttpService, ListenerLimits, serve};
    pub use crate::serve::routes::{Routes, table as route_table};
    pub use crate::serve::service::{ApiService, check_host};
    pub use crate::start::Service;
    pub use crate::store::memory::MemoryStore;
    pub use crate::store::postgres::scratch::ScratchDatabase;
    pub use crate::store::postgres::{DatabaseUrl, Migration, PostgresStore};
    #[cfg(feature = "dashboard")]
    pub use crate::web::routes::table as page_table;
}

pub use self::clock::{Clock, ManualClock};
pub use self::embedded::{EmbedError, EmbeddedServer, EmbeddedServerBuilder};
pub use self::run::run;

/// The interface of generation providers, for [`EmbeddedServerBuilder::provider`].
pub mod provider {
    pub use crate::domain::{
        AssetName, GenerationRequest, ImageRef, Media, OutputKind, ProviderTicket,
    };
    pub use crate::generate::{Output, OutputStream, PollError, Progress, Provider, SubmitError};
}
