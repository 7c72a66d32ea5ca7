#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(feature = "test-support"),
    expect(unreachable_pub, reason = "some items are reachable through `test_support` only")
)]

mod embedded;
mod run;

mod config;
mod start;

mod serve;

mod api;
mod http;

mod generate;

mod blobs;
mod outbound;

pub mod store;

mod clock;
mod domain;
mod error_chain;
mod limits;

#[cfg(feature = "test-support")]
pub mod test_support;

pub use self::clock::{Clock, ManualClock};
pub use self::embedded::{EmbedError, EmbeddedServer, EmbeddedServerBuilder};
pub use self::run::run;

/// The interface of generation providers, for [`EmbeddedServerBuilder::provider`].
pub mod provider {
    pub use crate::domain::{GenerationRequest, Media, OutputKind, ProviderTicket};
    pub use crate::generate::{Output, PollError, Progress, Provider, SubmitError};
}
