//! Uploads through the SDK beside what the wire is_live.

use std::io::Cursor;

use http::Method;
use promptarium::{ImageContentType, UploadSource};
use serde_json::json;

use super::pictures::{Picture, of_all_types, png, png_of_size};
use super::slot::{Slot, ask, fetch, is_live};
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.sdk-image.live" ["UP-10", "UP-15"] live,
        "An image that the SDK uploaded is at the url that it gives" },
    core! { "uploads.sdk-image.fields" ["UP-07", "UP-08"] fields,
        "The SDK tells the path, the type and the size of what it uploaded" },
    core! { "uploads.sdk-image.reader" ["UP-10", "UP-13"] reader,
        "The SDK uploads from a reader, piece by piece" },
    core! { "uploads.sdk-image.as-image-url" ["UP-16"] as_image_url,
        "The url that the SDK gives is taken as the imageUrl of a prompt" },
    core! { "uploads.sdk-slot.usable" ["UP-04", "UP-05", "UP-06"] usable,
        "A slot that the SDK asked for takes an upload over the wire" },
    core! { "uploads.sdk-slot.fields" ["UP-08", "UP-09"] slot_fields,
        "The SDK reads every field of a slot as it is on the wire" },
    core! { "uploads.sdk-slot.refused" ["LI-14"] refused,
        "The SDK tells that a slot for a size beyond its bounds is refused" },
    core! { "uploads.sdk-asset.bytes" ["UP-15"] asset,
        "The SDK fetches the bytes that the wire is_live at url" },
];

async fn live(case: Case) -> Result<(), Failure> {
    for Picture { content_type, bytes } in of_all_types() {
        let image = case.sdk()?.uploads().image(bytes.clone()).await?;
        check::about(content_type, is_live(&case, image.url.as_str()).await)?;
    }
    Ok(())
}

async fn fields(case: Case) -> Result<(), Failure> {
    for Picture { content_type, bytes } in of_all_types() {
        let size = u64::try_from(bytes.len()).unwrap_or_default();
        let image = case.sdk()?.uploads().image(bytes).await?;
        check::ensure(!image.path.is_empty(), "a path", "an empty string")?;
        check::equal("the type", image.content_type.as_str(), content_type)?;
        check::equal("the size", &image.size, &size)?;
    }
    Ok(())
}

async fn reader(case: Case) -> Result<(), Failure> {
    let bytes = png_of_size([5, 50, 150], 300_000);
    let source = UploadSource::reader(Cursor::new(bytes.clone()), 300_000);
    let image = case.sdk()?.uploads().image(source).await?;
    is_live(&case, image.url.as_str()).await.map(drop)
}

async fn as_image_url(case: Case) -> Result<(), Failure> {
    let client = case.sdk()?;
    let image = client.uploads().image(png([5, 50, 150])).await?;
    let create = client.prompts().create(case.name("prompt"), "A lighthouse at dusk");
    create.image_url(image.url.as_str()).reference_media_urls([image.url.as_str()]).await?;
    Ok(())
}

async fn usable(case: Case) -> Result<(), Failure> {
    let bytes = png([5, 50, 150]);
    let size = u64::try_from(bytes.len()).unwrap_or_default();
    let slot = case.sdk()?.uploads().slot(ImageContentType::Png, size).await?;
    let call = case.storage(Method::PUT, slot.upload_url.expose().as_str());
    let call = call.header("authorization", format!("Bearer {}", slot.token.expose()));
    call.body("image/png", &*bytes).send().await?.status_in(200..=299)?;
    is_live(&case, slot.url.as_str()).await.map(drop)
}

async fn slot_fields(case: Case) -> Result<(), Failure> {
    let slot = case.sdk()?.uploads().slot(ImageContentType::Webp, 4321).await?;
    let shown = ask(&case.wire(), "image/webp", 4321).await?;
    check::equal("size", &json!(slot.size), shown.at("/data/size")?)?;
    check::equal("contentType", slot.content_type.as_str(), shown.string("/data/contentType")?)?;
    check::equal("expiresIn", &json!(slot.expires_in_seconds), shown.at("/data/expiresIn")?)
}

async fn refused(case: Case) -> Result<(), Failure> {
    let uploads = case.sdk()?.uploads();
    for size in [0, 10_485_761] {
        match uploads.slot(ImageContentType::Png, size).await {
            Err(error) if error.is_invalid() => {}
            Err(error) => {
                return Err(Failure::failed("an error of an invalid request", error.to_string()));
            }
            Ok(_) => return Err(Failure::failed(format!("size {size} to be refused"), "a slot")),
        }
    }
    Ok(())
}

async fn asset(case: Case) -> Result<(), Failure> {
    let bytes = png([5, 50, 150]);
    let slot = Slot::used(&case, "image/png", &bytes).await?;
    slot.is_live().await?;
    let asset = case.sdk()?.assets().download(slot.url.as_str()).await?;
    check::ensure(asset.bytes == bytes, "the bytes that were uploaded", "other bytes")?;
    let shown = fetch(&case, &slot.url).await?;
    let on_wire = shown.headers().get("content-type").and_then(|value| value.to_str().ok());
    check::equal("the type", &asset.content_type.as_deref(), &on_wire)
}
