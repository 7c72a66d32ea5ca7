//! Uploads and downloads of the SDK.

use std::io::Cursor;

use http::Method;
use promptarium::{Error, ImageContentType, UploadSource};
use promptarium_conformance::{Case, Scenario};

use super::{Result, Sdk, check, expect_error, sdk};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    sdk! { Reference "sdk.uploads.image" ["UP-10", "UP-13", "UP-15", "UP-16"] image,
        "Bytes and readers are uploaded, downloaded again, and taken as imageUrl" },
    sdk! { Reference "sdk.uploads.slot" ["UP-04", "UP-08", "UP-09"] slot,
        "A slot that the SDK asked for takes an upload over the wire" },
    sdk! { Core "sdk.uploads.invalid" ["LI-14"] invalid,
        "A slot for a size out of bounds is an invalid-request error" },
];

/// The signature of a PNG, and bytes that no server has to understand.
fn png(length: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0".to_vec();
    bytes.resize(length, 7);
    bytes
}

async fn image(case: Case) -> Result {
    let (client, bytes) = (case.sdk()?, png(300_000));
    let reader = UploadSource::reader(Cursor::new(bytes.clone()), 300_000);
    for source in [bytes.clone().into(), reader] {
        let image = client.uploads().image(source).await?;
        check::equal("the size", &image.size, &300_000)?;
        check::equal("the type", &image.content_type, &ImageContentType::Png)?;
        let asset = client.assets().download(&image.url).await?;
        check::ensure(asset.bytes == bytes, "the bytes that were uploaded", "other bytes")?;
        let create = client.prompts().create(case.name("prompt"), "A lighthouse at dusk");
        create.image_url(image.url.as_str()).await?;
    }
    Ok(())
}

async fn slot(case: Case) -> Result {
    let bytes = png(4321);
    let slot = case.sdk()?.uploads().slot(ImageContentType::Png, 4321).await?;
    check::equal("size and expiry", &(slot.size, slot.expires_in_seconds), &(4321, 7200))?;
    let call = case.storage(Method::PUT, slot.upload_url.expose().as_str());
    let call = call.header("authorization", format!("Bearer {}", slot.token.expose()));
    call.body("image/png", bytes).send().await?.status_in(200..=299)?;
    case.storage(Method::GET, slot.url.as_str()).send().await?.status(200)?;
    Ok(())
}

async fn invalid(case: Case) -> Result {
    for size in [0, 10_485_761] {
        let slot = case.sdk()?.uploads().slot(ImageContentType::Png, size).await;
        expect_error("slot", slot, ("is_invalid", Error::is_invalid))?;
    }
    Ok(())
}
