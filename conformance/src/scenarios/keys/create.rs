//! Making a key in a browser session: the answer, and what the key is good for.

use super::{New, parts_of, shows};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "keys.create.answer" ["KE-06"] [Session] answer,
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
];

const WRITE: &[&str] = &["prompts:write"];

async fn answer(case: Case) -> Result<(), Failure> {
    let New { answer, .. } = New::make(&case, &case.session().await?, WRITE).await?;
    answer.status(201)?.equals("/error", None::<&str>)?.equals("/data/scopes", WRITE)?;
    answer.equals("/data/lastUsedAt", None::<&str>)?.equals("/data/revokedAt", None::<&str>)?;
    answer.timestamp("/data/createdAt")?;
    let name = answer.string("/data/name")?;
    answer.ensure(name.starts_with("key "), "the name that was sent", name)?;
    Ok(())
}

async fn form(case: Case) -> Result<(), Failure> {
    let New { id, key, answer } = New::make(&case, &case.session().await?, WRITE).await?;
    let (vendor, public_id, secret) = parts_of(&key)?;
    let (expected, _, _) = super::taken_apart(&case)?;
    answer.ensure(vendor == expected, format!("the vendor {expected}"), vendor)?;
    answer.ensure(public_id == id, format!("the public id {id} in the key"), public_id)?;
    for (name, part) in [("the public id", public_id), ("the secret", secret)] {
        let plain = !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric());
        answer.ensure(plain, format!("letters and digits in {name}"), "others, or none")?;
    }
    Ok(())
}

async fn works(case: Case) -> Result<(), Failure> {
    let new = New::make(&case, &case.session().await?, WRITE).await?;
    new.read(&case).await?.status_in(200..=299)?;
    new.write(&case).await?.status_in(200..=299)?;
    Ok(())
}

async fn only_reads(case: Case) -> Result<(), Failure> {
    let new = New::make(&case, &case.session().await?, &[]).await?;
    new.read(&case).await?.status_in(200..=299)?;
    new.write(&case).await?.status(401)?;
    Ok(())
}

async fn only_once(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let new = New::make(&case, &session, WRITE).await?;
    let (_, _, secret) = parts_of(&new.key)?;
    let list = session.get("/api-keys").await?;
    let revocation = session.delete(&new.path()).await?;
    for reply in [list, revocation] {
        let hidden = !shows(reply.status(200)?, secret);
        reply.ensure(hidden, "an answer without the secret of the key", "one with it")?;
    }
    Ok(())
}
