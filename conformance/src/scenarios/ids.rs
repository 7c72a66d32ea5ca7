//! Every place in every endpoint where an id can stand: one that names nothing, something that
//! was deleted, or something of another account is refused there and changes nothing.

mod places;

use std::sync::LazyLock;

use self::places::Kind;
pub use self::places::{PLACES, Place, Where};
use super::endpoints::{Ids, absent};
use super::prelude::*;

pub(super) static ALL: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let of_place =
        |place: &'static Place| Stranger::ALL.into_iter().filter_map(move |one| one.at(place));
    PLACES.iter().flat_map(of_place).collect()
});

/// What an id names, and what is asked of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stranger {
    Absent,
    Deleted,
    Foreign,
    /// The answer to an absent or deleted one has our status and names the field (S-31, S-57).
    Named,
    /// The answer to a foreign one is that to an absent one, byte for byte (S-57).
    Alike,
}

impl Stranger {
    const ALL: [Self; 5] = [Self::Absent, Self::Deleted, Self::Foreign, Self::Named, Self::Alike];

    /// The name in ids, what a title says of it, and the rule of ids in paths.
    fn facts(self, place: &Place) -> (&'static str, String, &'static str) {
        let refused = match place.place {
            Where::Path if place.kind != Kind::Membership && place.name != "fork-vault" => "404",
            Where::Query => "refused or finds nothing",
            _ => "refused",
        };
        let named = match place.place {
            Where::Path => "404",
            _ => "400 naming the field",
        };
        match self {
            Self::Absent => {
                ("absent", format!("that nobody has is {refused} and changes nothing"), "ER-08")
            }
            Self::Deleted => ("deleted", format!("of what was deleted is {refused}"), "ER-09"),
            Self::Foreign => {
                ("foreign", format!("of another account is {refused} and changes nothing"), "ER-10")
            }
            Self::Named => ("named", format!("that names nothing is {named}"), "ER-08"),
            Self::Alike => {
                let words = "of another account gets the answer of one that nobody has";
                ("alike", words.to_owned(), "ER-10")
            }
        }
    }

    fn silent(self, place: &Place) -> &'static [&'static str] {
        match self {
            Self::Named if place.place == Where::Path => &["S-31", "S-57"],
            Self::Named | Self::Alike => &["S-57"],
            _ => &[],
        }
    }

    fn at(self, place: &'static Place) -> Option<Scenario> {
        let of_path = place.place == Where::Path && place.kind != Kind::Membership;
        // What a removed membership answers is open (S-76).
        if self == Self::Deleted && place.kind == Kind::Membership {
            return None;
        }
        let (id, words, rule) = self.facts(place);
        let mut rules = if of_path { vec![rule] } else { Vec::new() };
        rules.extend(place.rule);
        if self == Self::Named && place.place != Where::Path {
            rules.push("ER-03");
        }
        let profile = match self {
            Self::Named | Self::Alike => Profile::Reference,
            _ => Profile::Core,
        };
        let foreign = matches!(self, Self::Foreign | Self::Alike);
        Some(Scenario {
            needs: if foreign { &[Need::OtherAccount] } else { &[] },
            ..Scenario::generated(
                profile,
                format!("ids.{id}.{}", place.name),
                format!("{}: an id {words}", place.words()),
                rules,
                self.silent(place),
                concat!(file!(), ":", line!()),
                move |case| self.hold(case, place),
            )
        })
    }

    async fn hold(self, case: Case, place: &Place) -> Result {
        match self {
            Self::Absent | Self::Deleted => {
                let own = Ids::make(&case).await?;
                let id = match self {
                    Self::Absent => absent(place.kind.of(&own)),
                    _ => deleted(&case, place.kind).await?,
                };
                refused(&case, place, &own, &own, id).await
            }
            Self::Foreign => foreign(&case, place).await,
            Self::Named => named(&case, place).await,
            Self::Alike => alike(&case, place).await,
        }
    }
}

async fn deleted(case: &Case, kind: Kind) -> Result<i64> {
    let (path, id) = match kind {
        Kind::Prompt => case.prompt().await.map(|prompt| (prompt.path(), prompt.id))?,
        _ => case.vault().await.map(|vault| (vault.path(), vault.id))?,
    };
    case.wire().delete(&path).await?.status(200)?;
    Ok(id)
}

/// The id is refused in this place, beside these ids, and the caller has what it had.
async fn refused(case: &Case, place: &Place, own: &Ids, beside: &Ids, id: i64) -> Result {
    let before = own.state(&case.wire()).await?;
    place.refuses(&place.call(case, beside, id).await?)?;
    check::equal("what was there", &own.state(&case.wire()).await?, &before)
}

/// What stands beside a foreign id. A foreign vault has its own membership beside it, as nothing
/// but the account may be amiss; bodies name what the caller has.
fn beside(place: &Place, owned: &Ids, own: &Ids) -> Ids {
    match (place.place, place.kind) {
        (Where::Path, Kind::Vault) => {
            Ids { addable_prompt: own.addable_prompt, second_vault: own.second_vault, ..*owned }
        }
        _ => *own,
    }
}

/// Each account once as the owner and once as the stranger.
pub(super) fn owners_and_strangers(case: &Case) -> [(Case, Case); 2] {
    let other = case.other_account();
    [(other.clone(), case.clone()), (case.clone(), other)]
}

async fn foreign(case: &Case, place: &Place) -> Result {
    for (owner, stranger) in owners_and_strangers(case) {
        let owned = Ids::make(&owner).await?;
        let own = Ids::make(&stranger).await?;
        // A vault that others may fork is not open to them otherwise.
        let visibilities: &[&str] = match place.kind {
            Kind::Vault if place.name != "fork-vault" => &["private", "unlisted", "public"],
            _ => &["private"],
        };
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

async fn named(case: &Case, place: &Place) -> Result {
    let own = Ids::make(case).await?;
    let mut ids = vec![absent(place.kind.of(&own))];
    if place.kind != Kind::Membership {
        ids.push(deleted(case, place.kind).await?);
    }
    if place.place != Where::Path {
        ids.extend([i64::MAX, i64::MIN, 0, -1]);
    }
    for id in ids {
        let reply = place.call(case, &own, id).await?;
        let named = match place.place {
            Where::Path => reply.status(404).map(drop),
            Where::Body | Where::Query => {
                reply.is_bad_request_naming(place.field, format!("the id {id}")).map(drop)
            }
        };
        check::with_context(format!("the id {id}"), named)?;
    }
    Ok(())
}

async fn alike(case: &Case, place: &Place) -> Result {
    for (owner, stranger) in owners_and_strangers(case) {
        let owned = Ids::make(&owner).await?;
        let own = Ids::make(&stranger).await?;
        compare(&stranger, place, &owned, &own).await?;
    }
    Ok(())
}

/// An id of the owner and one of nothing are answered alike.
pub(super) async fn compare(case: &Case, place: &Place, owned: &Ids, own: &Ids) -> Result {
    let foreign = place.kind.of(owned);
    let nothing = absent(foreign);
    let beside = beside(place, owned, own);
    let expected = place.call(case, &beside, nothing).await?;
    let got = place.call(case, &beside, foreign).await?;
    check::with_context(place.words(), same(&got, &expected, (foreign, nothing)))
}

/// Status, body and headers are the same. An answer may repeat the id that was sent.
fn same(got: &ApiResponse, expected: &ApiResponse, ids: (i64, i64)) -> Result {
    let text = |reply: &ApiResponse, id: i64| {
        String::from_utf8_lossy(reply.body()).replace(&id.to_string(), "<id>")
    };
    let (got_text, text) = (text(got, ids.0), text(expected, ids.1));
    got.status(expected.status_code())?;
    got.ensure(got_text == text, format!("the body {text}"), &got_text)?;
    let [got_names, names] = [got, expected].map(|reply| {
        let names = reply.headers().keys().map(http::HeaderName::as_str);
        Vec::from_iter(names.collect::<BTreeSet<_>>())
    });
    got.lists(&got_names, &names, "the headers").map(drop)
}

impl Place {
    /// Refused; a query may also find nothing.
    fn refuses(&self, reply: &ApiResponse) -> Result {
        let of_path = self.place == Where::Path && self.kind != Kind::Membership;
        let checked = match (reply.status_code(), self.place) {
            (200, Where::Query) => reply.equals("/data", Value::Array(Vec::new())),
            // Removing a membership that is not there may be a success (S-31).
            (200, _) if self.name == "remove-prompt-membership" => Ok(reply),
            _ if of_path && self.name != "fork-vault" => reply.status(404),
            _ => reply.status_in(400..=499),
        };
        check::with_context(self.words(), checked).map(drop)
    }
}
