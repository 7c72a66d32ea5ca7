//! The resources of the API, as the methods of [`Client`] return them.

pub(crate) mod assets;
pub(crate) mod generations;
pub(crate) mod prompts;
pub(crate) mod raw;
pub(crate) mod uploads;
pub(crate) mod vaults;
#[cfg(feature = "webhook")]
pub(crate) mod webhooks;

pub use vaults::VaultContents;

use crate::client::Client;

/// Declares the types of the resources, and the methods of [`Client`] that return them.
macro_rules! resources {
    ($($method:ident: $name:ident = $text:literal;)*) => {
        $(
            #[doc = concat!($text, "; returned by [`Client::", stringify!($method), "`].")]
            #[derive(Debug, Clone)]
            pub struct $name {
                client: Client,
            }
        )*

        /// The resources of the API.
        impl Client {$(
            #[doc = concat!($text, ".")]
            pub fn $method(&self) -> $name {
                $name { client: self.clone() }
            }
        )*}
    };
}

resources! {
    prompts: Prompts = "The prompts of the account";
    vaults: Vaults = "The vaults of the account";
    generations: Generations = "Image and video generations";
    uploads: Uploads = "Image uploads";
    assets: Assets = "Downloads of uploaded and generated media";
}

#[cfg(feature = "webhook")]
resources! {
    webhooks: Webhooks = "URLs that the service calls when a generation has ended";
}
