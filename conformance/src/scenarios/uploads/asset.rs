//! The image at its address, once it was uploaded.

use http::Method;
use serde_json::json;

use super::pictures::{of_all_types, png, png_of_size};
use super::slot::Slot;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.asset.live" ["UP-15"] live,
        "After the upload the image is at url" },
    core! { "uploads.asset.read-again" ["UP-19"] read_again,
        "The image is at url however often it is read" },
    core! { "uploads.asset.not-at-upload-url" ["UP-17"] not_at_upload_url,
        "uploadUrl gives an error in place of the image, before and after the upload" },
    reference! { "uploads.asset.without-delay" ["UP-15"] without_delay,
        "The image is at url as soon as the upload is answered (S-45)" },
    reference! { "uploads.asset.nothing-before" ["UP-15"] nothing_before,
        "Before the upload url answers 404 (S-45)" },
    reference! { "uploads.asset.nothing-in-part" ["UP-15"] nothing_in_part,
        "While the bytes are on their way url answers 404 (S-45)" },
    reference! { "uploads.asset.outlives-prompt" ["UP-19"] outlives_prompt,
        "The image stays when the prompt that names it is deleted (S-06)" },
    reference! { "uploads.asset.upload-url-without-token"
        ["UP-17", "UP-11"] upload_url_without_token,
        "Any request to uploadUrl without the token is answered 401 in the envelope (S-43)" },
];

async fn live(case: Case) -> Result<(), Failure> {
    for picture in of_all_types() {
        let slot = Slot::used(&case, picture.content_type, &picture.bytes).await?;
        check::with_context(picture.content_type, slot.is_live().await)?;
    }
    Ok(())
}

async fn read_again(case: Case) -> Result<(), Failure> {
    let bytes = png([10, 20, 30]);
    let slot = Slot::used(&case, "image/png", &bytes).await?;
    slot.is_live().await?;
    for round in 2..=10 {
        check::with_context(format!("reading {round}"), slot.is_live().await)?;
    }
    Ok(())
}

async fn not_at_upload_url(case: Case) -> Result<(), Failure> {
    let bytes = png([10, 20, 30]);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    for upload in [true, false] {
        let reply = case.storage(Method::GET, &slot.upload_url).send().await?;
        // Storages answer 400, 401 or 403 to a signature that does not fit.
        reply.is_client_error("GET uploadUrl")?;
        if upload {
            slot.upload(&bytes).await?;
        }
    }
    Ok(())
}

async fn without_delay(case: Case) -> Result<(), Failure> {
    for number in 0..10 {
        let bytes = png([number, 20, 30]);
        Slot::used(&case, "image/png", &bytes).await?.shows_at_once(&bytes).await?;
    }
    Ok(())
}

async fn nothing_before(case: Case) -> Result<(), Failure> {
    Slot::for_png(&case, 100).await?.fetch().await?.status(404).map(drop)
}

async fn nothing_in_part(case: Case) -> Result<(), Failure> {
    let bytes = png_of_size([10, 20, 30], 500_000);
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

async fn outlives_prompt(case: Case) -> Result<(), Failure> {
    let (wire, bytes) = (case.wire(), png([10, 20, 30]));
    let slot = Slot::used(&case, "image/png", &bytes).await?;
    let fields = json!({ "imageUrl": slot.url, "referenceMediaUrls": [slot.url] });
    let prompt = make::prompt_with(&case, &wire, fields).await?.integer("/data/id")?;
    wire.delete(&format!("/prompts/{prompt}")).await?.status(200)?;
    slot.shows_at_once(&bytes).await
}

async fn upload_url_without_token(case: Case) -> Result<(), Failure> {
    let bytes = png([10, 20, 30]);
    for slot in
        [Slot::for_png(&case, bytes.len()).await?, Slot::used(&case, "image/png", &bytes).await?]
    {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let reply = case.storage(method.clone(), &slot.upload_url).send().await?;
            reply.accepted(401, format!("{method} of uploadUrl without the token"))?;
            reply.equals("/data", json!(null))?.string("/error")?;
        }
        let head = case.storage(Method::HEAD, &slot.upload_url).send().await?;
        head.accepted(401, "HEAD of uploadUrl without the token")?;
    }
    Ok(())
}
