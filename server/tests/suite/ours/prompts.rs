//! Prompts at the points where the specification is silent: what is kept, compared and shown.

use crate::prelude::*;
use promptarium_conformance::scenarios::answers::shapes::PROMPT;
use promptarium_conformance::scenarios::core::prompt_create::{
    GOOD, MEDIA, create_and_update, image_becomes, namespace, of_type, off_the_pattern, shown,
};
use promptarium_conformance::scenarios::shared::prompt::{all_inputs, in_every_answer};

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "prompts.urls.any-scheme" ["S-11"] any_scheme,
        "A URL may have any scheme and 2048 characters, not 2049, and entries may repeat" },
    scenario! { "prompts.text.any-platform" ["S-09"] any_platform,
        "Any text up to 200 characters is a platform; without one, or after null, it is null" },
    scenario! { "prompts.models.kept-as-text" ["S-05"]
        |case| image_becomes(case, ["text", "image", "text", "video"]),
        "A prompt that becomes a text prompt keeps its modelId" },
    scenario! { "prompts.models.any-name" ["S-12"] any_name,
        "A modelId is any name in the namespace up to 256 characters, known or not" },
    scenario! { "prompts.models.named" ["PR-24", "PR-25", "PR-36", "ER-03"] named,
        "A modelId that lacks or does not match is named in details" },
    scenario! { "prompts.object.same-everywhere" ["S-07"] same_everywhere,
        "Create, read, list, save and an update without fields answer with equal objects" },
    scenario! { "prompts.object.exact-fields" ["S-04", "S-05", "S-06"] exact_fields,
        "A prompt object has ten fields and no other; it is active and has no images at first" },
    scenario! { "prompts.object.vault-ids-order" ["S-07"] vault_ids_order,
        "The vaultIds ascend, each once, and are empty without a vault" },
    scenario! { "prompts.updated-at.any-known-field" ["S-08"] any_known_field,
        "updatedAt is createdAt at first, and later after any known field; createdAt stays" },
    scenario! { "prompts.updated-at.kept" ["S-08"] kept,
        "updatedAt stays after an update without effect, a save, add, remove, move and pin" },
    scenario! { "prompts.delete.at-once" ["S-68"] deleted_at_once,
        "Of several deletes of one prompt at once exactly one succeeds, with id and deleted only" },
    scenario! { "prompts.vaults.refused-create-makes-nothing" ["S-57"] refused_create_makes_nothing,
        "A create with the vaultId of no vault makes no prompt" },
];

pub(super) const ANY_SCHEME: &str = "s3://bucket/key.png urn:isbn:9780141036144 \
    data:image/png;base64,AAAA ftp://example.com/a.png https://例え.example/画像.png";

async fn any_scheme(case: Case) -> Result {
    let of_length = |length| format!("{:a<length$}", "https://example.com/");
    let long = of_length(2048);
    for url in ANY_SCHEME.split(' ').chain([&*long]) {
        both_accepted(&case, json!({ "imageUrl": url })).await?;
        both_accepted(&case, json!({ "referenceMediaUrls": [url, url, GOOD[0]] })).await?;
    }
    let url = of_length(2049);
    both_name_field(&case, "imageUrl", json!({ "imageUrl": url })).await?;
    both_name_field(&case, "referenceMediaUrls", json!({ "referenceMediaUrls": [url] })).await
}

async fn any_platform(case: Case) -> Result {
    for fields in [json!({}), json!({ "platform": null })] {
        shown(case.clone(), fields, "platform", Value::Null).await?;
    }
    for platform in ["", " ", "漢字 😀", &"😀".repeat(200)] {
        for reply in both_accepted(&case, json!({ "platform": platform })).await? {
            reply.equals("/data/platform", platform)?;
        }
    }
    both_name_field(&case, "platform", json!({ "platform": "p".repeat(201) })).await?;
    let (prompt, _) = case.prompt_with(json!({ "platform": "poster" })).await?;
    for _ in 0..2 {
        let reply = prompt.update(json!({ "platform": null })).await?;
        reply.success()?.equals("/data/platform", Value::Null)?;
    }
    prompt.get().await?.equals("/data/platform", Value::Null).map(drop)
}

async fn any_name(case: Case) -> Result {
    let space = namespace(&case);
    let longest = "é".repeat(256 - space.chars().count() - 1);
    for name in ["x", "a/b/c", "//", " ", "é漢😀", "no such model", &longest] {
        both_accepted(&case, json!({ "modelId": format!("{space}/{name}") })).await?;
    }
    let fields = json!({ "modelId": format!("{space}/{longest}n") });
    both_name_field(&case, "modelId", fields).await
}

async fn named(case: Case) -> Result {
    for fields in MEDIA.map(of_type).into_iter().chain(off_the_pattern(&case)) {
        both_name_field(&case, "modelId", fields).await?;
    }
    Ok(())
}

async fn exact_fields(case: Case) -> Result {
    let fields: Vec<_> = PROMPT.iter().map(|field| field.name).collect();
    for inputs in [json!({}), all_inputs(&case)] {
        for (reply, place) in in_every_answer(&case, inputs).await? {
            reply.has_only(&place, &fields)?.equals(&format!("{place}/status"), "active")?;
            reply.equals(&format!("{place}/images"), json!([]))?;
        }
    }
    Ok(())
}

async fn same_everywhere(case: Case) -> Result {
    let vault = case.vault().await?;
    let mut fields = all_inputs(&case);
    fields["vaultId"] = json!(vault.id);
    let (prompt, created) = case.prompt_with(fields).await?;
    let expected = created.at("/data")?;
    vault.list().get().await?.equals("/data/0", expected.clone())?;
    for reply in
        [prompt.get().await?, prompt.update(json!({})).await?, prompt.save_into(&vault).await?]
    {
        reply.equals("/data", expected.clone())?;
    }
    Ok(())
}

async fn vault_ids_order(case: Case) -> Result {
    let (vaults, prompt) = (case.vaults::<4>().await?, case.prompt().await?);
    prompt.read().await?.equals("/data/vaultIds", json!([]))?;
    for at in [2, 0, 3, 1, 2] {
        vaults[at].add_in_turn([&prompt]).await?;
    }
    let mut expected = vaults.map(|vault| vault.id);
    expected.sort_unstable();
    prompt.read().await?.equals("/data/vaultIds", json!(expected)).map(drop)
}

async fn any_known_field(case: Case) -> Result {
    let vault = case.vault().await?;
    let (prompt, created) = case.prompt_with(json!({})).await?;
    created.equals("/data/updatedAt", created.string("/data/createdAt")?)?;
    let mut last = created.timestamp("/data/updatedAt")?;
    let url = "https://example.com/a.png";
    let (model, vault) = (case.image_model(), vault.id);
    let fields = json!({ "title": "New", "prompt": "New", "promptType": "text", "platform": "new",
        "modelId": model, "aspectRatio": "16:9", "imageUrl": url, "referenceMediaUrls": [url],
        "vaultId": vault });
    let fields = fields.as_object().into_iter().flatten();
    let each = fields.map(|(field, value)| json!({ field: value }));
    let emptied = [json!({ "platform": null }), json!({ "referenceMediaUrls": [] })];
    for fields in each.chain(emptied) {
        for _ in 0..2 {
            let reply = prompt.update(fields.clone()).await?;
            let now = reply.success()?.timestamp("/data/updatedAt")?;
            same_fields(&reply, &created, ["createdAt"])?;
            reply.ensure(now > last, format!("an updatedAt after {last}"), now)?;
            last = now;
        }
    }
    let (prompt, created) = case.prompt_with(json!({})).await?;
    let mut moments = vec![created.timestamp("/data/updatedAt")?];
    for reply in race::times(24, || prompt.update(json!({ "title": "New" }))).await? {
        moments.push(reply.success()?.timestamp("/data/updatedAt")?);
    }
    check::distinct("updatedAt", moments)
}

async fn kept(case: Case) -> Result {
    let (prompt, created) = case.prompt_with(json!({ "platform": "poster" })).await?;
    for fields in [json!({}), json!({ "unknown": 1, "updatedAt": "1970-01-01T00:00:00Z" })] {
        let reply = prompt.update(fields).await?;
        reply.success()?.equals("/data", created.at("/data")?.clone())?;
    }
    for fields in [
        json!({ "title": "" }),
        json!({ "title": "Good", "promptType": "video" }),
        json!({ "title": "Good", "vaultId": 0 }),
    ] {
        prompt.update(fields).await?.status(400)?;
    }
    same_fields(&prompt.get().await?, &created, ["updatedAt"])?;
    let (first, second, [member]) = case.source_and_target().await?;
    let before = member.prompt.get().await?;
    member.pin().await?.status(200)?;
    member.unpin().await?.status(200)?;
    member.moved_to(&second).await?.remove().await?.status(200)?;
    member.prompt.save_into(&first).await?.status(200)?;
    same_fields(&member.prompt.get().await?, &before, ["updatedAt"])
}

async fn deleted_at_once(case: Case) -> Result {
    let prompt = case.prompt().await?;
    let replies = race::times(16, || prompt.delete()).await?;
    race::expect_successes(&replies, 1)?;
    for reply in &replies {
        match reply.is_success() {
            true => reply.equals("/data", json!({ "id": prompt.id, "deleted": true }))?,
            false => reply.status(404)?,
        };
    }
    Ok(())
}

async fn refused_create_makes_nothing(case: Case) -> Result {
    let (vault, title) = (case.vault().await?, case.name("never"));
    vault.delete().await?.status(200)?;
    case.create_prompt(json!({ "title": title, "vaultId": vault.id })).await?.status(400)?;
    // The newest come first, so it would be here.
    case.list().limit(100).get().await?.lacks("title", title)
}

async fn both_name_field(case: &Case, field: &str, fields: Value) -> Result {
    for reply in create_and_update(case, fields).await? {
        reply.status(400)?.string(&format!("/details/{field}"))?;
    }
    Ok(())
}

async fn both_accepted(case: &Case, fields: Value) -> Result<[ApiResponse; 2]> {
    let replies = create_and_update(case, fields).await?;
    replies.iter().try_for_each(|reply| reply.success().map(drop))?;
    Ok(replies)
}
