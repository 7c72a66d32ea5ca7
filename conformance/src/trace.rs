//! What a scenario does, step by step: its requests, the answers, and what was checked of each. It
//! is shown for every failure, for every scenario under `--trace`, and by `explain` from
//! transcripts that were recorded against the reference server.

mod steps;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use self::steps::Taken;
pub(crate) use self::steps::{Steps, checked, is_set_up, keeping, setting_up};
use crate::exchange::{self, shown};
use crate::secret::Secrets;

/// The calls that each built-in scenario looks at, written by a test that compares them.
const TABLE: &str = include_str!("../calls.tsv");
/// Characters of a body that stand on the line of its step.
const BODY: usize = 160;
const ANSWER: usize = 400;
const CHECK: usize = 240;
const LAST: usize = 12;

/// The name of the key of a request whose `Authorization` header the scenario wrote.
pub(crate) const OWN_KEY: &str = "a header of its own";

/// A request of a scenario, its answer, and what was checked of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    /// Method and path below the base URL, or the whole address if the target gave it.
    pub call: String,
    /// Whose key it carries; empty for that of the account under test.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// How often it was sent in a row, to equal answers; 0 stands for once.
    #[serde(skip_serializing_if = "is_once")]
    pub times: usize,
    /// Headers that a usual request does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Whether it only prepares what the scenario looks at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub set_up: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

/// The calls that a built-in scenario looks at, as templates.
pub(crate) fn calls(id: &str) -> &'static [&'static str] {
    static CALLS: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let lines = TABLE.lines().filter_map(|line| line.split_once('\t'));
        lines.map(|(id, calls)| (id, calls.split('\t').collect())).collect()
    });
    CALLS.get(id).map_or(&[], Vec::as_slice)
}

/// Whether a scenario looks at a call beyond set-up. A part in braces or behind a colon is any.
pub(crate) fn looks_at(id: &str, method: &str, path: &str) -> bool {
    let is_any = |part: &str| part.starts_with(['{', ':']);
    let is_same = |(wanted, sent): (&str, &str)| wanted == sent || is_any(wanted);
    calls(id).iter().any(|call| {
        let (sent, rest) = call.split_once(' ').unwrap_or_default();
        let [wanted, parts] = [path, rest].map(|path| path.split('/').collect::<Vec<_>>());
        sent.eq_ignore_ascii_case(method)
            && wanted.len() == parts.len()
            && wanted.into_iter().zip(parts).all(is_same)
    })
}

impl Step {
    pub(crate) fn of(taken: &Taken, secrets: &Secrets, base_url: &str) -> Self {
        let Taken { exchange, checks, failed } = taken;
        let request = &*exchange.request;
        let shown = |body: &Bytes| (!body.is_empty()).then(|| shown(secrets, body));
        let response = exchange.response.as_deref();
        let (call, headers, body) = match request.shown_bytes(secrets) {
            Some(bytes) => ("bytes".to_owned(), Vec::new(), Some(bytes)),
            None => {
                let path = request.url.strip_prefix(base_url).unwrap_or(&request.url);
                let headers = request.headers.iter();
                let headers = headers.filter_map(|(name, value)| {
                    let value = String::from_utf8_lossy(value.as_bytes());
                    match name.as_str() {
                        "content-type" if value == "application/json" => None,
                        "authorization" if request.by != OWN_KEY => None,
                        "cookie" => Some(format!("{name}: [redacted]")),
                        "authorization" => Some(format!("{name}: {}", secrets.in_shell(&value))),
                        _ => Some(secrets.redact(format!("{name}: {value}"))),
                    }
                });
                let call = secrets.redact(format!("{} {path}", request.method));
                (call, headers.collect(), request.body.as_ref().and_then(shown))
            }
        };
        Self {
            call,
            by: Some(request.by).filter(|by| *by != OWN_KEY).unwrap_or_default().to_owned(),
            headers,
            body,
            status: response.map(|response| response.status.as_u16()),
            answer: response.and_then(|response| shown(&response.body)),
            set_up: request.set_up,
            checks: checks.iter().map(|text| cut(&secrets.redact(text), CHECK)).collect(),
            failed: failed.iter().map(|text| cut(&secrets.redact(text), CHECK)).collect(),
            times: 0,
        }
    }

    pub(crate) fn summary(&self) -> String {
        let mut line = self.call.clone();
        if !self.by.is_empty() {
            let _ = write!(line, " with {}", self.by);
        }
        for header in &self.headers {
            let _ = write!(line, " [{header}]");
        }
        if let Some(body) = &self.body {
            let _ = write!(line, " {}", cut(body, BODY));
        }
        let status = self.status.map_or_else(|| "no answer".to_owned(), |code| code.to_string());
        let times = if is_once(&self.times) { String::new() } else { format!(" ×{}", self.times) };
        let set_up = if self.set_up { "  (set-up)" } else { "" };
        format!("{line} → {status}{times}{set_up}")
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form serde calls it in")]
fn is_once(times: &usize) -> bool {
    *times < 2
}

fn cut(text: &str, length: usize) -> String {
    exchange::cut(&text.lines().collect::<Vec<_>>().join("⏎"), length, "…")
}

/// The transcript of the last few steps, with how many were before.
pub(crate) fn last_lines(steps: &[Step]) -> Vec<String> {
    let before = steps.len().saturating_sub(LAST);
    let note = (before > 0).then(|| format!("     ({before} more before)"));
    note.into_iter().chain(lines(steps, before)).collect()
}

pub(crate) fn text(steps: &[Step], first: usize) -> String {
    lines(steps, first).iter().map(|line| format!("{line}\n")).collect()
}

/// A transcript from a step on: one numbered line for each step, and below it one for each check.
pub(crate) fn lines(steps: &[Step], first: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (n, step) in steps.iter().enumerate().skip(first) {
        lines.push(format!("{:>4} {}", n + 1, step.summary()));
        if !step.set_up {
            let answer = step.answer.iter().map(|text| format!("     < {}", cut(text, ANSWER)));
            lines.extend(answer.chain(step.checks.iter().map(|check| format!("     ✓ {check}"))));
        }
        lines.extend(step.failed.iter().map(|check| format!("     ✗ {check}")));
    }
    lines
}
