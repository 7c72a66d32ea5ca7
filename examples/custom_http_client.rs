//! A company network: a proxy, another certificate authority, and a user agent.
//!
//! ```console
//! $ cargo run --example custom_http_client
//! $ PROMPTARIUM_PROXY=http://proxy.corp.example:3128 \
//!   PROMPTARIUM_CA_FILE=corp-ca.pem cargo run --example custom_http_client
//! ```
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;
use std::time::Duration;

use promptarium::Client;
use promptarium_examples::Service;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let service = Service::find().await?;
    let builder = match &service.embedded {
        Some(server) => Client::builder().base_url(server.base_url()).api_key(server.api_key()),
        None => Client::builder()
            .base_url(std::env::var("PROMPTARIUM_BASE_URL")?)
            .api_key(std::env::var("PROMPTARIUM_API_KEY")?),
    };
    let client = builder
        .http_client(http_client()?)
        // Appended to the name and version of the SDK.
        .user_agent("poster-shop/2.1")
        .build()?;
    for vault in client.vaults().list().await? {
        println!("vault {}: {}", vault.id, vault.name);
    }
    Ok(())
}

fn http_client() -> Result<reqwest::Client, Box<dyn Error>> {
    let mut builder = reqwest::Client::builder()
        // Required of every client for the SDK, which handles redirects and retries itself.
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        // The SDK's `connect_timeout` has no effect here.
        .connect_timeout(Duration::from_secs(5));
    // Without this, HTTPS_PROXY and similar variables apply.
    if let Ok(proxy) = std::env::var("PROMPTARIUM_PROXY") {
        println!("with the proxy {proxy}");
        builder = builder.proxy(reqwest::Proxy::all(proxy)?);
    }
    // In addition to the authorities of the system.
    if let Some(file) = std::env::var_os("PROMPTARIUM_CA_FILE") {
        let authorities = reqwest::Certificate::from_pem_bundle(&std::fs::read(file)?)?;
        println!("{} more certificate authorities", authorities.len());
        builder = builder.tls_certs_merge(authorities);
    }
    Ok(builder.build()?)
}
