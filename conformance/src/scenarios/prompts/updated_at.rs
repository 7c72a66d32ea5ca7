//! When `updatedAt` changes.

use std::time::Duration;

use serde_json::{Value, json};

use super::attempt::{On, attempt};
use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.updated-at.changes" ["PR-10"] changes,
        "An update changes updatedAt" },
    reference! { "prompts.updated-at.any-known-field" ["PR-10"] any_known_field,
        "Any known field makes updatedAt later, also with the value that is there (S-08)" },
    reference! { "prompts.updated-at.strictly-later" ["PR-10"] strictly_later,
        "Updates in quick succession each have a later updatedAt (S-08)" },
    reference! { "prompts.updated-at.nothing-known" ["PR-10", "PR-32"] nothing_known,
        "An update without a known field changes nothing, updatedAt included (S-08)" },
    reference! { "prompts.updated-at.not-by-memberships" ["PR-10"] not_by_memberships,
        "Save, add, remove, move, pin and unpin leave updatedAt (S-08)" },
    reference! { "prompts.updated-at.not-by-refusals" ["PR-10", "PR-35"] not_by_refusals,
        "An update that is refused leaves updatedAt (S-08)" },
    reference! { "prompts.updated-at.created-at-stays" ["PR-09", "PR-32"] created_at_stays,
        "An update leaves createdAt" },
];

async fn changes(case: Case) -> Result<(), Failure> {
    let made = make::prompt_with(&case, &case.wire(), json!({})).await?;
    let (id, first) = (made.integer("/data/id")?, made.timestamp("/data/updatedAt")?);
    // Another server's clock may have whole seconds only, so it is asked again.
    case.until("another updatedAt after updates", Duration::from_secs(5), || async {
        let fields = json!({ "title": case.name("new") });
        let tried = attempt(&case, On::Update(id), fields).await?;
        let changed = tried.accepted()?.timestamp("/data/updatedAt")? != first;
        Ok(changed.then_some(()))
    })
    .await
}

/// The answer's `updatedAt` is later than `before`; the new one.
fn later(reply: &Reply, before: jiff::Timestamp, what: &Value) -> Result<jiff::Timestamp, Failure> {
    let after = reply.timestamp("/data/updatedAt")?;
    let expected = format!("an updatedAt after {before} for an update with {what}");
    reply.ensure(after > before, expected, after)?;
    Ok(after)
}

async fn any_known_field(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let made = make::prompt_with(&case, &wire, json!({})).await?;
    let id = made.integer("/data/id")?;
    let mut last = made.timestamp("/data/updatedAt")?;
    let url = "https://example.com/a.png";
    for fields in [
        json!({ "title": "New" }),
        json!({ "prompt": "New" }),
        json!({ "promptType": "text" }),
        json!({ "platform": "new" }),
        json!({ "platform": null }),
        json!({ "modelId": case.image_model() }),
        json!({ "aspectRatio": "16:9" }),
        json!({ "imageUrl": url }),
        json!({ "referenceMediaUrls": [url] }),
        json!({ "referenceMediaUrls": [] }),
        json!({ "vaultId": vault }),
    ] {
        for _ in 0..2 {
            let tried = attempt(&case, On::Update(id), fields.clone()).await?;
            last = later(tried.accepted()?, last, &fields)?;
        }
    }
    Ok(())
}

async fn strictly_later(case: Case) -> Result<(), Failure> {
    let made = make::prompt_with(&case, &case.wire(), json!({})).await?;
    let id = made.integer("/data/id")?;
    let mut moments = Vec::new();
    let fields = json!({ "title": "New" });
    let tries = (0..24).map(|_| attempt(&case, On::Update(id), fields.clone()));
    for tried in futures::future::try_join_all(tries).await? {
        moments.push(tried.accepted()?.timestamp("/data/updatedAt")?);
    }
    moments.push(made.timestamp("/data/updatedAt")?);
    moments.sort_unstable();
    moments.dedup();
    crate::check::equal("the number of different updatedAt", &moments.len(), &25)
}

async fn nothing_known(case: Case) -> Result<(), Failure> {
    let made = make::prompt_with(&case, &case.wire(), json!({ "platform": "poster" })).await?;
    let on = On::Update(made.integer("/data/id")?);
    for fields in [json!({}), json!({ "unknown": 1, "updatedAt": "1970-01-01T00:00:00Z" })] {
        let tried = attempt(&case, on, fields).await?;
        tried.accepted()?.equals("/data", made.at("/data")?.clone())?;
    }
    Ok(())
}

async fn not_by_memberships(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (first, second) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let member = make::members(&case, &wire, first, 1).await?[0];
    let path = format!("/prompts/{}", member.prompt);
    let expected = wire.get(&path).await?.at("/data/updatedAt")?.clone();
    let membership = format!("/vaults/{first}/prompts/{}", member.membership);
    let mut replies = vec![
        wire.post_empty(&format!("{membership}/pin")).await?,
        wire.delete(&format!("{membership}/pin")).await?,
    ];
    let moved =
        wire.post(&format!("{membership}/move"), json!({ "targetVaultId": second })).await?;
    let membership = moved.integer("/data/vaultPromptId")?;
    replies.push(moved);
    replies.push(wire.delete(&format!("/vaults/{second}/prompts/{membership}")).await?);
    replies.push(wire.post(&format!("{path}/save"), json!({ "vaultId": first })).await?);
    for reply in replies {
        reply.status(200)?;
    }
    wire.get(&path).await?.equals("/data/updatedAt", expected)?;
    Ok(())
}

async fn not_by_refusals(case: Case) -> Result<(), Failure> {
    let made = make::prompt_with(&case, &case.wire(), json!({})).await?;
    let id = made.integer("/data/id")?;
    for fields in [
        json!({ "title": "" }),
        json!({ "title": "Good", "promptType": "video" }),
        json!({ "title": "Good", "vaultId": 0 }),
    ] {
        attempt(&case, On::Update(id), fields).await?.refused()?;
    }
    let read = case.wire().get(&format!("/prompts/{id}")).await?;
    read.equals("/data/updatedAt", made.at("/data/updatedAt")?.clone())?;
    Ok(())
}

async fn created_at_stays(case: Case) -> Result<(), Failure> {
    let made = make::prompt_with(&case, &case.wire(), json!({})).await?;
    let on = On::Update(made.integer("/data/id")?);
    let tried = attempt(&case, on, json!({ "title": "New", "prompt": "New" })).await?;
    tried.accepted()?.equals("/data/createdAt", made.at("/data/createdAt")?.clone())?;
    Ok(())
}
