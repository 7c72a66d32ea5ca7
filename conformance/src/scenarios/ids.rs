//! Every place in every endpoint where an id can stand: an id that nobody has, and one of a deleted
//! resource or of another account, is refused there and changes nothing.

mod places;

use std::sync::LazyLock;

use futures::future::BoxFuture;

pub use self::places::{Kind, PLACES, Place, Where};
use super::endpoints::{Ids, absent};
use super::prelude::*;
use super::shared::credentials::owners_and_strangers;

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
    for id in
        [0, -1, -right, right + (1 << 32), (1 << 31) + 7, (1 << 53) + 1, (1 << 63) - 1, 1 << 63]
    {
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
    match (place.place, place.kind) {
        (Where::Path, Kind::Vault) => {
            Ids { addable_prompt: own.addable_prompt, second_vault: own.second_vault, ..*owned }
        }
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
        if place.kind == Kind::Prompt {
            owner
                .prompt_at(owned.prompt)
                .save_into(&owner.vault_at(owned.vault))
                .await?
                .status(200)?;
        }
        for visibility in visibilities {
            let change = json!({ "visibility": visibility });
            owner.vault_at(owned.vault).update(change).await?.status(200)?;
            let before = owned.state(&owner.wire()).await?;
            let id = place.kind.of(&owned);
            let beside = beside(place, &owned, &own);
            let answer = refused(&stranger, place, &own, &beside, id).await;
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
}
