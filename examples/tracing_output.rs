//! The spans of three calls with the crate `tracing`: one is retried, and one fails.
//!
//! ```console
//! $ cargo run --example tracing_output
//! ```
//!
//! Each line is a span that has ended, with its parents and its duration, or an event. Without
//! `PROMPTARIUM_BASE_URL` it starts a reference server of its own.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

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
    // The target of all spans and events of the client.
    let ours = filter_fn(|metadata| metadata.target() == "promptarium");
    let lines = tracing_subscriber::fmt::layer().with_span_events(FmtSpan::CLOSE).with_ansi(false);
    tracing_subscriber::registry().with(lines.with_filter(ours)).init();

    let service = Service::find().await?;
    println!("Spans of three calls, on {}", service.place());
    let builder = match &service.embedded {
        Some(server) => Client::builder().base_url(server.base_url()).api_key(server.api_key()),
        None => ClientBuilder::from_env()?,
    };
    let client = builder.transport(BusyOnce::new()?).build()?;

    client.vaults().list().await?;
    client.prompts().list().page_size(1).await?;
    if let Err(error) = client.prompts().get(PromptId::new(i64::MAX)).await {
        println!("{error}");
    }
    Ok(())
}

/// A transport that answers the first list of prompts with 503.
struct BusyOnce {
    http: reqwest::Client,
    was_busy: AtomicBool,
}

impl BusyOnce {
    fn new() -> Result<Self, reqwest::Error> {
        // The client of this crate handles redirects and retries.
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let http = http.retry(reqwest::retry::never()).build()?;
        Ok(Self { http, was_busy: AtomicBool::new(false) })
    }
}

impl Transport for BusyOnce {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        if request.uri().path().ends_with("/prompts")
            && !self.was_busy.swap(true, Ordering::Relaxed)
        {
            let mut response = Response::new(Body::default());
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            return ready(Ok(response)).boxed();
        }
        self.http.send(request)
    }
}
