//! The SDK's calls on generations, held against the wire.

use promptarium::{GenerationState, JobId, VaultId};
use serde_json::json;

use super::job::{FAIL, ended, idle, own_id, queue, status};
use super::saved::Saved;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.create.sdk-queues" ["GE-01", "GE-02", "GE-03", "GE-11"] queues,
        "The SDK queues a generation under the id it had before it was sent" },
    core! { "generations.create.sdk-refused" ["GE-10", "GE-25", "LI-13"] refused,
        "The SDK tells a refused generation from other failures" },
    core! { "generations.status.sdk-waits" ["GE-28", "GE-31", "GE-32"] waits,
        "The SDK waits until a job is completed, and the output is there" },
    reference! { "generations.create.sdk-all-fields"
        ["GE-09", "GE-13", "GE-15", "GE-16", "GE-17", "GE-19", "GE-20", "GE-21", "GE-23", "GE-24"]
        [LocalProvider] all_fields,
        "The SDK sends every field: its request is the same as the one written out (S-36)" },
    reference! { "generations.create.sdk-again" ["GE-11"] [LocalProvider] again,
        "The same call of the SDK sent twice is one job (S-36)" },
    reference! { "generations.status.sdk-reads" ["GE-31"] [LocalProvider] reads,
        "The SDK reads a status as it is on the wire (S-34)" },
    reference! { "generations.status.sdk-output" ["GE-29", "GE-30"] [LocalProvider] output,
        "The SDK brings the images of the output (S-39)" },
    reference! { "generations.status.sdk-failed" ["GE-31"] [LocalProvider] failed,
        "The SDK tells that a job has failed, and why (S-40)" },
    reference! { "generations.status.sdk-unknown" ["GE-31"] unknown,
        "The SDK tells that a job is not found (S-35)" },
];

async fn queues(case: Case) -> Result<(), Failure> {
    let vault = VaultId::new(make::vault(&case, &case.wire()).await?);
    let generations = case.sdk()?.generations();
    let call = generations.create(case.image_model(), case.name("A harbour")).vault(vault);
    let id = call.job_id().clone();
    let job = call.await?;
    check::equal("the id", &job.client_job_id, &id)?;
    status(&case.wire(), id.as_str()).await?.status_in(200..=299).map(drop)
}

async fn refused(case: Case) -> Result<(), Failure> {
    let generations = case.sdk()?.generations();
    let create = || generations.create(case.image_model(), case.name("A harbour"));
    for call in [
        create().batch_count(5),
        create().generation_type("audio"),
        create().image_input("plainword"),
    ] {
        match call.await {
            Err(error) if error.is_invalid() => {}
            other => return Err(Failure::failed("is_invalid", format!("{other:?}"))),
        }
    }
    Ok(())
}

async fn waits(case: Case) -> Result<(), Failure> {
    let job = queue(&case, json!({})).await?;
    let wait = case.sdk()?.generations().wait(&*job.id).vault(VaultId::new(job.vault));
    let state = match wait.await {
        Ok(finished) => finished.status.state,
        // A service may show the output in another way than as `images` (S-39).
        Err(error) if error.is_output_not_found() => {
            error.last_status().map_or_else(|| "".into(), |status| status.state.clone())
        }
        Err(error) => return Err(error.into()),
    };
    check::equal("the state", &state, &GenerationState::Completed)?;
    let saved = Saved::in_vault(&case.wire(), job.vault).await?;
    check::ensure(saved.count() > 0, "an output in the vault", "none")
}

async fn all_fields(case: Case) -> Result<(), Failure> {
    let vault = VaultId::new(make::vault(&case, &case.wire()).await?);
    let (id, prompt) = (own_id(&case), case.name("A harbour"));
    let url = |n: u8| format!("https://example.com/{n}.png");
    let call = case.sdk()?.generations().create(FAIL, &*prompt).client_job_id(&*id).video();
    let call = call.negative_prompt("people").image_input(url(1)).image_inputs([url(2), url(3)]);
    let call = call.aspect_ratio("16:9").batch_count(3).vault(vault);
    let call = call.parameters(json!({ "seed": 1 })).parameter("more", json!([null]));
    let call = call.reference_image_urls([url(4)]).image_edit_endpoint(FAIL);
    let job = call.await?;
    let written_out = json!({
        "modelId": FAIL,
        "prompt": prompt,
        "generationType": "video",
        "clientJobId": id,
        "negativePrompt": "people",
        "imageInput": url(1),
        "imageInputs": [url(2), url(3)],
        "aspectRatio": "16:9",
        "batchCount": 3,
        "parameters": { "seed": 1, "more": [null] },
        "vaultId": vault.get(),
        "referenceImageUrls": [url(4)],
        "imageEditEndpointId": FAIL,
    });
    let reply = case.wire().post("/generations", written_out).await?;
    reply.status(202)?.equals("/data/providerRequestId", job.provider_request_id)?;
    reply.equals("/data/statusUrl", job.status_url).map(drop)
}

async fn again(case: Case) -> Result<(), Failure> {
    let call = case.sdk()?.generations().create(FAIL, case.name("A harbour"));
    let [first, second] = [call.clone().await?, call.await?];
    check::equal("the second answer", &second, &first)
}

async fn reads(case: Case) -> Result<(), Failure> {
    let generations = case.sdk()?.generations();
    for (fields, ends) in [(json!({}), "completed"), (idle(json!({})), "failed")] {
        let job = queue(&case, fields).await?;
        let wire = ended(&case, &case.wire(), &job.id).await?;
        wire.equals("/data/status", ends)?;
        let read = generations.status(&*job.id).await?;
        let data = wire.at("/data")?;
        for (member, got) in [
            ("clientJobId", json!(read.client_job_id)),
            ("providerRequestId", json!(read.provider_request_id)),
            ("status", json!(read.state.as_str())),
            ("generationType", json!(read.generation_type)),
            ("vaultId", json!(read.vault_id)),
            ("promptId", json!(read.prompt_id)),
            ("error", json!(read.error)),
        ] {
            wire.ensure(data[member] == got, format!("the SDK's {member} as on the wire"), got)?;
        }
        let moments = [("createdAt", read.created_at), ("updatedAt", read.updated_at)];
        for (member, got) in moments {
            check::equal(member, &got, &Some(wire.timestamp(&format!("/data/{member}"))?))?;
        }
    }
    Ok(())
}

async fn output(case: Case) -> Result<(), Failure> {
    let job = queue(&case, json!({ "batchCount": 2 })).await?;
    let finished = case.sdk()?.generations().wait(&*job.id).await?;
    let saved = Saved::in_vault(&case.wire(), job.vault).await?;
    let urls: Vec<_> = finished.images().map(|image| image.url.to_string()).collect();
    check::equal(
        "the addresses of the images",
        &urls,
        &saved.urls().into_iter().map(str::to_owned).collect(),
    )?;
    let named: Vec<_> = finished.prompts.iter().map(|prompt| prompt.id.get()).collect();
    check::equal("the prompt", &json!(named), &json!([saved.one()?["id"]]))
}

async fn failed(case: Case) -> Result<(), Failure> {
    let job = queue(&case, idle(json!({}))).await?;
    match case.sdk()?.generations().wait(&*job.id).await {
        Err(error) if error.is_job_failed() => {
            let reason = error.last_status().and_then(|status| status.error.clone());
            let shown = status(&case.wire(), &job.id).await?;
            shown.equals("/data/error", json!(reason))?;
            check::equal("the job", &error.job_id().map(JobId::as_str), &Some(&*job.id))
        }
        other => Err(Failure::failed("is_job_failed", format!("{other:?}"))),
    }
}

async fn unknown(case: Case) -> Result<(), Failure> {
    let generations = case.sdk()?.generations();
    for outcome in [
        generations.status(own_id(&case)).await.map(drop),
        generations.wait(own_id(&case)).await.map(drop),
    ] {
        match outcome {
            Err(error) if error.is_not_found() => {}
            other => return Err(Failure::failed("is_not_found", format!("{other:?}"))),
        }
    }
    Ok(())
}
