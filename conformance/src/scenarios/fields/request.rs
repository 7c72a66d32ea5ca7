//! The requests of the table: a correct call of each, to be changed in one field. Values are JSON
//! as it is written, so that `1.0`, escapes and numbers beyond 64 bits can be sent.

use super::table::{FIELDS, Field, Presence};
use crate::scenarios::prelude::*;

macro_rules! requests {
    ($($request:ident $id:literal $name:literal $rule:literal;)+) => {
        /// A request with a body, or with a query.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Request { $(#[doc = $name] $request),+ }

        impl Request {
            pub const ALL: &[Self] = &[$(Self::$request),+];

            /// The name in ids, and what a title calls the request.
            pub fn names(self) -> (&'static str, &'static str) {
                match self { $(Self::$request => ($id, $name)),+ }
            }

            /// The rule that states its success.
            pub fn rule(self) -> &'static str {
                match self { $(Self::$request => $rule),+ }
            }
        }
    };
}

requests! {
    CreatePrompt "create-prompt" "POST /prompts" "PR-19";
    UpdatePrompt "update-prompt" "PATCH of a prompt" "PR-32";
    SavePrompt "save-prompt" "Save" "PR-44";
    CreateVault "create-vault" "POST /vaults" "VA-16";
    UpdateVault "update-vault" "PATCH of a vault" "VA-23";
    AddPrompts "add-prompts" "Adding prompts to a vault" "VC-10";
    MovePrompt "move-prompt" "Move" "VC-17";
    Generate "generate" "POST /generations" "GE-01";
    Slot "request-slot" "POST /uploads/images" "UP-01";
    ListPrompts "list-prompts" "GET /prompts" "PR-13";
}

impl Request {
    pub fn has_body(self) -> bool {
        self != Self::ListPrompts
    }

    pub(super) fn fields(self) -> impl Iterator<Item = &'static Field> {
        FIELDS.iter().filter(move |field| field.request == self)
    }

    pub(super) fn required(self) -> Vec<&'static str> {
        let required = self.fields().filter(|field| field.presence == Presence::Required);
        required.map(|field| field.name).collect()
    }

    pub(super) async fn correct(self, case: &Case) -> Result<Correct> {
        let (path, watched, body) = match self {
            Self::CreatePrompt => {
                ("/prompts".into(), None, json!({ "title": case.name("prompt"), "prompt": "Dusk" }))
            }
            Self::UpdatePrompt => {
                let path = case.prompt().await?.path();
                (path.clone(), Some(path), json!({}))
            }
            Self::SavePrompt => {
                let (path, vault) = (case.prompt().await?.path(), case.vault().await?);
                (format!("{path}/save"), Some(path), json!({ "vaultId": vault.id }))
            }
            Self::CreateVault => ("/vaults".into(), None, json!({ "name": case.name("vault") })),
            Self::UpdateVault => {
                let path = case.vault().await?.path();
                (path.clone(), Some(path), json!({}))
            }
            Self::AddPrompts => {
                let path = format!("{}/prompts", case.vault().await?.path());
                (path.clone(), Some(path), json!({ "promptIds": [case.prompt().await?.id] }))
            }
            Self::MovePrompt => {
                let (source, target, [member]) = case.source_and_target().await?;
                let listing = format!("{}/prompts", source.path());
                let body = json!({ "targetVaultId": target.id });
                (format!("{}/move", member.path()), Some(listing), body)
            }
            Self::Generate => {
                let (model, text) = (case.image_model(), case.name("A harbour"));
                let vault = case.vault().await?.id;
                let body = json!({ "modelId": model, "prompt": text, "vaultId": vault });
                ("/generations".into(), None, body)
            }
            Self::Slot => {
                ("/uploads/images".into(), None, json!({ "contentType": "image/png", "size": 68 }))
            }
            Self::ListPrompts => ("/prompts".into(), None, json!({})),
        };
        let fields = body.as_object().into_iter().flatten();
        let fields = fields.map(|(name, value)| (name.clone(), value.to_string())).collect();
        let before = match &watched {
            Some(path) => check::stable_fields(case.wire().get(path).await?.data(200)?),
            None => Value::Null,
        };
        Ok(Correct { case: case.clone(), request: self, path, fields, watched, before })
    }
}

/// A call that succeeds.
pub(super) struct Correct {
    pub(super) case: Case,
    request: Request,
    path: String,
    /// Names, and values as they are written.
    fields: Vec<(String, String)>,
    /// What the call would change.
    watched: Option<String>,
    before: Value,
}

impl Correct {
    /// The value of a field as it is written; empty if it is not there.
    pub(super) fn value(&self, field: &str) -> &str {
        let found = self.fields.iter().find(|(name, _)| name == field);
        found.map_or("", |(_, value)| value)
    }

    /// Sends the call with these fields in place of its own.
    pub(super) async fn with(&self, changed: &[(&str, &str)]) -> Result<ApiResponse> {
        let own = self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let own = own.filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
        self.send(own.chain(changed.iter().copied())).await
    }

    pub(super) async fn without(&self, field: &str) -> Result<ApiResponse> {
        let own = self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        self.send(own.filter(|(name, _)| *name != field)).await
    }

    pub(super) async fn send<'f>(
        &self,
        fields: impl Iterator<Item = (&'f str, &'f str)>,
    ) -> Result<ApiResponse> {
        let wire = self.case.wire();
        if !self.request.has_body() {
            return wire.get(&format!("{}?{}", self.path, query(fields))).await;
        }
        let fields: Vec<_> =
            fields.map(|(name, value)| format!("{}:{value}", json!(name))).collect();
        let method = match self.request {
            Request::UpdatePrompt | Request::UpdateVault => Method::PATCH,
            _ => Method::POST,
        };
        let body = format!("{{{}}}", fields.join(","));
        wire.call(method, &self.path).body("application/json", body).send().await
    }

    pub(super) async fn changed_nothing(&self) -> Result {
        let Some(path) = &self.watched else { return Ok(()) };
        let reply = self.case.wire().get(path).await?;
        let now = check::stable_fields(reply.data(200)?);
        reply.ensure(now == self.before, format!("{} as before", self.before), &now).map(drop)
    }
}

fn query<'f>(fields: impl Iterator<Item = (&'f str, &'f str)>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        let text = serde_json::from_str::<String>(value);
        query.append_pair(name, text.as_deref().unwrap_or(value));
    }
    query.finish()
}
