//! The text of an error: one line with the call, what went wrong, and what is known beside it.

use std::fmt;

use super::{Error, ErrorKind, Excerpt, History, Outcome};
use crate::macros::debug;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(route) = &self.facts.route {
            write!(f, "{} {}: ", route.method, route.template)?;
        }
        f.write_str(&self.facts.text)?;
        let History { attempts, outcome, budget_is_empty } = self.facts.history;
        let text_names_job = matches!(
            self.kind,
            ErrorKind::JobFailed | ErrorKind::OutputNotFound | ErrorKind::WaitTimeout
        );
        let notes = [
            self.request_id().map(|id| format!("request id {}", Excerpt::of(id))),
            (attempts > 1).then(|| format!("after {attempts} attempts")),
            budget_is_empty
                .then(|| "not retried, as the retry budget of the client is empty".to_owned()),
            self.retry_after().map(|after| format!("retry after {after:?}")),
            match outcome {
                Outcome::NotDone => None,
                Outcome::Unknown if self.kind == ErrorKind::Ambiguous => None,
                Outcome::Unknown => Some("it is unknown whether the service carried it out".into()),
                Outcome::Done if text_names_job => None,
                Outcome::Done => Some("the service carried it out".into()),
            },
            self.job_id()
                .filter(|_| !text_names_job)
                .map(|job| format!("job \"{}\"", Excerpt::of(job.as_str()))),
        ];
        let notes: Vec<_> = notes.into_iter().flatten().collect();
        if notes.is_empty() { Ok(()) } else { write!(f, " ({})", notes.join(", ")) }
    }
}

debug!(
    Error,
    |it| route = it.facts.route,
    request_id = it.facts.request_id,
    attempts = it.attempts(),
    kind = it.kind,
    text = it.facts.text,
    source = it.facts.source
);

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.facts.source.as_ref().map(|source| &**source as _)
    }
}
