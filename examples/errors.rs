//! What can go wrong, and how a program finds out what to do about it: fields at
//! fault, things that are not there, a key that is not valid, a service that is away.
//!
//! ```console
//! $ cargo run --example errors
//! ```
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own.

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use std::time::Duration;

use promptarium::{Client, Error, PromptId};
use promptarium_examples::Service;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Result {
    let service = Service::find().await?;
    let client = &service.client;

    // All fields at fault are told at once, in the names of the wire.
    let create = client.prompts().create("", "x".repeat(15_001));
    tell("A prompt with two faults", create.await.err());

    tell("A prompt that is not there", client.prompts().get(PromptId::new(i64::MAX)).await.err());

    let stranger = Client::new(client.base_url(), "promptarium_live_0_nobody")?;
    tell("A key that nobody has", stranger.vaults().list().await.err());

    // Nobody listens on port 1, so each attempt fails at once; there are three.
    let nowhere = Client::new("http://127.0.0.1:1/api/v1", "promptarium_live_0_nobody")?;
    tell("A service that is away", nowhere.vaults().list().await.err());

    // The connection is taken and nothing is ever said.
    let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
    let base_url = format!("http://{}/api/v1", silent.local_addr()?);
    let mute = Client::new(base_url, "promptarium_live_0_nobody")?;
    let late = mute.vaults().list().timeout(Duration::from_millis(200)).await;
    tell("A service that does not answer", late.err());

    tell("A client without a key", Client::new(client.base_url(), "").err());
    Ok(())
}

/// What a program may do next.
enum Next {
    /// Nothing is there, which may be just as well.
    GoOn,
    /// Someone has to change what was sent, or the key.
    AskAPerson,
    /// The same call may succeed after this time.
    TryLater(Duration),
    GiveUp,
}

/// The questions to ask, from the most to the least particular.
fn next(error: &Error) -> Next {
    if error.is_not_found() {
        Next::GoOn
    } else if error.is_invalid() || error.is_unauthorized() || error.is_config() {
        Next::AskAPerson
    } else if error.is_retryable() {
        // The client has tried again already, as often as it may. How long the service
        // asked to be left alone is known if it said so.
        Next::TryLater(error.retry_after().unwrap_or(Duration::from_secs(60)))
    } else {
        Next::GiveUp
    }
}

fn tell(title: &str, error: Option<Error>) {
    println!("\n{title}");
    let Some(error) = error else {
        println!("  went well");
        return;
    };
    // One line for a person or a log, without the key in any case.
    println!("  {error}");
    // One word for a metric.
    println!("  {:?}, attempts: {}", error.kind(), error.attempts());
    for (field, problem) in error.field_errors() {
        println!("  - {field}: {problem}");
    }
    // What lies beneath, down to the word of the operating system.
    let mut cause = std::error::Error::source(&error);
    while let Some(source) = cause {
        println!("  because: {source}");
        cause = source.source();
    }
    match next(&error) {
        Next::GoOn => println!("  => go on without"),
        Next::AskAPerson => println!("  => ask a person"),
        Next::TryLater(wait) => println!("  => try again in {wait:?}"),
        Next::GiveUp => println!("  => give up"),
    }
}
