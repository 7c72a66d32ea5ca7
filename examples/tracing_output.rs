//! What a program that listens to `tracing` hears of its calls: three of them, one
//! that is sent again and one that is refused.
//!
//! ```console
//! $ cargo run --example tracing_output
//! ```
//!
//! Each line is a span that has ended, after the spans it is a part of, with the time
//! it took; or an event. Without `PROMPTARIUM_BASE_URL` it starts a reference server of
//! its own.

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::{BoxFuture, FutureExt as _, ready};
use http::{Request, Response, StatusCode};
use promptarium::transport::{Body, Failure, Transport};
use promptarium::{Client, ClientBuilder, PromptId};
use promptarium_examples::Service;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Everything the client tells has this target, whatever else is in the program.
    let ours = filter_fn(|told| told.target() == "promptarium");
    let lines = tracing_subscriber::fmt::layer().with_span_events(FmtSpan::CLOSE).with_ansi(false);
    tracing_subscriber::registry().with(lines.with_filter(ours)).init();

    let service = Service::find().await?;
    println!("Spans of three calls, on {}", service.told());
    let builder = match &service.embedded {
        Some(server) => Client::builder().base_url(server.base_url()).api_key(server.api_key()),
        None => ClientBuilder::from_env()?,
    };
    let client = builder.transport(BadMoment::new()?).build()?;

    client.vaults().list().await?;
    client.prompts().list().page_size(1).await?;
    if let Err(error) = client.prompts().get(PromptId::new(i64::MAX)).await {
        println!("{error}");
    }
    Ok(())
}

/// A network on which the first list of prompts meets an overloaded server.
struct BadMoment {
    http: reqwest::Client,
    is_over: AtomicBool,
}

impl BadMoment {
    fn new() -> Result<Self, reqwest::Error> {
        // Redirects and sending again are the business of the Promptarium client.
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let http = http.retry(reqwest::retry::never()).build()?;
        Ok(Self { http, is_over: AtomicBool::new(false) })
    }
}

impl Transport for BadMoment {
    fn send(
        &self,
        request: Request<Body>,
    ) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        if request.uri().path().ends_with("/prompts") && !self.is_over.swap(true, Ordering::Relaxed)
        {
            let mut response = Response::new(Body::default());
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            return ready(Ok(response)).boxed();
        }
        self.http.send(request)
    }
}
