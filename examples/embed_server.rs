//! A test of your own code against the real service, with nothing installed:
//! the reference server runs inside the test, on a free port, in memory.
//!
//! ```console
//! $ cargo test --example embed_server
//! $ cargo run --example embed_server
//! ```

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use std::error::Error;

use promptarium::Client;
use promptarium_server::EmbeddedServer;

/// Stands for the code you want to test.
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
    println!("made: {}", favourite(&client, "A quiet street").await?);
    Ok(())
}
