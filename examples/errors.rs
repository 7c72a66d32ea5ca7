//! Errors, and what a program can do about them: invalid fields, absent prompts, an invalid key, a
//! server that is down.
//!
//! ```console
//! $ cargo run --example errors
//! ```
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::time::Duration;

use promptarium::{Client, Error, ErrorKind, PromptId};
use promptarium_examples::Service;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Result {
    let service = Service::find().await?;
    let client = &service.client;

    // The error names all invalid fields.
    let create = client.prompts().create("", "x".repeat(15_001));
    report("A prompt with two invalid fields", create.await.err());

    report("An absent prompt", client.prompts().get(PromptId::new(i64::MAX)).await.err());

    let stranger = Client::new(client.base_url(), "promptarium_live_0_nobody")?;
    report("An invalid key", stranger.vaults().list().await.err());

    // Nothing listens on port 1, so each of the three attempts fails at once.
    let nowhere = Client::new("http://127.0.0.1:1/api/v1", "promptarium_live_0_nobody")?;
    report("A server that is down", nowhere.vaults().list().await.err());

    // The connection is accepted, and no response is sent.
    let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
    let base_url = format!("http://{}/api/v1", silent.local_addr()?);
    let mute = Client::new(base_url, "promptarium_live_0_nobody")?;
    let late = mute.vaults().list().timeout(Duration::from_millis(200)).await;
    report("A server that does not respond", late.err());

    report("A client without a key", Client::new(client.base_url(), "").err());
    Ok(())
}

/// What a program may do next.
fn next(error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "continue without it".to_owned(),
        ErrorKind::BadRequest | ErrorKind::Unauthorized | ErrorKind::Config => {
            "change the input or the key".to_owned()
        }
        // The client has retried already.
        _ if error.is_retryable() => {
            let delay = error.retry_after().unwrap_or(Duration::from_secs(60));
            format!("try again in {delay:?}")
        }
        _ => "give up".to_owned(),
    }
}

fn report(title: &str, error: Option<Error>) {
    println!("\n{title}");
    let Some(error) = error else {
        println!("  success");
        return;
    };
    // One line for a log, without the key.
    println!("  {error}");
    // A label for a metric.
    println!("  {}, attempts: {}", error.kind().as_str(), error.attempts());
    for (field, problem) in error.field_errors() {
        println!("  - {field}: {problem}");
    }
    // The causes, down to the error of the operating system.
    let mut cause = std::error::Error::source(&error);
    while let Some(source) = cause {
        println!("  because: {source}");
        cause = source.source();
    }
    println!("  => {}", next(&error));
}
