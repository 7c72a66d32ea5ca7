//! What a script says to which requests, and how a test tells it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use http::Method;
use serde::Serialize;

use super::pattern::Pattern;
use super::{Answer, Script, SeenRequest};
use crate::{Cursor, Page};

/// What is said to some requests.
pub(super) struct Entry {
    /// Any, if there is none.
    method: Option<Method>,
    pattern: Option<Pattern>,
    once: VecDeque<Answer>,
    given: usize,
    then: Option<Always>,
}

type Always = Arc<dyn Fn(&SeenRequest) -> Answer + Send + Sync>;

/// How a request will be answered.
pub(super) enum Reaction {
    Answer(Answer),
    Ask(Always),
}

impl Entry {
    pub(super) const fn new(method: Option<Method>, pattern: Option<Pattern>) -> Self {
        Self { method, pattern, once: VecDeque::new(), given: 0, then: None }
    }

    pub(super) fn next(&mut self) -> Option<Reaction> {
        let Some(answer) = self.once.pop_front() else {
            return self.then.clone().map(Reaction::Ask);
        };
        self.given += 1;
        Some(Reaction::Answer(answer))
    }

    pub(super) fn fits(&self, request: &SeenRequest) -> bool {
        self.method.as_ref().is_none_or(|method| *method == request.method)
            && self.pattern.as_ref().is_none_or(|pattern| pattern.fits(&request.path))
    }

    pub(super) fn has_more(&self) -> bool {
        self.then.is_some() || !self.once.is_empty()
    }

    /// What was to be asked for and was not.
    pub(super) fn missing(&self) -> Option<String> {
        let left = self.once.len();
        let all = self.given + left;
        (left > 0).then(|| format!("{self}: {left} of {all} answers were not asked for"))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.method, &self.pattern) {
            (Some(method), Some(pattern)) => write!(f, "{method} {pattern}"),
            _ => f.write_str("any request"),
        }
    }
}

/// Requests that a [`Script`] expects, to be given their answers.
#[derive(Debug)]
pub struct Expectation<'a> {
    script: &'a Script,
    entry: usize,
}

impl<'a> Expectation<'a> {
    pub(super) const fn new(script: &'a Script, entry: usize) -> Self {
        Self { script, entry }
    }

    /// The next such request is answered like this, once.
    #[expect(clippy::return_self_not_must_use, reason = "it is done when this returns")]
    pub fn answer(self, answer: Answer) -> Self {
        self.change(|entry| entry.once.push_back(answer));
        self
    }

    /// Such requests are answered like this from then on, as often as they come. None has
    /// to come.
    pub fn always(self, answer: Answer) {
        self.always_with(move |_| answer.clone());
    }

    /// Such requests are answered with what this makes of them, as often as they come. None
    /// has to come.
    pub fn always_with(self, answer: impl Fn(&SeenRequest) -> Answer + Send + Sync + 'static) {
        self.change(|entry| entry.then = Some(Arc::new(answer)));
    }

    /// Such requests list these items, at most `page_size` at once. The `limit` of a
    /// request is not looked at; a cursor that no page gave is refused with 400, as by the
    /// service.
    ///
    /// ```
    /// use promptarium::testing::{Script, client, fixture};
    /// use promptarium::path;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), promptarium::Error> {
    /// let script = Script::new();
    /// script.get(path::PROMPTS).list(vec![fixture::prompt(); 5], 2);
    /// let mut prompts = client(&script).prompts().list().stream();
    /// let mut count = 0;
    /// while let Some(prompt) = prompts.next().await {
    ///     prompt?;
    ///     count += 1;
    /// }
    /// assert_eq!(count, 5);
    /// assert_eq!(script.calls()[1], "GET /prompts?cursor=from-2");
    /// # Ok(())
    /// # }
    /// ```
    pub fn list<T>(self, items: Vec<T>, page_size: usize)
    where
        T: Serialize + Clone + Send + Sync + 'static,
    {
        self.always_with(move |request| {
            let from = match request.query_value("cursor") {
                None => Some(0),
                Some(cursor) => cursor.strip_prefix("from-").and_then(|at| at.parse().ok()),
            };
            let Some(rest) = from.and_then(|from: usize| items.get(from..)) else {
                return Answer::error(400, "the cursor is not of this list")
                    .field("cursor", "is no cursor of this list");
            };
            let page = rest.len().min(page_size.max(1));
            let next = (page < rest.len())
                .then(|| Cursor::from(format!("from-{}", items.len() - rest.len() + page)));
            Answer::page(&Page::new(rest[..page].to_vec(), next))
        });
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.script.state().entries.get_mut(self.entry) {
            change(entry);
        }
    }
}
