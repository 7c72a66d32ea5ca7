//! Where the examples find a service to talk to and put the pictures it makes, and
//! the README of the repository as a test.

pub mod blocking;
pub mod pictures;

use std::error::Error;

use promptarium::Client;
use promptarium_server::EmbeddedServer;

#[doc = include_str!("../../README.md")]
#[cfg(doctest)]
pub struct Readme;

/// A client, and the server it talks to if that one runs inside this program.
pub struct Service {
    /// The client.
    pub client: Client,
    /// Stops when it is dropped.
    pub embedded: Option<EmbeddedServer>,
}

impl Service {
    /// The service at `PROMPTARIUM_BASE_URL` with `PROMPTARIUM_API_KEY`, or a
    /// reference server made for this one run when no address is set.
    ///
    /// # Errors
    /// If the environment is not usable, or no server can be started.
    pub async fn find() -> Result<Self, Box<dyn Error>> {
        if std::env::var_os("PROMPTARIUM_BASE_URL").is_some() {
            return Ok(Self { client: Client::from_env()?, embedded: None });
        }
        let server = EmbeddedServer::start().await?;
        let client = Client::new(server.base_url(), server.api_key())?;
        Ok(Self { client, embedded: Some(server) })
    }

    /// One sentence for a person: where the service is.
    pub fn told(&self) -> String {
        match &self.embedded {
            Some(server) => {
                format!("a reference server inside this program, {}", server.base_url())
            }
            None => "the service at PROMPTARIUM_BASE_URL".to_owned(),
        }
    }
}
