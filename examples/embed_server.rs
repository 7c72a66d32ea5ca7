//! A test of your own code against the reference server, which runs in the process of the test, in
//! memory, on a free port.
//!
//! ```console
//! $ cargo test --example embed_server
//! $ cargo run --example embed_server
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use promptarium::Client;
use promptarium_server::EmbeddedServer;

/// The code under test.
async fn favourite(client: &Client, text: &str) -> Result<String, promptarium::Error> {
    let vault = client.vaults().create("Favourites").await?;
    let prompt = client.prompts().create("Favourite", text).vault(vault.id).await?;
    Ok(prompt.title)
}

#[tokio::test]
async fn a_favourite_gets_its_title() -> Result<(), Box<dyn Error>> {
    let server = EmbeddedServer::start().await?;
    let client = Client::new(server.base_url(), server.api_key())?;
    assert_eq!(favourite(&client, "A quiet street").await?, "Favourite");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = EmbeddedServer::start().await?;
    let client = Client::new(server.base_url(), server.api_key())?;
    println!("created: {}", favourite(&client, "A quiet street").await?);
    Ok(())
}
