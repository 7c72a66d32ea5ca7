//! The list of an account's keys in a browser session (S-46).

use std::time::Duration;

use serde_json::Value;

use super::New;
use crate::scenario::reference;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "keys.list.newest-first" ["KE-07"] [Session] newest_first,
        "Keys are listed newest first (S-46)" },
    reference! { "keys.list.record" ["KE-07"] [Session] record,
        "A key is listed with the record that its creation answered (S-46)" },
    reference! { "keys.list.last-used" ["KE-07"] [Session] last_used,
        "lastUsedAt is null until the key is used, and then a timestamp (S-46)" },
    reference! { "keys.list.revoked" ["KE-07"] [Session] revoked,
        "A revoked key stays in the list, with the time of its revocation (S-46)" },
];

/// A use may be recorded after the answer.
const RECORDED: Duration = Duration::from_secs(10);

async fn newest_first(case: Case) -> Result<(), Failure> {
    let (case, session) = (&case, &case.session().await?);
    check::by_date(|pause| async move {
        let first = New::make(case, session, &[]).await?;
        tokio::time::sleep(case.scaled(pause)).await;
        let second = New::make(case, session, &[]).await?;
        let list = session.get("/api-keys").await?;
        let mut ours = list.status(200)?.array("/data")?;
        ours.retain(|one| first.is(one) || second.is(one));
        let in_order = matches!(&ours[..], [one, two] if second.is(one) && first.is(two));
        list.ensure(in_order, "the second of two keys and then the first", "another order")?;
        Ok(())
    })
    .await
}

async fn record(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = New::make(&case, &session, &["prompts:write"]).await?;
    check::equal("the listed record", &new.listed(&session).await?, &new.record()?)
}

async fn last_used(case: Case) -> Result<(), Failure> {
    let session = &case.session().await?;
    let new = &New::make(&case, session, &[]).await?;
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

async fn revoked(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = New::make(&case, &session, &[]).await?;
    let revocation = session.delete(&new.path()).await?;
    let listed = new.listed(&session).await?["revokedAt"].clone();
    check::ensure(listed.is_string(), "a listed key with its revokedAt", listed.to_string())?;
    check::equal("revokedAt in the list", &listed, revocation.at("/data/revokedAt")?)
}
