//! The image at its address, once it was uploaded: to everybody, in parts, and to be cached for ever
//! (S-45). And the addresses of a slot where prompts have the address of an image.

use super::pictures::{of_all_types, png, png_of_size};
use super::slot::{Slot, uploaded_urls};
use crate::scenarios::auth::main_bearer;
use crate::scenarios::prelude::*;
use crate::scenarios::prompts::create_and_update;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.asset.live" ["UP-15"] live,
        "After the upload the image is at url" },
    core! { "uploads.asset.stays" ["UP-19"] stays,
        "The image is at url however often it is read, also when its prompt is deleted" },
    core! { "uploads.asset.not-at-upload-url" ["UP-17"] not_at_upload_url,
        "uploadUrl gives an authentication error in place of the image, before and after the upload" },
    reference! { "uploads.asset.without-delay" ["UP-15"] ("S-45") without_delay,
        "url is 404 until the upload is answered, and then has the image at once" },
    reference! { "uploads.asset.upload-url-without-token"
        ["UP-17", "UP-11"] ("S-43") upload_url_without_token,
        "Any request to uploadUrl without the token is answered 401 in the envelope" },
    core! { "uploads.images.image-url" ["UP-16"]
        |case| async move {
            taken(&case, json!({ "imageUrl": uploaded(&case).await?.url })).await?;
            taken(&case, json!({ "referenceMediaUrls": uploaded_urls(&case, 2).await? })).await
        },
        "A create and an update take url as imageUrl and in referenceMediaUrls" },
    reference! { "uploads.images.before-upload" ["UP-16"] ("S-11")
        |case| async move {
            let url = Slot::for_png(&case, 100).await?.url;
            taken(&case, json!({ "imageUrl": url, "referenceMediaUrls": [url] })).await
        },
        "url is taken before the image is there, as no address is visited" },
    reference! { "uploads.images.no-upload-url" ["UP-17", "ER-03"] no_upload_url,
        "uploadUrl is refused as an image's address; details name the field, not the address" },
    reference! { "uploads.delivery.content-type" ["UP-15"] ("S-45") content_type,
        "An image has its declared type, and nosniff" },
    reference! { "uploads.delivery.any-key" ["UP-15"] ("S-45") any_key,
        "An image is shown without a key and with any; who names its ETag gets 304 and no body" },
    reference! { "uploads.delivery.for-good" ["UP-15", "UP-19"] ("S-45") for_good,
        "An image may be cached for ever, by everybody; HEAD has the headers of GET and no body" },
    reference! { "uploads.delivery.ranges" ["UP-15", "UP-19"] ("S-45") ranges,
        "An image has a lasting ETag; a range is 206, and one outside of it 416 with the size" },
    reference! { "uploads.delivery.read-only" ["UP-06", "UP-19"] ("S-45") read_only,
        "An image cannot be changed at its address, and nothing is at other names beside it" },
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

async fn without_delay(case: Case) -> Result {
    for number in 0..10 {
        let bytes = png([number, 20, 30]);
        Slot::used(&case, "image/png", &bytes).await?.shows_at_once(&bytes).await?;
    }
    let bytes = png_of_size(COLOUR, 500_000);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    slot.fetch().await?.status(404)?;
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

fn body_is(reply: &ApiResponse, bytes: &[u8]) -> Result {
    let expected = format!("the right {} bytes", bytes.len());
    let got = format!("{} bytes, which are not those", reply.body().len());
    reply.ensure(reply.body() == bytes, expected, got).map(drop)
}

async fn get(case: &Case, slot: &Slot, name: &str, value: &str) -> Result<ApiResponse> {
    case.storage(Method::GET, &slot.url).header(name, value).send().await
}

async fn content_type(case: Case) -> Result {
    for (content_type, bytes) in of_all_types() {
        let reply = Slot::used(&case, content_type, &bytes).await?.fetch().await?;
        reply.has_header("content-type", content_type)?;
        reply.has_header("x-content-type-options", "nosniff")?;
    }
    Ok(())
}

async fn any_key(case: Case) -> Result {
    let (slot, bytes) = (uploaded(&case).await?, png(COLOUR));
    slot.shows_at_once(&bytes).await?;
    for value in [&*main_bearer(&case), "Bearer nobody", "Basic nobody"] {
        let reply = get(&case, &slot, "authorization", value).await?;
        body_is(reply.status(200)?, &bytes)?;
    }
    let tag = slot.fetch().await?.header("etag").to_owned();
    for value in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
        let reply = get(&case, &slot, "if-none-match", &value).await?;
        reply.has_status(304, format!("If-None-Match: {value}"))?.has_header("etag", &tag)?;
        body_is(&reply, &[])?;
    }
    let reply = get(&case, &slot, "if-none-match", "\"other\"").await?;
    body_is(reply.status(200)?, &bytes)
}

async fn for_good(case: Case) -> Result {
    let (slot, bytes) = (uploaded(&case).await?, png(COLOUR));
    let shown = slot.fetch().await?;
    let caching = shown.header("cache-control");
    for word in ["public", "max-age=31536000", "immutable"] {
        shown.ensure(caching.contains(word), format!("{word} in Cache-Control"), caching)?;
    }
    shown.has_header("access-control-allow-origin", "*")?;
    let reply = case.storage(Method::HEAD, &slot.url).send().await?;
    body_is(reply.status(200)?, &[])?;
    reply.has_header("content-length", &bytes.len().to_string())?;
    let others = "content-type etag cache-control accept-ranges x-content-type-options";
    for name in others.split(' ') {
        reply.has_header(name, shown.header(name))?;
    }
    let unused = Slot::for_png(&case, 100).await?;
    case.storage(Method::HEAD, &unused.url).send().await?.status(404).map(drop)
}

async fn ranges(case: Case) -> Result {
    let (slot, bytes) = (uploaded(&case).await?, png(COLOUR));
    let size = bytes.len();
    for (range, part) in [
        ("bytes=0-0".to_owned(), 0..1),
        ("bytes=8-15".to_owned(), 8..16),
        ("bytes=10-".to_owned(), 10..size),
        ("bytes=-7".to_owned(), size - 7..size),
        (format!("bytes=5-{}", size + 100), 5..size),
    ] {
        let reply = get(&case, &slot, "range", &range).await?;
        let place = format!("bytes {}-{}/{size}", part.start, part.end - 1);
        reply.has_status(206, &range)?.has_header("content-range", &place)?;
        check::with_context(range, body_is(&reply, &bytes[part]))?;
    }
    slot.fetch().await?.has_header("accept-ranges", "bytes")?;
    for range in [format!("bytes={}-", bytes.len()), "bytes=5000-6000".to_owned()] {
        let reply = get(&case, &slot, "range", &range).await?;
        let size = format!("bytes */{}", bytes.len());
        reply.has_status(416, &range)?.has_header("content-range", &size)?;
    }
    let reply = slot.fetch().await?;
    let tag = reply.header("etag");
    reply.ensure(tag.len() > 2 && tag.starts_with('"'), "a strong ETag", tag)?;
    slot.fetch().await?.has_header("etag", tag)?;
    let other = uploaded(&case).await?.fetch().await?;
    other.ensure(other.header("etag") != tag, "an ETag of its own", tag).map(drop)
}

async fn read_only(case: Case) -> Result {
    let (slot, bytes) = (uploaded(&case).await?, png(COLOUR));
    for authorization in [main_bearer(&case), format!("Bearer {}", slot.token)] {
        for method in [Method::PUT, Method::POST, Method::PATCH, Method::DELETE] {
            let call = case.storage(method.clone(), &slot.url);
            let call = call.header("authorization", &authorization);
            let reply = call.body("image/png", png([0, 0, 0])).send().await?;
            reply.has_status(405, format!("{method} of url"))?;
        }
    }
    slot.shows_at_once(&bytes).await?;
    let (directory, name) = slot.url.rsplit_once('/').unwrap_or_default();
    let (stem, _) = name.rsplit_once('.').unwrap_or_default();
    let first = if name.starts_with('a') { "b" } else { "a" };
    for other in [
        format!("{first}{}", name.get(1..).unwrap_or_default()),
        format!("{stem}.gif"),
        format!("{stem}.PNG"),
        stem.to_owned(),
        format!("{name}/"),
        format!("{name}x"),
        format!("x/{name}"),
        format!("..%2f{name}"),
        "%00".to_owned(),
        String::new(),
    ] {
        let reply = case.storage(Method::GET, &format!("{directory}/{other}")).send().await?;
        reply.has_status(404, format!("the name {}", json_text(&other)))?;
        reply.equals("/data", json!(null))?;
    }
    Ok(())
}
