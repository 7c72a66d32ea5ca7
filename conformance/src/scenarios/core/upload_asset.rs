//! The image at its address, once it was uploaded: to everybody, in parts, and to be cached for ever
//! (S-45). And the addresses of a slot where prompts have the address of an image.

use super::pictures::{of_all_types, png};
use super::uploads::{Slot, uploaded_urls};

use crate::scenarios::core::prompt_create::create_and_update;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "uploads.asset.live" ["UP-15"] live,
        "After the upload the image is at url" },
    core! { "uploads.asset.stays" ["UP-19"] stays,
        "The image is at url however often it is read, also when its prompt is deleted" },
    core! { "uploads.asset.not-at-upload-url" ["UP-17"] not_at_upload_url,
        "uploadUrl gives an authentication error in place of the image, before and after the upload" },
    core! { "uploads.images.image-url" ["UP-16"]
        |case| async move {
            taken(&case, json!({ "imageUrl": uploaded(&case).await?.url })).await?;
            taken(&case, json!({ "referenceMediaUrls": uploaded_urls(&case, 2).await? })).await
        },
        "A create and an update take url as imageUrl and in referenceMediaUrls" },
];

pub(crate) const COLOUR: [u8; 3] = [10, 20, 30];

pub(crate) async fn uploaded(case: &Case) -> Result<Slot> {
    Slot::used(case, "image/png", &png(COLOUR)).await
}

async fn live(case: Case) -> Result {
    for (content_type, bytes) in of_all_types() {
        let slot = Slot::used(&case, content_type, &bytes).await?;
        check::with_context(content_type, slot.is_live().await)?;
    }
    Ok(())
}

async fn stays(case: Case) -> Result {
    let slot = uploaded(&case).await?;
    for round in 1..=10 {
        check::with_context(format!("reading {round}"), slot.is_live().await)?;
    }
    let fields = json!({ "imageUrl": slot.url, "referenceMediaUrls": [slot.url] });
    case.prompt_with(fields).await?.0.delete().await?.status(200)?;
    slot.is_live().await.map(drop)
}

async fn not_at_upload_url(case: Case) -> Result {
    let bytes = png(COLOUR);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    for upload in [true, false] {
        let reply = case.storage(Method::GET, &slot.upload_url).send().await?;
        let refused = matches!(reply.status_code(), 401 | 403);
        let got = format!("status {}", reply.status_code());
        reply.ensure(refused, "an authentication error, 401 or 403, for GET uploadUrl", got)?;
        if upload {
            slot.upload(&bytes).await?;
        }
    }
    Ok(())
}

pub(crate) async fn taken(case: &Case, fields: Value) -> Result {
    let [create, update] = create_and_update(case, fields).await?;
    create.status(201)?;
    update.status(200).map(drop)
}

pub(crate) async fn content_type(case: Case) -> Result {
    for (content_type, bytes) in of_all_types() {
        let reply = Slot::used(&case, content_type, &bytes).await?.fetch().await?;
        reply.has_header("content-type", content_type)?;
        reply.has_header("x-content-type-options", "nosniff")?;
    }
    Ok(())
}
