//! The life of a key in a browser session (S-46): it is created, used, listed and revoked; and
//! what `POST /api-keys` refuses.

use super::keys::{NewKey, is_plain};
use crate::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "keys.create.answer" ["S-46", "S-48", "S-49"] created,
        "POST /api-keys in a session is 201 with the record and a key that works as its scopes say" },
    scenario! { "keys.secret.only-once" ["S-47"] only_once,
        "The secret of a new key is only in the answer to its creation" },
    scenario! { "keys.list.newest-first" ["S-46"] |case| by_date(case, newest_first),
        "Keys are listed newest first" },
    scenario! { "keys.list.record" ["S-46"] record,
        "A key is listed with its record; lastUsedAt is null until it is used" },
    scenario! { "keys.revoke.answer" ["S-46", "S-55"] revoked,
        "Revoking a key answers 200 with its record and the first time, and refuses it at once" },
    scenario! { "keys.revoke.unknown" ["S-46"] [OtherAccount] unknown,
        "Revoking a key that does not exist, or of another account, is 404 and changes nothing" },
    scenario! { "keys.create.fields" ["S-46", "S-67"] fields,
        "Faulty names, scopes and bodies are 400 naming the field; types 415, large ones 413" },
];

const WRITE: &[&str] = &["prompts:write"];

/// A use may be recorded after the response.
const RECORDED: Duration = Duration::from_secs(10);

async fn created(case: Case) -> Result {
    let new = NewKey::make(&case, WRITE).await?;
    let NewKey { id, key, answer, .. } = &new;
    answer.status(201)?.equals("/error", None::<&str>)?.equals("/data/scopes", WRITE)?;
    answer.equals("/data/lastUsedAt", None::<&str>)?.equals("/data/revokedAt", None::<&str>)?;
    answer.timestamp("/data/createdAt")?;
    let name = answer.string("/data/name")?;
    answer.ensure(name.starts_with("key "), "the name that was sent", name)?;
    let (vendor, public_id, secret) = parts_of(key)?;
    let (expected, _, _) = parts_of(main_key(&case))?;
    answer.ensure(vendor == expected, format!("the vendor {expected}"), vendor)?;
    answer.ensure(public_id == id, format!("the public id {id} in the key"), public_id)?;
    for (name, part) in [("the public id", public_id), ("the secret", secret)] {
        let got = "other characters, or none";
        answer.ensure(is_plain(part), format!("letters and digits in {name}"), got)?;
    }
    new.read().await?.success()?;
    new.write().await?.success()?;
    let new = NewKey::make(&case, &[]).await?;
    new.read().await?.success()?;
    new.write().await?.status(401).map(drop)
}

async fn only_once(case: Case) -> Result {
    let new = NewKey::make(&case, WRITE).await?;
    let (_, _, secret) = parts_of(&new.key)?;
    hides(new.session.get("/api-keys").await?.status(200)?, secret)?;
    hides(new.revoke().await?.status(200)?, secret)
}

async fn newest_first(case: Case, pause: Duration) -> Result {
    let first = NewKey::make(&case, &[]).await?;
    tokio::time::sleep(case.scaled(pause)).await;
    let second = NewKey::make(&case, &[]).await?;
    let list = second.session.get("/api-keys").await?;
    let mut ours = list.status(200)?.array("/data")?;
    ours.retain(|one| first.is(one) || second.is(one));
    let ids: Vec<_> = ours.iter().filter_map(|one| one["publicId"].as_str()).collect();
    list.lists(&ids, &[&*second.id, &first.id], "the keys").map(drop)
}

async fn record(case: Case) -> Result {
    let new = &NewKey::make(&case, WRITE).await?;
    let unused = new.listed().await?;
    check::equal("the listed record", &unused, &new.record()?)?;
    check::equal("lastUsedAt of a key that nobody has used", &unused["lastUsedAt"], &Value::Null)?;
    new.read().await?.success()?;
    let used = case.until("lastUsedAt of a key that was used", RECORDED, || async move {
        let used = new.listed().await?["lastUsedAt"].clone();
        Ok(Some(used).filter(|used| !used.is_null()))
    });
    let used = used.await?;
    let is_time = used.as_str().is_some_and(|text| check::timestamp(text).is_some());
    check::ensure(is_time, "lastUsedAt to be a timestamp", used.to_string())
}

async fn revoked(case: Case) -> Result {
    let new = NewKey::make(&case, WRITE).await?;
    let reply = new.revoke().await?;
    reply.status(200)?.timestamp("/data/revokedAt")?;
    let mut expected = new.record()?;
    expected["revokedAt"] = reply.at("/data/revokedAt")?.clone();
    let time = expected["revokedAt"].clone();
    reply.equals("/data", expected)?;
    check::equal("revokedAt in the list", &new.listed().await?["revokedAt"], &time)?;
    new.revoke().await?.status(200)?.equals("/data/revokedAt", time)?;
    let new = NewKey::make(&case, WRITE).await?;
    // A server may cache what it knows of a key.
    new.read().await?;
    new.revoke().await?.success()?;
    new.read().await?.status(401)?;
    new.write().await?.status(401).map(drop)
}

async fn unknown(case: Case) -> Result {
    let session = Session::wire(&case)?;
    for id in ["p1aaaaaaaaaaaaaa", "1", "nobody", "%C3%A9", "%00"] {
        let reply = session.delete(&format!("/api-keys/{id}")).await?;
        reply.has_status(404, format!("the public id {id}"))?;
    }
    let key = case.target().config().other_api_key.as_deref().unwrap_or_default();
    let (_, id, _) = parts_of(key)?;
    session.delete(&format!("/api-keys/{id}")).await?.status(404)?;
    case.other().get("/prompts").await?.success().map(drop)
}

const NAME_MAX: usize = 100;
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

async fn fields(case: Case) -> Result {
    let long = "é".repeat(NAME_MAX + 1);
    let names = json!([null, "", " \t\u{a0}", long, "a\u{0}", 7, ["a"]]);
    refused(&case, "name", json!({ "scopes": [] }), names).await?;
    let name = json!({ "name": case.name("key") });
    let (unknown, twice) = (["prompts:read"], ["prompts:write", "prompts:write"]);
    let others = json!([null, unknown, twice, ["Prompts:Write"], [""], [7], "prompts:write", {}]);
    refused(&case, "scopes", name, others).await?;
    let session = Session::wire(&case)?;
    let name = case.name("key");
    let padding = "é".repeat(NAME_MAX - name.chars().count() - 1);
    for name in ["é".to_owned(), format!("{padding} {name}")] {
        let reply = session.post("/api-keys", json!({ "name": name, "scopes": [] })).await?;
        let what = format!("a name of {} characters", name.chars().count());
        reply.has_status(201, what)?.equals("/data/name", name)?;
    }
    let call = || session.call(Method::POST, "/api-keys");
    let good = json!({ "name": case.name("key"), "scopes": ["prompts:write"] }).to_string();
    names_exactly(&call().body("application/json", "[]").send().await?, &["body"])?;
    call().body("text/plain", good.clone()).send().await?.status(415)?;
    let large = good + &" ".repeat(BODY_BYTES_MAX);
    call().body("application/json", large).send().await?.status(413).map(drop)
}

/// The body without the field, and with each of these values of it, is refused for the field.
async fn refused(case: &Case, field: &str, body: Value, values: Value) -> Result {
    let session = Session::wire(case)?;
    let values = values.as_array().into_iter().flatten();
    let with_each = values.map(|value| merged(body.clone(), json!({ field: value })));
    for body in with_each.chain([body.clone()]) {
        let reply = session.post("/api-keys", body.clone()).await?;
        check::with_context(format!("the body {body}"), names_exactly(&reply, &[field]))?;
    }
    Ok(())
}
