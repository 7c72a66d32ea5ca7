//! The addresses of a slot where the address of an image is wanted. Generations
//! have scenarios of their own.

use serde_json::{Value, json};

use super::pictures::png;
use super::slot::Slot;
use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.images.image-url" ["UP-16"] image_url,
        "url is taken as the imageUrl of a prompt, on create and on update" },
    core! { "uploads.images.references" ["UP-16"] references,
        "url is taken in the referenceMediaUrls of a prompt, on create and on update" },
    reference! { "uploads.images.before-upload" ["UP-16"] before_upload,
        "url is taken before the image is there, as no address is visited (S-11)" },
    reference! { "uploads.images.no-upload-url" ["UP-17", "ER-03"] no_upload_url,
        "uploadUrl is refused as the address of an image; details name the field, without the \
         address" },
];

async fn uploaded(case: &Case) -> Result<Slot, Failure> {
    Slot::used(case, "image/png", &png([30, 60, 90])).await
}

async fn image_url(case: Case) -> Result<(), Failure> {
    let url = uploaded(&case).await?.url;
    taken(&case, json!({ "imageUrl": url })).await
}

async fn references(case: Case) -> Result<(), Failure> {
    let (one, other) = (uploaded(&case).await?.url, uploaded(&case).await?.url);
    taken(&case, json!({ "referenceMediaUrls": [one, other] })).await
}

async fn before_upload(case: Case) -> Result<(), Failure> {
    let url = Slot::for_png(&case, 100).await?.url;
    taken(&case, json!({ "imageUrl": url, "referenceMediaUrls": [url] })).await
}

async fn taken(case: &Case, fields: Value) -> Result<(), Failure> {
    let [create, update] = create_and_update(case, fields).await?;
    create.status(201)?;
    update.status(200)?;
    Ok(())
}

async fn no_upload_url(case: Case) -> Result<(), Failure> {
    let slot = uploaded(&case).await?;
    let query = slot.upload_url.split_once('?').unwrap_or_default().1;
    for (field, value) in [
        ("imageUrl", json!(slot.upload_url)),
        ("referenceMediaUrls", json!([slot.url, slot.upload_url])),
    ] {
        for reply in create_and_update(&case, json!({ field: value })).await? {
            reply.refused(format!("uploadUrl as {field}"))?;
            reply.string(&format!("/details/{field}"))?;
            let text = String::from_utf8_lossy(reply.body());
            reply.ensure(!text.contains(query), "an error without the address", "one with it")?;
        }
    }
    Ok(())
}

/// The answers to a create and to an update with these fields.
async fn create_and_update(case: &Case, fields: Value) -> Result<[Reply; 2], Failure> {
    let wire = case.wire();
    let prompt = make::prompt(case, &wire).await?;
    let update = wire.patch(&format!("/prompts/{prompt}"), fields.clone()).await?;
    let mut body = json!({ "title": case.name("prompt"), "prompt": "A lighthouse at dusk" });
    if let (Value::Object(body), Value::Object(fields)) = (&mut body, fields) {
        body.extend(fields);
    }
    Ok([wire.post("/prompts", body).await?, update])
}
