//! Generations that the SDK queues and waits for.

use promptarium::{Error, GenerationState, JobId, VaultId};
use promptarium_conformance::{Case, Scenario};
use serde_json::json;

use super::{Result, Sdk, check, expect_error, sdk};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    sdk! { Core "sdk.generations.queued" ["GE-01", "GE-11", "GE-31"] queued,
        "A generation is queued under the id that the call had before it was sent, and completes" },
    sdk! { Core "sdk.generations.invalid" ["GE-10", "LI-13"] invalid,
        "A value out of range is an invalid-request error" },
    sdk! { Reference "sdk.generations.output" ["GE-29", "GE-30"] [LocalProvider] output,
        "Waiting returns the images of a batch (S-39)" },
    sdk! { Reference "sdk.generations.fields" ["GE-13", "GE-16", "GE-23"] [LocalProvider] fields,
        "Every setter sends its field: the same request written out is the same job (S-36)" },
    sdk! { Reference "sdk.generations.failed" ["GE-31"] [LocalProvider] failed,
        "A job that failed is told with its reason (S-40)" },
    sdk! { Reference "sdk.generations.unknown" ["GE-31"] unknown,
        "The status of an unknown job is a not-found error (S-35)" },
];

async fn queued(case: Case) -> Result {
    let vault = VaultId::new(case.vault().await?.id);
    let generations = case.sdk()?.generations();
    let call = generations.create(case.image_model(), case.name("A harbour")).vault(vault);
    let id = call.job_id().clone();
    let job = call.await?;
    check::equal("the job id", &job.client_job_id, &id)?;
    case.waits_for_jobs()?;
    let state = match generations.wait(&job).vault(vault).await {
        Ok(finished) => finished.status.state,
        // A service may show the output in another way than as `images` (S-39).
        Err(error) if error.is_output_not_found() => {
            error.last_status().map_or_else(|| "".into(), |status| status.state.clone())
        }
        Err(error) => return Err(error.into()),
    };
    check::equal("the state", &state, &GenerationState::Completed)
}

async fn invalid(case: Case) -> Result {
    let generations = case.sdk()?.generations();
    let create = || generations.create(case.image_model(), case.name("A harbour"));
    for (what, call) in [
        ("batch_count", create().batch_count(5)),
        ("generation_type", create().generation_type("audio")),
        ("image_input", create().image_input("plainword")),
    ] {
        expect_error(what, call.await, ("is_invalid", Error::is_invalid))?;
    }
    Ok(())
}

async fn output(case: Case) -> Result {
    let vault = VaultId::new(case.vault().await?.id);
    let call = case.sdk()?.generations().create(case.image_model(), case.name("A harbour"));
    let finished = call.vault(vault).batch_count(2).and_wait().await?;
    check::equal("the number of images", &finished.images().count(), &2)?;
    for image in finished.images() {
        let asset = case.sdk()?.assets().download(&image.url).await?;
        check::ensure(!asset.bytes.is_empty(), "the bytes of an image", "none")?;
    }
    Ok(())
}

async fn fields(case: Case) -> Result {
    let vault = case.vault().await?.id;
    let (id, prompt) = (case.name("job").replace(' ', "-"), case.name("A harbour"));
    let url = "https://example.com/a.png";
    let body = json!({
        "modelId": "local/fail", "prompt": prompt, "generationType": "image", "clientJobId": id,
        "negativePrompt": "fog", "imageInput": url, "imageInputs": [url], "aspectRatio": "16:9",
        "batchCount": 2, "parameters": { "seed": 7 }, "vaultId": vault,
        "referenceImageUrls": [url], "imageEditEndpointId": "local/edit",
    });
    let wire = case.wire().post("/generations", body).await?;
    let parameters = json!({ "seed": 7 });
    let call = case.sdk()?.generations().create("local/fail", &*prompt);
    let call =
        call.generation_type("image").client_job_id(JobId::from(&*id)).negative_prompt("fog");
    let call = call.image_input(url).image_inputs([url]).aspect_ratio("16:9").batch_count(2);
    let call = call.parameters(parameters.as_object().cloned().unwrap_or_default());
    let call = call.vault(VaultId::new(vault)).reference_image_urls([url]);
    let job = call.image_edit_endpoint("local/edit").await?;
    let first = wire.status(202)?.string("/data/providerRequestId")?.to_owned();
    let again = case.wire().get(&format!("/generations/{id}/status")).await?;
    again.status(200)?;
    check::equal("the job", &job.provider_request_id.as_deref(), &Some(&*first))
}

async fn failed(case: Case) -> Result {
    let call = case.sdk()?.generations().create("local/fail", case.name("A harbour"));
    let failed: (&str, fn(&Error) -> bool) = ("is_job_failed", Error::is_job_failed);
    let error = expect_error("wait", call.and_wait().await, failed)?;
    check::ensure(error.last_status().is_some(), "the last status", "none")
}

async fn unknown(case: Case) -> Result {
    let status = case.sdk()?.generations().status(JobId::from("nobody-has-this")).await;
    expect_error("status", status, ("is_not_found", Error::is_not_found)).map(drop)
}
