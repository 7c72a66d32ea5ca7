//! Tests of your own code without a server: a scripted transport, the service in memory, faults at
//! every request, and fixtures of all models. Feature `testing`.
//!
//! A [`Script`] takes the place of the network: it answers the requests that a test expects, and
//! records them. [`fixture`] has a value of every model. A [`FakeService`] answers without a
//! script: it stores what the code under test creates, and can have the habits of other services
//! ([`Rudeness`]). [`explore`] runs that code with every [`Fault`] at each of its requests, and reports
//! what is then doubled, lost or paid twice.
//!
//! Time is Tokio's: in a test with a paused clock (`#[tokio::test(start_paused = true)]`, feature
//! `test-util` of Tokio), backoff, polling and timeouts take no time, and
//! [`tokio::time::Instant`] measures how long they would have taken.
//!
//! ```
//! use promptarium::testing::{Answer, Script, client, fixture};
//! use promptarium::{Client, Error, PromptId};
//!
//! /// The code under test.
//! async fn shout(client: &Client, id: PromptId) -> Result<String, Error> {
//!     let prompt = client.prompts().get(id).await?;
//!     let changed = client.prompts().update(id).title(prompt.title.to_uppercase()).await?;
//!     Ok(changed.title)
//! }
//!
//! #[tokio::main(flavor = "current_thread", start_paused = true)]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let script = Script::new();
//!     let mut prompt = fixture::prompt();
//!     prompt.title = "Dusk".to_owned();
//!     script
//!         .get("/prompts/{promptId}")
//!         .answer(Answer::error(503, "busy"))
//!         .answer(Answer::data(&prompt));
//!     script.patch("/prompts/{promptId}").always_with(|request| {
//!         let mut changed = fixture::prompt();
//!         changed.title = request.json()["title"].as_str().unwrap_or_default().to_owned();
//!         Answer::data(&changed)
//!     });
//!
//!     assert_eq!(shout(&client(&script), prompt.id).await?, "DUSK");
//!
//!     assert_eq!(script.calls(), ["GET /prompts/7", "GET /prompts/7", "PATCH /prompts/7"]);
//!     script.verify()?;
//!     Ok(())
//! }
//! ```
//!
//! A test of what code does when a request fails or the program ends in the middle:
//!
//! ```
//! use promptarium::testing::explore;
//! use promptarium::{Client, Error};
//!
//! /// The code under test.
//! async fn import(client: &Client) -> Result<(), Error> {
//!     let vaults = client.vaults().list().await?;
//!     if !vaults.iter().any(|vault| vault.name == "Harbours") {
//!         client.vaults().create("Harbours").await?;
//!     }
//!     Ok(())
//! }
//!
//! #[tokio::main(flavor = "current_thread", start_paused = true)]
//! async fn main() {
//!     explore(async |client| import(&client).await).await.assert_clean();
//! }
//! ```

mod answer;
mod explore;
pub mod fixture;
mod script;
mod service;
mod transport;

pub use answer::Answer;
pub use explore::{
    Case, Cause, Fault, Problem, ProblemKind, Report, explore, explore_on, explore_with,
};
pub use script::{Expectation, Script, VerifyError};
pub use service::{FakeService, Rudeness};
pub use transport::SeenRequest;

use crate::{Client, ClientBuilder};

/// The base URL of [`client`].
pub const BASE_URL: &str = "https://prompts.example/api/v1";

/// The API key of [`client`].
pub const API_KEY: &str = "promptarium_test_0_key";

/// The start of the upload URLs of fixtures and of [`Script::storage`].
pub const STORAGE_URL: &str = "https://storage.example/uploads";

/// The start of the asset URLs of fixtures and of [`Script::storage`].
pub const ASSETS_URL: &str = "https://cdn.example/images";

/// A client of a script with default settings; see [`builder`] for others.
///
/// ```
/// use promptarium::testing::{Script, client};
///
/// let client = client(&Script::new());
/// assert_eq!(client.base_url(), "https://prompts.example/api/v1");
/// ```
#[must_use]
#[expect(clippy::expect_used, reason = "the settings are constants, and are tested")]
pub fn client(script: &Script) -> Client {
    builder(script).build().expect("the settings of a test client are valid")
}

/// The settings of [`client`].
///
/// ```
/// use promptarium::RetryPolicy;
/// use promptarium::testing::{Script, builder};
///
/// let script = Script::new();
/// let client = builder(&script).retry(RetryPolicy::never()).build()?;
/// # Ok::<(), promptarium::Error>(())
/// ```
pub fn builder(script: &Script) -> ClientBuilder {
    Client::builder().base_url(BASE_URL).api_key(API_KEY).transport(script.clone())
}

/// The headers and the body of a request with this event, sent now: for a test of a receiver.
/// [`fixture::webhook_event`] makes an event.
#[cfg(feature = "webhook")]
#[must_use]
pub fn webhook(
    event: &crate::WebhookEvent,
    secret: &crate::WebhookSecret,
) -> ([(&'static str, String); 3], String) {
    let mut data = serde_json::json!(event.generation);
    match &mut data {
        serde_json::Value::Object(members) => {
            members.insert("images".to_owned(), serde_json::json!(event.images));
        }
        other => *other = event.data.clone(),
    }
    let body =
        serde_json::json!({ "type": event.kind, "timestamp": event.timestamp, "data": data });
    let body = body.to_string();
    (secret.sign(&event.id, crate::Timestamp::now(), body.as_bytes()), body)
}
