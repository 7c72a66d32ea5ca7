//! Is told when a generation ends: queues it, receives the event with axum, verifies it, and downloads
//! the images.
//!
//! ```console
//! $ cargo run --example webhook
//! ```
//!
//! The receiver listens on this machine only. A service elsewhere (`PROMPTARIUM_BASE_URL`) needs a tunnel to
//! it, whose URL is the argument, and the address to listen on before that.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use promptarium::{WebhookEvent, WebhookEventType, WebhookSecret};
use promptarium_examples::{Service, pictures};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

struct Receiver {
    secret: WebhookSecret,
    events: UnboundedSender<WebhookEvent>,
}

/// Verifies a request, and leaves the work to others: the service waits 15 seconds at most.
async fn receive(
    State(receiver): State<Arc<Receiver>>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    match receiver.secret.unwrap(&headers, body) {
        Ok(event) => match receiver.events.send(event) {
            Ok(()) => StatusCode::NO_CONTENT,
            Err(_) => StatusCode::SERVICE_UNAVAILABLE,
        },
        Err(error) => {
            println!("refused: {error}");
            StatusCode::BAD_REQUEST
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = Service::find().await?;
    let client = &service.client;
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(address).await?;
    let url = format!("http://{}/hook", listener.local_addr()?);
    let url = arguments.next().unwrap_or(url);

    let webhook = client.webhooks().create(url).description("The example").await?;
    let secret = webhook.secret.ok_or("the service shows the secret of a new webhook")?;
    let (events, mut received) = unbounded_channel();
    let app = Router::new().route("/hook", post(receive));
    let app = app.with_state(Arc::new(Receiver { secret, events }));
    tokio::spawn(async { axum::serve(listener, app).await });

    let job = client.generations().create(pictures::image_model(), "A harbour at dusk").await?;
    println!("queued {}", job.client_job_id);
    // Other events may come too, and each may come twice.
    let event = loop {
        let event = received.recv().await.ok_or("the receiver has ended")?;
        let is_of = |id: &promptarium::JobId| *id == job.client_job_id;
        if event.generation.as_ref().and_then(|of| of.client_job_id.as_ref()).is_some_and(is_of) {
            break event;
        }
    };
    println!("received {} ({})", event.kind, event.id);
    if event.kind == WebhookEventType::GenerationCompleted {
        for image in &event.images {
            let bytes = client.assets().download(&image.url).await?.bytes;
            println!("downloaded an image of {} bytes", bytes.len());
        }
    }
    client.webhooks().delete(webhook.id).await?;
    Ok(())
}
