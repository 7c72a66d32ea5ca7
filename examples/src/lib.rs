//! The service and the images of the examples, and the README of the repository as a test.

pub mod pictures;

use std::error::Error;

use promptarium::Client;
use promptarium_server::EmbeddedServer;

#[doc = include_str!("../../README.md")]
#[cfg(doctest)]
pub struct Readme;

/// A client, and its server if that runs in this process.
pub struct Service {
    /// The client.
    pub client: Client,
    /// Stops when it is dropped.
    pub embedded: Option<EmbeddedServer>,
}

impl Service {
    /// The service at `PROMPTARIUM_BASE_URL` with `PROMPTARIUM_API_KEY`, or without that variable a
    /// new reference server in this process.
    ///
    /// # Errors
    /// If the environment is invalid, or no server can be started.
    pub async fn find() -> Result<Self, Box<dyn Error>> {
        if std::env::var_os("PROMPTARIUM_BASE_URL").is_some() {
            return Ok(Self { client: Client::from_env()?, embedded: None });
        }
        let server = EmbeddedServer::start().await?;
        let client = Client::new(server.base_url(), server.api_key())?;
        Ok(Self { client, embedded: Some(server) })
    }

    /// The place of the service, as text.
    pub fn place(&self) -> String {
        match &self.embedded {
            Some(server) => {
                format!("a reference server in this process, {}", server.base_url())
            }
            None => "the service at PROMPTARIUM_BASE_URL".to_owned(),
        }
    }
}
