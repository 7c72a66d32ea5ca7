//! The requests of the table: a correct call of each, to be changed in one field. Values are JSON
//! as it is written, so that `1.0`, escapes and numbers beyond 64 bits can be sent.

use strum::{AsRefStr, VariantArray};

use super::table::{FIELDS, Field};
use crate::scenarios::endpoints::{CONTENTS, Ids, PROMPT, ROWS, Row, VAULT};
use crate::scenarios::shared::prelude::*;

/// A request with a body, or with a query; as a text the name of its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, AsRefStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Request {
    CreatePrompt,
    UpdatePrompt,
    SavePrompt,
    CreateVault,
    UpdateVault,
    AddPrompts,
    MovePrompt,
    Generate,
    RequestSlot,
    ListPrompts,
}

impl Request {
    #[expect(clippy::expect_used, reason = "each of the names is in the table")]
    pub fn endpoint(self) -> &'static Row {
        ROWS.iter().find(|row| row.name == self.as_ref()).expect("the endpoint of each request")
    }

    pub fn has_body(self) -> bool {
        self.endpoint().takes_body()
    }

    pub fn fields(self) -> impl Iterator<Item = &'static Field> {
        FIELDS.iter().filter(move |field| field.request == self)
    }

    pub async fn correct(self, case: &Case) -> Result<Correct> {
        // Only what the call needs, as whatever fails here blocks the scenario.
        let mut ids =
            if self == Self::MovePrompt { Ids::make(case).await? } else { Ids::default() };
        if matches!(self, Self::UpdatePrompt | Self::SavePrompt | Self::AddPrompts) {
            ids.prompt = case.prompt().await?.id;
        }
        if matches!(self, Self::UpdateVault | Self::SavePrompt | Self::AddPrompts) {
            ids.vault = case.vault().await?.id;
        }
        if self != Self::MovePrompt {
            (ids.addable_prompt, ids.second_vault) = (ids.prompt, ids.vault);
        }
        let watched = match self {
            Self::UpdatePrompt | Self::SavePrompt => Some(PROMPT),
            Self::UpdateVault => Some(VAULT),
            Self::AddPrompts | Self::MovePrompt => Some(CONTENTS),
            _ => None,
        };
        let call = self.endpoint().call(case, &ids);
        let body = match self {
            Self::UpdatePrompt | Self::UpdateVault => json!({}),
            // Where clean-up finds the output.
            Self::Generate => body_for_a_vault(case, json!({})).await?,
            _ => call.body.unwrap_or_default(),
        };
        let fields = body.as_object().into_iter().flatten();
        let fields = fields.map(|(name, value)| (name.clone(), value.to_string())).collect();
        let watched = watched.map(|template| ids.in_path(template));
        let before = match &watched {
            Some(path) => check::stable_fields(case.wire().get(path).await?.data(200)?),
            None => Value::Null,
        };
        Ok(Correct { case: case.clone(), request: self, path: call.path, fields, watched, before })
    }
}

pub struct Correct {
    pub case: Case,
    request: Request,
    path: String,
    /// Names, and values as they are written.
    fields: Vec<(String, String)>,
    watched: Option<String>,
    before: Value,
}

impl Correct {
    /// The value of a field as it is written; empty if it is not there.
    pub fn value(&self, field: &str) -> &str {
        self.own().find(|(name, _)| *name == field).map_or("", |(_, value)| value)
    }

    fn own(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub async fn with(&self, changed: &[(&str, &str)]) -> Result<ApiResponse> {
        let own = self.own().filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
        self.send(own.chain(changed.iter().copied())).await
    }

    pub async fn without(&self, field: &str) -> Result<ApiResponse> {
        self.send(self.own().filter(|(name, _)| *name != field)).await
    }

    pub async fn send<'f>(
        &self,
        fields: impl Iterator<Item = (&'f str, &'f str)>,
    ) -> Result<ApiResponse> {
        let wire = self.case.wire();
        if !self.request.has_body() {
            return wire.get(&format!("{}?{}", self.path, query(fields))).await;
        }
        let fields: Vec<_> =
            fields.map(|(name, value)| format!("{}:{value}", json!(name))).collect();
        let method = self.request.endpoint().method.clone();
        let body = format!("{{{}}}", fields.join(","));
        wire.call(method, &self.path).body("application/json", body).send().await
    }

    pub async fn changed_nothing(&self) -> Result {
        let Some(path) = &self.watched else { return Ok(()) };
        let reply = self.case.wire().get(path).await?;
        let now = check::stable_fields(reply.data(200)?);
        reply.ensure(now == self.before, format!("{} as before", self.before), &now).map(drop)
    }
}

fn query<'f>(fields: impl Iterator<Item = (&'f str, &'f str)>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        query.append_pair(name, serde_json::from_str::<String>(value).as_deref().unwrap_or(value));
    }
    query.finish()
}
