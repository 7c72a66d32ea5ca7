//! How images are served (S-45): to everybody, in parts, and to be cached for ever.

use super::pictures::{of_all_types, png};
use super::slot::Slot;
use crate::scenarios::auth::main_bearer;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "uploads.delivery.content-type" ["UP-15"] ("S-45") content_type,
        "An image has its declared type, and nosniff" },
    reference! { "uploads.delivery.any-key" ["UP-15"] ("S-45") any_key,
        "An image is shown without a key and with any" },
    reference! { "uploads.delivery.for-good" ["UP-19"] ("S-45") for_good,
        "An image may be cached for ever, by everybody" },
    reference! { "uploads.delivery.etag" ["UP-19"] ("S-45") etag,
        "An image has an ETag of its own that stays" },
    reference! { "uploads.delivery.not-modified" ["UP-15"] ("S-45") not_modified,
        "Who names the ETag of an image gets 304 and no body" },
    reference! { "uploads.delivery.ranges" ["UP-15"] ("S-45") ranges,
        "A part is given with 206" },
    reference! { "uploads.delivery.outside" ["UP-15"] ("S-45") outside,
        "A part outside the image is refused with 416, with the size" },
    reference! { "uploads.delivery.head" ["UP-15"] ("S-45") head,
        "HEAD of an image has the headers of GET and no body" },
    reference! { "uploads.delivery.read-only" ["UP-19"] ("S-45") read_only,
        "An image is not changed or deleted at its address" },
    reference! { "uploads.delivery.other-names" ["UP-06"] ("S-45") other_names,
        "Nothing is at other names, nor at the directory" },
];

async fn uploaded(case: &Case) -> Result<(Slot, Vec<u8>)> {
    let bytes = png([90, 60, 30]);
    Ok((Slot::used(case, "image/png", &bytes).await?, bytes))
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
        reply
            .has_header("content-type", content_type)?
            .has_header("x-content-type-options", "nosniff")?;
    }
    Ok(())
}

async fn any_key(case: Case) -> Result {
    let (slot, bytes) = uploaded(&case).await?;
    slot.shows_at_once(&bytes).await?;
    for value in [&*main_bearer(&case), "Bearer nobody", "Basic nobody"] {
        let reply = get(&case, &slot, "authorization", value).await?;
        body_is(reply.status(200)?, &bytes)?;
    }
    Ok(())
}

async fn for_good(case: Case) -> Result {
    let (slot, _) = uploaded(&case).await?;
    let reply = slot.fetch().await?;
    let caching = reply.header("cache-control");
    for word in ["public", "max-age=31536000", "immutable"] {
        reply.ensure(caching.contains(word), format!("{word} in Cache-Control"), caching)?;
    }
    reply.has_header("access-control-allow-origin", "*").map(drop)
}

async fn etag(case: Case) -> Result {
    let ((one, _), (other, _)) = (uploaded(&case).await?, uploaded(&case).await?);
    let reply = one.fetch().await?;
    let tag = reply.header("etag");
    reply.ensure(tag.len() > 2 && tag.starts_with('"'), "a strong ETag", tag)?;
    one.fetch().await?.has_header("etag", tag)?;
    let foreign = other.fetch().await?;
    foreign.ensure(foreign.header("etag") != tag, "an ETag of its own", tag).map(drop)
}

async fn not_modified(case: Case) -> Result {
    let (slot, bytes) = uploaded(&case).await?;
    let tag = slot.fetch().await?.header("etag").to_owned();
    for value in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
        let reply = get(&case, &slot, "if-none-match", &value).await?;
        reply.has_status(304, format!("If-None-Match: {value}"))?.has_header("etag", &tag)?;
        body_is(&reply, &[])?;
    }
    let reply = get(&case, &slot, "if-none-match", "\"other\"").await?;
    body_is(reply.status(200)?, &bytes)
}

async fn ranges(case: Case) -> Result {
    let (slot, bytes) = uploaded(&case).await?;
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
    slot.fetch().await?.has_header("accept-ranges", "bytes").map(drop)
}

async fn outside(case: Case) -> Result {
    let (slot, bytes) = uploaded(&case).await?;
    for range in [format!("bytes={}-", bytes.len()), "bytes=5000-6000".to_owned()] {
        let reply = get(&case, &slot, "range", &range).await?;
        let size = format!("bytes */{}", bytes.len());
        reply.has_status(416, &range)?.has_header("content-range", &size)?;
    }
    Ok(())
}

async fn head(case: Case) -> Result {
    let (slot, bytes) = uploaded(&case).await?;
    let shown = slot.fetch().await?;
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

async fn read_only(case: Case) -> Result {
    let (slot, bytes) = uploaded(&case).await?;
    for authorization in [main_bearer(&case), format!("Bearer {}", slot.token)] {
        for method in [Method::PUT, Method::POST, Method::PATCH, Method::DELETE] {
            let call = case.storage(method.clone(), &slot.url);
            let call = call.header("authorization", &authorization);
            let reply = call.body("image/png", png([0, 0, 0])).send().await?;
            reply.has_status(405, format!("{method} of url"))?;
        }
    }
    slot.shows_at_once(&bytes).await
}

async fn other_names(case: Case) -> Result {
    let (slot, _) = uploaded(&case).await?;
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
        reply
            .has_status(404, format!("the name {}", json_text(&other)))?
            .equals("/data", json!(null))?;
    }
    Ok(())
}
