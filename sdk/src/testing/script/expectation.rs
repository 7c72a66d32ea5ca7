//! Expected requests and their answers.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use http::Method;
use serde::Serialize;

use super::{Answer, Script, SeenRequest};
use crate::{Cursor, Page};

type AnswerWith = Arc<dyn Fn(&SeenRequest) -> Answer + Send + Sync>;

/// The answers of some requests.
pub(super) struct Entry {
    /// `None` matches any request.
    requests: Option<(Method, Pattern)>,
    once: VecDeque<Answer>,
    used: usize,
    always: Option<AnswerWith>,
}

/// The source of an answer.
pub(super) enum Source {
    Once(Answer),
    Always(AnswerWith),
}

impl Entry {
    pub(super) const fn new(requests: Option<(Method, Pattern)>) -> Self {
        Self { requests, once: VecDeque::new(), used: 0, always: None }
    }

    pub(super) fn matches(&self, request: &SeenRequest) -> bool {
        self.requests.as_ref().is_none_or(|(method, pattern)| {
            *method == request.method && pattern.matches(&request.path)
        })
    }

    pub(super) fn next_answer(&mut self) -> Option<Source> {
        let Some(answer) = self.once.pop_front() else {
            return self.always.clone().map(Source::Always);
        };
        self.used += 1;
        Some(Source::Once(answer))
    }

    pub(super) fn has_answer(&self) -> bool {
        self.always.is_some() || !self.once.is_empty()
    }

    /// The line of [`Script::verify`] for answers that were not used.
    pub(super) fn unused(&self) -> Option<String> {
        let unused = self.once.len();
        let all = self.used + unused;
        (unused > 0).then(|| format!("{self}: {unused} of {all} answers were not used"))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.requests {
            Some((method, pattern)) => write!(f, "{method} {}", pattern.0),
            None => f.write_str("any request"),
        }
    }
}

/// A path whose segments in braces match any segment.
pub(super) struct Pattern(String);

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    fn matches(&self, path: &str) -> bool {
        let is_open = |segment: &str| segment.starts_with('{') && segment.ends_with('}');
        let (mut wanted, mut found) = (self.0.split('/'), path.split('/'));
        loop {
            match (wanted.next(), found.next()) {
                (None, None) => return true,
                (Some(wanted), Some(found)) if is_open(wanted) && !found.is_empty() => {}
                (Some(wanted), Some(found)) if wanted == found => {}
                _ => return false,
            }
        }
    }
}

/// Requests that a [`Script`] expects; the methods add their answers.
#[derive(Debug)]
pub struct Expectation<'a> {
    script: &'a Script,
    entry: usize,
}

impl<'a> Expectation<'a> {
    pub(super) const fn new(script: &'a Script, entry: usize) -> Self {
        Self { script, entry }
    }

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
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), promptarium::Error> {
    /// let script = Script::new();
    /// script.get("/prompts").list(vec![fixture::prompt(); 5], 2);
    /// let prompts = client(&script).prompts().list().collect().await?;
    /// assert_eq!(prompts.len(), 5);
    /// assert_eq!(script.calls()[1], "GET /prompts?cursor=from-2");
    /// # Ok(())
    /// # }
    /// ```
    pub fn list<T>(self, items: Vec<T>, page_size: usize)
    where
        T: Serialize + Clone + Send + Sync + 'static,
    {
        self.always_with(move |request| {
            let start = match request.query_value("cursor") {
                None => Some(0),
                Some(cursor) => cursor.strip_prefix("from-").and_then(|start| start.parse().ok()),
            };
            let Some(rest) = start.and_then(|start: usize| items.get(start..)) else {
                return Answer::error(400, "unknown cursor").field("cursor", "unknown cursor");
            };
            let size = rest.len().min(page_size.max(1));
            let next = (size < rest.len())
                .then(|| Cursor::from(format!("from-{}", items.len() - rest.len() + size)));
            Answer::page(&Page::new(rest[..size].to_vec(), next))
        });
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.script.state().entries.get_mut(self.entry) {
            change(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_segment_in_braces_matches_any_one_segment() {
        let pattern = Pattern::new("/vaults/{vaultId}/prompts");
        assert!(pattern.matches("/vaults/3/prompts") && pattern.matches("/vaults/x%2Fy/prompts"));
        for path in ["/vaults/3", "/vaults//prompts", "/vaults/3/prompts/7", "/vaults/3/pins", "/"]
        {
            assert!(!pattern.matches(path), "{path}");
        }
        assert!(Pattern::new("https://a.example/{name}").matches("https://a.example/b.png"));
        assert!(!Pattern::new("https://a.example/{name}").matches("https://b.example/b.png"));
    }
}
