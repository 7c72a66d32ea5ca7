//! Generations: the request, the response that one is queued, and the status of the job.
//!
//! How long a job takes depends on the provider. The scenarios use the models of the
//! run's configuration; those that need the models built into the reference server name that need.

use url::Url;

use super::upload_put::uploaded;
use crate::scenarios::shared::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "generations.answer.status-url" ["GE-05"] status_url,
        "statusUrl is the address of the job's status" },
    scenario! { "generations.answer.no-media" ["GE-06"] no_media,
        "The answer does not contain the media that the vault has later" },
    scenario! { "generations.answer.given-id" ["GE-11"] given_id,
        "The answer gives the caller's clientJobId back unchanged" },
    scenario! { "generations.answer.made-id" ["GE-12", "GE-04"] made_id,
        "Without a clientJobId the answer has a new UUID each time, and a new providerRequestId" },
    scenario! { "generations.status.again-and-again" ["GE-05", "GE-31"] again_and_again,
        "statusUrl can be called again and again, before the end and after it" },
    scenario! { "generations.scope.nothing-queued" ["AU-09"] [ReadOnlyKey] nothing_queued,
        "A generation requested with a key without prompts:write leaves no output" },
    scenario! { "generations.isolation.output" ["ER-10", "GE-29"] [OtherAccount] foreign_output,
        "The output of a job belongs to the caller: another account does not find it" },
    scenario! { "generations.body.default-ratio" ["GE-17"]
        |case| accepted(case, vec![json!({}), json!({ "aspectRatio": "1:1" })]),
        "An aspectRatio of 1:1 is accepted, as is none, since it is the default" },
    scenario! { "generations.inputs.image" ["GE-15"] image,
        "imageInput takes the url of an upload" },
    scenario! { "generations.inputs.images" ["GE-16"] |case| images(case, "imageInputs"),
        "imageInputs takes the url of several uploads, of one or of none" },
    scenario! { "generations.inputs.references" ["GE-23"] |case| images(case, "referenceImageUrls"),
        "referenceImageUrls takes the url of several uploads, of one or of none" },
    scenario! { "generations.inputs.together" ["LI-11", "LI-12", "GE-20"] together,
        "imageInputs and referenceImageUrls may hold 7 each, and parameters objects and lists" },
    scenario! { "generations.limits.both-texts" ["LI-09", "LI-10"] both_texts,
        "A prompt and a negativePrompt of 100000 characters each are accepted together, escaped too" },
];

async fn status_url(case: Case) -> Result {
    for fields in [json!({}), json!({ "clientJobId": own_id(&case) })] {
        let job = Job::queue(&case, fields).await?;
        let expected = format!("{}/generations/{}/status", case.target().base_url(), job.id);
        let url = job.answer.string("/data/statusUrl")?;
        // An address may be written in several ways, such as with its port.
        let same = url.parse::<Url>().ok() == expected.parse().ok();
        job.answer.ensure(same, format!("the address {expected}"), url)?;
    }
    Ok(())
}

async fn no_media(case: Case) -> Result {
    let job = Job::queue(&case, json!({})).await?;
    let data = job.answer.at("/data")?;
    for (name, value) in data.as_object().into_iter().flatten() {
        let inline = value.as_str().is_some_and(|text| text.starts_with("data:"));
        job.answer.ensure(!inline, "no media in the answer", format!("media as {name}"))?;
    }
    let images = &data["images"];
    let none = images.as_array().is_none_or(Vec::is_empty);
    job.answer.ensure(none, "no images in the answer", images)?;
    job.wait_completed().await?;
    let answer = String::from_utf8_lossy(job.answer.body());
    for url in job.outputs().await?.urls() {
        job.answer.ensure(!answer.contains(url), "an answer without the output's address", url)?;
    }
    Ok(())
}

async fn given_id(case: Case) -> Result {
    let id = format!("{}_Ab-9_", own_id(&case));
    // Digits stay a text, and capitals make another id.
    let number = format!("1{:015}", rand::random::<u64>() % 1_000_000_000_000_000);
    let mut requests = Vec::new();
    for id in [own_id(&case), id.to_uppercase(), id, number] {
        let body = body_for_a_vault(&case, json!({ "clientJobId": id })).await?;
        let reply = case.wire().post("/generations", body.clone()).await?;
        if !requests.is_empty() && reply.status_code() != 202 {
            // It may be taken for the one before (S-36).
            reply.is_client_error(&id)?;
            continue;
        }
        let job = Job::queued(&case, &body, reply)?;
        job.answer.equals("/data/clientJobId", id)?;
        requests.push(job.answer.string("/data/providerRequestId")?.to_owned());
    }
    check::distinct("providerRequestIds", requests)?;
    // A server may refuse a long one (S-36), but not change it.
    let long = format!("{}-{}", own_id(&case), "x".repeat(100));
    let reply = send(&case, json!({ "clientJobId": long })).await?;
    let Some(reply) = reply.unless_refused("a long clientJobId")? else { return Ok(()) };
    reply.status(202)?.equals("/data/clientJobId", long).map(drop)
}

async fn made_id(case: Case) -> Result {
    let body = body_for_a_vault(&case, json!({})).await?;
    let (mut ids, mut requests) = (Vec::new(), vec![String::new()]);
    // The same request again gets another id, which is not derived from the request.
    for _ in 0..2 {
        let job = Job::submit(&case, body.clone()).await?;
        job.answer.ensure(is_uuid(&job.id), "a UUID as clientJobId", &job.id)?;
        requests.push(job.answer.string("/data/providerRequestId")?.to_owned());
        ids.push(job.id);
    }
    check::distinct("ids of jobs", ids)?;
    check::distinct("providerRequestIds, and no empty one", requests)
}

fn is_uuid(text: &str) -> bool {
    let is_right = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(is_right)
}

async fn nothing_queued(case: Case) -> Result {
    let id = own_id(&case);
    let body = body_for_a_vault(&case, json!({ "clientJobId": id })).await?;
    let vault = body["vaultId"].as_i64().unwrap_or_default();
    case.read_only().post("/generations", body).await?;
    // The status of an unknown job may be 200 and say that it is unknown.
    let (refused, unknown) = (shown_status(&case, &id).await?, own_id(&case));
    let unknown = shown_status(&case, &unknown).await?;
    check::equal("the status of a refused generation", &refused, &unknown)?;
    // A server may hide the job and run it nevertheless, most likely before the next job.
    Job::finish(&case, json!({})).await?;
    Outputs::in_vault(&case.vault_at(vault)).await?.counts(0).map(drop)
}

async fn shown_status(case: &Case, id: &str) -> Result<(u16, String)> {
    let reply = status(&case.wire(), id).await?;
    let data = reply.at("/data").map(Value::to_string).unwrap_or_default();
    Ok((reply.status_code(), data.replace(id, "")))
}

async fn foreign_output(case: Case) -> Result {
    // Another account may use the same clientJobId.
    let id = json!({ "clientJobId": own_id(&case) });
    let (other, is_refused) = (case.other_account(), "a clientJobId of another account");
    let first_body = body_for_a_vault(&other, id.clone()).await?;
    let first = other.wire().post("/generations", first_body.clone()).await?;
    let body = body_for_a_vault(&case, id).await?;
    let answer = case.wire().post("/generations", body.clone()).await?;
    if first.status_code() == 202 && answer.status_code() != 202 {
        return answer.is_client_error(is_refused).map(drop);
    }
    let job = Job::queued(&case, &body, answer)?;
    case.waits_for_jobs()?;
    job.wait_completed().await?;
    // What the status of another account's job answers is open (S-35), but not that it is known.
    let shown = status(&case.other(), &Job::finish(&case, json!({})).await?.id).await?;
    let known = shown.is_success() && state(&shown).as_deref() == Some("completed");
    shown.ensure(!known, "no status of another account's job", "completed")?;
    // Neither job takes the place of the other.
    let theirs = Job::queued(&other, &first_body, first)?;
    theirs.wait_completed().await?;
    theirs.outputs().await?.any()?;
    for path in job.outputs().await?.any()?.paths() {
        case.wire().get(&path).await?.status(200)?;
        case.other().get(&path).await?.status(404)?;
    }
    // A vault with outputs is one that can be forked and deleted.
    let vault = job.own_vault()?;
    vault.update(json!({ "visibility": "public" })).await?.success()?;
    let fork = other.fork_of(&vault).await?.0;
    let (copies, sources) = (fork.prompts().await?.len(), vault.prompts().await?.len());
    check::equal("copies of the outputs", &copies, &sources)?;
    vault.delete().await?.status(200).map(drop)
}

async fn again_and_again(case: Case) -> Result {
    let (job, wire) = (Job::queue(&case, json!({})).await?, case.wire());
    let url = job.answer.string("/data/statusUrl")?;
    // The key is sent to addresses below the API root only.
    let [root, address] = [case.target().base_url(), url].map(str::parse::<Url>);
    let below = |(root, url): (Url, Url)| {
        let path = url.path().strip_prefix(root.path())?.to_owned();
        (root.origin() == url.origin()).then_some(path)
    };
    let path = root.ok().zip(address.ok()).and_then(below);
    let path = path.ok_or_else(|| job.answer.failure("a statusUrl below the API root", url))?;
    for call in 0..6 {
        if call == 3 {
            job.wait_completed().await?;
        }
        let reply = wire.get(&path).await?;
        let done = state(reply.status(200)?).as_deref() == Some("completed");
        reply.ensure(done || call < 3, "a completed job to stay completed", "another state")?;
    }
    Ok(())
}

pub async fn accepted(case: Case, fields: Vec<Value>) -> Result {
    for fields in fields {
        Job::queue(&case, fields).await?;
    }
    Ok(())
}

/// The upload stays at its address, and the output goes where it is to go.
async fn image(case: Case) -> Result {
    let slot = uploaded(&case).await?;
    let job = Job::queue_input(&case, json!({ "imageInput": slot.url })).await?;
    case.waits_for_jobs()?;
    if job.completes().await {
        job.outputs().await?.any()?;
    }
    slot.is_live().await.map(drop)
}

async fn images(case: Case, field: &str) -> Result {
    let urls = uploaded_urls(&case, 3).await?;
    for some in [&urls[..], &urls[..1]] {
        Job::queue_input(&case, json!({ field: some })).await?;
    }
    accepted(case, vec![json!({ field: [] })]).await
}

/// What a model takes alone it is given together: seven each are no fourteen of a kind, and what is
/// in `parameters` is the provider's affair.
async fn together(case: Case) -> Result {
    let urls = uploaded_urls(&case, 7).await?;
    let (inputs, references) =
        (json!({ "imageInputs": urls }), json!({ "referenceImageUrls": urls }));
    for fields in [&inputs, &references, &json!({ "parameters": { "x": "y" } })] {
        Job::queue_input(&case, fields.clone()).await?;
    }
    let nested = json!({ "parameters": { "x": { "y": [1.5, null, [true], {}] } } });
    accepted(case, vec![merged(inputs, references), nested]).await
}

/// Every letter is escaped, which makes the longest body that a server has to accept.
async fn both_texts(case: Case) -> Result {
    const TEXT: usize = 100_000;
    let vault = case.vault().await?.id;
    // `sweep` finds the output by the name.
    let name = case.name("long");
    let escaped = format!("{name}{}", r"\u6f22".repeat(TEXT - name.chars().count()));
    let model = case.image_model();
    let body = format!(
        r#"{{"modelId":"{model}","prompt":"{escaped}","negativePrompt":"{escaped}","vaultId":{vault}}}"#
    );
    let reply = case.wire().post_written("/generations", body).await?;
    taken_by_model(&case, &reply, "prompt")?;
    reply.has_status(202, "two texts of 100000 escaped letters").map(drop)
}
