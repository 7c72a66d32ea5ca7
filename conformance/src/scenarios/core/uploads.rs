//! The slot that an upload begins with. What holds for every field of the request is in `fields`.

use url::Url;

use crate::scenarios::prelude::*;
use crate::scenarios::shared::pictures::TYPES;
use crate::scenarios::shared::slot::ask;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "uploads.slot.echo" ["UP-08"] echo,
        "contentType and size of the slot are those of the request" },
    scenario! { "uploads.slot.addresses" ["UP-04", "UP-05", "UP-06", "UP-07", "UP-17"] addresses,
        "uploadUrl and url are new web addresses in full, token fits a header, path is not empty" },
];

async fn echo(case: Case) -> Result {
    for content_type in TYPES {
        for size in [100, 12_345, 10_485_760] {
            let reply = ask(&case, content_type, size).await?;
            reply.equals("/data/contentType", content_type)?.equals("/data/size", size)?;
        }
    }
    Ok(())
}

async fn addresses(case: Case) -> Result {
    let mut seen = HashSet::new();
    for _ in 0..4 {
        let reply = ask(&case, "image/png", 100).await?;
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
