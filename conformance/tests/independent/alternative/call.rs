//! Who calls, and which handler answers.

use std::time::Instant;

use hyper::Method;

use super::answer::{no_entry, unreadable};
use super::prelude::*;
use super::wire::ApiRequest;
use super::{Shared, contents, fork, jobs, prompts};

pub(super) const ACCOUNTS: usize = 2;

type Allowed = Result<(), Refusal>;

/// A request whose key is known.
pub(super) struct Call {
    pub(super) request: ApiRequest,
    pub(super) account: Account,
    pub(super) choices: &'static Choices,
    pub(super) bug: &'static str,
    /// The body, if it is JSON.
    pub(super) body: Value,
    /// When it came, before it waited for its turn.
    pub(super) arrived: Instant,
    has_scope: bool,
}

fn is_known(choices: &Choices, path: &str) -> bool {
    let below = path.strip_prefix(choices.records.root).and_then(|path| path.split('/').nth(1));
    matches!(below, Some("prompts" | "vaults" | "generations" | "uploads" | "api-keys"))
}

impl Call {
    /// Lets the caller in, if the key is right, and perhaps only if there is
    /// anything to be let into (S-54).
    pub(super) fn new(shared: &Shared, request: ApiRequest) -> Result<Self, Refusal> {
        let (keys, choices, bug) = (&shared.keys, shared.choices, shared.choices.bug);
        if !choices.keys.lenient_methods && !is_known(choices, &request.path) {
            return Err(not_found());
        }
        let (main, is_read) = (&*keys.main, request.method == Method::GET);
        let sent = request.authorization.as_deref();
        let value = sent.and_then(|value| match bug {
            "auth.any-case" if value.to_lowercase().starts_with("bearer ") => Some(&value[7..]),
            "auth.no-space" => value.strip_prefix("Bearer").map(str::trim_start),
            "auth.no-scheme" => Some(value.strip_prefix("Bearer ").unwrap_or(value)),
            "auth.any-scheme" => value.split(' ').next_back(),
            "auth.colon" => Some(value.trim_start_matches("Bearer").trim_start_matches([':', ' '])),
            "auth.quotes" => value.trim_matches('"').strip_prefix("Bearer "),
            _ => value.strip_prefix("Bearer "),
        });
        let open = match bug {
            "auth.in-query" => request.query.split('&').find_map(|it| it.strip_prefix("api_key=")),
            "auth.open-reads" if is_read => Some(main),
            "auth.open-uploads" if request.path.contains("/uploads") => Some(main),
            _ => None,
        };
        let key = value.or(open).ok_or_else(|| no_entry("No key"))?;
        let key = if choices.keys.trimmed { key.trim_matches(' ') } else { key };
        let without_end = |key: &str| key.rsplit_once('_').map(|parts| parts.0.to_owned());
        let taken = match bug {
            "auth.key-beginning" => key.len() > 8 && main.starts_with(key),
            "auth.last-character" => key.len() + 1 == main.len() && main.starts_with(key),
            "auth.key-and-more" => key.starts_with(main),
            "auth.key-any-case" => key.eq_ignore_ascii_case(main),
            "auth.public-id" => without_end(key) == without_end(main),
            "auth.secret-alone" => key.rsplit('_').next() == main.rsplit('_').next(),
            "auth.prefix-not-asked" => main.split_once("_live_").is_some_and(|it| it.1 == key),
            "auth.form-only" => key.contains("_live_"),
            "auth.revoked-reads" => key == keys.revoked && is_read,
            "auth.revoked-taken" => key == keys.revoked,
            "auth.one-account" => key == keys.other,
            _ => false,
        };
        let (account, has_scope) = match key {
            _ if taken => (0, true),
            "" => return Err(no_entry("Empty key")),
            _ if key == keys.revoked => return Err(no_entry("Revoked key")),
            _ if key == keys.main => (0, true),
            _ if key == keys.read_only => (0, false),
            _ if key == keys.other => (1, true),
            _ => return Err(no_entry("Unknown key")),
        };
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        let arrived = Instant::now();
        Ok(Self { request, account, choices, bug, body, arrived, has_scope })
    }

    pub(super) fn bug(&self, name: &str) -> bool {
        self.bug == name
    }

    /// The segments of the path, and the ids of the thing and of the membership in it.
    pub(super) fn parts(&self) -> (Vec<&str>, i64, i64) {
        let parts: Vec<_> = self.path().split('/').skip(1).collect();
        let id = |at: usize| parts.get(at).and_then(|id| id.parse().ok()).unwrap_or_default();
        let (id, member) = (id(1), id(3));
        (parts, id, member)
    }

    pub(super) fn path(&self) -> &str {
        self.request.path.strip_prefix(self.choices.records.root).unwrap_or_default()
    }

    /// Reading needs some scope, whatever it is, or none.
    pub(super) fn may_read(&self) -> Allowed {
        if self.choices.keys.reads_need_scope { self.may_write() } else { Ok(()) }
    }

    /// Creating, updating and deleting prompts and vaults, generations, uploads.
    pub(super) fn may_write(&self) -> Allowed {
        let path = self.path();
        let ignored = match self.bug {
            "scope.prompts-ignored" => path.starts_with("/prompts"),
            "scope.deletes-ignored" => self.request.method == Method::DELETE,
            "scope.updates-ignored" => self.request.method == Method::PATCH,
            "scope.vaults-ignored" => path.starts_with("/vaults") && !path.ends_with("/fork"),
            "scope.fork-ignored" => path.ends_with("/fork"),
            "scope.generations-ignored" => path == "/generations",
            "scope.uploads-ignored" => path == "/uploads/images",
            _ => false,
        };
        if self.has_scope || ignored {
            return Ok(());
        }
        if self.bug("scope.403") { refuse(403, "No scope") } else { Err(no_entry("No scope")) }
    }

    /// Save, and what changes the contents of a vault.
    pub(super) fn may_arrange(&self) -> Allowed {
        if self.choices.keys.contents_need_scope { self.may_write() } else { Ok(()) }
    }

    /// The fields of a body that only some callers may send. Where the body comes
    /// first, [`Call::after_all`] asks whether they may.
    pub(super) fn fields(&self, known: &str, may: fn(&Self) -> Allowed) -> Result<Fields, Refusal> {
        if !self.choices.keys.body_first {
            may(self)?;
        }
        Fields::read(self, known)
    }

    /// Whether the caller may, on a server that looks at the body first.
    pub(super) fn after_all(&self, may: fn(&Self) -> Allowed) -> Allowed {
        if self.choices.keys.body_first { may(self) } else { Ok(()) }
    }

    pub(super) fn answer(&self, store: &mut Store) -> Outcome {
        let lenient = self.choices.keys.lenient_methods;
        let path =
            self.request.path.strip_prefix(self.choices.records.root).ok_or_else(not_found)?;
        let path = if lenient { path.strip_suffix('/').unwrap_or(path) } else { path };
        let segments: Vec<_> = path.split('/').skip(1).collect();
        let method = match self.request.method {
            Method::PUT if self.choices.keys.puts => "PATCH",
            Method::HEAD if lenient => "GET",
            Method::OPTIONS if lenient => return Ok(Answer::ok(json!({ "methods": [] }))),
            _ => self.request.method.as_str(),
        };
        self.nothing_beside(method, &segments)?;
        let (mut thing, mut member) = (0, 0);
        if let ["prompts", id, ..] = segments[..] {
            thing = self.id("promptId", id)?;
        }
        if let ["vaults", id, ..] = segments[..] {
            thing = self.id("vaultId", id)?;
        }
        if let ["vaults", _, "prompts", id, ..] = segments[..] {
            member = self.id("vaultPromptId", id)?;
        }
        match (method, segments.as_slice()) {
            ("GET", ["prompts"]) => prompts::list(store, self),
            ("POST", ["prompts"]) => prompts::create(store, self),
            ("GET", ["prompts", _]) => prompts::read(store, self, thing),
            ("PATCH", ["prompts", _]) => prompts::update(store, self, thing),
            ("DELETE", ["prompts", _]) => prompts::delete(store, self, thing),
            ("POST", ["prompts", _, "save"]) => prompts::save(store, self, thing),
            ("GET", ["vaults"]) => vaults::list(store, self),
            ("POST", ["vaults"]) => vaults::create(store, self),
            ("GET", ["vaults", _]) => vaults::read(store, self, thing),
            ("PATCH", ["vaults", _]) => vaults::update(store, self, thing),
            ("DELETE", ["vaults", _]) => vaults::delete(store, self, thing),
            ("POST", ["vaults", _, "fork"]) => fork::fork(store, self, thing),
            ("GET", ["vaults", _, "prompts"]) => contents::list(store, self, thing),
            ("POST", ["vaults", _, "prompts"]) => contents::add(store, self, thing),
            ("DELETE", ["vaults", _, "prompts", _]) => contents::remove(store, self, thing, member),
            ("POST", ["vaults", _, "prompts", _, "move"]) => {
                contents::relocate(store, self, thing, member)
            }
            ("POST" | "DELETE", ["vaults", _, "prompts", _, "pin"]) => {
                contents::pin(store, self, thing, member, method == "POST")
            }
            ("POST", ["generations"]) => jobs::create(store, self),
            ("GET", ["generations", id, "status"]) => jobs::status(store, self, id),
            ("POST", ["uploads", "images"]) => uploads::create(store, self),
            ("POST", ["api-keys"]) if self.bug("keys.made-with-a-key") => {
                Ok(Answer::created(json!({ "id": 1, "key": "studio_live_9_0123456789abcdef" })))
            }
            ("POST", ["api-keys"]) => refuse(self.choices.statuses.keys, "Not with a key"),
            (
                _,
                ["prompts" | "vaults" | "generations" | "api-keys"]
                | ["prompts" | "vaults", _]
                | ["prompts", _, "save"]
                | ["vaults", _, "fork" | "prompts"]
                | ["vaults", _, "prompts", _]
                | ["vaults", _, "prompts", _, "move" | "pin"],
            ) => refuse(self.choices.statuses.no_method, "Not in this way"),
            _ => Err(not_found()),
        }
    }

    /// Neither a query nor a body where none belongs, on a server that minds.
    fn nothing_beside(&self, method: &str, segments: &[&str]) -> Allowed {
        let is_list = (method, segments) == ("GET", &["prompts"]);
        let pair = query::pairs(&self.request.query).next();
        if let Some((name, _)) = pair.filter(|_| self.choices.lists.strict_queries && !is_list) {
            return Err(bad(&name, "not taken"));
        }
        let takes_no_body = matches!(method, "GET" | "DELETE")
            || matches!(segments.last(), Some(&("fork" | "pin")));
        let minds = self.choices.bodies.known_fields_only;
        if minds && takes_no_body && !self.request.body.is_empty() {
            return Err(unreadable());
        }
        Ok(())
    }

    fn id(&self, field: &str, segment: &str) -> Result<i64, Refusal> {
        let hexadecimal = segment.strip_prefix("0x").map(|digits| i64::from_str_radix(digits, 16));
        let float = segment.parse::<f64>().map(|float| float as i64);
        let read = match self.bug {
            "id.beginning" => query::digits(segment).parse(),
            "id.underscores" => segment.replace('_', "").parse(),
            "id.hexadecimal" => hexadecimal.unwrap_or_else(|| segment.parse()),
            "id.exponent" => segment.trim_end_matches("e0").parse(),
            "id.float" => float.or_else(|_| segment.parse()),
            _ => segment.parse(),
        };
        let are_digits = segment.bytes().all(|byte| byte.is_ascii_digit());
        match (self.bug, read) {
            ("id.word-500", Err(_)) => refuse(500, "invalid input syntax for type bigint"),
            ("id.large-500", Err(_)) if are_digits => refuse(500, "value is out of range"),
            ("id.53-bits-500", Ok(id)) if id > 1 << 53 => refuse(500, "unsafe integer"),
            ("id.31-bits-500", Ok(id)) if id > 1 << 53 => refuse(500, "integer out of range"),
            (_, Ok(id)) => Ok(id),
            _ if self.choices.statuses.no_id == 400 => Err(bad(field, "no integer")),
            _ => refuse(self.choices.statuses.no_id, "No integer"),
        }
    }
}
