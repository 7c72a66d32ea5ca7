//! A scripted service: what a test expects of the code under test, and how it is answered.

mod answer;
mod expectation;
mod storage;
mod transport;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::Method;

pub use answer::Answer;
pub use expectation::Expectation;
use expectation::{Entry, Pattern};
pub use transport::SeenRequest;

/// A scripted service: a [`Transport`](crate::transport::Transport) that answers the requests
/// that a test expects, and records all. It opens no socket.
///
/// Declare the expected requests with their answers, make a client with
/// [`client`](super::client), run the code under test, and call [`verify`](Self::verify).
/// [`calls`](Self::calls) and [`requests`](Self::requests) return what was requested. Clones share
/// the script, and expectations may be added at any time.
///
/// A path starts after the base URL, and a segment in braces, such as `{promptId}`, matches any
/// one segment. Requests outside of the API have their whole URL as path, without its query. If
/// several expectations match a request, the first with an answer left is used.
///
/// # Unexpected requests
///
/// An unexpected request is answered with status 501, which is not retried, and a message that
/// names the request and what was expected. [`verify`](Self::verify) reports it too, in case the
/// code under test drops the error.
///
/// ```
/// use promptarium::PromptId;
/// use promptarium::testing::{Answer, Script, client, fixture};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = Script::new();
/// script.get("/prompts/{promptId}").answer(Answer::data(&fixture::prompt()));
///
/// let client = client(&script);
/// client.prompts().get(PromptId::new(7)).await?;
/// script.verify()?;
///
/// let error = client.prompts().get(PromptId::new(7)).await.unwrap_err();
/// assert_eq!(error.message(), Some("unexpected request GET /prompts/7; none was expected"));
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
    mistakes: Vec<String>,
}

impl Script {
    /// A script that expects no request yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Expects requests of this method and path.
    pub fn on(&self, method: Method, path: impl AsRef<str>) -> Expectation<'_> {
        self.entry(Some((method, Pattern::new(path.as_ref()))))
    }

    /// Expects `GET` of this path.
    pub fn get(&self, path: impl AsRef<str>) -> Expectation<'_> {
        self.on(Method::GET, path)
    }

    /// Expects `POST` to this path.
    pub fn post(&self, path: impl AsRef<str>) -> Expectation<'_> {
        self.on(Method::POST, path)
    }

    /// Expects `PUT` to this path.
    pub fn put(&self, path: impl AsRef<str>) -> Expectation<'_> {
        self.on(Method::PUT, path)
    }

    /// Expects `PATCH` of this path.
    pub fn patch(&self, path: impl AsRef<str>) -> Expectation<'_> {
        self.on(Method::PATCH, path)
    }

    /// Expects `DELETE` of this path.
    pub fn delete(&self, path: impl AsRef<str>) -> Expectation<'_> {
        self.on(Method::DELETE, path)
    }

    /// Expects any requests, which get the answers in their order.
    pub fn any(&self) -> Expectation<'_> {
        self.entry(None)
    }

    /// All requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.state().seen.clone()
    }

    /// All requests so far, each as one line such as `GET /prompts?limit=2`.
    #[must_use]
    pub fn calls(&self) -> Vec<String> {
        self.state().seen.iter().map(ToString::to_string).collect()
    }

    /// Checks that each [`answer`](Expectation::answer) was used and that no request was
    /// unexpected.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], with a line for each unused answer and each unexpected request.
    pub fn verify(&self) -> Result<(), VerifyError> {
        let state = self.state();
        let unused = state.entries.iter().filter_map(Entry::unused);
        let lines: Vec<_> = unused.chain(state.mistakes.iter().cloned()).collect();
        if lines.is_empty() { Ok(()) } else { Err(VerifyError(lines)) }
    }

    fn entry(&self, requests: Option<(Method, Pattern)>) -> Expectation<'_> {
        let mut state = self.state();
        state.entries.push(Entry::new(requests));
        Expectation::new(self, state.entries.len() - 1)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        let expected = state.entries.iter().filter(|entry| entry.has_answer());
        f.debug_struct("Script")
            .field("expected", &expected.map(ToString::to_string).collect::<Vec<_>>())
            .field("requests", &state.seen.len())
            .finish_non_exhaustive()
    }
}

/// The requests of the code under test were not those that a script expects; returned by
/// [`Script::verify`].
///
/// Its text has a line for each unused answer and each unexpected request. `Debug` is the same
/// text, so that `unwrap` shows it.
pub struct VerifyError(Vec<String>);

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl fmt::Debug for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for VerifyError {}
