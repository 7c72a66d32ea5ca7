//! The places of ids: each id in the path of an endpoint, and each field of a request that is one.

use std::fmt::Display;
use std::sync::LazyLock;

use strum::AsRefStr;

use crate::scenarios::endpoints::{Ids, ROWS, Row};
use crate::scenarios::fields::dashed;
use crate::scenarios::fields::table::{self, FIELDS};
use crate::scenarios::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Prompt,
    Vault,
    Membership,
}

/// The part of a request that an id is in.
#[derive(Clone, Copy, PartialEq, Eq, AsRefStr)]
#[strum(serialize_all = "lowercase")]
pub enum Where {
    Path,
    Body,
    Query,
}

/// One id of one endpoint.
pub struct Place {
    /// The name in ids of scenarios.
    pub name: String,
    pub endpoint: &'static Row,
    pub place: Where,
    /// The parameter or field.
    pub field: &'static str,
    pub kind: Kind,
    /// The rule of the endpoint, where one states more than the rules of all paths.
    pub rule: Option<&'static str>,
}

/// Stands in a path for the id that is tried.
const MARK: i64 = i64::MIN + 7;

/// The parameters of paths.
const PARAMETERS: [(&str, Kind); 3] =
    [("promptId", Kind::Prompt), ("vaultId", Kind::Vault), ("vaultPromptId", Kind::Membership)];

#[rustfmt::skip]
const RULES: &[(&str, &str)] = &[
    ("list-prompts-vault-id", "PR-15"),
    ("create-prompt-vault-id", "PR-27"),
    ("update-prompt-vault-id", "PR-38"),
    ("save-prompt-vault-id", "PR-44"),
    ("fork-vault", "VA-30"),
    ("add-prompts-prompt-ids", "VC-14"),
    ("pin-membership", "VC-25"),
    ("unpin-membership", "VC-26"),
    ("move-prompt", "VC-23"),
    ("move-prompt-membership", "VC-20"),
    ("move-prompt-target", "VC-24"),
    ("remove-prompt-membership", "VC-15"),
    ("generate-vault-id", "GE-21"),
];

pub static PLACES: LazyLock<Vec<Place>> =
    LazyLock::new(|| ROWS.iter().flat_map(of_endpoint).collect());

fn of_endpoint(endpoint: &'static Row) -> impl Iterator<Item = Place> {
    let is_in_path = |(name, _): &(&str, _)| endpoint.template.contains(&format!("{{{name}}}"));
    let in_path = PARAMETERS.into_iter().filter(is_in_path);
    let in_path = in_path.map(|(field, kind)| (Where::Path, field, kind));
    let fields = FIELDS.iter().filter(|field| field.request.as_ref() == endpoint.name);
    let others = fields.filter_map(|field| {
        let kind = match field.kind {
            table::Kind::Ids(..) => Kind::Prompt,
            table::Kind::Id | table::Kind::PositiveId => Kind::Vault,
            _ => return None,
        };
        let place = if field.request.has_body() { Where::Body } else { Where::Query };
        Some((place, field.name, kind))
    });
    in_path.chain(others).map(move |(place, field, kind)| {
        let name = match (place, field) {
            (Where::Path, "vaultPromptId") => format!("{}-membership", endpoint.name),
            (Where::Path, _) => endpoint.name.to_owned(),
            (_, "targetVaultId") => format!("{}-target", endpoint.name),
            _ => format!("{}-{}", endpoint.name, dashed(field)),
        };
        let rule = RULES.iter().find(|(of, _)| *of == name).map(|(_, rule)| *rule);
        Place { name, endpoint, place, field, kind, rule }
    })
}

impl Kind {
    pub fn of(self, ids: &Ids) -> i64 {
        match self {
            Self::Prompt => ids.prompt,
            Self::Vault => ids.vault,
            Self::Membership => ids.membership,
        }
    }
}

impl Place {
    /// Whether it is the id of a prompt or vault in the path.
    pub fn is_resource(&self) -> bool {
        self.place == Where::Path && self.kind != Kind::Membership
    }

    /// The call with the caller's own ids in all other places.
    pub async fn call(&self, case: &Case, own: &Ids, id: impl Display) -> Result<ApiResponse> {
        // It may be larger than any id.
        let number: Value = serde_json::from_str(&id.to_string()).unwrap_or_default();
        let ids = match (self.place, self.kind) {
            (Where::Path, Kind::Prompt) => Ids { prompt: MARK, ..*own },
            (Where::Path, Kind::Vault) => Ids { vault: MARK, ..*own },
            (Where::Path, Kind::Membership) => {
                Ids { membership: MARK, removable_membership: MARK, ..*own }
            }
            (Where::Body | Where::Query, _) => *own,
        };
        let mut call = self.endpoint.call(case, &ids);
        call.path = call.path.replace(&MARK.to_string(), &id.to_string());
        match (self.place, &mut call.body) {
            (Where::Query, _) => call.path += &format!("?{}={id}", self.field),
            (Where::Body, Some(body)) if self.field == "promptIds" => {
                body[self.field] = json!([number]);
            }
            (Where::Body, Some(body)) => body[self.field] = number,
            _ => {}
        }
        call.send(&case.wire()).await
    }

    pub fn words(&self) -> String {
        let Row { method, template, .. } = self.endpoint;
        format!("{method} {template}, {} in the {}", self.field, self.place.as_ref())
    }
}
