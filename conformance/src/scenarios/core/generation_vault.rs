//! The vault that the output of a job goes to, and the output there as a prompt like any other.

use crate::scenarios::shared::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "generations.output.every-input" ["GE-21", "GE-29", "GE-30"] every_input,
        "Videos, and images made from an image or of another ratio, go into the named vault" },
    scenario! { "generations.output.newest" ["VC-09", "GE-29"] |case| by_date(case, newest),
        "In its vault an output is listed by the date when it was added" },
    scenario! { "generations.vault.named" ["GE-21", "GE-29"] named,
        "The output goes into the vault that is named and into no other vault of the caller" },
    scenario! { "generations.images.stay" ["PR-32", "PR-06"] images_stay,
        "A generated prompt is updated, saved, moved, pinned and removed as any, and keeps its images" },
    scenario! { last "generations.vault.general" ["GE-22", "VA-12", "VA-09"] general,
        "Without vaultId the output goes into a system vault of the account" },
];

/// Whatever a job is made from, its output goes where it is to go. A model may not take it (S-38).
async fn every_input(case: Case) -> Result {
    case.waits_for_jobs()?;
    let video =
        json!({ "modelId": case.video_model(), "generationType": "video", "batchCount": 2 });
    let image = json!({ "imageInput": uploaded_urls(&case, 1).await?[0] });
    for (outputs, fields) in [(2, video), (1, image), (1, json!({ "aspectRatio": "16:9" }))] {
        let body = body_for_a_vault(&case, fields).await?;
        let reply = case.wire().post("/generations", body.clone()).await?;
        if taken_by_model(&case, &reply, "input").is_err() {
            continue;
        }
        let job = Job::queued(&case, &body, reply)?;
        if job.completes().await {
            job.outputs().await?.counts(outputs)?;
        }
    }
    Ok(())
}

/// Below what is pinned, above what was added before it.
async fn newest(case: Case, pause: Duration) -> Result {
    case.waits_for_jobs()?;
    let body = body_for_a_vault(&case, json!({})).await?;
    let vault = case.vault_at(body["vaultId"].as_i64().unwrap_or_default());
    let [pinned, before] = vault.filled().await?;
    pinned.pinned().await?;
    tokio::time::sleep(pause).await;
    Job::submit(&case, body).await?.wait_completed().await?;
    let inside = [pinned.prompt.id, before.prompt.id];
    let output = vault.prompts().await?.into_iter().find(|id| !inside.contains(id));
    let output = output.ok_or_else(|| Failure::failed("an output in the vault", "none"))?;
    tokio::time::sleep(pause).await;
    let after = case.prompt().await?;
    vault.add([&after]).await?.status(201)?;
    vault.expect_prompts([pinned.prompt.id, after.id, output, before.prompt.id]).await
}

async fn named(case: Case) -> Result {
    let (wire, other) = (case.wire(), case.vault().await?);
    for visibility in ["private", "public"] {
        let (vault, made) = case.vault_with(json!({ "visibility": visibility })).await?;
        // A name may be had once only (S-17).
        let twin = wire.post("/vaults", json!({ "name": made.string("/data/name")? })).await?;
        let job = Job::submit(&case, body(&case, json!({ "vaultId": vault.id }))).await?;
        job.wait_completed().await?;
        let (outputs, named) = (job.outputs().await?.any()?, json!([vault.id]));
        for prompt in &outputs.prompts {
            let vaults = &prompt["vaultIds"];
            outputs.listing.ensure(*vaults == named, format!("vaultIds {named}"), vaults)?;
        }
        if twin.is_success() {
            Outputs::in_vault(&case.vault_at(twin.integer("/data/id")?)).await?.counts(0)?;
        }
    }
    Outputs::in_vault(&other).await?.counts(0).map(drop)
}

async fn images_stay(case: Case) -> Result {
    let job = Job::finish(&case, json!({ "batchCount": 2 })).await?;
    let outputs = job.outputs().await?.any()?;
    let images = |prompt: &Value| prompt["images"].as_array().map_or(0, Vec::len);
    let found = outputs.prompts.iter().find(|prompt| images(prompt) > 0);
    let found =
        found.ok_or_else(|| Failure::skipped("this server shows its outputs otherwise (S-39)"))?;
    case.prompt_with(json!({})).await?.1.equals("/data/images", json!([]))?;
    let images = images(found);
    let prompt = case.prompt_at(found["id"].as_i64().unwrap_or_default());
    let other = case.vault().await?;
    for fields in [json!({ "title": "New" }), json!({ "platform": "new" }), json!({})] {
        prompt.update(fields).await?.success()?;
        let now = prompt.read().await?.array("/data/images")?.len();
        check::equal("the number of images after an update", &now, &images)?;
    }
    prompt.save_into(&other).await?.success()?;
    let now = other.listing().await?.array("/data/0/images")?.len();
    check::equal("the number of images in another vault", &now, &images)?;
    prompt.expect_vaults([&other], [&other]).await?;
    other.counts_what_it_lists().await?;
    let member = job.own_vault()?.member_of(&prompt).await?;
    let member = member.moved_to(&case.vault().await?).await?;
    for reply in [member.pin().await?, member.unpin().await?, member.remove().await?] {
        reply.status(200)?;
    }
    other.delete().await?.success()?;
    let now = prompt.read().await?.array("/data/images")?.len();
    check::equal("the number of images after a move, and in no vault", &now, &images)
}

/// Two jobs, since a server may create General for the first.
async fn general(case: Case) -> Result {
    let (wire, mut others) = (case.wire(), Vec::from(case.vaults::<2>().await?));
    // No name makes a vault General, should the server allow one to be had twice (S-17).
    let system = wire.get("/vaults").await?.status(200)?.array("/data")?;
    let system = system.iter().filter(|vault| vault["isSystem"] == true);
    for name in system.filter_map(|vault| vault["name"].as_str()).chain(["General"]) {
        let same = wire.post("/vaults", json!({ "name": name })).await?;
        others.extend(same.integer("/data/id").ok().map(|id| case.vault_at(id)));
    }
    let mut both: Option<HashSet<i64>> = None;
    for _ in 0..2 {
        let before = in_system_vaults(&case).await?;
        Job::submit(&case, body(&case, json!({}))).await?.wait_completed().await?;
        let after = in_system_vaults(&case).await?;
        let new = after.difference(&before).map(|(vault, _)| *vault);
        both = Some(new.filter(|id| both.as_ref().is_none_or(|ids| ids.contains(id))).collect());
    }
    for vault in &others {
        Outputs::in_vault(vault).await?.counts(0)?;
    }
    let found = both.is_some_and(|vaults| !vaults.is_empty());
    check::ensure(found, "the output of both jobs in one system vault", "none")
}

/// The prompts in all system vaults, each with its vault.
async fn in_system_vaults(case: &Case) -> Result<HashSet<(i64, i64)>> {
    let mut found = HashSet::new();
    for id in case.system_vaults().await? {
        let prompts = case.vault_at(id).prompts().await?;
        found.extend(prompts.into_iter().map(|prompt| (id, prompt)));
    }
    Ok(found)
}
