//! The query of `GET /prompts`, and the pages it leads to.

use super::answer::{Refusal, bad, refused};
use super::call::Call;
use super::choices::Choices;
use super::store::{Account, Prompt, Store};

const CURSOR_HEAD: &str = "next=1&after/";
const CURSOR_TAIL: &str = " +é%20#";
/// What makes a cursor long.
const FILLING: usize = 1200;

/// What `GET /prompts` is asked for.
pub(super) struct ListQuery {
    limit: Option<usize>,
    cursor: Option<String>,
    pub(super) vault: Option<i64>,
    pub(super) kind: Option<String>,
    account: Account,
}

impl ListQuery {
    pub(super) fn read(call: &Call) -> Result<Self, Refusal> {
        let strict = call.choices.lists.strict_queries;
        let mut read =
            Self { limit: None, cursor: None, vault: None, kind: None, account: call.account };
        let mut pairs: Vec<_> = pairs(&call.request.query).collect();
        if !strict {
            // What comes first is read last, and counts.
            pairs.reverse();
            pairs.retain(|(_, value)| !value.is_empty());
        }
        for (name, value) in pairs {
            match name.as_str() {
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=100).contains(limit));
                    read.limit = Some(limit.ok_or_else(|| bad("limit", "1 to 100"))?);
                }
                "vaultId" => {
                    let vault = value.parse().map_err(|_| bad("vaultId", "no integer"))?;
                    read.vault = Some(vault);
                }
                "type" if super::prompts::KINDS.contains(&value.as_str()) => {
                    read.kind = Some(value);
                }
                "type" => return Err(bad("type", "no choice")),
                "cursor" => read.cursor = Some(value),
                other if strict => return Err(bad(other, "not taken")),
                _ => {}
            }
        }
        read.own_cursor(call.choices)?;
        Ok(read)
    }

    /// Refuses a cursor of another list, on a server that binds them.
    fn own_cursor(&self, choices: &Choices) -> Result<(), Refusal> {
        match &self.cursor {
            Some(cursor) if choices.lists.long_cursors => {
                let foreign = || bad("cursor", "of another list");
                let (list, place) = cursor.rsplit_once('.').ok_or_else(foreign)?;
                let number = place.parse::<u64>();
                if list == self.list() && number.is_ok() { Ok(()) } else { Err(foreign()) }
            }
            _ => Ok(()),
        }
    }

    /// What a bound cursor is bound to.
    fn list(&self) -> String {
        let kind = self.kind.as_deref().unwrap_or("any");
        let vault = self.vault.unwrap_or_default();
        let limit = self.limit.unwrap_or_default();
        format!("{}-{vault}-{kind}-{limit}-{}", self.account, "0".repeat(FILLING))
    }

    /// A page of what was found, and the cursor of the next one.
    pub(super) fn page<'a>(
        &self,
        store: &Store,
        mut found: Vec<&'a Prompt>,
    ) -> (Vec<&'a Prompt>, Option<String>) {
        let lists = &store.choices.lists;
        if lists.by_title {
            found.sort_by(|one, other| (&one.title, one.id).cmp(&(&other.title, other.id)));
        } else {
            found.sort_by_key(|each| place(store, each));
        }
        let limit = self.limit.unwrap_or(20);
        if !lists.long_cursors {
            let seen = self.cursor.as_deref().and_then(seen).unwrap_or(0);
            let mut rest = found.into_iter().skip(seen);
            let page: Vec<_> = rest.by_ref().take(limit).collect();
            return (page, rest.next().map(|_| cursor(seen + limit)));
        }
        let last = self.cursor.as_deref().and_then(|cursor| cursor.rsplit_once('.'));
        let after: u64 = last.map_or(0, |(_, last)| last.parse().unwrap_or_default());
        found.retain(|each| place(store, each) > after);
        let rest = found.split_off(limit.min(found.len()));
        let end = found.last().map_or(after, |last| place(store, last));
        let next = (!rest.is_empty()).then(|| format!("{}.{end}", self.list()));
        (found, next)
    }
}

/// Where a prompt stands in an order that means nothing.
fn place(store: &Store, prompt: &Prompt) -> u64 {
    store.noise(prompt.id.unsigned_abs()) | 1
}

/// Refuses to filter by a vault that is not the caller's, or shows nothing.
pub(super) fn filter(store: &Store, call: &Call, vault: i64) -> Result<(), Refusal> {
    let own = store.vaults.iter().any(|each| each.id == vault && each.owner == call.account);
    let minds = !call.choices.lists.strict_queries;
    if minds && !own { Err(refused(call.choices.statuses.absent, "No such vault")) } else { Ok(()) }
}

/// Refuses any query.
pub(super) fn none(query: &str) -> Result<(), Refusal> {
    match pairs(query).next() {
        Some((name, _)) => Err(bad(&name, "not taken")),
        None => Ok(()),
    }
}

/// The cursor behind this many entries.
fn cursor(seen: usize) -> String {
    format!("{CURSOR_HEAD}{seen}{CURSOR_TAIL}")
}

fn seen(cursor: &str) -> Option<usize> {
    cursor.strip_prefix(CURSOR_HEAD)?.strip_suffix(CURSOR_TAIL)?.parse().ok()
}

fn pairs(query: &str) -> impl Iterator<Item = (String, String)> + '_ {
    url::form_urlencoded::parse(query.as_bytes()).into_owned()
}
