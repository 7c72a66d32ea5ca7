//! When `updatedAt` changes.

use std::time::Duration;

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.updated-at.changes" ["PR-10"] changes,
        "An update changes updatedAt" },
    reference! { "prompts.updated-at.any-known-field" ["PR-10"] ("S-08") any_known_field,
        "Any known field makes updatedAt later, also with the value that is there" },
    reference! { "prompts.updated-at.strictly-later" ["PR-10"] ("S-08") strictly_later,
        "Updates in quick succession each have a later updatedAt" },
    reference! { "prompts.updated-at.nothing-known" ["PR-10", "PR-32"] ("S-08") nothing_known,
        "An update without a known field changes nothing, updatedAt included" },
    reference! { "prompts.updated-at.not-by-memberships" ["PR-10"] ("S-08") not_by_memberships,
        "Save, add, remove, move, pin and unpin leave updatedAt" },
    reference! { "prompts.updated-at.not-by-refusals" ["PR-10", "PR-35"] ("S-08") not_by_refusals,
        "An update that is refused leaves updatedAt" },
    reference! { "prompts.updated-at.created-at-stays" ["PR-09", "PR-32"] created_at_stays,
        "An update leaves createdAt" },
];

async fn changes(case: Case) -> Result {
    let (prompt, created) = case.prompt_with(json!({})).await?;
    let first = created.timestamp("/data/updatedAt")?;
    // Another server's clock may have whole seconds only, so it is asked again.
    case.until("another updatedAt after updates", Duration::from_secs(5), || async {
        let reply = prompt.update(json!({ "title": case.name("new") })).await?;
        let changed = reply.success()?.timestamp("/data/updatedAt")? != first;
        Ok(changed.then_some(()))
    })
    .await
}

async fn any_known_field(case: Case) -> Result {
    let vault = case.vault().await?;
    let (prompt, created) = case.prompt_with(json!({})).await?;
    let mut last = created.timestamp("/data/updatedAt")?;
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
        json!({ "vaultId": vault.id }),
    ] {
        for _ in 0..2 {
            let reply = prompt.update(fields.clone()).await?;
            let now = reply.success()?.timestamp("/data/updatedAt")?;
            reply.ensure(now > last, format!("an updatedAt after {last}"), now)?;
            last = now;
        }
    }
    Ok(())
}

async fn strictly_later(case: Case) -> Result {
    let (prompt, created) = case.prompt_with(json!({})).await?;
    let mut moments = vec![created.timestamp("/data/updatedAt")?];
    for reply in race::times(24, || prompt.update(json!({ "title": "New" }))).await? {
        moments.push(reply.success()?.timestamp("/data/updatedAt")?);
    }
    moments.sort_unstable();
    moments.dedup();
    check::equal("the number of different updatedAt", &moments.len(), &25)
}

async fn nothing_known(case: Case) -> Result {
    let (prompt, created) = case.prompt_with(json!({ "platform": "poster" })).await?;
    for fields in [json!({}), json!({ "unknown": 1, "updatedAt": "1970-01-01T00:00:00Z" })] {
        let reply = prompt.update(fields).await?;
        reply.success()?.equals("/data", created.at("/data")?.clone())?;
    }
    Ok(())
}

async fn not_by_memberships(case: Case) -> Result {
    let (first, second, [member]) = case.source_and_target().await?;
    let before = member.prompt.get().await?;
    member.pin().await?.status(200)?;
    member.unpin().await?.status(200)?;
    member.moved_to(&second).await?.remove().await?.status(200)?;
    member.prompt.save_into(&first).await?.status(200)?;
    same_fields(&member.prompt.get().await?, &before, ["updatedAt"])
}

async fn not_by_refusals(case: Case) -> Result {
    let (prompt, created) = case.prompt_with(json!({})).await?;
    for fields in [
        json!({ "title": "" }),
        json!({ "title": "Good", "promptType": "video" }),
        json!({ "title": "Good", "vaultId": 0 }),
    ] {
        prompt.update(fields).await?.status(400)?;
    }
    same_fields(&prompt.get().await?, &created, ["updatedAt"])
}

async fn created_at_stays(case: Case) -> Result {
    let (prompt, created) = case.prompt_with(json!({})).await?;
    let reply = prompt.update(json!({ "title": "New", "prompt": "New" })).await?;
    same_fields(reply.success()?, &created, ["createdAt"])
}
