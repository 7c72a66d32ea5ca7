//! A service that says what a test tells it to say.
//!
//! Here is what was told and asked; `entry` has what is said to which request, `answer`
//! what can be said, `play` is the transport, `storage` takes uploads.

mod answer;
mod entry;
mod pattern;
mod play;
mod seen;
mod storage;
mod verify_error;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::Method;

pub use answer::Answer;
use entry::Entry;
pub use entry::Expectation;
use pattern::Pattern;
pub use seen::SeenRequest;
pub use verify_error::VerifyError;

/// The service of a test: a [`Transport`](crate::transport::Transport) that answers as it
/// was told and keeps what it was asked. No socket is opened.
///
/// Say which requests come and how each is answered; make a client with
/// [`client`](super::client); run the code; look at [`calls`](Self::calls) or
/// [`requests`](Self::requests); and end with [`verify`](Self::verify). Clones are the same
/// script, and it may be added to at any time.
///
/// A path is one of [`path`](crate::path) or any other: it begins after the base URL, and
/// a part in braces, such as `{promptId}`, stands for any one. An address outside of the
/// API is given as a whole, without its query. Where several entries fit a request, the
/// first one that has an answer left gives it.
///
/// # Requests that nobody expected
///
/// are answered with status 501, which no call tries again, and a text that says what was
/// asked and what was expected; code under test meets it as an
/// [`Error`](crate::Error). [`verify`](Self::verify) tells of it too, in case the code kept
/// the error for itself. Nothing panics inside the client: there it would end whatever task
/// happened to make the call, and the test might not notice.
///
/// ```
/// use promptarium::testing::{Answer, Script, client, fixture};
/// use promptarium::{PromptId, path};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = Script::new();
/// script.get(path::PROMPT).answer(Answer::data(&fixture::prompt()));
///
/// let client = client(&script);
/// client.prompts().get(PromptId::new(7)).await?;
/// script.verify()?;
///
/// let error = client.prompts().get(PromptId::new(7)).await.unwrap_err();
/// assert_eq!(error.message(), Some("the script expected nothing more, and not GET /prompts/7"));
/// assert!(script.verify().is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Script(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    entries: Vec<Entry>,
    seen: Vec<SeenRequest>,
    unexpected: Vec<String>,
}

impl Script {
    /// A script that expects nothing yet, with a clock of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests of this method and path.
    pub fn on(&self, method: Method, path: impl AsRef<str>) -> Expectation<'_> {
        self.entry(Some(method), Some(Pattern::new(path.as_ref())))
    }

    /// `GET` of this path.
    pub fn get(&self, path: impl AsRef<str>) -> Expectation<'_> {
        self.on(Method::GET, path)
    }

    /// `POST` to this path.
    pub fn post(&self, path: impl AsRef<str>) -> Expectation<'_> {
        self.on(Method::POST, path)
    }

    /// `PUT` to this path.
    pub fn put(&self, path: impl AsRef<str>) -> Expectation<'_> {
        self.on(Method::PUT, path)
    }

    /// `PATCH` of this path.
    pub fn patch(&self, path: impl AsRef<str>) -> Expectation<'_> {
        self.on(Method::PATCH, path)
    }

    /// `DELETE` of this path.
    pub fn delete(&self, path: impl AsRef<str>) -> Expectation<'_> {
        self.on(Method::DELETE, path)
    }

    /// Any request: the answers are given in their order, whatever is asked.
    pub fn any(&self) -> Expectation<'_> {
        self.entry(None, None)
    }

    /// Every request so far, in the order in which they came.
    #[must_use]
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.state().seen.clone()
    }

    /// Every request so far in one line each, such as `GET /prompts?limit=2`.
    #[must_use]
    pub fn calls(&self) -> Vec<String> {
        self.state().seen.iter().map(ToString::to_string).collect()
    }

    /// That everything expected was asked for, and nothing else.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], which tells of each [`answer`](Expectation::answer) that nobody asked for and of
    /// each request that nobody expected.
    pub fn verify(&self) -> Result<(), VerifyError> {
        let state = self.state();
        let missing = state.entries.iter().filter_map(Entry::missing).collect();
        VerifyError::of(missing, state.unexpected.clone())
    }

    fn entry(&self, method: Option<Method>, pattern: Option<Pattern>) -> Expectation<'_> {
        let mut state = self.state();
        state.entries.push(Entry::new(method, pattern));
        Expectation::new(self, state.entries.len() - 1)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        let expected = state.entries.iter().filter(|entry| entry.has_more());
        f.debug_struct("Script")
            .field("expected", &expected.map(ToString::to_string).collect::<Vec<_>>())
            .field("requests", &state.seen.len())
            .finish_non_exhaustive()
    }
}
