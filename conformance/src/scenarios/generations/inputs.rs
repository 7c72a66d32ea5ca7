//! Images to start from or to go by. They are uploaded first, so that every
//! provider can fetch them.

use futures::future::try_join_all;
use http::Method;
use serde_json::json;

use super::job::{completed, own_id, queue, queue_input, send, status};
use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.inputs.image" ["GE-15"] image,
        "imageInput takes the url of an upload" },
    core! { "generations.inputs.images" ["GE-16"] images,
        "imageInputs takes the url of several uploads, of one or of none" },
    core! { "generations.inputs.references" ["GE-23"] references,
        "referenceImageUrls takes the url of several uploads, of one or of none" },
    reference! { "generations.inputs.completed"
        ["GE-15", "GE-16", "GE-23", "GE-28"] [LocalProvider] from_images,
        "A generation from uploaded images is completed" },
    reference! { "generations.inputs.not-uploaded" ["GE-15", "GE-26"] [LocalProvider] not_uploaded,
        "The built-in provider refuses the url of an image that was not uploaded: 502 (S-38)" },
    reference! { "generations.inputs.upload-url" ["UP-17", "GE-15", "GE-16", "GE-23"] upload_url,
        "uploadUrl is refused as an input image; details name the field, without the address" },
];

/// A PNG of four pixels.
const PNG: [u8; 76] = *b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x02\x08\x02\0\0\0\xfd\xd4\
\x9as\0\0\0\x13IDATx\x9cc\xf8\xd0\xe0\xa0\xe0\xd0\xc0\0\xc4@\x16\0$\x8e\x05!\xceRp\xd4\0\0\0\0IEND\
\xaeB`\x82";

/// So many images that are uploaded; their addresses.
pub(in crate::scenarios) async fn uploads(
    case: &Case,
    count: usize,
) -> Result<Vec<String>, Failure> {
    try_join_all((0..count).map(|_| upload(case))).await
}

async fn slot(case: &Case) -> Result<Reply, Failure> {
    let body = json!({ "contentType": "image/png", "size": PNG.len() });
    let slot = case.wire().post("/uploads/images", body).await?;
    slot.status(201)?;
    Ok(slot)
}

async fn upload(case: &Case) -> Result<String, Failure> {
    let slot = slot(case).await?;
    let token = format!("Bearer {}", slot.string("/data/token")?);
    let put = case.storage(Method::PUT, slot.string("/data/uploadUrl")?);
    put.header("authorization", token).body("image/png", PNG).send().await?.status(200)?;
    Ok(slot.string("/data/url")?.to_owned())
}

async fn image(case: Case) -> Result<(), Failure> {
    let url = upload(&case).await?;
    queue_input(&case, json!({ "imageInput": url })).await.map(drop)
}

async fn images(case: Case) -> Result<(), Failure> {
    list(&case, "imageInputs").await
}

async fn references(case: Case) -> Result<(), Failure> {
    list(&case, "referenceImageUrls").await
}

async fn list(case: &Case, field: &str) -> Result<(), Failure> {
    let urls = uploads(case, 3).await?;
    for some in [&urls[..], &urls[..1], &[]] {
        queue_input(case, json!({ field: some })).await?;
    }
    Ok(())
}

async fn from_images(case: Case) -> Result<(), Failure> {
    let urls = uploads(&case, 2).await?;
    for fields in [
        json!({ "imageInput": urls[0] }),
        json!({ "imageInputs": urls }),
        json!({ "referenceImageUrls": urls }),
        json!({ "imageInput": urls[0], "imageInputs": urls, "referenceImageUrls": urls }),
    ] {
        let job = queue(&case, fields).await?;
        completed(&case, &case.wire(), &job.id).await?;
    }
    Ok(())
}

async fn not_uploaded(case: Case) -> Result<(), Failure> {
    let (slot, id) = (slot(&case).await?, own_id(&case));
    let url = slot.string("/data/url")?;
    let reply = send(&case, json!({ "imageInput": url, "clientJobId": id })).await?;
    reply.status(502)?;
    status(&case.wire(), &id).await?.accepted(404, "the status of a job that was not taken")?;
    Ok(())
}

async fn upload_url(case: Case) -> Result<(), Failure> {
    let slot = slot(&case).await?;
    let (url, upload_url) = (slot.string("/data/url")?, slot.string("/data/uploadUrl")?);
    let secret = upload_url.split_once('?').unwrap_or_default().1;
    for (field, value) in [
        ("imageInput", json!(upload_url)),
        ("imageInputs", json!([upload_url])),
        ("referenceImageUrls", json!([url, upload_url])),
    ] {
        let reply = send(&case, json!({ field: value })).await?;
        reply.refused(format!("uploadUrl as {field}"))?.string(&format!("/details/{field}"))?;
        let shown = String::from_utf8_lossy(reply.body()).contains(secret);
        reply.ensure(!shown, "an error without the address", "one with it")?;
    }
    Ok(())
}
