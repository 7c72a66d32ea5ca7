//! Revoking a key in a browser session (S-46).

use super::{New, parts_of};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "keys.revoke.answer" ["KE-07"] [Session] answer,
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

async fn answer(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = New::make(&case, &session, &["prompts:write"]).await?;
    let reply = session.delete(&new.path()).await?;
    reply.status(200)?.timestamp("/data/revokedAt")?;
    let mut expected = new.record()?;
    expected["revokedAt"] = reply.at("/data/revokedAt")?.clone();
    reply.equals("/data", expected)?;
    Ok(())
}

async fn next_request(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = New::make(&case, &session, &["prompts:write"]).await?;
    // A server may keep what it knows of a key.
    new.read(&case).await?;
    session.delete(&new.path()).await?.status_in(200..=299)?;
    new.read(&case).await?.status(401)?;
    new.write(&case).await?.status(401)?;
    Ok(())
}

async fn again(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = New::make(&case, &session, &[]).await?;
    let first = session.delete(&new.path()).await?;
    let again = session.delete(&new.path()).await?;
    again.status(200)?.equals("/data/revokedAt", first.at("/data/revokedAt")?.clone())?;
    Ok(())
}

async fn unknown(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    for id in ["p1aaaaaaaaaaaaaa", "1", "nobody", "%C3%A9", "%00"] {
        let reply = session.delete(&format!("/api-keys/{id}")).await?;
        reply.accepted(404, format!("the public id {id}"))?;
    }
    Ok(())
}

async fn other_account(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let key = case.target().config.other_api_key.as_deref().unwrap_or_default();
    let (_, id, _) = parts_of(key)?;
    session.delete(&format!("/api-keys/{id}")).await?.status(404)?;
    case.other().get("/prompts").await?.status_in(200..=299)?;
    Ok(())
}
