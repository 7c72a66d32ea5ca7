//! Who calls, and which handler answers.

use std::time::Instant;

use hyper::Method;
use serde_json::json;

use super::answer::{Answer, Outcome, Refusal, bad, no_entry, not_found, refused, unreadable};
use super::choices::Choices;
use super::fields::Fields;
use super::store::{Account, Store};
use super::wire::ApiRequest;
use super::{Secrets, contents, fork, jobs, prompts, query, uploads, vaults};

/// A request whose key is known.
pub(super) struct Call {
    pub(super) request: ApiRequest,
    pub(super) account: Account,
    pub(super) choices: &'static Choices,
    /// When it came, before it waited for its turn.
    pub(super) arrived: Instant,
    has_scope: bool,
}

/// Whether there is anything below a path.
fn is_known(choices: &Choices, path: &str) -> bool {
    let below = path.strip_prefix(choices.root).and_then(|path| path.split('/').nth(1));
    matches!(below, Some("prompts" | "vaults" | "generations" | "uploads" | "api-keys"))
}

/// How many accounts the keys open.
pub(super) const ACCOUNTS: usize = 2;

impl Call {
    /// Lets the caller in, if the key is right, and perhaps only if there is
    /// anything to be let into (S-54).
    pub(super) fn new(
        keys: &Secrets,
        choices: &'static Choices,
        request: ApiRequest,
    ) -> Result<Self, Refusal> {
        if !choices.keys.lenient_methods && !is_known(choices, &request.path) {
            return Err(not_found());
        }
        let sent = request.authorization.as_deref();
        let value = sent.and_then(|value| match choices.bug {
            "auth.any-case" if value.to_lowercase().starts_with("bearer ") => Some(&value[7..]),
            "auth.no-space" => value.strip_prefix("Bearer").map(str::trim_start),
            "auth.no-scheme" => Some(value.strip_prefix("Bearer ").unwrap_or(value)),
            "auth.any-scheme" => value.split(' ').next_back(),
            "auth.colon" => Some(value.trim_start_matches("Bearer").trim_start_matches([':', ' '])),
            "auth.quotes" => value.trim_matches('"').strip_prefix("Bearer "),
            _ => value.strip_prefix("Bearer "),
        });
        let in_query = request.query.split('&').find_map(|pair| pair.strip_prefix("api_key="));
        let value = value.or_else(|| in_query.filter(|_| choices.bug("auth.in-query")));
        let reads = choices.bug("auth.open-reads") && request.method == Method::GET;
        let value = value.or_else(|| reads.then_some(&*keys.main));
        let open = choices.bug("auth.open-uploads") && request.path.contains("/uploads");
        let value = value.or_else(|| open.then_some(&*keys.main));
        let key = value.ok_or_else(|| no_entry("No key"))?;
        let key = if choices.keys.trimmed { key.trim_matches(' ') } else { key };
        let main = &*keys.main;
        let is_read = request.method == Method::GET;
        let taken = match choices.bug {
            "auth.key-beginning" => key.len() > 8 && main.starts_with(key),
            "auth.last-character" => key.len() + 1 == main.len() && main.starts_with(key),
            "auth.key-and-more" => key.starts_with(main),
            "auth.key-any-case" => key.eq_ignore_ascii_case(main),
            "auth.public-id" => {
                key.rsplit_once('_').map(|one| one.0) == main.rsplit_once('_').map(|one| one.0)
            }
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
            _ if key.is_empty() => return Err(no_entry("Empty key")),
            _ if key == keys.revoked => return Err(no_entry("Revoked key")),
            _ if key == keys.main => (0, true),
            _ if key == keys.read_only => (0, false),
            _ if key == keys.other => (1, true),
            _ => return Err(no_entry("Unknown key")),
        };
        Ok(Self { request, account, choices, arrived: Instant::now(), has_scope })
    }

    /// The path below the root.
    pub(super) fn path(&self) -> &str {
        self.request.path.strip_prefix(self.choices.root).unwrap_or_default()
    }

    /// Reading needs some scope, whatever it is, or none.
    pub(super) fn may_read(&self) -> Result<(), Refusal> {
        if self.choices.keys.reads_need_scope { self.may_write() } else { Ok(()) }
    }

    /// Creating, updating and deleting prompts and vaults, generations, uploads.
    pub(super) fn may_write(&self) -> Result<(), Refusal> {
        let path = self.path();
        let ignored = match self.choices.bug {
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
        let status = if self.choices.bug("scope.403") { 403 } else { 401 };
        if status == 403 { Err(refused(403, "No scope")) } else { Err(no_entry("No scope")) }
    }

    /// Save, and what changes the contents of a vault.
    pub(super) fn may_arrange(&self) -> Result<(), Refusal> {
        if self.choices.keys.contents_need_scope { self.may_write() } else { Ok(()) }
    }

    /// The fields of a body that only some callers may send. Where the body comes
    /// first, [`Call::after_all`] asks whether they may.
    pub(super) fn fields(
        &self,
        known: &str,
        may: impl Fn(&Self) -> Result<(), Refusal>,
    ) -> Result<Fields, Refusal> {
        let read = || Fields::read(self.choices, &self.request, known);
        if !self.choices.keys.body_first {
            may(self)?;
        }
        read()
    }

    /// Whether the caller may, on a server that looks at the body first.
    pub(super) fn after_all(
        &self,
        may: impl Fn(&Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        if self.choices.keys.body_first { may(self) } else { Ok(()) }
    }

    /// Finds the handler and runs it.
    pub(super) fn answer(&self, store: &mut Store) -> Outcome {
        let lenient = self.choices.keys.lenient_methods;
        let path = self.request.path.strip_prefix(self.choices.root).ok_or_else(not_found)?;
        let path = if lenient { path.strip_suffix('/').unwrap_or(path) } else { path };
        let segments: Vec<_> = path.split('/').skip(1).collect();
        let method = match self.request.method {
            Method::PUT if self.choices.keys.puts => "PATCH",
            Method::HEAD if lenient => "GET",
            Method::OPTIONS if lenient => return Ok(Answer::ok(json!({ "methods": [] }))),
            _ => self.request.method.as_str(),
        };
        self.nothing_beside(method, &segments)?;
        match (method, segments.as_slice()) {
            ("GET", ["prompts"]) => prompts::list(store, self),
            ("POST", ["prompts"]) => prompts::create(store, self),
            ("GET", ["vaults"]) => vaults::list(store, self),
            ("POST", ["vaults"]) => vaults::create(store, self),
            ("POST", ["generations"]) => jobs::create(store, self),
            ("GET", ["generations", id, "status"]) => jobs::status(store, self, id),
            ("POST", ["uploads", "images"]) => uploads::create(store, self),
            ("POST", ["api-keys"]) if self.choices.bug("keys.made-with-a-key") => {
                Ok(Answer::created(json!({ "id": 1, "key": "studio_live_9_0123456789abcdef" })))
            }
            ("POST", ["api-keys"]) => Err(refused(self.choices.statuses.keys, "Not with a key")),
            (_, ["prompts", prompt, rest @ ..]) => {
                self.prompt(store, method, self.id("promptId", prompt)?, rest)
            }
            (_, ["vaults", vault, rest @ ..]) => {
                self.vault(store, method, self.id("vaultId", vault)?, rest)
            }
            (_, ["prompts" | "vaults" | "generations" | "api-keys"]) => Err(self.no_method()),
            _ => Err(not_found()),
        }
    }

    /// Neither a query nor a body where none belongs, on a server that minds.
    fn nothing_beside(&self, method: &str, segments: &[&str]) -> Result<(), Refusal> {
        if self.choices.lists.strict_queries && (method, segments) != ("GET", &["prompts"]) {
            query::none(&self.request.query)?;
        }
        let takes_no_body = matches!(method, "GET" | "DELETE")
            || matches!(segments.last(), Some(&("fork" | "pin")));
        let minds = self.choices.bodies.known_fields_only;
        if minds && takes_no_body && !self.request.body.is_empty() {
            return Err(unreadable());
        }
        Ok(())
    }

    fn no_method(&self) -> Refusal {
        refused(self.choices.statuses.no_method, "Not in this way")
    }

    fn prompt(&self, store: &mut Store, method: &str, prompt: i64, rest: &[&str]) -> Outcome {
        match (method, rest) {
            ("GET", []) => prompts::read(store, self, prompt),
            ("PATCH", []) => prompts::update(store, self, prompt),
            ("DELETE", []) => prompts::delete(store, self, prompt),
            ("POST", ["save"]) => prompts::save(store, self, prompt),
            (_, [] | ["save"]) => Err(self.no_method()),
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
                let member = self.id("vaultPromptId", member)?;
                match (method, rest) {
                    ("DELETE", []) => contents::remove(store, self, vault, member),
                    ("POST", ["move"]) => contents::relocate(store, self, vault, member),
                    ("POST", ["pin"]) => contents::pin(store, self, vault, member, true),
                    ("DELETE", ["pin"]) => contents::pin(store, self, vault, member, false),
                    (_, [] | ["move" | "pin"]) => Err(self.no_method()),
                    _ => Err(not_found()),
                }
            }
            (_, [] | ["fork" | "prompts"]) => Err(self.no_method()),
            _ => Err(not_found()),
        }
    }

    fn id(&self, field: &str, segment: &str) -> Result<i64, Refusal> {
        let status = self.choices.statuses.no_id;
        let refusal = || match status {
            400 => bad(field, "no integer"),
            _ => refused(status, "No integer"),
        };
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
        let read = match self.choices.bug {
            "id.beginning" => digits(segment).parse(),
            "id.underscores" => segment.replace('_', "").parse(),
            "id.hexadecimal" => match segment.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16),
                None => segment.parse(),
            },
            "id.exponent" => segment.trim_end_matches("e0").parse(),
            "id.float" => {
                segment.parse::<f64>().map_or_else(|_| segment.parse(), |float| Ok(float as i64))
            }
            _ => segment.parse(),
        };
        match read {
            Err(_) if self.choices.bug("id.word-500") => {
                Err(refused(500, "invalid input syntax for type bigint"))
            }
            Err(_)
                if self.choices.bug("id.large-500")
                    && segment.bytes().all(|b| b.is_ascii_digit()) =>
            {
                Err(refused(500, "value is out of range"))
            }
            Ok(id) if self.choices.bug("id.53-bits-500") && id > 1 << 53 => {
                Err(refused(500, "unsafe integer"))
            }
            Ok(id) if self.choices.bug("id.31-bits-500") && id > 1 << 53 => {
                Err(refused(500, "integer out of range"))
            }
            read => read.map_err(|_| refusal()),
        }
    }
}
