//! The fields of the request: images to start from, texts and values at their bounds, and what
//! our server takes (S-11, S-37, S-38). What holds for every field of every request is in
//! `fields`.

use super::job::{Job, taken_by_model};
use crate::scenarios::core::uploads::slot::uploaded_urls;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "generations.body.default-ratio" ["GE-17"]
        |case| accepted(case, vec![json!({}), json!({ "aspectRatio": "1:1" })]),
        "An aspectRatio of 1:1 is accepted, as is none, since it is the default" },
    core! { "generations.inputs.image" ["GE-15"] image,
        "imageInput takes the url of an upload" },
    core! { "generations.inputs.images" ["GE-16"] |case| images(case, "imageInputs"),
        "imageInputs takes the url of several uploads, of one or of none" },
    core! { "generations.inputs.references" ["GE-23"] |case| images(case, "referenceImageUrls"),
        "referenceImageUrls takes the url of several uploads, of one or of none" },
    core! { "generations.limits.both-texts" ["LI-09", "LI-10"] both_texts,
        "A prompt and a negativePrompt of 100000 characters each are accepted together, escaped too" },
];

pub(crate) async fn accepted(case: Case, fields: Vec<Value>) -> Result {
    for fields in fields {
        Job::queue(&case, fields).await?;
    }
    Ok(())
}

async fn image(case: Case) -> Result {
    let url = uploaded_urls(&case, 1).await?.swap_remove(0);
    Job::queue_input(&case, json!({ "imageInput": url })).await.map(drop)
}

async fn images(case: Case, field: &str) -> Result {
    let urls = uploaded_urls(&case, 3).await?;
    for some in [&urls[..], &urls[..1], &[]] {
        Job::queue_input(&case, json!({ field: some })).await?;
    }
    Ok(())
}

/// With every letter escaped, which is the longest body that a service has to take.
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
