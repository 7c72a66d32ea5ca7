//! Every place in every endpoint where an id can stand: an id that nobody has, and one of a deleted
//! resource or of another account, is refused there and changes nothing.

use std::fmt::Display;
use std::sync::LazyLock;

use futures::future::BoxFuture;
use strum::AsRefStr;

use super::endpoints::{Ids, ROWS, Row, absent};
use super::fields::dashed;
use super::fields::table::{self, FIELDS};
use super::shared::prelude::*;

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

pub static ALL: LazyLock<Vec<Scenario>> =
    LazyLock::new(|| PLACES.iter().flat_map(of_place).collect());

type Run = fn(Case, &'static Place) -> BoxFuture<'static, Result>;

fn of_place(place: &'static Place) -> Vec<Scenario> {
    let refused = match place.place {
        Where::Path if place.is_resource() && place.name != "fork-vault" => "404",
        Where::Query => "refused or finds nothing",
        _ => "refused",
    };
    let mut scenarios = Vec::new();
    // The name in ids, what a title says of the id, and the rule of ids in paths.
    let mut add = |name, words: String, rule, run: Run| {
        let mut rules = if place.is_resource() { vec![rule] } else { Vec::new() };
        rules.extend(place.rule);
        let made = Scenario::generated(
            format!("ids.{name}.{}", place.name),
            format!("{}: an id {words}", place.words()),
            rules,
            move |case| run(case, place),
        );
        let needs: &[_] = if name == "foreign" { &[Need::OtherAccount] } else { &[] };
        scenarios.push(Scenario { needs, ..made });
    };
    let words = format!("that nobody has is {refused} and changes nothing");
    add("absent", words, "ER-08", |case, place| Box::pin(gone(case, place, false)));
    // What a removed membership answers is open (S-76).
    if place.kind != Kind::Membership {
        let words = format!("of what was deleted is {refused}");
        add("deleted", words, "ER-09", |case, place| Box::pin(gone(case, place, true)));
    }
    let words = "of 0, below 0, or beyond what 31, 32, 53 or 63 bits hold is refused".to_owned();
    add("huge", words, "ER-08", |case, place| Box::pin(huge(case, place)));
    let words = format!("of another account is {refused} and changes nothing");
    add("foreign", words, "ER-10", |case, place| Box::pin(foreign(case, place)));
    scenarios
}

async fn gone(case: Case, place: &Place, is_deleted: bool) -> Result {
    let own = Ids::make(&case).await?;
    let id = match is_deleted {
        true => deleted(&case, place.kind).await?,
        false => absent(place.kind.of(&own)),
    };
    refused(&case, place, &own, &own, id).await
}

async fn huge(case: Case, place: &Place) -> Result {
    let own = Ids::make(&case).await?;
    let before = own.state(&case.wire()).await?;
    // The last digit keeps them from the ids that a server may give out.
    let right = i128::from(place.kind.of(&own));
    let near = [0, -1, -right, right + (1 << 32)];
    for id in near.into_iter().chain([(1 << 31) + 7, (1 << 53) + 1, (1 << 63) - 1, 1 << 63]) {
        let reply = place.call(&case, &own, id).await?;
        let words = format!("{} for the id {id}", place.words());
        match place.place {
            Where::Query if reply.status_code() == 200 => reply.equals("/data", json!([]))?,
            // Removing a membership that is not there may be a success (S-31).
            _ if place.kind == Kind::Membership && reply.is_success() => &reply,
            _ => reply.is_client_error(words)?,
        };
    }
    check::equal("what was there", &own.state(&case.wire()).await?, &before)
}

pub async fn deleted(case: &Case, kind: Kind) -> Result<i64> {
    let (path, id) = match kind {
        Kind::Prompt => case.prompt().await.map(|prompt| (prompt.path(), prompt.id))?,
        _ => case.vault().await.map(|vault| (vault.path(), vault.id))?,
    };
    case.wire().delete(&path).await?.status(200)?;
    Ok(id)
}

/// The id is refused in this place of a call with these other ids, and the caller's resources are as
/// before.
async fn refused(case: &Case, place: &Place, own: &Ids, beside: &Ids, id: i64) -> Result {
    let before = own.state(&case.wire()).await?;
    place.refuses(&place.call(case, beside, id).await?)?;
    check::equal("what was there", &own.state(&case.wire()).await?, &before)
}

/// The other ids of a call with a foreign id. A foreign vault comes with its own membership, so that
/// only the account is wrong; bodies name what the caller has.
pub fn beside(place: &Place, owned: &Ids, own: &Ids) -> Ids {
    let (addable_prompt, second_vault) = (own.addable_prompt, own.second_vault);
    match (place.place, place.kind) {
        (Where::Path, Kind::Vault) => Ids { addable_prompt, second_vault, ..*owned },
        _ => *own,
    }
}

async fn foreign(case: Case, place: &Place) -> Result {
    for (owner, stranger) in owners_and_strangers(&case) {
        let owned = Ids::make(&owner).await?;
        let own = Ids::make(&stranger).await?;
        // A vault that others may fork is not open to them otherwise.
        let visibilities: &[&str] = match place.kind {
            Kind::Vault if place.name == "fork-vault" => &["private"],
            Kind::Vault => &["private", "unlisted", "public"],
            _ => &["private", "public"],
        };
        let vault = owner.vault_at(owned.vault);
        if place.kind == Kind::Prompt {
            owner.prompt_at(owned.prompt).save_into(&vault).await?.status(200)?;
        }
        for visibility in visibilities {
            vault.update(json!({ "visibility": visibility })).await?.status(200)?;
            let before = owned.state(&owner.wire()).await?;
            let id = place.kind.of(&owned);
            let answer = refused(&stranger, place, &own, &beside(place, &owned, &own), id).await;
            check::with_context(visibility, answer)?;
            check::equal("what the owner has", &owned.state(&owner.wire()).await?, &before)?;
        }
    }
    Ok(())
}

impl Place {
    /// Refused; a query may also find nothing.
    fn refuses(&self, reply: &ApiResponse) -> Result {
        let checked = match (reply.status_code(), self.place) {
            (200, Where::Query) => reply.equals("/data", Value::Array(Vec::new())),
            // Removing a membership that is not there may be a success (S-31).
            (200, _) if self.name == "remove-prompt-membership" => Ok(reply),
            _ if self.is_resource() && self.name != "fork-vault" => reply.status(404),
            _ => reply.status_in(400..=499),
        };
        check::with_context(self.words(), checked).map(drop)
    }

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
