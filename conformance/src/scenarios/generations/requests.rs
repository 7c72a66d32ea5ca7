//! The fields of the request: images to start from, texts and values at their bounds, and what
//! our server takes (S-11, S-37, S-38). What holds for every field of every request is in
//! `fields`.

use super::job::{Job, failing, own_id, refused, send, status, taken_by_model};
use crate::scenarios::prelude::*;
use crate::scenarios::uploads::slot::{Slot, uploaded_urls};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.body.default-ratio" ["GE-17"]
        |case| accepted(case, vec![json!({}), json!({ "aspectRatio": "1:1" })]),
        "An aspectRatio of 1:1 is accepted, as is none, since it is the default" },
    core! { "generations.inputs.image" ["GE-15"] image,
        "imageInput takes the url of an upload" },
    core! { "generations.inputs.images" ["GE-16"] |case| images(case, "imageInputs"),
        "imageInputs takes the url of several uploads, of one or of none" },
    core! { "generations.inputs.references" ["GE-23"] |case| images(case, "referenceImageUrls"),
        "referenceImageUrls takes the url of several uploads, of one or of none" },
    reference! { "generations.inputs.completed"
        ["GE-15", "GE-16", "GE-23", "GE-26", "GE-28"] ("S-38") [LocalProvider] from_images,
        "A generation from uploaded images is completed; with one never uploaded it is 502" },
    reference! { "generations.inputs.upload-url" ["UP-17", "GE-15", "GE-16", "GE-23"] upload_url,
        "uploadUrl is refused as an input image; details name the field, without the address" },
    reference! { "generations.urls.any-scheme"
        ["GE-15", "GE-16", "GE-23"] ("S-11") [LocalProvider] |case| accepted(case, any_scheme()),
        "A URI may have any scheme and 2048 characters, and entries may repeat" },
    reference! { "generations.texts.empty" ["GE-07", "GE-08", "GE-11", "GE-24", "ER-03"]
        ("S-36", "S-37", "S-38") empty,
        "An empty prompt, modelId, imageEditEndpointId and clientJobId is 400 naming it" },
    reference! { "generations.texts.blank" ["GE-08", "GE-13"] [LocalProvider]
        |case| accepted(case, [json!({ "negativePrompt": "" }), json!({ "prompt": " " })].map(failing).into()),
        "Texts are not trimmed: one space is a prompt, and a negativePrompt may be empty" },
    core! { "generations.limits.both-texts" ["LI-09", "LI-10"] both_texts,
        "A prompt and a negativePrompt of 100000 characters each are accepted together, escaped too" },
    reference! { "generations.limits.chosen"
        ["GE-11", "GE-07", "GE-15", "GE-17", "GE-20", "GE-24", "ER-03"] ("S-11", "S-36", "S-38") [LocalProvider] chosen,
        "Ids, addresses, ratio and parameters are accepted up to our bounds, and no further" },
];

async fn accepted(case: Case, fields: Vec<Value>) -> Result {
    for fields in fields {
        Job::queue(&case, fields).await?;
    }
    Ok(())
}

async fn empty(case: Case) -> Result {
    for field in ["prompt", "modelId", "imageEditEndpointId", "clientJobId"] {
        refused(&case, field, json!({ field: "" })).await?;
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

async fn from_images(case: Case) -> Result {
    let urls = uploaded_urls(&case, 2).await?;
    for fields in [
        json!({ "imageInput": urls[0] }),
        json!({ "imageInputs": urls }),
        json!({ "referenceImageUrls": urls }),
        json!({ "imageInput": urls[0], "imageInputs": urls, "referenceImageUrls": urls }),
    ] {
        Job::finish(&case, fields).await?;
    }
    let (slot, id) = (Slot::for_png(&case, 100).await?, own_id(&case));
    send(&case, json!({ "imageInput": slot.url, "clientJobId": id })).await?.status(502)?;
    let shown = status(&case.wire(), &id).await?;
    shown.has_status(404, "the status of a job that was refused").map(drop)
}

async fn upload_url(case: Case) -> Result {
    let slot = Slot::for_png(&case, 100).await?;
    let url = &slot.upload_url;
    for (field, value) in [
        ("imageInput", json!(url)),
        ("imageInputs", json!([url])),
        ("referenceImageUrls", json!([slot.url, url])),
    ] {
        let reply = refused(&case, field, json!({ field: value })).await?;
        slot.is_not_in(&reply)?;
    }
    Ok(())
}

fn any_scheme() -> Vec<Value> {
    let long = format!("{:a<2048}", "https://example.com/");
    let plain = "s3://bucket/key.png urn:isbn:9780141036144 data:image/png;base64,AAAA \
        https://例え.example/画像.png";
    let fields = |url: &str| {
        let twice = json!([url, url]);
        failing(json!({ "imageInput": url, "imageInputs": twice, "referenceImageUrls": twice }))
    };
    plain.split(' ').chain([&*long]).map(fields).collect()
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

/// A field, its bound, and a value of a given size, made from a text that no other case uses.
type Bound = (&'static str, usize, fn(usize, &str) -> Value);

#[rustfmt::skip]
const CHOSEN: [Bound; 9] = [
    ("clientJobId", 256, |count, own| filled(own, count)),
    ("modelId", 256, |count, _| filled("local/", count)),
    ("imageEditEndpointId", 256, |count, _| filled("local/", count)),
    ("aspectRatio", 64, |count, _| filled("1:1.", count)),
    ("imageInput", 2_048, |count, _| filled("https://example.com/", count)),
    ("referenceImageUrls", 2_048, |count, _| json!([filled("https://example.com/", count)])),
    // Bytes of JSON, values, levels.
    ("parameters", 262_144, |count, _| json!({ "a": filled("", count - 8) })),
    ("parameters", 10_000, |count, _| json!({ "a": vec![0; count - 2] })),
    ("parameters", 64, |count, _| json!({ "a": (2..count).fold(json!([]), |inner, _| json!([inner])) })),
];

fn filled(beginning: &str, count: usize) -> Value {
    Value::from(format!("{beginning}{}", "0".repeat(count - beginning.chars().count())))
}

async fn chosen(case: Case) -> Result {
    for (field, most, value) in CHOSEN {
        let value = |count| value(count, &own_id(&case));
        let last = send(&case, json!({ field: value(most) })).await?;
        last.has_status(202, format!("{field} with the bound {most}"))?;
        refused(&case, field, json!({ field: value(most + 1) })).await?;
    }
    // URL libraries remove such segments of a path.
    for id in [".", ".."] {
        refused(&case, "clientJobId", json!({ "clientJobId": id })).await?;
    }
    Ok(())
}
