//! What the reference server says to uploads that it refuses (S-43), and that nothing of them is
//! kept. That the token is needed and the type has to be the declared one is our choice (S-82).

use crate::prelude::*;
use promptarium_conformance::scenarios::shared::pictures::PNG_BYTES;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "uploads.refusal.token" ["S-43", "S-82"] [OtherAccount] token,
        "Without the slot's token in its form an upload is 401 with WWW-Authenticate" },
    scenario! { "uploads.refusal.address" ["S-43"] address,
        "An address of which anything was changed is answered 401, and nothing is kept" },
    scenario! { "uploads.refusal.content-type" ["S-43"] content_type,
        "An upload without exactly the declared type is 415, even if it is that of its bytes" },
    scenario! { "uploads.refusal.size" ["S-43"] size,
        "A body that is larger than declared is answered 413, and a smaller one 400" },
    scenario! { "uploads.refusal.used" ["S-61"] used,
        "A used address is 400, whatever is sent to it; other methods than PUT are 405" },
    scenario! { "uploads.refusal.envelope" ["S-43", "S-59"] envelope,
        "A refused upload is answered in the envelope, without secrets; the slot stays unused" },
];

const TYPE: &str = "image/png";

fn bytes() -> Vec<u8> {
    png([0, 0, 200])
}

async fn slot(case: &Case) -> Result<Slot> {
    Slot::for_png(case, PNG_BYTES).await
}

async fn refused(status: u16, what: &str, call: Call) -> Result {
    let reply = call.send().await?;
    reply.has_status(status, what)?;
    let asks = reply.headers().contains_key("www-authenticate");
    reply.ensure(asks == (status == 401), "WWW-Authenticate with 401 only", asks).map(drop)
}

async fn token(case: Case) -> Result {
    let slot = slot(&case).await?;
    let like_it = Slot::for_png(&case, PNG_BYTES).await?;
    let larger = Slot::for_png(&case, PNG_BYTES + 1).await?;
    let gif = Slot::of(&case, "image/gif", PNG_BYTES).await?;
    let used = Slot::used(&case, TYPE, &bytes()).await?;
    let foreign = Slot::of(&case.other_account(), TYPE, PNG_BYTES).await?;
    let token = &slot.token;
    let bearer = |token: &str| format!("Bearer {token}");
    for (what, value) in [
        ("the API key", main_bearer(&case)),
        ("the token of a slot like it", bearer(&like_it.token)),
        ("the token of a slot for another size", bearer(&larger.token)),
        ("the token of a slot for another type", bearer(&gif.token)),
        ("the token of a slot that was used", bearer(&used.token)),
        ("another account's token", bearer(&foreign.token)),
        ("half the token", bearer(&token[..token.len() / 2])),
        ("the token twice", bearer(&format!("{token}{token}"))),
        ("a lengthened token", bearer(&format!("{token}A"))),
        ("a token with padding", bearer(&format!("{token}="))),
        ("a made-up token", bearer(&"A".repeat(43))),
        ("an empty token", bearer("")),
        ("no scheme", token.clone()),
        ("another scheme", format!("Basic {token}")),
        ("a scheme in lower case", format!("bearer {token}")),
        ("two spaces", format!("Bearer  {token}")),
    ] {
        let call = slot.bare().header("authorization", value).body(TYPE, bytes());
        refused(401, what, call).await?;
    }
    refused(401, "no token", slot.bare().body(TYPE, bytes())).await?;
    let twice = slot.authorized().header("authorization", bearer(token));
    refused(401, "the token in two headers", twice.body(TYPE, bytes())).await?;
    slot.hides(&bytes()).await
}

async fn address(case: Case) -> Result {
    let (slot, other) = (slot(&case).await?, slot(&case).await?);
    let (base, query) = slot.upload_url.split_once('?').unwrap_or_default();
    let (other_base, other_query) = other.upload_url.split_once('?').unwrap_or_default();
    let last = if query.ends_with('A') { 'B' } else { 'A' };
    for (what, upload_url) in [
        ("no query", base.to_owned()),
        ("an empty query", format!("{base}?")),
        ("another slot's query", format!("{base}?{other_query}")),
        ("another slot's path", format!("{other_base}?{query}")),
        ("another slot's address", other.upload_url.clone()),
        ("a cut query", format!("{base}?{}", query.get(4..).unwrap_or_default())),
        ("a lengthened query", format!("{base}?{query}{last}")),
        ("the query twice", format!("{base}?{query}&{query}")),
        ("another ending", format!("{}?{query}", base.replace(".png", ".gif"))),
        ("no name", format!("{}/?{query}", base.rsplit_once('/').unwrap_or_default().0)),
    ] {
        let reply = Slot { upload_url, ..slot.clone() }.put(&bytes()).send().await?;
        // Below the directory there is no slot, so nothing to have a token for.
        let expected = if what == "no name" { 404 } else { 401 };
        reply.has_status(expected, what)?;
    }
    let (start, value) = slot.upload_url.split_once('=').unwrap_or_default();
    for place in 0..value.len() {
        let upload_url = format!("{start}={}", mistyped(value, place));
        let reply = Slot { upload_url, ..slot.clone() }.put(&bytes()).send().await?;
        reply.has_status(401, format!("another character at {place} from the end of the query"))?;
    }
    slot.hides(&bytes()).await?;
    other.hides(&bytes()).await
}

async fn content_type(case: Case) -> Result {
    let slot = slot(&case).await?;
    refused(415, "no type", slot.authorized().untyped_body(bytes())).await?;
    let others = "image/jpeg image/webp image/gif image/svg+xml image/* image text/html";
    for content_type in others.split(' ').chain(["image/png; a=b", ""]) {
        refused(415, content_type, slot.authorized().body(content_type, bytes())).await?;
    }
    let twice = slot.put(&bytes()).header("content-type", TYPE);
    refused(415, "the type in two headers", twice).await?;
    slot.hides(&bytes()).await?;
    for (content_type, bytes) in of_all_types() {
        let declared = if content_type == TYPE { "image/gif" } else { TYPE };
        let slot = Slot::of(&case, declared, bytes.len()).await?;
        let what = format!("{content_type} in a slot for {declared}");
        refused(415, &what, slot.authorized().body(content_type, &*bytes)).await?;
        slot.hides(&bytes).await?;
    }
    Ok(())
}

async fn size(case: Case) -> Result {
    let slot = slot(&case).await?;
    for size in [PNG_BYTES + 12, 100_000] {
        refused(413, "too many bytes", slot.put(&png_of_size([1, 1, 1], size))).await?;
    }
    let one_more = [bytes(), b"x".to_vec()].concat();
    refused(413, "one byte too many, in pieces", slot.put_in_pieces(&one_more)).await?;
    for size in [PNG_BYTES - 1, 1, 0] {
        refused(400, &format!("{size} bytes"), slot.put(&bytes()[..size])).await?;
    }
    refused(400, "one byte, in pieces", slot.put_in_pieces(b"x")).await
}

async fn used(case: Case) -> Result {
    let slot = Slot::used(&case, TYPE, &bytes()).await?;
    refused(400, "the same bytes", slot.put(&bytes())).await?;
    refused(400, "too many bytes", slot.put(&png_of_size([1, 1, 1], 100))).await?;
    refused(401, "no token", slot.bare().body(TYPE, bytes())).await?;
    let slot = self::slot(&case).await?;
    for method in [Method::GET, Method::POST, Method::PATCH, Method::DELETE] {
        let call = case.storage(method.clone(), &slot.upload_url);
        let reply = call.header("authorization", format!("Bearer {}", slot.token)).send().await?;
        reply.has_status(405, format!("{method} with the token"))?;
        reply.has_header("allow", "PUT, OPTIONS")?;
    }
    Ok(())
}

async fn envelope(case: Case) -> Result {
    let slot = slot(&case).await?;
    let forged = Slot { token: format!("{}A", slot.token), ..slot.clone() };
    for (what, call) in [
        ("no token", slot.bare().body(TYPE, bytes())),
        ("another token", forged.put(&bytes())),
        ("another type", slot.authorized().body("image/gif", bytes())),
        ("too many bytes", slot.put(&png_of_size([1, 1, 1], 100))),
        ("too few bytes", slot.put(&bytes()[1..])),
        ("nothing", slot.put(&[])),
    ] {
        let reply = call.send().await?;
        reply.is_client_error(what)?.equals("/data", json!(null))?.equals("/details", json!({}))?;
        reply.string("/error")?;
        slot.is_not_in(&reply)?;
        slot.hides(&bytes()).await?;
    }
    slot.upload(&bytes()).await?;
    slot.is_live().await.map(drop)
}
