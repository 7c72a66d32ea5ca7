//! The query of `GET /prompts`, and the pages it leads to.

use super::prelude::*;
use super::prompts::KINDS;

const CURSOR_HEAD: &str = "next=1&after/";
const CURSOR_TAIL: &str = " +é%20#";
/// What makes a cursor long.
const FILLING: usize = 1200;

type Page<'a> = (Vec<&'a Prompt>, Option<String>);

#[derive(Default)]
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
        let mut read = Self { account: call.account, ..Self::default() };
        let mut pairs: Vec<_> = pairs(&call.request.query).collect();
        if !strict {
            // What comes first is read last, and counts.
            pairs.reverse();
            pairs.retain(|(_, value)| !value.is_empty());
        }
        for (name, value) in pairs {
            match (&*name, call.bug) {
                ("limit", bug) => {
                    let limit = limit_of(bug, value).parse().ok();
                    let limit = limit.filter(|limit| (1..=100).contains(limit));
                    read.limit = Some(limit.ok_or_else(|| bad("limit", "1 to 100"))?);
                }
                ("vaultId", bug) => match (bug, value.parse()) {
                    ("list.vault-word-ignored", Err(_)) => {}
                    ("list.vault-word-empty", Err(_)) => read.vault = Some(-1),
                    ("list.vault-beginning", _) => {
                        read.vault = Some(digits(&value).parse().unwrap_or(-1))
                    }
                    (_, Ok(vault)) => read.vault = Some(vault),
                    _ => return Err(bad("vaultId", "no integer")),
                },
                ("type", _) if KINDS.contains(&&*value) => read.kind = Some(value),
                ("type", "list.type-unknown-ignored") => {}
                ("type", "list.type-unknown-empty") => read.kind = Some(value),
                ("type", "list.type-any-case") => read.kind = Some(value.to_lowercase()),
                ("type", _) => return Err(bad("type", "no choice")),
                ("cursor", "late.cursor-decoded") => read.cursor = Some(value.replace('-', "+")),
                ("cursor", "late.cursor-255") => {
                    read.cursor = Some(value.chars().take(255).collect())
                }
                ("cursor", _) => read.cursor = Some(value),
                (other, _) if strict => return Err(bad(other, "not taken")),
                _ => {}
            }
        }
        read.own_cursor(call)?;
        Ok(read)
    }

    /// Refuses a cursor of another list, on a server that binds them.
    fn own_cursor(&self, call: &Call) -> Result<(), Refusal> {
        let Some(cursor) = &self.cursor else { return Ok(()) };
        match cursor.rsplit_once('.') {
            _ if !call.choices.lists.long_cursors || call.bug.starts_with("page.") => Ok(()),
            Some((list, place)) if list == self.list() && place.parse::<u64>().is_ok() => Ok(()),
            _ if call.bug("cursor.garbage-500") => refuse(500, "Incorrect padding"),
            _ => Err(bad("cursor", "of another list")),
        }
    }

    pub(super) fn owner(&self, call: &Call) -> Account {
        let named = |cursor: &String| cursor.split('-').next()?.parse().ok();
        match &self.cursor {
            Some(cursor) if call.bug("page.cursor-account") => named(cursor).unwrap_or(0),
            _ => self.account,
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
    pub(super) fn page<'a>(&self, store: &Store, mut found: Vec<&'a Prompt>) -> Page<'a> {
        let (lists, bug) = (&store.choices.lists, store.choices.bug);
        match lists.by_title {
            true => found.sort_by(|one, other| (&one.title, one.id).cmp(&(&other.title, other.id))),
            false => found.sort_by_key(|each| place(store, each)),
        }
        let limit = match (bug, self.limit) {
            ("limit.default-10", None) => 10,
            ("limit.default-50", None) => 50,
            ("limit.ignored", _) | (_, None) => 20,
            ("limit.one-more", Some(limit)) => limit + 1,
            ("limit.at-least-2", Some(limit)) => limit.max(2),
            (_, Some(limit)) => limit,
        };
        if !lists.long_cursors {
            let seen = self.cursor.as_deref().and_then(seen).unwrap_or(0);
            let mut rest = found.into_iter().skip(seen);
            let page: Vec<_> = rest.by_ref().take(limit).collect();
            return (page, rest.next().map(|_| cursor(seen + limit, store.turn())));
        }
        let first = self.cursor.as_ref().and_then(|cursor| cursor.split('-').nth(3)?.parse().ok());
        let limit = first.filter(|first| bug == "page.limit-kept" && *first > 0).unwrap_or(limit);
        let last = self.cursor.as_deref().and_then(|cursor| cursor.rsplit_once('.'));
        let mut after: u64 = last.map_or(0, |(_, last)| last.parse().unwrap_or_default());
        match bug {
            "late.order-random" => found.sort_by_cached_key(|each| {
                store.noise(each.id.unsigned_abs() + store.turn() as u64)
            }),
            "late.limit-before-type" if self.cursor.is_none() && self.limit.is_some() => {
                found.truncate(limit.saturating_sub(1).max(1))
            }
            "page.cursor-row" if found.iter().all(|each| place(store, each) != after) => after = 0,
            "cursor.starts-again" if self.cursor.is_some() && found.len() > 3 => {
                found.truncate(limit);
                return (found, None);
            }
            _ => {}
        }
        let least = if bug == "cursor.repeats-one" { after } else { after + 1 };
        found.retain(|each| place(store, each) >= least);
        if bug == "cursor.skips-one" && self.cursor.is_some() && !found.is_empty() {
            found.remove(0);
        }
        let rest = found.split_off(limit.min(found.len()));
        let follows = match bug {
            "cursor.after-the-last" => !found.is_empty(),
            "cursor.after-a-full-page" => !rest.is_empty() || found.len() == limit,
            "cursor.never" => false,
            "page.full-last-lost" => !rest.is_empty() && rest.len() != limit,
            _ => !rest.is_empty(),
        };
        let end = found.last().map_or(after, |last| place(store, last));
        let next = follows.then(|| self.after(end));
        self.with_bugs(store, limit, (found, next), !rest.is_empty())
    }

    fn after(&self, place: u64) -> String {
        format!("{}.{place}", self.list())
    }

    /// A page and its cursor, as servers with these bugs have them.
    fn with_bugs<'a>(
        &self,
        store: &Store,
        limit: usize,
        (mut found, next): Page<'a>,
        has_more: bool,
    ) -> Page<'a> {
        let end = found.last().map_or(0, |last| place(store, last));
        let own = || store.prompts.iter().filter(|one| one.owner == self.account);
        let is_filtered = self.vault.is_some() || self.kind.is_some();
        let next = match store.choices.bug {
            "page.third-is-second" if self.cursor.is_some() && has_more => self.cursor.clone(),
            "page.more-of-all" if !found.is_empty() && own().count() > found.len() => {
                Some(self.after(end))
            }
            "page.full-filtered" if is_filtered && found.len() == limit => Some(self.after(end)),
            "page.hundred-is-last" if limit == 100 => None,
            "page.stops-at-other" if has_more => {
                let kind = found.last().map(|last| last.kind);
                let is_other = |one: &Prompt| place(store, one) > end && Some(one.kind) != kind;
                next.filter(|_| !own().any(is_other))
            }
            "page.join-limit" => {
                let (mut rows, whole) = (0, found.len());
                let fits = |one: &&&Prompt| {
                    rows += store.holders(one.id).len().max(1);
                    rows <= limit.max(1)
                };
                let kept = found.iter().take_while(fits).count().max(1);
                found.truncate(kept);
                let last = found.last().filter(|_| kept < whole);
                last.map(|last| self.after(place(store, last))).or(next)
            }
            _ => next,
        };
        (found, next)
    }
}

pub(super) fn digits(text: &str) -> String {
    text.chars().take_while(char::is_ascii_digit).collect()
}

/// A limit as servers with these bugs read it.
fn limit_of(bug: &str, value: String) -> String {
    let number = value.parse::<i64>();
    let to = |change: fn(i64) -> i64| match number {
        Ok(number) => change(number).to_string(),
        Err(_) => value.clone(),
    };
    match bug {
        "limit.beginning" => digits(&value),
        "limit.underscores" => value.replace('_', ""),
        "limit.float" => value.parse::<f64>().map_or(value, |float| (float as i64).to_string()),
        "limit.capped" => to(|limit| limit.clamp(1, 100)),
        "limit.capped-above" => to(|limit| limit.min(100)),
        "limit.32-bits" => to(|limit| i64::from(limit as i32)),
        "limit.most-50" => to(|limit| if limit > 50 { 0 } else { limit }),
        "limit.overflow-is-default" if number.is_err() && value.len() > 18 => "20".to_owned(),
        "limit.zero-is-default" if value == "0" => "20".to_owned(),
        "limit.negative-is-default" if value.starts_with('-') => "20".to_owned(),
        "limit.word-is-default" if number.is_err() => "20".to_owned(),
        "limit.hundred-refused" if value == "100" => "101".to_owned(),
        "limit.one-refused" if value == "1" => "0".to_owned(),
        _ => value,
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
    if minds && !own { refuse(call.choices.statuses.absent, "No such vault") } else { Ok(()) }
}

/// A cursor behind this many entries, another one each time.
fn cursor(seen: usize, turn: usize) -> String {
    format!("{CURSOR_HEAD}{seen}{CURSOR_TAIL}{turn}")
}

fn seen(cursor: &str) -> Option<usize> {
    cursor.strip_prefix(CURSOR_HEAD)?.split_once(CURSOR_TAIL)?.0.parse().ok()
}

pub(super) fn pairs(query: &str) -> impl Iterator<Item = (String, String)> + '_ {
    url::form_urlencoded::parse(query.as_bytes()).into_owned()
}
