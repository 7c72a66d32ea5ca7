//! The image at its address, once it was uploaded, and the addresses of a slot where prompts
//! have the address of an image.

use super::pictures::{of_all_types, png, png_of_size};
use super::slot::{Slot, uploaded_urls};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.asset.live" ["UP-15"] live,
        "After the upload the image is at url" },
    core! { "uploads.asset.read-again" ["UP-19"] read_again,
        "The image is at url however often it is read" },
    core! { "uploads.asset.not-at-upload-url" ["UP-17"] not_at_upload_url,
        "uploadUrl gives an authentication error in place of the image, before and after the upload" },
    reference! { "uploads.asset.without-delay" ["UP-15"] ("S-45") without_delay,
        "The image is at url as soon as the upload is answered" },
    reference! { "uploads.asset.nothing-before" ["UP-15"] ("S-45")
        |case| async move { Slot::for_png(&case, 100).await?.fetch().await?.status(404).map(drop) },
        "Before the upload url answers 404" },
    reference! { "uploads.asset.nothing-in-part" ["UP-15"] ("S-45") nothing_in_part,
        "While the bytes are on their way url answers 404" },
    core! { "uploads.asset.outlives-prompt" ["UP-19"] outlives_prompt,
        "The image stays when the prompt that names it is deleted" },
    reference! { "uploads.asset.upload-url-without-token"
        ["UP-17", "UP-11"] ("S-43") upload_url_without_token,
        "Any request to uploadUrl without the token is answered 401 in the envelope" },
    core! { "uploads.images.image-url" ["UP-16"]
        |case| async move { taken(&case, json!({ "imageUrl": uploaded(&case).await?.url })).await },
        "url is taken as the imageUrl of a prompt, on create and on update" },
    core! { "uploads.images.references" ["UP-16"]
        |case| async move {
            taken(&case, json!({ "referenceMediaUrls": uploaded_urls(&case, 2).await? })).await
        },
        "url is taken in the referenceMediaUrls of a prompt, on create and on update" },
    reference! { "uploads.images.before-upload" ["UP-16"] ("S-11")
        |case| async move {
            let url = Slot::for_png(&case, 100).await?.url;
            taken(&case, json!({ "imageUrl": url, "referenceMediaUrls": [url] })).await
        },
        "url is taken before the image is there, as no address is visited" },
    reference! { "uploads.images.no-upload-url" ["UP-17", "ER-03"] no_upload_url,
        "uploadUrl is refused as the address of an image; details name the field, without the \
         address" },
];

const COLOUR: [u8; 3] = [10, 20, 30];

async fn uploaded(case: &Case) -> Result<Slot> {
    Slot::used(case, "image/png", &png(COLOUR)).await
}

async fn live(case: Case) -> Result {
    for (content_type, bytes) in of_all_types() {
        let slot = Slot::used(&case, content_type, &bytes).await?;
        check::with_context(content_type, slot.is_live().await)?;
    }
    Ok(())
}

async fn read_again(case: Case) -> Result {
    let slot = uploaded(&case).await?;
    for round in 1..=10 {
        check::with_context(format!("reading {round}"), slot.is_live().await)?;
    }
    Ok(())
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

async fn without_delay(case: Case) -> Result {
    for number in 0..10 {
        let bytes = png([number, 20, 30]);
        Slot::used(&case, "image/png", &bytes).await?.shows_at_once(&bytes).await?;
    }
    Ok(())
}

async fn nothing_in_part(case: Case) -> Result {
    let bytes = png_of_size(COLOUR, 500_000);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    let (call, halfway) = slot.put_with_a_rest(&bytes);
    let look = async {
        let resting = halfway.await.ok();
        let seen = slot.fetch().await;
        drop(resting);
        seen
    };
    let (answer, seen) = tokio::join!(call.send(), look);
    answer?.status_in(200..=299)?;
    seen?.status(404)?;
    slot.is_live().await.map(drop)
}

async fn outlives_prompt(case: Case) -> Result {
    let slot = uploaded(&case).await?;
    let fields = json!({ "imageUrl": slot.url, "referenceMediaUrls": [slot.url] });
    case.prompt_with(fields).await?.0.delete().await?.status(200)?;
    slot.is_live().await.map(drop)
}

async fn upload_url_without_token(case: Case) -> Result {
    for slot in [Slot::for_png(&case, 100).await?, uploaded(&case).await?] {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let reply = case.storage(method.clone(), &slot.upload_url).send().await?;
            reply.has_status(401, format!("{method} of uploadUrl without the token"))?;
            reply.equals("/data", json!(null))?.string("/error")?;
        }
        let head = case.storage(Method::HEAD, &slot.upload_url).send().await?;
        head.has_status(401, "HEAD of uploadUrl without the token")?;
    }
    Ok(())
}

/// Create and update take these fields.
async fn taken(case: &Case, fields: Value) -> Result {
    let [create, update] = create_and_update(case, fields).await?;
    create.status(201)?;
    update.status(200).map(drop)
}

async fn no_upload_url(case: Case) -> Result {
    let slot = uploaded(&case).await?;
    let (image, references) = (json!(slot.upload_url), json!([slot.url, slot.upload_url]));
    for (field, value) in [("imageUrl", image), ("referenceMediaUrls", references)] {
        for reply in create_and_update(&case, json!({ field: value })).await? {
            reply.is_bad_request_naming(field, format!("uploadUrl as {field}"))?;
            slot.is_not_in(&reply)?;
        }
    }
    Ok(())
}

/// The responses to a create and to an update with these fields.
async fn create_and_update(case: &Case, fields: Value) -> Result<[ApiResponse; 2]> {
    let update = case.prompt().await?.update(fields.clone()).await?;
    Ok([case.create_prompt(fields).await?, update])
}
