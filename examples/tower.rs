//! Layers of `tower` around the HTTP client: a time limit, a header, and a line for each request.
//!
//! ```console
//! $ cargo run --example tower
//! ```
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;
use std::time::Duration;

use http::{HeaderValue, Request, Response};
use promptarium::Client;
use promptarium::transport::{Body, ServiceTransport, TransportService};
use promptarium_examples::Service;
use tower::ServiceBuilder;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let service = Service::find().await?;
    let builder = match &service.embedded {
        Some(server) => Client::builder().base_url(server.base_url()).api_key(server.api_key()),
        None => Client::builder()
            .base_url(std::env::var("PROMPTARIUM_BASE_URL")?)
            .api_key(std::env::var("PROMPTARIUM_API_KEY")?),
    };
    let http_client = reqwest::Client::builder()
        // The SDK follows redirects and retries.
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .build()?;
    let layers = ServiceBuilder::new()
        .map_response(|response: Response<Body>| {
            println!("  {}", response.status());
            response
        })
        .map_request(|mut request: Request<Body>| {
            // Neither the headers nor the query: they may contain credentials.
            println!("  {} {}", request.method(), request.uri().path());
            request.headers_mut().insert("x-team", HeaderValue::from_static("harbours"));
            request
        })
        .timeout(Duration::from_secs(5))
        .service(TransportService(http_client));
    let client = builder.transport(ServiceTransport(layers)).build()?;
    for vault in client.vaults().list().await? {
        println!("vault {}: {}", vault.id, vault.name);
    }
    Ok(())
}
