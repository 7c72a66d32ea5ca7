//! The endpoints as a table, for facts that hold on all of them, and their answers to right and to
//! wrong calls. It has no scenarios of its own.

use std::fmt;

use futures::{StreamExt as _, TryStreamExt as _, stream};

use super::prelude::*;

pub const PROMPT: &str = "/prompts/{promptId}";
pub const SAVE: &str = "/prompts/{promptId}/save";
pub const VAULT: &str = "/vaults/{vaultId}";
pub const FORK: &str = "/vaults/{vaultId}/fork";
pub const CONTENTS: &str = "/vaults/{vaultId}/prompts";
pub const MEMBERSHIP: &str = "/vaults/{vaultId}/prompts/{vaultPromptId}";
pub const PIN: &str = "/vaults/{vaultId}/prompts/{vaultPromptId}/pin";
pub const MOVE: &str = "/vaults/{vaultId}/prompts/{vaultPromptId}/move";

pub struct Row {
    pub name: &'static str,
    pub method: Method,
    pub template: &'static str,
    pub status: u16,
    pub rule: &'static str,
    pub scope: Scope,
    body: Option<fn(&Case, &Ids) -> Value>,
}

/// Whether an endpoint needs the scope `prompts:write`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Stated(&'static str),
    /// It is needed by our choice (S-51).
    Chosen,
    NotNeeded,
}

impl Row {
    pub fn lists(&self) -> bool {
        self.name.starts_with("list-")
    }

    pub fn takes_body(&self) -> bool {
        self.body.is_some()
    }

    fn is_beyond(&self) -> bool {
        !self.template.starts_with("/prompts") && !self.template.starts_with("/vaults")
    }

    pub fn call(&self, case: &Case, ids: &Ids) -> Endpoint {
        let removes = self.template == MEMBERSHIP;
        let membership = if removes { ids.removable_membership } else { ids.membership };
        Endpoint {
            method: self.method.clone(),
            template: self.template,
            path: Ids { membership, ..*ids }.in_path(self.template),
            body: self.body.map(|body| body(case, ids)),
        }
    }
}

macro_rules! rows {
    ($($name:literal $method:ident $template:expr, $status:literal $rule:literal $scope:expr $(, $body:expr)?;)+) => {
        &[$(Row {
            name: $name,
            method: Method::$method,
            template: $template,
            status: $status,
            rule: $rule,
            scope: $scope,
            body: rows!(@ $($body)?),
        }),+]
    };
    (@) => { None };
    (@ $body:expr) => { Some($body) };
}

/// Every endpoint that a key opens, those of prompts and vaults in an order in which each can
/// succeed once: name, method, path, status of a success and its rule, scope, body.
pub static ROWS: &[Row] = rows! {
    "list-prompts" GET "/prompts", 200 "PR-13" Scope::NotNeeded;
    "create-prompt" POST "/prompts", 201 "PR-19" Scope::Stated("AU-07"),
        |case, _| json!({ "title": case.name("prompt"), "prompt": "A lighthouse at dusk" });
    "read-prompt" GET PROMPT, 200 "PR-30" Scope::NotNeeded;
    "update-prompt" PATCH PROMPT, 200 "PR-31" Scope::Stated("AU-07"),
        |case, _| json!({ "title": case.name("renamed") });
    "save-prompt" POST SAVE, 200 "PR-44" Scope::Chosen,
        |_, ids| json!({ "vaultId": ids.second_vault });
    "list-vaults" GET "/vaults", 200 "VA-13" Scope::NotNeeded;
    "create-vault" POST "/vaults", 201 "VA-16" Scope::Stated("AU-08"),
        |case, _| json!({ "name": case.name("vault") });
    "read-vault" GET VAULT, 200 "VA-21" Scope::NotNeeded;
    "update-vault" PATCH VAULT, 200 "VA-22" Scope::Stated("AU-08"),
        |_, _| json!({ "visibility": "unlisted" });
    "fork-vault" POST FORK, 201 "VA-29" Scope::Stated("AU-08");
    "list-contents" GET CONTENTS, 200 "VC-04" Scope::NotNeeded;
    "add-prompts" POST CONTENTS, 201 "VC-10" Scope::Chosen,
        |_, ids| json!({ "promptIds": [ids.addable_prompt] });
    "pin" POST PIN, 200 "VC-25" Scope::Chosen;
    "unpin" DELETE PIN, 200 "VC-26" Scope::Chosen;
    "move-prompt" POST MOVE, 200 "VC-17" Scope::Chosen,
        |_, ids| json!({ "targetVaultId": ids.second_vault });
    "remove-prompt" DELETE MEMBERSHIP, 200 "VC-15" Scope::Chosen;
    "delete-prompt" DELETE PROMPT, 200 "PR-40" Scope::Stated("AU-07");
    "delete-vault" DELETE VAULT, 200 "VA-26" Scope::Stated("AU-08");
    "generate" POST "/generations", 202 "GE-01" Scope::Stated("AU-09"),
        |case, _| json!({ "modelId": case.image_model(), "prompt": "A lighthouse" });
    "read-status" GET "/generations/none/status", 200 "GE-31" Scope::NotNeeded;
    "request-slot" POST "/uploads/images", 201 "UP-01" Scope::Stated("AU-10"),
        |_, _| json!({ "contentType": "image/png", "size": 68 });
};

#[derive(Clone, Copy, Debug, Default)]
pub struct Ids {
    pub prompt: i64,
    pub vault: i64,
    /// A membership of the vault, to be pinned and moved.
    pub membership: i64,
    /// Another one, to be removed.
    pub removable_membership: i64,
    /// A prompt for the body that adds one to the vault.
    pub addable_prompt: i64,
    /// A vault for the bodies that name a second one.
    pub second_vault: i64,
}

#[derive(Clone, Debug)]
pub struct Endpoint {
    pub method: Method,
    pub template: &'static str,
    pub path: String,
    pub body: Option<Value>,
}

impl Ids {
    /// Two vaults, a prompt in neither, and two prompts in the first.
    pub async fn make(case: &Case) -> Result<Self> {
        let [vault, second_vault] = case.vaults().await?;
        let prompt = case.prompt().await?.id;
        let [first, second] = vault.filled().await?;
        Ok(Self {
            prompt,
            vault: vault.id,
            membership: first.id,
            removable_membership: second.id,
            addable_prompt: prompt,
            second_vault: second_vault.id,
        })
    }

    /// The same, with a prompt and a vault in the paths that do not exist.
    pub fn absent(self) -> Self {
        Self { prompt: absent(self.prompt), vault: absent(self.vault), ..self }
    }

    pub fn in_path(&self, template: &str) -> String {
        template
            .replace("{promptId}", &self.prompt.to_string())
            .replace("{vaultId}", &self.vault.to_string())
            .replace("{vaultPromptId}", &self.membership.to_string())
    }

    /// All that the ids name, as its owner reads it.
    pub async fn state(&self, wire: &Wire) -> Result<Value> {
        let target = Self { vault: self.second_vault, ..*self };
        let paths =
            [VAULT, CONTENTS].map(|template| [self, &target].map(|it| it.in_path(template)));
        let mut state = Vec::new();
        for path in paths.as_flattened().iter().chain([&self.in_path(PROMPT)]) {
            state.push(check::stable_fields(wire.get(path).await?.data(200)?));
        }
        Ok(state.into())
    }
}

/// An id like this one that no resource has: far away, and still of the same width.
pub fn absent(id: i64) -> i64 {
    const FAR: i64 = 1_000_000_007;
    let narrow = i64::from(i32::MAX);
    if id > narrow { id.saturating_sub(FAR) } else { narrow - id % 1000 }
}

impl Endpoint {
    pub fn call(&self, wire: &Wire) -> Call {
        self.body.iter().fold(wire.call(self.method.clone(), &self.path), Call::json)
    }

    pub async fn send(&self, wire: &Wire) -> Result<ApiResponse> {
        self.call(wire).send().await
    }

    /// The first field at fault, all of them, and none there.
    fn faulty_bodies(&self) -> Vec<Value> {
        let Some(Value::Object(body)) = &self.body else { return Vec::new() };
        let faulty = |count| {
            let mut body = body.clone();
            body.values_mut().take(count).for_each(|value| *value = json!([{}]));
            Value::Object(body)
        };
        vec![faulty(1), faulty(body.len()), json!({})]
    }

    pub fn reads(&self) -> bool {
        self.method == Method::GET
    }

    pub fn names_an_id(&self) -> bool {
        self.template.contains('{')
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.template)
    }
}

/// Every endpoint of prompts and vaults, in an order in which each one can succeed once.
pub fn all(case: &Case, ids: &Ids) -> Vec<Endpoint> {
    ROWS.iter().filter(|row| !row.is_beyond()).map(|row| row.call(case, ids)).collect()
}

/// The other endpoints, for facts that hold on every path. They are not in [`all`], as some targets
/// have no provider or no storage.
pub fn beyond(case: &Case) -> Vec<Endpoint> {
    ROWS.iter().filter(|row| row.is_beyond()).map(|row| row.call(case, &Ids::default())).collect()
}

pub fn create_key(case: &Case) -> Endpoint {
    let (template, body) = ("/api-keys", json!({ "name": case.name("key") }));
    Endpoint { method: Method::POST, template, path: template.to_owned(), body: Some(body) }
}

/// The successes of all endpoints. Refusals are left out: other scenarios report them.
pub async fn successes(case: &Case) -> Result<Vec<(Endpoint, ApiResponse)>> {
    let (ids, mut replies) = (Ids::make(case).await?, Vec::new());
    for endpoint in all(case, &ids) {
        let reply = endpoint.send(&case.wire()).await?;
        replies.extend(reply.is_success().then_some((endpoint, reply)));
    }
    check::ensure(!replies.is_empty(), "a success on any endpoint", "none")?;
    Ok(replies)
}

/// Refusals of all endpoints: with no key, a revoked one and one without the scope; with one faulty
/// field and with several, in a body and in a query; with another content type; with ids that nobody
/// has, or that are none, in the path and in the body. Other answers are left out, as above.
pub async fn refusals(case: &Case) -> Result<Vec<ApiResponse>> {
    let (wire, ids) = (case.wire(), Ids::make(case).await?);
    let others = [case.anonymous(), case.read_only(), case.revoked()];
    let mut calls = vec![wire.call(Method::GET, "/prompts?limit=0&type=audio&vaultId=x")];
    for endpoint in all(case, &ids).into_iter().chain(beyond(case)).chain([create_key(case)]) {
        calls.extend(others.iter().filter(|it| it.key().is_ok()).map(|it| endpoint.call(it)));
        let call = |path| wire.call(endpoint.method.clone(), path);
        calls.extend(endpoint.faulty_bodies().iter().map(|body| call(&endpoint.path).json(body)));
        let odd = endpoint.template.replace(['{', '}'], "");
        calls.extend(endpoint.names_an_id().then(|| call(&odd)));
    }
    let gone = [ids.membership, ids.second_vault, ids.addable_prompt].map(absent);
    let [membership, second_vault, addable_prompt] = gone;
    let mut tried = all(case, &ids.absent());
    let no_member = all(case, &Ids { membership, removable_membership: membership, ..ids });
    tried.extend(no_member.into_iter().filter(|one| one.template.starts_with(MEMBERSHIP)));
    let in_body = all(case, &Ids { second_vault, addable_prompt, ..ids });
    tried.extend(in_body.into_iter().filter(|one| one.body.is_some()));
    tried.retain(Endpoint::names_an_id);
    calls.extend(tried.iter().map(|endpoint| endpoint.call(&wire)));
    calls.push(wire.call(Method::GET, "/generations/none/status"));
    calls.push(wire.call(Method::POST, "/vaults").body("text/plain", "{}"));
    let mut replies: Vec<_> = stream::iter(calls).map(Call::send).buffered(8).try_collect().await?;
    replies.retain(|reply| reply.status_code() >= 400);
    check::ensure(!replies.is_empty(), "a refusal on any endpoint", "none")?;
    Ok(replies)
}

pub async fn each_refusal(case: Case, check: fn(&ApiResponse) -> Result) -> Result {
    refusals(&case).await?.iter().try_for_each(check)
}
