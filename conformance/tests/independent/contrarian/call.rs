//! Who calls, and which handler answers.
//!
//! Differs in: the key comes first, also for paths that do not exist (S-54,
//! S-56), what the path names comes before the scope; a key without a scope
//! may save, fork, add, remove, move and pin (S-51) but not read (S-50); spaces
//! around a key are passed over (S-52); a wrong method is 404, `HEAD`,
//! `OPTIONS` and a trailing slash work (S-59, S-61); a path id that is no
//! integer is 400 (S-58); so is a query or a body where none belongs (S-03,
//! S-67); `POST /api-keys` is 403 (S-46).

use hyper::Method;
use serde_json::json;

use super::answer::{Answer, Outcome, Refusal, bad, no_entry, not_found, refused, unreadable};
use super::store::{Account, Store};
use super::wire::Ask;
use super::{Keys, contents, fork, prompts, query, vaults};

/// A request whose key is known.
pub(super) struct Call {
    pub(super) ask: Ask,
    pub(super) account: Account,
    has_scope: bool,
}

/// The root that the accounts' addresses are below.
pub(super) const ROOT: &str = "/tenants/7/api/v1";
/// How many accounts the keys open.
pub(super) const ACCOUNTS: usize = 2;

impl Call {
    /// Lets the caller in, if the key is right.
    pub(super) fn new(keys: &Keys, ask: Ask) -> Result<Self, Refusal> {
        let value = ask.authorization.as_deref().and_then(|value| value.strip_prefix("Bearer "));
        let key = value.ok_or_else(|| no_entry("No key"))?.trim_matches(' ');
        let (account, has_scope) = match key {
            _ if key.is_empty() => return Err(no_entry("Empty key")),
            _ if key == keys.revoked => return Err(no_entry("Revoked key")),
            _ if key == keys.main => (0, true),
            _ if key == keys.read_only => (0, false),
            _ if key == keys.other => (1, true),
            _ => return Err(no_entry("Unknown key")),
        };
        Ok(Self { ask, account, has_scope })
    }

    /// Reading needs some scope, whatever it is.
    pub(super) fn may_read(&self) -> Result<(), Refusal> {
        self.may_write()
    }

    /// Creating, updating and deleting prompts and vaults.
    pub(super) fn may_write(&self) -> Result<(), Refusal> {
        if self.has_scope { Ok(()) } else { Err(no_entry("No scope")) }
    }

    /// Finds the handler and runs it.
    pub(super) fn answer(&self, store: &mut Store) -> Outcome {
        let path = self.ask.path.strip_prefix(ROOT).ok_or_else(not_found)?;
        let path = path.strip_suffix('/').unwrap_or(path);
        let segments: Vec<_> = path.split('/').skip(1).collect();
        let method = match self.ask.method {
            Method::HEAD => "GET",
            Method::OPTIONS => return Ok(Answer::ok(json!({ "methods": [] }))),
            _ => self.ask.method.as_str(),
        };
        if (method, segments.as_slice()) != ("GET", &["prompts"]) {
            query::none(&self.ask.query)?;
        }
        match segments.last() {
            Some(&("fork" | "pin")) if !self.ask.body.is_empty() => return Err(unreadable()),
            _ if matches!(method, "GET" | "DELETE") && !self.ask.body.is_empty() => {
                return Err(unreadable());
            }
            _ => {}
        }
        match (method, segments.as_slice()) {
            ("GET", ["prompts"]) => prompts::list(store, self),
            ("POST", ["prompts"]) => prompts::create(store, self),
            ("GET", ["vaults"]) => vaults::list(store, self),
            ("POST", ["vaults"]) => vaults::create(store, self),
            ("POST", ["api-keys"]) => Err(refused(403, "Not with a key")),
            (_, ["prompts", prompt, rest @ ..]) => {
                self.prompt(store, method, id("promptId", prompt)?, rest)
            }
            (_, ["vaults", vault, rest @ ..]) => {
                self.vault(store, method, id("vaultId", vault)?, rest)
            }
            _ => Err(not_found()),
        }
    }

    fn prompt(&self, store: &mut Store, method: &str, prompt: i64, rest: &[&str]) -> Outcome {
        match (method, rest) {
            ("GET", []) => prompts::read(store, self, prompt),
            ("PATCH", []) => prompts::update(store, self, prompt),
            ("DELETE", []) => prompts::delete(store, self, prompt),
            ("POST", ["save"]) => prompts::save(store, self, prompt),
            _ => Err(not_found()),
        }
    }

    fn vault(&self, store: &mut Store, method: &str, vault: i64, rest: &[&str]) -> Outcome {
        match (method, rest) {
            ("GET", []) => vaults::read(store, self, vault),
            ("PATCH", []) => vaults::update(store, self, vault),
            ("DELETE", []) => vaults::delete(store, self, vault),
            ("POST", ["fork"]) => fork::fork(store, self, vault),
            ("GET", ["prompts"]) => contents::list(store, self, vault),
            ("POST", ["prompts"]) => contents::add(store, self, vault),
            (_, ["prompts", member, rest @ ..]) => {
                let member = id("vaultPromptId", member)?;
                match (method, rest) {
                    ("DELETE", []) => contents::remove(store, self, vault, member),
                    ("POST", ["move"]) => contents::relocate(store, self, vault, member),
                    ("POST", ["pin"]) => contents::pin(store, self, vault, member, true),
                    ("DELETE", ["pin"]) => contents::pin(store, self, vault, member, false),
                    _ => Err(not_found()),
                }
            }
            _ => Err(not_found()),
        }
    }
}

fn id(field: &str, segment: &str) -> Result<i64, Refusal> {
    segment.parse().map_err(|_| bad(field, "no integer"))
}
