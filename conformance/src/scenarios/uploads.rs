//! Uploads: the slot, the bytes to the storage, those who may not send them, and the image at
//! its address. What holds for every field of the request is in `fields`.
//!
//! The pictures are real, as a storage may look into them (S-44). Where nothing
//! may have been kept, its address is asked for it.

mod asset;
mod pictures;
mod put;
mod refusals;
pub(super) mod slot;

use url::Url;

use self::pictures::TYPES;
use self::slot::ask;
use crate::scenarios::prelude::*;

pub(super) const ALL: &[&[Scenario]] = &[SLOTS, put::ALL, refusals::ALL, asset::ALL];

#[rustfmt::skip]
const SLOTS: &[Scenario] = &[
    reference! { "uploads.request.exact-content-types" ["LI-15"] exact_content_types,
        "A contentType is written in lower case and without parameters" },
    core! { "uploads.slot.echo" ["UP-08"] echo,
        "contentType and size of the slot are those of the request" },
    core! { "uploads.slot.addresses" ["UP-04", "UP-05", "UP-06", "UP-07", "UP-17"] addresses,
        "uploadUrl and url are new web addresses in full, token fits a header, path is not empty" },
    reference! { "uploads.slot.name" ["UP-01", "UP-05", "UP-06", "UP-07"] name,
        "A slot has seven fields; path is images/ and a name, with which url ends" },
    reference! { "uploads.slot.unguessable" ["UP-05", "UP-07"] ("S-45") unguessable,
        "Names and tokens of slots have nothing in common" },
];

const KEYS: &[&str] = &["contentType", "expiresIn", "path", "size", "token", "uploadUrl", "url"];

async fn slot(case: &Case, content_type: &str, size: usize) -> Result<ApiResponse> {
    let reply = ask(&case.wire(), content_type, size).await?;
    reply.at("/data/uploadUrl")?;
    Ok(reply)
}

async fn png_slot(case: &Case) -> Result<ApiResponse> {
    slot(case, "image/png", 100).await
}

async fn exact_content_types(case: Case) -> Result {
    let others = ["IMAGE/PNG", "image/Png", "image/png; charset=utf-8", "image/png;"];
    for content_type in others.into_iter().chain([" image/png", "image/png "]) {
        let reply = ask(&case.wire(), content_type, 100).await?;
        reply.is_bad_request(format!("contentType {}", json_text(&content_type)))?;
    }
    Ok(())
}

async fn echo(case: Case) -> Result {
    for content_type in TYPES {
        for size in [100, 12_345, 1_000_000] {
            let reply = slot(&case, content_type, size).await?;
            reply.equals("/data/contentType", content_type)?.equals("/data/size", size)?;
        }
    }
    Ok(())
}

async fn addresses(case: Case) -> Result {
    let mut seen = HashSet::new();
    for _ in 0..4 {
        let reply = png_slot(&case).await?;
        let token = reply.string("/data/token")?;
        let fits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        let got = format!("another text, of {} bytes", token.len());
        reply.ensure(fits, "a token of visible ASCII characters", got)?;
        reply.ensure(!reply.string("/data/path")?.is_empty(), "a path", "an empty string")?;
        for place in ["/data/uploadUrl", "/data/url"] {
            let text = reply.string(place)?;
            let is_web = |url: Url| matches!(url.scheme(), "http" | "https") && url.has_host();
            // A signed address must not show in a report.
            let got = format!("another text, of {} characters", text.len());
            let is_web = Url::parse(text).is_ok_and(is_web);
            reply.ensure(is_web, format!("a web address at {place}"), got)?;
            let new = seen.insert(text.to_owned());
            reply.ensure(new, format!("a new address at {place}"), "one that was there before")?;
        }
    }
    Ok(())
}

async fn name(case: Case) -> Result {
    for (content_type, ending) in TYPES.into_iter().zip(["png", "jpg", "webp", "gif"]) {
        let reply = slot(&case, content_type, 100).await?;
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
        let reply = png_slot(&case).await?;
        let path = reply.string("/data/path")?;
        let name = path.rsplit('/').next().unwrap_or(path);
        for text in [name, reply.string("/data/token")?] {
            let new = starts.insert(text.get(..START).unwrap_or(text).to_owned());
            reply.ensure(new, "a start that no other slot has", "that of another slot")?;
        }
    }
    Ok(())
}
