//! Slots and attacks on them.

use url::Url;

use super::*;
use crate::clock::ManualClock;

const ALICE: AccountId = AccountId(1);
const LIFETIME: Duration = Duration::from_secs(UPLOAD_SLOT_LIFETIME_SECONDS);

fn slots() -> (Slots, ManualClock) {
    let clock = ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap());
    (slots_with(&[b'k'; SigningKey::BYTES_MIN], &clock), clock)
}

fn slots_with(key: &[u8; SigningKey::BYTES_MIN], clock: &ManualClock) -> Slots {
    let assets = Assets::new(&Url::parse("http://example.com").unwrap());
    Slots::new(&SigningKey::new(key).unwrap(), assets, Clock::Manual(clock.clone()))
}

/// What an upload request contains.
struct Parts {
    name: Option<AssetName>,
    query: String,
    token: String,
}

fn parts(issued: &IssuedSlot) -> Parts {
    let (path, query) = issued.upload_url.split_once('?').unwrap();
    Parts {
        name: AssetName::parse(path.rsplit('/').next().unwrap()),
        query: query.to_owned(),
        token: issued.token.clone(),
    }
}

fn verify(slots: &Slots, parts: &Parts) -> Result<SlotClaims, SlotError> {
    slots.verify(parts.name, Some(&parts.query), &parts.token)
}

#[test]
fn a_slot_is_valid_on_every_server_with_the_key() {
    let (slots, clock) = slots();
    let issued = slots.issue(ALICE, Media::Webp, 12_345);
    let slot = verify(&slots, &parts(&issued)).unwrap();
    assert_eq!(slot, issued.claims);
    assert_eq!((slot.size, slot.account, slot.name.media()), (12_345, ALICE, Media::Webp));
    assert!(verify(&slots_with(&[b'k'; SigningKey::BYTES_MIN], &clock), &parts(&issued)).is_ok());
    let other = slots_with(&[b'o'; SigningKey::BYTES_MIN], &clock);
    assert_eq!(verify(&other, &parts(&issued)), Err(SlotError::Invalid));
}

#[test]
fn a_slot_expires_after_its_lifetime() {
    let (slots, clock) = slots();
    let parts = parts(&slots.issue(ALICE, Media::Png, 1));
    clock.advance(LIFETIME);
    assert!(verify(&slots, &parts).is_ok());
    clock.advance(Duration::from_micros(1));
    assert_eq!(verify(&slots, &parts), Err(SlotError::Expired));
}

#[test]
fn parts_of_different_slots_are_refused() {
    let (slots, _) = slots();
    let one = || parts(&slots.issue(ALICE, Media::Png, 1));
    let same = one();
    for other in [
        Parts { token: one().token, ..one() },
        Parts { query: one().query, ..one() },
        Parts { name: one().name, ..one() },
        Parts { query: same.query.clone(), token: same.token.clone(), ..one() },
        Parts { name: None, ..one() },
    ] {
        assert_eq!(verify(&slots, &other), Err(SlotError::Invalid));
    }
}

#[test]
fn the_type_is_part_of_the_claims() {
    let (slots, _) = slots();
    let mut parts = parts(&slots.issue(ALICE, Media::Png, 1));
    let name = parts.name.unwrap().to_string().replace(".png", ".gif");
    parts.name = AssetName::parse(&name);
    assert!(parts.name.is_some());
    assert_eq!(verify(&slots, &parts), Err(SlotError::Invalid));
}

#[test]
fn the_signature_of_the_url_is_no_token() {
    let (slots, _) = slots();
    let mut parts = parts(&slots.issue(ALICE, Media::Png, 1));
    let signed = BASE64URL_NOPAD.decode(slot_parameter(&parts.query).unwrap().as_bytes()).unwrap();
    parts.token = BASE64URL_NOPAD.encode(&signed[CLAIMS_BYTES..]);
    assert_eq!(verify(&slots, &parts), Err(SlotError::Invalid));
}

#[test]
fn every_changed_character_is_refused() {
    let (slots, _) = slots();
    let right = parts(&slots.issue(ALICE, Media::Png, 1));
    let changes = |text: &str, from: usize| {
        let mut all = vec![text[..text.len() - 1].to_owned(), format!("{text}A"), String::new()];
        for at in from..text.len() {
            for other in ["A", "b", "-", "=", "é"] {
                all.push(format!("{}{other}{}", &text[..at], &text[at + 1..]));
            }
        }
        all.retain(|changed| changed != text);
        all
    };
    for token in changes(&right.token, 0) {
        let outcome = slots.verify(right.name, Some(&right.query), &token);
        assert_eq!(outcome, Err(SlotError::Invalid), "{token}");
    }
    for query in changes(&right.query, 0) {
        let outcome = slots.verify(right.name, Some(&query), &right.token);
        assert_eq!(outcome, Err(SlotError::Invalid), "{query}");
    }
    let twice = format!("{0}&{0}", right.query);
    assert_eq!(slots.verify(right.name, Some(&twice), &right.token), Err(SlotError::Invalid));
    assert_eq!(slots.verify(right.name, None, &right.token), Err(SlotError::Invalid));
    let further = format!("a=b&{}&c", right.query);
    assert!(slots.verify(right.name, Some(&further), &right.token).is_ok());
}

#[test]
fn debug_hides_url_and_token() {
    let (slots, _) = slots();
    let issued = slots.issue(ALICE, Media::Png, 1);
    let shown = format!("{issued:?}");
    let query = parts(&issued).query;
    assert!(!shown.contains(&issued.token) && !shown.contains(&query), "{shown}");
}
