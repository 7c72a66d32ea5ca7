//! Uploads without the slot's token. The specification says what a client sends, not that an
//! upload without it is refused: an address whose signature is enough is open (S-82).

use http::header::AUTHORIZATION;
use url::Url;

use super::pictures::{PNG_BYTES, png};
use super::slot::Slot;
use crate::scenario::reference;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "uploads.token.none" ["UP-11"] none,
        "An upload without a token is refused" },
    reference! { "uploads.token.api-key" ["UP-11"] api_key,
        "An upload with the API key in place of the token is refused" },
    reference! { "uploads.token.unknown" ["UP-11"] unknown,
        "An upload with a token that is cut, lengthened or made up is refused" },
    reference! { "uploads.token.other-slot" ["UP-11"] other_slot,
        "An upload with the token of another slot is refused" },
    reference! { "uploads.token.other-account" ["UP-11"] [OtherAccount] other_account,
        "An upload with a token that another account was given is refused" },
    reference! { "uploads.token.other-path" ["UP-11"] other_path,
        "A token does not open the path of another slot's address" },
];

const BYTES: usize = PNG_BYTES;

fn bytes() -> Vec<u8> {
    png([200, 0, 0])
}

async fn none(case: Case) -> Result<(), Failure> {
    let (slot, bytes) = (Slot::for_png(&case, BYTES).await?, bytes());
    let call = slot.bare().body("image/png", &*bytes);
    slot.refuses("an upload without a token", call, &bytes).await
}

async fn api_key(case: Case) -> Result<(), Failure> {
    let (slot, bytes) = (Slot::for_png(&case, BYTES).await?, bytes());
    let key = format!("Bearer {}", case.target().config.api_key);
    let call = slot.bare().header(AUTHORIZATION.as_str(), key).body("image/png", &*bytes);
    slot.refuses("an upload with the API key", call, &bytes).await
}

async fn unknown(case: Case) -> Result<(), Failure> {
    let (slot, bytes) = (Slot::for_png(&case, BYTES).await?, bytes());
    let half = &slot.token[..slot.token.len() / 2];
    for (what, token) in [
        ("half the token", half.to_owned()),
        ("the token twice", format!("{0}{0}", slot.token)),
        ("the token and more", format!("{}A", slot.token)),
        ("a made-up token", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned()),
    ] {
        slot.refuses(what, slot.with_token(token).put(&bytes), &bytes).await?;
    }
    Ok(())
}

async fn other_slot(case: Case) -> Result<(), Failure> {
    let (slot, bytes) = (Slot::for_png(&case, BYTES).await?, bytes());
    let same = Slot::for_png(&case, BYTES).await?;
    let larger = Slot::for_png(&case, BYTES + 1).await?;
    let gif = Slot::of(&case, &case.wire(), "image/gif", BYTES).await?;
    let used = Slot::used(&case, "image/png", &bytes).await?;
    for (what, other) in [
        ("the token of a slot like it", same),
        ("the token of a slot for another size", larger),
        ("the token of a slot for another type", gif),
        ("the token of a slot that was used", used),
    ] {
        slot.refuses(what, slot.with_token(other.token).put(&bytes), &bytes).await?;
    }
    Ok(())
}

async fn other_account(case: Case) -> Result<(), Failure> {
    let (slot, bytes) = (Slot::for_png(&case, BYTES).await?, bytes());
    let other = Slot::of(&case, &case.other(), "image/png", BYTES).await?;
    let call = slot.with_token(other.token).put(&bytes);
    slot.refuses("the token of another account's slot", call, &bytes).await
}

async fn other_path(case: Case) -> Result<(), Failure> {
    let bytes = bytes();
    let (slot, other) = (Slot::for_png(&case, BYTES).await?, Slot::for_png(&case, BYTES).await?);
    let Some(upload_url) = exchange_path(&slot.upload_url, &other.upload_url) else {
        return Err(Failure::blocked("the upload addresses of two slots have the same path"));
    };
    let call = slot.with_upload_url(upload_url).put(&bytes);
    slot.refuses("the path of another slot's address", call, &bytes).await?;
    other.hides(&bytes).await
}

/// An address with the path of another; none if they have the same.
fn exchange_path(of: &str, with: &str) -> Option<String> {
    let (mut url, other) = (Url::parse(of).ok()?, Url::parse(with).ok()?);
    if url.path() == other.path() {
        return None;
    }
    url.set_path(other.path());
    Some(url.into())
}
