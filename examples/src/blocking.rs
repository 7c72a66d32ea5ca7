//! Where an example without async code finds a service to talk to.

use std::error::Error;

use promptarium::blocking::Client;
use promptarium_server::EmbeddedServer;
use tokio::runtime::Runtime;

/// A client that blocks, and the server it talks to if that one runs inside this
/// program.
pub struct Service {
    /// The client.
    pub client: Client,
    /// Dropped in this order: the server, then the runtime that the server needs.
    _embedded: Option<(EmbeddedServer, Runtime)>,
}

impl Service {
    /// As [`promptarium_examples::Service::find`](crate::Service::find).
    ///
    /// # Errors
    /// If the environment is not usable, or no server can be started.
    pub fn find() -> Result<Self, Box<dyn Error>> {
        if std::env::var_os("PROMPTARIUM_BASE_URL").is_some() {
            return Ok(Self { client: Client::from_env()?, _embedded: None });
        }
        let runtime = Runtime::new()?;
        let server = runtime.block_on(EmbeddedServer::start())?;
        let client = Client::new(server.base_url(), server.api_key())?;
        Ok(Self { client, _embedded: Some((server, runtime)) })
    }
}
