//! For tests of your own code: a service that is a script, time that costs nothing,
//! and a value of everything the API gives. Feature `testing`.
//!
//! A [`Script`] takes the place of the network: it answers what a test tells it to
//! answer, and keeps what it was asked. Its [`VirtualClock`] takes the place of time, so
//! that trying again, polling and deadlines come to their end at once, and after exactly
//! as long as they say. [`fixture`] has models and [`error`] has errors, for code that
//! takes them and for answers of a script.
//!
//! ```
//! use promptarium::testing::{Answer, Script, client, fixture};
//! use promptarium::{Client, Error, PromptId, path};
//!
//! /// The code to be tested.
//! async fn shout(client: &Client, id: PromptId) -> Result<String, Error> {
//!     let prompt = client.prompts().get(id).await?;
//!     let louder = client.prompts().update(id).title(prompt.title.to_uppercase()).await?;
//!     Ok(louder.title)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let script = Script::new();
//! let mut prompt = fixture::prompt();
//! prompt.title = "Dusk".to_owned();
//! script.get(path::PROMPT).answer(Answer::error(503, "busy")).answer(Answer::data(&prompt));
//! script.patch("/prompts/{promptId}").always_with(|asked| {
//!     let mut changed = fixture::prompt();
//!     changed.title = asked.json()["title"].as_str().unwrap_or_default().to_owned();
//!     Answer::data(&changed)
//! });
//!
//! assert_eq!(shout(&client(&script), prompt.id).await?, "DUSK");
//!
//! assert_eq!(script.calls(), ["GET /prompts/7", "GET /prompts/7", "PATCH /prompts/7"]);
//! assert_eq!(script.clock().slept().len(), 1, "it waited before it asked again");
//! script.verify()?;
//! # Ok(())
//! # }
//! ```

pub mod fixture;
mod script;

pub use script::{Answer, Expectation, Script, SeenRequest, VerifyError};

use crate::{Client, ClientBuilder};

/// The base URL of a client made here.
pub const BASE_URL: &str = "https://prompts.example/api/v1";

/// The key of a client made here.
pub const API_KEY: &str = "promptarium_test_0_key";

/// The folder of the addresses that take uploads, in fixtures and of
/// [`Script::storage`].
pub const STORAGE_URL: &str = "https://storage.example/uploads";

/// The folder of the addresses of images, in fixtures and of [`Script::storage`].
pub const ASSETS_URL: &str = "https://cdn.example/images";

/// A client that speaks to a script and lives by its clock. All its settings are at
/// their defaults; see [`builder`] for others.
///
/// ```
/// use promptarium::testing::{Script, client};
///
/// let client = client(&Script::new());
/// assert_eq!(client.base_url(), "https://prompts.example/api/v1");
/// ```
#[must_use]
#[expect(clippy::expect_used, reason = "the settings are texts above, and are tested")]
pub fn client(script: &Script) -> Client {
    builder(script).build().expect("the settings of a test client can be used")
}

/// The settings of [`client`], to be changed. Delays between attempts are the same in
/// every run.
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
