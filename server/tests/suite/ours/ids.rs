//! What our server answers to ids that name nothing (S-31, S-57): which field `details` names, and
//! that an id of another account gets the answer of one that nobody has.

use promptarium_conformance::scenarios::ids::{Kind, PLACES, Place, Where, beside, deleted};
use promptarium_conformance::scenarios::shared::credentials::owners_and_strangers;

use crate::prelude::*;

pub(super) fn all() -> impl Iterator<Item = Scenario> {
    PLACES.iter().flat_map(of_place)
}

fn of_place(place: &'static Place) -> [Scenario; 2] {
    let in_path = place.place == Where::Path;
    let status = if in_path { "404" } else { "400 naming the field" };
    let mut rules = vec!["S-57"];
    rules.extend(in_path.then_some("S-31"));
    let named = Scenario::generated(
        format!("ids.named.{}", place.name),
        format!("{}: an id that names nothing is {status}", place.words()),
        rules,
        move |case| named(case, place),
    );
    let alike = Scenario::generated(
        format!("ids.alike.{}", place.name),
        format!("{}: an id of another account gets the answer of none", place.words()),
        vec!["S-57"],
        move |case| alike(case, place),
    );
    [named, Scenario { needs: &[Need::OtherAccount], ..alike }]
}

async fn named(case: Case, place: &Place) -> Result {
    let own = Ids::make(&case).await?;
    let mut ids = vec![absent(place.kind.of(&own))];
    if place.kind != Kind::Membership {
        ids.push(deleted(&case, place.kind).await?);
    }
    if place.place != Where::Path {
        ids.extend([i64::MAX, i64::MIN, 0, -1]);
    }
    for id in ids {
        let reply = place.call(&case, &own, id).await?;
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

async fn alike(case: Case, place: &Place) -> Result {
    for (owner, stranger) in owners_and_strangers(&case) {
        let owned = Ids::make(&owner).await?;
        let own = Ids::make(&stranger).await?;
        compare(&stranger, place, &owned, &own).await?;
    }
    Ok(())
}

/// An id of the owner and one that nobody has get the same answer.
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
