//! The slot that the service hands out, field by field.

use std::collections::HashSet;

use serde_json::Value;
use url::Url;

use super::pictures::TYPES;
use super::slot::ask;
use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.slot.upload-url" ["UP-04"] upload_url,
        "uploadUrl is a web address in full" },
    core! { "uploads.slot.token" ["UP-05"] token,
        "token is a string that fits a header" },
    core! { "uploads.slot.url" ["UP-06"] url,
        "url is a web address in full" },
    core! { "uploads.slot.path" ["UP-07"] path,
        "path is a string that is not empty" },
    core! { "uploads.slot.echo" ["UP-08"] echo,
        "contentType and size of the slot are those of the request" },
    core! { "uploads.slot.expires-in" ["UP-09"] expires_in,
        "expiresIn is 7200 in every slot" },
    core! { "uploads.slot.own-address" ["UP-04", "UP-06", "UP-17"] own_address,
        "url is another address than uploadUrl, and no two slots share one" },
    reference! { "uploads.slot.keys" ["UP-01"] keys,
        "A slot has seven fields and no others" },
    reference! { "uploads.slot.name" ["UP-06", "UP-07"] name,
        "path is images/ and a name of 26 characters with the ending of its type, on which url \
         ends" },
    reference! { "uploads.slot.unguessable" ["UP-05", "UP-07"] unguessable,
        "Names and tokens of slots have nothing in common (S-45)" },
    reference! { "uploads.slot.no-secrets-in-url" ["UP-05", "UP-06"] no_secrets_in_url,
        "url has no query, and uploadUrl does not hold the token" },
];

async fn slot(case: &Case, content_type: &str, size: usize) -> Result<Reply, Failure> {
    let reply = ask(&case.wire(), content_type, size).await?;
    reply.at("/data/uploadUrl")?;
    Ok(reply)
}

fn address(reply: &Reply, place: &str) -> Result<Url, Failure> {
    let text = reply.string(place)?;
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        // The signed one would show in the report.
        _ => Err(reply.failure(format!("a web address at {place}"), "something else")),
    }
}

async fn upload_url(case: Case) -> Result<(), Failure> {
    address(&slot(&case, "image/png", 100).await?, "/data/uploadUrl").map(drop)
}

async fn url(case: Case) -> Result<(), Failure> {
    address(&slot(&case, "image/png", 100).await?, "/data/url").map(drop)
}

async fn token(case: Case) -> Result<(), Failure> {
    let reply = slot(&case, "image/png", 100).await?;
    let token = reply.string("/data/token")?;
    let fits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    reply.ensure(fits, "a token of visible ASCII characters", "another text").map(drop)
}

async fn path(case: Case) -> Result<(), Failure> {
    let reply = slot(&case, "image/png", 100).await?;
    reply.ensure(!reply.string("/data/path")?.is_empty(), "a path", "an empty string").map(drop)
}

async fn echo(case: Case) -> Result<(), Failure> {
    for content_type in TYPES {
        for size in [100, 12_345, 1_000_000] {
            let reply = slot(&case, content_type, size).await?;
            reply.equals("/data/contentType", content_type)?.equals("/data/size", size)?;
        }
    }
    Ok(())
}

async fn expires_in(case: Case) -> Result<(), Failure> {
    for content_type in TYPES {
        for size in [100, 1_000_000] {
            slot(&case, content_type, size).await?.equals("/data/expiresIn", 7200)?;
        }
    }
    Ok(())
}

async fn own_address(case: Case) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    for _ in 0..4 {
        let reply = slot(&case, "image/png", 100).await?;
        for place in ["/data/uploadUrl", "/data/url"] {
            let new = seen.insert(reply.string(place)?.to_owned());
            reply.ensure(new, format!("a new address at {place}"), "one that was there before")?;
        }
    }
    Ok(())
}

async fn keys(case: Case) -> Result<(), Failure> {
    const KEYS: [&str; 7] =
        ["contentType", "expiresIn", "path", "size", "token", "uploadUrl", "url"];
    let reply = slot(&case, "image/png", 100).await?;
    let mut keys: Vec<_> = match reply.at("/data")? {
        Value::Object(data) => data.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    keys.sort_unstable();
    reply.ensure(keys == KEYS, format!("{KEYS:?}"), format!("{keys:?}")).map(drop)
}

async fn name(case: Case) -> Result<(), Failure> {
    for (content_type, ending) in TYPES.into_iter().zip(["png", "jpg", "webp", "gif"]) {
        let reply = slot(&case, content_type, 100).await?;
        let (path, url) = (reply.string("/data/path")?, reply.string("/data/url")?);
        let name = path.strip_prefix("images/").and_then(|name| name.split_once('.'));
        let holds = name.is_some_and(|(name, end)| {
            name.len() == 26
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && end == ending
        });
        let expected = format!("images/<26 letters and digits>.{ending}");
        reply.ensure(holds, expected, path)?;
        let name = path.trim_start_matches("images/");
        reply.ensure(url.ends_with(&format!("/assets/{name}")), "url to end on the name", url)?;
    }
    Ok(())
}

async fn unguessable(case: Case) -> Result<(), Failure> {
    // Were the first nine characters of 45 bits the same in two of sixteen by
    // chance, that would be once in 300 thousand million runs.
    const START: usize = 9;
    let mut starts = HashSet::new();
    for _ in 0..16 {
        let reply = slot(&case, "image/png", 100).await?;
        let path = reply.string("/data/path")?;
        let name = path.rsplit('/').next().unwrap_or(path);
        for text in [name, reply.string("/data/token")?] {
            let start = text.get(..START).unwrap_or(text).to_owned();
            reply.ensure(starts.insert(start), "a start that no other slot has", "a known one")?;
        }
    }
    Ok(())
}

async fn no_secrets_in_url(case: Case) -> Result<(), Failure> {
    let reply = slot(&case, "image/png", 100).await?;
    let url = reply.string("/data/url")?;
    reply.ensure(!url.contains(['?', '#']), "a url without a query", url)?;
    let (upload_url, token) = (reply.string("/data/uploadUrl")?, reply.string("/data/token")?);
    let apart = !upload_url.contains(token);
    reply.ensure(apart, "an uploadUrl without the token", "one that holds it").map(drop)
}
