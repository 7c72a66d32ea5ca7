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
    cursor_names_account: bool,
}

impl ListQuery {
    pub(super) fn read(call: &Call) -> Result<Self, Refusal> {
        let strict = call.choices.lists.strict_queries;
        let mut read = Self {
            limit: None,
            cursor: None,
            vault: None,
            kind: None,
            account: call.account,
            cursor_names_account: call.choices.bug("page.cursor-account"),
        };
        let mut pairs: Vec<_> = pairs(&call.request.query).collect();
        if !strict {
            // What comes first is read last, and counts.
            pairs.reverse();
            pairs.retain(|(_, value)| !value.is_empty());
        }
        for (name, value) in pairs {
            match name.as_str() {
                "limit" => {
                    let value = limit_of(call.choices.bug, value);
                    let limit = value.parse().ok().filter(|limit| (1..=100).contains(limit));
                    read.limit = Some(limit.ok_or_else(|| bad("limit", "1 to 100"))?);
                }
                "vaultId" => {
                    let digits = value.chars().take_while(char::is_ascii_digit);
                    let vault = match (call.choices.bug, value.parse()) {
                        ("list.vault-word-ignored", Err(_)) => continue,
                        ("list.vault-word-empty", Err(_)) => -1,
                        ("list.vault-beginning", _) => {
                            digits.collect::<String>().parse().unwrap_or(-1)
                        }
                        (_, vault) => vault.map_err(|_| bad("vaultId", "no integer"))?,
                    };
                    read.vault = Some(vault);
                }
                "type" if super::prompts::KINDS.contains(&value.as_str()) => {
                    read.kind = Some(value);
                }
                "type" if call.choices.bug("list.type-unknown-ignored") => {}
                "type" if call.choices.bug("list.type-unknown-empty") => read.kind = Some(value),
                "type" if call.choices.bug("list.type-any-case") => {
                    read.kind = Some(value.to_lowercase())
                }
                "type" => return Err(bad("type", "no choice")),
                "cursor" if call.choices.bug("late.cursor-decoded") => {
                    read.cursor = Some(value.replace('-', "+"))
                }
                "cursor" if call.choices.bug("late.cursor-255") => {
                    read.cursor = Some(value.chars().take(255).collect())
                }
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
            Some(cursor) if choices.lists.long_cursors && !choices.bug.starts_with("page.") => {
                let foreign = || match choices.bug {
                    "cursor.garbage-500" => refused(500, "Incorrect padding"),
                    _ => bad("cursor", "of another list"),
                };
                let (list, place) = cursor.rsplit_once('.').ok_or_else(foreign)?;
                let number = place.parse::<u64>();
                if list == self.list() && number.is_ok() { Ok(()) } else { Err(foreign()) }
            }
            _ => Ok(()),
        }
    }

    /// Whose prompts are listed.
    pub(super) fn owner(&self) -> Account {
        match (&self.cursor, self.cursor_names_account) {
            (Some(cursor), true) => {
                cursor.split('-').next().and_then(|id| id.parse().ok()).unwrap_or(0)
            }
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
        let bug = |name| store.choices.bug(name);
        let by_default = match store.choices.bug {
            "limit.default-10" => 10,
            "limit.default-50" => 50,
            _ => 20,
        };
        let limit = match self.limit.filter(|_| !bug("limit.ignored")) {
            Some(limit) if bug("limit.one-more") => limit + 1,
            Some(limit) if bug("limit.at-least-2") => limit.max(2),
            limit => limit.unwrap_or(by_default),
        };
        let first = self.cursor.as_ref().and_then(|cursor| cursor.split('-').nth(3)?.parse().ok());
        let limit = first.filter(|first| bug("page.limit-kept") && *first > 0).unwrap_or(limit);
        match store.choices.bug {
            "late.order-random" => found.sort_by_cached_key(|each| {
                store.noise(each.id.unsigned_abs() + store.turn() as u64)
            }),
            "late.limit-before-type" if self.cursor.is_none() && self.limit.is_some() => {
                found.truncate(limit.saturating_sub(1).max(1));
            }
            _ => {}
        }
        if !lists.long_cursors {
            let seen = self.cursor.as_deref().and_then(seen).unwrap_or(0);
            let mut rest = found.into_iter().skip(seen);
            let page: Vec<_> = rest.by_ref().take(limit).collect();
            return (page, rest.next().map(|_| cursor(seen + limit, store.turn())));
        }
        let last = self.cursor.as_deref().and_then(|cursor| cursor.rsplit_once('.'));
        let mut after: u64 = last.map_or(0, |(_, last)| last.parse().unwrap_or_default());
        if bug("page.cursor-row") && found.iter().all(|each| place(store, each) != after) {
            after = 0;
        }
        if bug("cursor.starts-again") && self.cursor.is_some() && found.len() > 3 {
            return (found.into_iter().take(limit).collect(), None);
        }
        let first = usize::from(bug("cursor.skips-one") && self.cursor.is_some());
        found.retain(|each| {
            place(store, each) > after || bug("cursor.repeats-one") && place(store, each) == after
        });
        if first > 0 && !found.is_empty() {
            found.sort_by_key(|each| place(store, each));
            found.remove(0);
        }
        let rest = found.split_off(limit.min(found.len()));
        let end = found.last().map_or(after, |last| place(store, last));
        let last_too = bug("cursor.after-the-last") && !found.is_empty();
        let full = bug("cursor.after-a-full-page") && found.len() == limit;
        let missing = bug("cursor.never") || bug("page.full-last-lost") && rest.len() == limit;
        let mut next = ((!rest.is_empty() || last_too || full) && !missing)
            .then(|| format!("{}.{end}", self.list()));
        let filtered = self.vault.is_some() || self.kind.is_some();
        let all = |end: u64| format!("{}.{end}", self.list());
        let facts = (self.account, filtered, limit);
        let made = (self.cursor.as_ref(), &all as _);
        super::mistakes_in_jobs::page(
            store,
            facts,
            (&mut found, !rest.is_empty()),
            &mut next,
            made,
        );
        (found, next)
    }
}

/// A limit as servers with these bugs read it.
fn limit_of(bug: &str, value: String) -> String {
    let number = value.parse::<i64>();
    let to = |change: fn(i64) -> i64| match number {
        Ok(number) => change(number).to_string(),
        Err(_) => value.clone(),
    };
    match bug {
        "limit.beginning" => value.chars().take_while(char::is_ascii_digit).collect(),
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
pub(super) fn place(store: &Store, prompt: &Prompt) -> u64 {
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

/// A cursor behind this many entries, another one each time.
fn cursor(seen: usize, turn: usize) -> String {
    format!("{CURSOR_HEAD}{seen}{CURSOR_TAIL}{turn}")
}

fn seen(cursor: &str) -> Option<usize> {
    cursor.strip_prefix(CURSOR_HEAD)?.split_once(CURSOR_TAIL)?.0.parse().ok()
}

fn pairs(query: &str) -> impl Iterator<Item = (String, String)> + '_ {
    url::form_urlencoded::parse(query.as_bytes()).into_owned()
}
