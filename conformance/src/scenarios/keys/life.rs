//! The life of a key in a browser session (S-46): it is created, used, listed and revoked.

use std::time::Duration;

use serde_json::Value;

use super::{NewKey, hides, is_plain, parts_of, taken_apart};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "keys.create.answer" ["KE-06"] [Session] created,
        "POST /api-keys in a session answers 201 with the record and the key (S-46)" },
    reference! { "keys.create.form" ["KE-01"] [Session] form,
        "A new key has its record's public id, and only letters and digits in its parts (S-49)" },
    reference! { "keys.create.works" ["KE-06"] [Session] works,
        "A new key with prompts:write reads and writes at once (S-46)" },
    reference! { "keys.create.only-reads" ["KE-03", "AU-08"] [Session] only_reads,
        "A new key without scopes reads and does not write (S-48)" },
    reference! { "keys.secret.only-once" ["KE-04"] [Session] only_once,
        "The secret of a new key is in the answer to its creation, not in the list nor in its \
         revocation (S-47)" },
    reference! { "keys.list.newest-first" ["KE-07"] [Session] newest_first,
        "Keys are listed newest first (S-46)" },
    reference! { "keys.list.record" ["KE-07"] [Session] record,
        "A key is listed with the record that its creation answered (S-46)" },
    reference! { "keys.list.last-used" ["KE-07"] [Session] last_used,
        "lastUsedAt is null until the key is used, and then a timestamp (S-46)" },
    reference! { "keys.list.revoked" ["KE-07"] [Session] listed_revoked,
        "A revoked key stays in the list, with the time of its revocation (S-46)" },
    reference! { "keys.revoke.answer" ["KE-07"] [Session] revoked,
        "Revoking a key answers 200 with its record and the time (S-46)" },
    reference! { "keys.revoke.next-request" ["KE-07", "AU-06"] [Session] next_request,
        "The request after the revocation of its key is refused (S-55)" },
    reference! { "keys.revoke.again" ["KE-07"] [Session] again,
        "Revoking a key again answers 200 with the first time (S-46)" },
    reference! { "keys.revoke.unknown" ["ER-11"] [Session] unknown,
        "Revoking a key that does not exist is 404 (S-46)" },
    reference! { "keys.revoke.other-account" ["ER-11"] [Session, OtherAccount] other_account,
        "Revoking a key of another account is 404, and the key works on (S-46)" },
];

const WRITE: &[&str] = &["prompts:write"];

/// A use may be recorded after the response.
const RECORDED: Duration = Duration::from_secs(10);

async fn created(case: Case) -> Result<(), Failure> {
    let NewKey { answer, .. } = NewKey::make(&case, &case.session().await?, WRITE).await?;
    answer.status(201)?.equals("/error", None::<&str>)?.equals("/data/scopes", WRITE)?;
    answer.equals("/data/lastUsedAt", None::<&str>)?.equals("/data/revokedAt", None::<&str>)?;
    answer.timestamp("/data/createdAt")?;
    let name = answer.string("/data/name")?;
    answer.ensure(name.starts_with("key "), "the name that was sent", name).map(drop)
}

async fn form(case: Case) -> Result<(), Failure> {
    let NewKey { id, key, answer } = NewKey::make(&case, &case.session().await?, WRITE).await?;
    let (vendor, public_id, secret) = parts_of(&key)?;
    let (expected, _, _) = taken_apart(&case)?;
    answer.ensure(vendor == expected, format!("the vendor {expected}"), vendor)?;
    answer.ensure(public_id == id, format!("the public id {id} in the key"), public_id)?;
    for (name, part) in [("the public id", public_id), ("the secret", secret)] {
        let got = "other characters, or none";
        answer.ensure(is_plain(part), format!("letters and digits in {name}"), got)?;
    }
    Ok(())
}

async fn works(case: Case) -> Result<(), Failure> {
    let new = NewKey::make(&case, &case.session().await?, WRITE).await?;
    new.read(&case).await?.status_in(200..=299)?;
    new.write(&case).await?.status_in(200..=299).map(drop)
}

async fn only_reads(case: Case) -> Result<(), Failure> {
    let new = NewKey::make(&case, &case.session().await?, &[]).await?;
    new.read(&case).await?.status_in(200..=299)?;
    new.write(&case).await?.status(401).map(drop)
}

async fn only_once(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = NewKey::make(&case, &session, WRITE).await?;
    let (_, _, secret) = parts_of(&new.key)?;
    hides(session.get("/api-keys").await?.status(200)?, secret)?;
    hides(session.delete(&new.path()).await?.status(200)?, secret)
}

async fn newest_first(case: Case) -> Result<(), Failure> {
    let (case, session) = (&case, &case.session().await?);
    check::by_date(|pause| async move {
        let first = NewKey::make(case, session, &[]).await?;
        tokio::time::sleep(case.scaled(pause)).await;
        let second = NewKey::make(case, session, &[]).await?;
        let list = session.get("/api-keys").await?;
        let mut ours = list.status(200)?.array("/data")?;
        ours.retain(|one| first.is(one) || second.is(one));
        let ids: Vec<_> = ours.iter().filter_map(|one| one["publicId"].as_str()).collect();
        let expected = [second.id.as_str(), &first.id];
        list.ensure(ids == expected, format!("{expected:?}"), format!("{ids:?}")).map(drop)
    })
    .await
}

async fn record(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = NewKey::make(&case, &session, WRITE).await?;
    check::equal("the listed record", &new.listed(&session).await?, &new.record()?)
}

async fn last_used(case: Case) -> Result<(), Failure> {
    let session = &case.session().await?;
    let new = &NewKey::make(&case, session, &[]).await?;
    let unused = new.listed(session).await?["lastUsedAt"].clone();
    check::equal("lastUsedAt of a key that nobody has used", &unused, &Value::Null)?;
    new.read(&case).await?.status_in(200..=299)?;
    let used = case.until("lastUsedAt of a key that was used", RECORDED, || async move {
        let used = new.listed(session).await?["lastUsedAt"].clone();
        Ok(Some(used).filter(|used| !used.is_null()))
    });
    let used = used.await?;
    let is_time = used.as_str().is_some_and(|text| check::timestamp(text).is_some());
    check::ensure(is_time, "lastUsedAt to be a timestamp", used.to_string())
}

async fn listed_revoked(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = NewKey::make(&case, &session, &[]).await?;
    let revocation = session.delete(&new.path()).await?;
    let listed = new.listed(&session).await?["revokedAt"].clone();
    check::ensure(listed.is_string(), "a listed key with its revokedAt", listed.to_string())?;
    check::equal("revokedAt in the list", &listed, revocation.at("/data/revokedAt")?)
}

async fn revoked(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = NewKey::make(&case, &session, WRITE).await?;
    let reply = session.delete(&new.path()).await?;
    reply.status(200)?.timestamp("/data/revokedAt")?;
    let mut expected = new.record()?;
    expected["revokedAt"] = reply.at("/data/revokedAt")?.clone();
    reply.equals("/data", expected).map(drop)
}

async fn next_request(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = NewKey::make(&case, &session, WRITE).await?;
    // A server may cache what it knows of a key.
    new.read(&case).await?;
    session.delete(&new.path()).await?.status_in(200..=299)?;
    new.read(&case).await?.status(401)?;
    new.write(&case).await?.status(401).map(drop)
}

async fn again(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = NewKey::make(&case, &session, &[]).await?;
    let first = session.delete(&new.path()).await?;
    let again = session.delete(&new.path()).await?;
    let time = first.at("/data/revokedAt")?.clone();
    again.status(200)?.equals("/data/revokedAt", time).map(drop)
}

async fn unknown(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    for id in ["p1aaaaaaaaaaaaaa", "1", "nobody", "%C3%A9", "%00"] {
        let reply = session.delete(&format!("/api-keys/{id}")).await?;
        reply.has_status(404, format!("the public id {id}"))?;
    }
    Ok(())
}

async fn other_account(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let key = case.target().config.other_api_key.as_deref().unwrap_or_default();
    let (_, id, _) = parts_of(key)?;
    session.delete(&format!("/api-keys/{id}")).await?.status(404)?;
    case.other().get("/prompts").await?.status_in(200..=299).map(drop)
}
