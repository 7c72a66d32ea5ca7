//! Failures that are known: a file that names scenarios with a reason each, so
//! that a run fails for what is new. The list cannot rot: an entry that passes,
//! names nothing or is past its date fails the run.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use jiff::civil::Date;
use serde::{Deserialize, Serialize, Serializer};
use toml::Spanned;
use toml::value::Datetime;
use url::Url;

use crate::suite::Suite;

/// The entries of a file, by the id of their scenario.
#[derive(Clone, Debug, Default)]
pub struct KnownFailures {
    file: String,
    entries: BTreeMap<String, KnownFailure>,
}

/// One entry: why a scenario fails, and how long that may be so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KnownFailure {
    /// Why it fails; never empty.
    pub reason: String,
    /// Where more is written about it: an address of http or https.
    pub link: Option<String>,
    /// The last day on which the failure does not count.
    #[serde(serialize_with = "as_text")]
    pub until: Option<Date>,
    /// Whether that day was over when the run began.
    pub expired: bool,
    /// The file and the line of the entry.
    pub place: String,
}

/// What an id of the file stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Current {
    /// The scenario of this id.
    Scenario(String),
    /// A scenario that was removed; the entry is ignored.
    Removed,
    /// Nothing.
    Unknown,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    failure: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    id: Spanned<String>,
    reason: Spanned<String>,
    link: Option<Spanned<String>>,
    until: Option<Spanned<Datetime>>,
}

impl KnownFailures {
    /// Reads a file of failures of scenarios in `suite`; `today` is what dates are compared with.
    ///
    /// # Errors
    /// One line that names the file, the line and what is wrong there.
    pub fn read(file: &Path, suite: &Suite, today: Date) -> Result<Self, String> {
        let current = |id: &str| match suite.find_renamed(id) {
            Some(scenario) => Current::Scenario(scenario.id.to_owned()),
            None if suite.was_removed(id) => Current::Removed,
            None => Current::Unknown,
        };
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("cannot read the known failures in {name}: {error}"))?;
        Self::parse(&name, &text, today, current)
    }

    /// Takes the entries from the text of a file. `current` says what an id, perhaps of an earlier
    /// version, stands for.
    ///
    /// # Errors
    /// As [`KnownFailures::read`].
    pub fn parse(
        file: &str,
        text: &str,
        today: Date,
        current: impl Fn(&str) -> Current,
    ) -> Result<Self, String> {
        let place = |span: Range<usize>| format!("{file} line {}", line(text, span.start));
        let wrong = |span: Range<usize>, what: &str| Err(format!("{}: {what}", place(span)));
        let written: File = toml::from_str(text).map_err(|error| {
            let what = error.message().replace('\n', ", ");
            format!("{}: {what}", place(error.span().unwrap_or_default()))
        })?;
        let mut known = Self { file: file.to_owned(), entries: BTreeMap::new() };
        for entry in written.failure {
            let (at, id) = (entry.id.span(), entry.id.into_inner());
            let current = match current(&id) {
                Current::Scenario(current) => current,
                Current::Removed => continue,
                Current::Unknown => {
                    let what = format!("no scenario has the id {id:?}; a whole id is expected");
                    return wrong(at, &what);
                }
            };
            // Two old ids may have become one.
            let renamed = current != id;
            let id = current;
            if renamed && known.entries.contains_key(&id) {
                continue;
            }
            if let Some(twin) = known.entries.get(&id) {
                return wrong(at, &format!("{id:?} stands in {} too", twin.place));
            }
            let reason = entry.reason.get_ref().trim();
            if reason.is_empty() {
                return wrong(entry.reason.span(), &format!("the reason for {id:?} is empty"));
            }
            let link = match &entry.link {
                Some(link) if !is_link(link.get_ref()) => {
                    return wrong(link.span(), "the link must start with http:// or https://");
                }
                link => link.as_ref().map(|link| link.get_ref().clone()),
            };
            let until = match &entry.until {
                None => None,
                Some(until) => match day(until.get_ref()) {
                    None => {
                        return wrong(until.span(), "`until` must be a day, such as 2027-01-31");
                    }
                    day => day,
                },
            };
            let expired = until.is_some_and(|until| until < today);
            let entry =
                KnownFailure { reason: reason.to_owned(), link, until, expired, place: place(at) };
            known.entries.insert(id, entry);
        }
        Ok(known)
    }

    /// The entry of a scenario.
    pub(crate) fn entry(&self, id: &str) -> Option<&KnownFailure> {
        self.entries.get(id)
    }

    /// All entries, by the id of their scenario.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &KnownFailure)> {
        self.entries.iter().map(|(id, entry)| (id.as_str(), entry))
    }

    /// The file, if there is one.
    pub fn file(&self) -> Option<&str> {
        (!self.file.is_empty()).then_some(self.file.as_str())
    }
}

fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

fn is_link(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

fn day(written: &Datetime) -> Option<Date> {
    match (written.date, written.time, written.offset) {
        (Some(_), None, None) => written.to_string().parse().ok(),
        _ => None,
    }
}

#[expect(clippy::ref_option, reason = "the form serde calls it in")]
fn as_text<S: Serializer>(date: &Option<Date>, serializer: S) -> Result<S::Ok, S::Error> {
    date.map(|date| date.to_string()).serialize(serializer)
}
