//! A scripted service: what a test expects of the code under test, and how it is answered.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::Method;
use serde::Serialize;

use super::{Answer, SeenRequest};
use crate::{Cursor, Page};

/// The status of the answer to an unexpected request. It is not retried.
const UNEXPECTED: u16 = 501;

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
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
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
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct Script(Arc<Mutex<State>>);

#[derive(Default)]
pub(super) struct State {
    entries: Vec<Entry>,
    pub(super) seen: Vec<SeenRequest>,
    unexpected: Vec<String>,
}

#[derive(Default)]
struct Entry {
    /// Method and path, such as `GET /prompts/{promptId}`; `None` matches any request.
    requests: Option<String>,
    once: VecDeque<Answer>,
    used: usize,
    always: Option<AnswerWith>,
}

type AnswerWith = Arc<dyn Fn(&SeenRequest) -> Answer + Send + Sync>;

pub(super) enum Source {
    Once(Answer),
    Always(AnswerWith),
}

macro_rules! shorthands {
    ($($name:ident $method:ident),*) => {$(
        #[doc = concat!("Expects `", stringify!($method), "` requests of this path.")]
        pub fn $name(&self, path: impl AsRef<str>) -> Expectation<'_> {
            self.on(Method::$method, path)
        }
    )*};
}

impl Script {
    /// A script that expects no request yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Expects requests of this method and path.
    #[expect(clippy::needless_pass_by_value, reason = "methods are constants of their type")]
    pub fn on(&self, method: Method, path: impl AsRef<str>) -> Expectation<'_> {
        self.expect(Some(format!("{method} {}", path.as_ref())))
    }

    shorthands! { get GET, post POST, put PUT, patch PATCH, delete DELETE }

    /// Expects any requests, which get the answers in their order.
    pub fn any(&self) -> Expectation<'_> {
        self.expect(None)
    }

    fn expect(&self, requests: Option<String>) -> Expectation<'_> {
        let mut state = self.state();
        state.entries.push(Entry { requests, ..Entry::default() });
        Expectation { script: self, entry: state.entries.len() - 1 }
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
        let unused = state.entries.iter().filter(|entry| !entry.once.is_empty()).map(|entry| {
            let unused = entry.once.len();
            format!("{entry}: {unused} of {} answers were not used", entry.used + unused)
        });
        let lines: Vec<_> = unused.chain(state.unexpected.iter().cloned()).collect();
        if lines.is_empty() { Ok(()) } else { Err(VerifyError(lines.join("\n"))) }
    }

    /// Records a request, whose number is returned, and finds its answer.
    pub(super) fn record(&self, request: SeenRequest) -> (usize, Source) {
        let mut state = self.state();
        let mut matching = state.entries.iter_mut().filter(|entry| entry.matches(&request));
        let source = matching.find_map(Entry::next_answer).unwrap_or_else(|| {
            let expected = state.expected().join(", ");
            let text = if expected.is_empty() {
                format!("unexpected request {request}; none was expected")
            } else {
                format!("unexpected request {request}; expected: {expected}")
            };
            state.unexpected.push(text.clone());
            Source::Once(Answer::error(UNEXPECTED, text))
        });
        state.seen.push(request);
        (state.seen.len() - 1, source)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Script")
            .field("expected", &state.expected())
            .field("requests", &state.seen.len())
            .finish_non_exhaustive()
    }
}

impl State {
    fn expected(&self) -> Vec<String> {
        let open =
            self.entries.iter().filter(|entry| entry.always.is_some() || !entry.once.is_empty());
        open.map(ToString::to_string).collect()
    }
}

impl Entry {
    /// Whether the request has the segments of the pattern, where one in braces is any segment.
    fn matches(&self, request: &SeenRequest) -> bool {
        let Some(pattern) = &self.requests else { return true };
        let line = format!("{} {}", request.method, request.path);
        let is_open = |segment: &str| segment.starts_with('{') && segment.ends_with('}');
        let (wanted, found) = (pattern.split('/'), line.split('/'));
        let mut pairs = wanted.clone().zip(found.clone());
        wanted.count() == found.count()
            && pairs.all(|(wanted, found)| wanted == found || is_open(wanted) && !found.is_empty())
    }

    fn next_answer(&mut self) -> Option<Source> {
        let Some(answer) = self.once.pop_front() else {
            return self.always.clone().map(Source::Always);
        };
        self.used += 1;
        Some(Source::Once(answer))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.requests.as_deref().unwrap_or("any request"))
    }
}

/// Requests that a [`Script`] expects; the methods add their answers.
#[derive(Debug)]
pub struct Expectation<'a> {
    script: &'a Script,
    entry: usize,
}

impl Expectation<'_> {
    /// Answers the next request, once. Further calls answer the requests after it.
    #[expect(clippy::return_self_not_must_use, reason = "the answer is added already")]
    pub fn answer(self, answer: Answer) -> Self {
        self.change(|entry| entry.once.push_back(answer));
        self
    }

    /// Answers all further requests. None is required.
    pub fn always(self, answer: Answer) {
        self.always_with(move |_| answer.clone());
    }

    /// Answers all further requests with what the function returns. None is required.
    pub fn always_with(self, answer: impl Fn(&SeenRequest) -> Answer + Send + Sync + 'static) {
        self.change(|entry| entry.always = Some(Arc::new(answer)));
    }

    /// Answers all further requests with pages of these items, of `page_size` each. The `limit`
    /// of a request is ignored; an unknown cursor is answered with 400.
    ///
    /// ```
    /// use promptarium::testing::{Script, client, fixture};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), promptarium::Error> {
    /// let script = Script::new();
    /// script.get("/prompts").list(vec![fixture::prompt(); 5], 2);
    /// let prompts = client(&script).prompts().list().collect().await?;
    /// assert_eq!(prompts.len(), 5);
    /// assert_eq!(script.calls()[1], "GET /prompts?limit=100&cursor=from-2");
    /// # Ok(()) }
    /// ```
    pub fn list<T>(self, items: Vec<T>, page_size: usize)
    where
        T: Serialize + Clone + Send + Sync + 'static,
    {
        self.always_with(move |request| {
            let start = request.query_value("cursor").map_or(Some(0), |cursor| {
                cursor.strip_prefix("from-").and_then(|start| start.parse().ok())
            });
            let Some(rest) = start.and_then(|start: usize| items.get(start..)) else {
                return Answer::error(400, "unknown cursor").field("cursor", "unknown cursor");
            };
            let (page, rest) = rest.split_at(rest.len().min(page_size.max(1)));
            let next = (!rest.is_empty()).then(|| format!("from-{}", items.len() - rest.len()));
            Answer::page(&Page::new(page.to_vec(), next.map(Cursor::from)))
        });
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        change(&mut self.script.state().entries[self.entry]);
    }
}

/// The requests of the code under test were not those that a script expects; returned by
/// [`Script::verify`].
///
/// Its text has a line for each unused answer and each unexpected request. `Debug` is the same
/// text, so that `unwrap` shows it.
#[derive(thiserror::Error)]
#[error("{0}")]
pub struct VerifyError(String);

impl fmt::Debug for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
