//! Known failures: a file that names scenarios with a reason each, so that a run fails only for
//! what is new. An entry that passes, names nothing or is past its date fails the run.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::suite::Suite;

/// The entries of a file, by the id of their scenario.
#[derive(Clone, Debug, Default)]
pub struct KnownFailures {
    pub(crate) file: Option<String>,
    pub(crate) entries: BTreeMap<String, KnownFailure>,
}

/// One entry: why a scenario fails, and how long that may be so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KnownFailure {
    /// Why it fails; never empty.
    pub reason: String,
    /// Where more is written about it: an address of http or https.
    pub link: Option<String>,
    /// The last day on which the failure does not count.
    pub until: Option<Date>,
    /// Whether that day was over when the run began.
    pub expired: bool,
    /// The file and the line of the entry.
    pub place: String,
}

/// All that the list says, in one line.
impl fmt::Display for KnownFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = self.link.as_ref().map(|link| format!(" ({link})")).unwrap_or_default();
        let over = if self.expired { ", which is over" } else { "" };
        let until = self.until.map(|until| format!("; until {until}{over}")).unwrap_or_default();
        write!(f, "{}{link}{until}; {}", self.reason, self.place)
    }
}

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
    until: Option<toml::value::Date>,
}

impl KnownFailures {
    /// Reads a file of failures of scenarios in `suite`; `today` is what dates are compared with.
    /// The error is one line that names the file, the line and what is wrong there.
    pub fn read(file: &Path, suite: &Suite, today: Date) -> Result<Self, String> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("cannot read the known failures in {name}: {error}"))?;
        Self::parse(&name, &text, today, |id| suite.find(id).is_some())
    }

    /// Takes the entries from the text of a file. `exists` knows the ids of scenarios.
    pub fn parse(
        file: &str,
        text: &str,
        today: Date,
        exists: impl Fn(&str) -> bool,
    ) -> Result<Self, String> {
        let place = |span: Range<usize>| {
            let line = text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1;
            format!("{file} line {line}")
        };
        let wrong = |span: Range<usize>, what: &str| Err(format!("{}: {what}", place(span)));
        let written: File = toml::from_str(text).map_err(|error| {
            let what = error.message().replace('\n', ", ");
            format!("{}: {what}", place(error.span().unwrap_or_default()))
        })?;
        let mut entries = BTreeMap::<_, KnownFailure>::new();
        for Written { id, reason, link, until } in written.failure {
            let (at, id) = (id.span(), id.into_inner());
            if !exists(&id) {
                let what = format!("no scenario has the id \"{id}\"; a whole id is expected");
                return wrong(at, &what);
            }
            if let Some(twin) = entries.get(&id) {
                return wrong(at, &format!("\"{id}\" is in {} too", twin.place));
            }
            if reason.get_ref().trim().is_empty() {
                return wrong(reason.span(), &format!("the reason for \"{id}\" is empty"));
            }
            let is_web = |text: &str| text.starts_with("http://") || text.starts_with("https://");
            if let Some(link) = link.as_ref().filter(|link| !is_web(link.get_ref())) {
                return wrong(link.span(), "the link must start with http:// or https://");
            }
            let until: Option<Date> = until.and_then(|day| day.to_string().parse().ok());
            let entry = KnownFailure {
                reason: reason.get_ref().trim().to_owned(),
                link: link.map(Spanned::into_inner),
                until,
                expired: until.is_some_and(|until| until < today),
                place: place(at),
            };
            entries.insert(id, entry);
        }
        Ok(Self { file: Some(file.to_owned()), entries })
    }
}
