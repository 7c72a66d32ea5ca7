//! The places: every id of every path, body and query. A test holds the table to the endpoints.

use crate::scenarios::endpoints::{
    self, CONTENTS, FORK, Ids, MEMBERSHIP, MOVE, PIN, PROMPT, SAVE, VAULT,
};
use crate::scenarios::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Prompt,
    Vault,
    Membership,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
/// The part of a request that an id is in.
pub enum Where {
    /// In the path.
    Path,
    /// In the body.
    Body,
    /// In the query.
    Query,
}

/// One id of one endpoint.
#[derive(Debug)]
pub struct Place {
    /// The name in ids of scenarios.
    pub name: &'static str,
    /// The method of the endpoint.
    pub method: &'static str,
    /// Its path below the base URL.
    pub template: &'static str,
    /// Where the id stands.
    pub place: Where,
    /// The parameter or field.
    pub field: &'static str,
    pub(super) kind: Kind,
    /// The rule of the endpoint, where one states more than the rules of all paths.
    pub rule: Option<&'static str>,
}

macro_rules! places {
    ($($name:literal $method:ident $template:expr, $place:ident $field:literal $kind:ident $($rule:literal)?;)+) => {
        &[$(Place {
            name: $name,
            method: stringify!($method),
            template: $template,
            place: Where::$place,
            field: $field,
            kind: Kind::$kind,
            rule: places!(@rule $($rule)?),
        }),+]
    };
    (@rule) => { None };
    (@rule $rule:literal) => { Some($rule) };
}

/// Name, endpoint, where the id stands and of what it is, rule.
#[rustfmt::skip]
pub const PLACES: &[Place] = places! {
    "list-prompts-vault-id" GET "/prompts", Query "vaultId" Vault "PR-15";
    "read-prompt" GET PROMPT, Path "promptId" Prompt;
    "read-vault" GET VAULT, Path "vaultId" Vault;
    "list-contents" GET CONTENTS, Path "vaultId" Vault;
    "create-prompt-vault-id" POST "/prompts", Body "vaultId" Vault "PR-27";
    "update-prompt" PATCH PROMPT, Path "promptId" Prompt;
    "update-prompt-vault-id" PATCH PROMPT, Body "vaultId" Vault "PR-38";
    "save-prompt" POST SAVE, Path "promptId" Prompt;
    "save-prompt-vault-id" POST SAVE, Body "vaultId" Vault "PR-44";
    "update-vault" PATCH VAULT, Path "vaultId" Vault;
    "fork-vault" POST FORK, Path "vaultId" Vault "VA-30";
    "add-prompts" POST CONTENTS, Path "vaultId" Vault;
    "add-prompts-prompt-ids" POST CONTENTS, Body "promptIds" Prompt "VC-14";
    "pin" POST PIN, Path "vaultId" Vault;
    "pin-membership" POST PIN, Path "vaultPromptId" Membership "VC-25";
    "unpin" DELETE PIN, Path "vaultId" Vault;
    "unpin-membership" DELETE PIN, Path "vaultPromptId" Membership "VC-26";
    "move-prompt" POST MOVE, Path "vaultId" Vault "VC-23";
    "move-prompt-membership" POST MOVE, Path "vaultPromptId" Membership "VC-20";
    "move-prompt-target" POST MOVE, Body "targetVaultId" Vault "VC-24";
    "remove-prompt" DELETE MEMBERSHIP, Path "vaultId" Vault;
    "remove-prompt-membership" DELETE MEMBERSHIP, Path "vaultPromptId" Membership "VC-15";
    "delete-prompt" DELETE PROMPT, Path "promptId" Prompt;
    "delete-vault" DELETE VAULT, Path "vaultId" Vault;
    "generate-vault-id" POST "/generations", Body "vaultId" Vault "GE-21";
};

impl Kind {
    pub(super) fn of(self, ids: &Ids) -> i64 {
        match self {
            Self::Prompt => ids.prompt,
            Self::Vault => ids.vault,
            Self::Membership => ids.membership,
        }
    }
}

impl Place {
    /// The call with the caller's own ids everywhere but here.
    pub(super) async fn call(&self, case: &Case, own: &Ids, id: i64) -> Result<ApiResponse> {
        let ids = match (self.place, self.kind) {
            (Where::Path, Kind::Prompt) => Ids { prompt: id, ..*own },
            (Where::Path, Kind::Vault) => Ids { vault: id, ..*own },
            (Where::Path, Kind::Membership) => {
                Ids { membership: id, removable_membership: id, ..*own }
            }
            (Where::Body | Where::Query, _) => *own,
        };
        let method = Method::from_bytes(self.method.as_bytes()).unwrap_or_default();
        let mut endpoint = endpoints::one(case, &ids, &method, self.template)?;
        match (self.place, &mut endpoint.body) {
            (Where::Query, _) => endpoint.path += &format!("?{}={id}", self.field),
            (Where::Body, Some(body)) if self.field == "promptIds" => {
                body[self.field] = json!([id]);
            }
            (Where::Body, Some(body)) => body[self.field] = json!(id),
            _ => {}
        }
        endpoint.send(&case.wire()).await
    }

    pub(super) fn words(&self) -> String {
        let place = match self.place {
            Where::Path => "the path",
            Where::Body => "the body",
            Where::Query => "the query",
        };
        format!("{} {}, {} in {place}", self.method, self.template, self.field)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{PLACES, Place, Where};
    use crate::scenarios::endpoints::{self, Ids};
    use crate::{Case, Target, TargetConfig};

    #[test]
    fn every_id_of_every_endpoint_is_in_the_table() {
        let config = TargetConfig::new("http://127.0.0.1:1/api/v1".parse().unwrap(), "a-long-key");
        let case = Case::new(Arc::new(Target::new(config).unwrap()), "t");
        for endpoint in endpoints::all(&case, &Ids::default()) {
            let in_path = ["promptId", "vaultId", "vaultPromptId"]
                .into_iter()
                .filter(|name| endpoint.template.contains(&format!("{{{name}}}")))
                .map(|name| (Where::Path, name));
            let fields = endpoint.body.iter().filter_map(|body| body.as_object()).flatten();
            let in_body = fields
                .map(|(name, _)| (Where::Body, name.as_str()))
                .filter(|(_, name)| name.ends_with("Id") || name.ends_with("Ids"));
            for (place, field) in in_path.chain(in_body) {
                let expected = (endpoint.method.as_str(), endpoint.template, place, field);
                let row = |it: &Place| (it.method, it.template, it.place, it.field) == expected;
                assert!(PLACES.iter().any(row), "{endpoint}: {place:?} {field}");
            }
        }
    }

    #[test]
    fn every_row_is_of_an_endpoint_and_stands_there_once() {
        let mut seen = std::collections::HashSet::new();
        for row in PLACES {
            assert!(seen.insert(row.words()), "{} twice", row.words());
            let named = row.template.contains(&format!("{{{}}}", row.field));
            assert_eq!(named, row.place == Where::Path, "{}", row.words());
        }
    }
}
