//! Slots and assets at the points where the specification is silent.

use crate::prelude::*;
use promptarium_conformance::scenarios::core::prompt_create::create_and_update;
use promptarium_conformance::scenarios::core::upload_put::{COLOUR, taken, uploaded};
use promptarium_conformance::scenarios::shared::pictures::TYPES;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "uploads.request.exact-content-types" ["LI-15"] exact_content_types,
        "A contentType is written in lower case and without parameters" },
    scenario! { "uploads.slot.name" ["UP-01", "UP-05", "UP-06", "UP-07"] name,
        "A slot has seven fields; path is images/ and a name, with which url ends" },
    scenario! { "uploads.slot.unguessable" ["S-45"] unguessable,
        "Names and tokens of slots have nothing in common" },
    scenario! { "uploads.asset.without-delay" ["S-45"] without_delay,
        "url is 404 until the upload is answered, and then has the image at once" },
    scenario! { "uploads.asset.upload-url-without-token" ["S-43"] upload_url_without_token,
        "Any request to uploadUrl without the token is answered 401 in the envelope" },
    scenario! { "uploads.images.before-upload" ["S-11"] |case| async move {
            let url = Slot::for_png(&case, 100).await?.url;
            taken(&case, json!({ "imageUrl": url, "referenceMediaUrls": [url] })).await
        },
        "url is taken before the image is there, as no address is visited" },
    scenario! { "uploads.images.no-upload-url" ["UP-17", "ER-03"] no_upload_url,
        "uploadUrl is refused as an image's address; details name the field, not the address" },
    scenario! { "uploads.delivery.content-type" ["S-45"] content_type,
        "An image has its declared type, and nosniff" },
    scenario! { "uploads.delivery.any-key" ["S-45"] any_key,
        "An image is shown without a key and with any; who names its ETag gets 304 and no body" },
    scenario! { "uploads.delivery.for-good" ["S-45"] for_good,
        "An image may be cached for ever, by everybody; HEAD has the headers of GET and no body" },
    scenario! { "uploads.delivery.ranges" ["S-45"] ranges,
        "An image has a lasting ETag; a range is 206, and one outside of it 416 with the size" },
    scenario! { "uploads.delivery.read-only" ["S-45"] read_only,
        "An image cannot be changed at its address, and nothing is at other names beside it" },
    scenario! { "uploads.put.any-bytes" ["S-44"] any_bytes,
        "Bytes that are no image of the declared type are taken as they are" },
    scenario! { "uploads.put.without-length" ["UP-10", "UP-12"] without_length,
        "The bytes may come in pieces, without a length in the header, and the type in any case" },
];

/// Exactly these bytes are at `url` now.
async fn shows_at_once(slot: &Slot, bytes: &[u8]) -> Result {
    let reply = slot.fetch().await?;
    let same = reply.status_code() == 200 && reply.body() == bytes;
    let got = format!("status {} and {} bytes", reply.status_code(), reply.body().len());
    let expected = format!("status 200 and the {} bytes that were uploaded", bytes.len());
    reply.ensure(same, expected, got).map(drop)
}

const KEYS: &[&str] = &["contentType", "expiresIn", "path", "size", "token", "uploadUrl", "url"];

async fn exact_content_types(case: Case) -> Result {
    let others = ["IMAGE/PNG", "image/Png", "image/png; charset=utf-8", "image/png;"];
    for content_type in others.into_iter().chain([" image/png", "image/png "]) {
        let reply = ask(&case, content_type, 100).await?;
        reply.is_bad_request(format!("contentType {}", json_text(&content_type)))?;
    }
    Ok(())
}

async fn name(case: Case) -> Result {
    for (content_type, ending) in TYPES.into_iter().zip(["png", "jpg", "webp", "gif"]) {
        let reply = ask(&case, content_type, 100).await?;
        reply.has_only("/data", KEYS)?;
        let (path, url) = (reply.string("/data/path")?, reply.string("/data/url")?);
        let name = path.strip_prefix("images/").unwrap_or_default();
        let holds = name.split_once('.').is_some_and(|(stem, end)| {
            stem.len() == 26 && stem.bytes().all(|b| b.is_ascii_alphanumeric()) && end == ending
        });
        reply.ensure(holds, format!("images/<26 letters and digits>.{ending}"), path)?;
        reply.ensure(url.ends_with(&format!("/assets/{name}")), "url to end on the name", url)?;
        reply.ensure(!url.contains(['?', '#']), "a url without a query", url)?;
        let apart = !reply.string("/data/uploadUrl")?.contains(reply.string("/data/token")?);
        reply.ensure(apart, "an uploadUrl without the token", "one that holds it")?;
    }
    Ok(())
}

async fn unguessable(case: Case) -> Result {
    // 45 bits: by chance two of sixteen are equal in one of 300 thousand million runs.
    const START: usize = 9;
    let mut starts = HashSet::new();
    for _ in 0..16 {
        let reply = ask(&case, "image/png", 100).await?;
        let path = reply.string("/data/path")?;
        let name = path.rsplit('/').next().unwrap_or(path);
        for text in [name, reply.string("/data/token")?] {
            let new = starts.insert(text.get(..START).unwrap_or(text).to_owned());
            reply.ensure(new, "a start that no other slot has", "that of another slot")?;
        }
    }
    Ok(())
}

async fn without_delay(case: Case) -> Result {
    for number in 0..10 {
        let bytes = png([number, 20, 30]);
        shows_at_once(&Slot::used(&case, "image/png", &bytes).await?, &bytes).await?;
    }
    let bytes = png_of_size(COLOUR, 500_000);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    slot.fetch().await?.status(404)?;
    let (answer, seen) = slot.put_with_pause(&bytes, slot.fetch()).await;
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

async fn any_key(case: Case) -> Result {
    let (slot, bytes) = (uploaded(&case).await?, png(COLOUR));
    shows_at_once(&slot, &bytes).await?;
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
    shows_at_once(&slot, &bytes).await?;
    let (directory, name) = slot.url.rsplit_once('/').unwrap_or_default();
    let (stem, _) = name.rsplit_once('.').unwrap_or_default();
    let first = if name.starts_with('a') { "b" } else { "a" };
    let changed = format!("{first}{}", name.get(1..).unwrap_or_default());
    let others = "STEM.gif STEM.PNG STEM NAME/ NAMEx x/NAME ..%2fNAME %00".split(' ');
    let others = others.map(|other| other.replace("STEM", stem).replace("NAME", name));
    for other in others.chain([changed, String::new()]) {
        let reply = case.storage(Method::GET, &format!("{directory}/{other}")).send().await?;
        reply.has_status(404, format!("the name {}", json_text(&other)))?;
        reply.equals("/data", json!(null))?;
    }
    Ok(())
}

async fn any_bytes(case: Case) -> Result {
    for (content_type, bytes) in [
        ("image/png", &b"x"[..]),
        ("image/png", b"<html><script>alert(1)</script></html>"),
        ("image/gif", b"\0\0\0\0"),
        ("image/jpeg", &png([1, 2, 3])),
    ] {
        let slot = Slot::used(&case, content_type, bytes).await?;
        check::with_context(content_type, shows_at_once(&slot, bytes).await)?;
    }
    Ok(())
}

async fn without_length(case: Case) -> Result {
    let bytes = png_of_size([7, 7, 7], 200_000);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    slot.put_in_pieces(&bytes).send().await?.status_in(200..=299)?;
    slot.is_live().await?;
    let bytes = png([1, 2, 3]);
    for content_type in ["IMAGE/PNG", "image/Png"] {
        let slot = Slot::for_png(&case, bytes.len()).await?;
        let reply = slot.authorized().body(content_type, &*bytes).send().await?;
        check::with_context(content_type, reply.status_in(200..=299))?;
    }
    Ok(())
}

async fn content_type(case: Case) -> Result {
    for (content_type, bytes) in of_all_types() {
        let reply = Slot::used(&case, content_type, &bytes).await?.fetch().await?;
        reply.has_header("content-type", content_type)?;
        reply.has_header("x-content-type-options", "nosniff")?;
    }
    Ok(())
}
