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

/// What the upload of a slot brings.
struct Brought {
    name: Option<AssetName>,
    query: String,
    token: String,
}

fn brought(handed_out: &HandedOut) -> Brought {
    let (path, query) = handed_out.upload_url.split_once('?').unwrap();
    Brought {
        name: AssetName::parse(path.rsplit('/').next().unwrap()),
        query: query.to_owned(),
        token: handed_out.token.clone(),
    }
}

fn admit(slots: &Slots, brought: &Brought) -> Result<Slot, SlotRefusal> {
    slots.admit(brought.name, Some(&brought.query), &brought.token)
}

#[test]
fn a_slot_is_recognised_by_every_server_with_the_key() {
    let (slots, clock) = slots();
    let handed_out = slots.hand_out(ALICE, Media::Webp, 12_345);
    let slot = admit(&slots, &brought(&handed_out)).unwrap();
    assert_eq!(slot, handed_out.slot);
    assert_eq!((slot.size, slot.account, slot.name.media()), (12_345, ALICE, Media::Webp));
    assert!(
        admit(&slots_with(&[b'k'; SigningKey::BYTES_MIN], &clock), &brought(&handed_out)).is_ok()
    );
    let other = slots_with(&[b'o'; SigningKey::BYTES_MIN], &clock);
    assert_eq!(admit(&other, &brought(&handed_out)), Err(SlotRefusal::Invalid));
}

#[test]
fn it_lasts_for_its_time_and_not_longer() {
    let (slots, clock) = slots();
    let brought = brought(&slots.hand_out(ALICE, Media::Png, 1));
    clock.advance(LIFETIME);
    assert!(admit(&slots, &brought).is_ok());
    clock.advance(Duration::from_micros(1));
    assert_eq!(admit(&slots, &brought), Err(SlotRefusal::RunOut));
}

#[test]
fn parts_of_different_slots_do_not_go_together() {
    let (slots, _) = slots();
    let one = || brought(&slots.hand_out(ALICE, Media::Png, 1));
    let same = one();
    for other in [
        Brought { token: one().token, ..one() },
        Brought { query: one().query, ..one() },
        Brought { name: one().name, ..one() },
        Brought { query: same.query.clone(), token: same.token.clone(), ..one() },
        Brought { name: None, ..one() },
    ] {
        assert_eq!(admit(&slots, &other), Err(SlotRefusal::Invalid));
    }
}

#[test]
fn the_type_is_part_of_what_was_agreed() {
    let (slots, _) = slots();
    let mut brought = brought(&slots.hand_out(ALICE, Media::Png, 1));
    let name = brought.name.unwrap().to_string().replace(".png", ".gif");
    brought.name = AssetName::parse(&name);
    assert!(brought.name.is_some());
    assert_eq!(admit(&slots, &brought), Err(SlotRefusal::Invalid));
}

#[test]
fn the_signature_of_the_address_is_no_token() {
    let (slots, _) = slots();
    let mut brought = brought(&slots.hand_out(ALICE, Media::Png, 1));
    let signed = signed_in(Some(&brought.query)).unwrap();
    brought.token = BASE64URL_NOPAD.encode(&signed[TERMS_BYTES..]);
    assert_eq!(admit(&slots, &brought), Err(SlotRefusal::Invalid));
}

#[test]
fn every_changed_character_is_seen() {
    let (slots, _) = slots();
    let right = brought(&slots.hand_out(ALICE, Media::Png, 1));
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
        let outcome = slots.admit(right.name, Some(&right.query), &token);
        assert_eq!(outcome, Err(SlotRefusal::Invalid), "{token}");
    }
    for query in changes(&right.query, 0) {
        let outcome = slots.admit(right.name, Some(&query), &right.token);
        assert_eq!(outcome, Err(SlotRefusal::Invalid), "{query}");
    }
    let twice = format!("{0}&{0}", right.query);
    assert_eq!(slots.admit(right.name, Some(&twice), &right.token), Err(SlotRefusal::Invalid));
    assert_eq!(slots.admit(right.name, None, &right.token), Err(SlotRefusal::Invalid));
    let further = format!("a=b&{}&c", right.query);
    assert!(slots.admit(right.name, Some(&further), &right.token).is_ok());
}

#[test]
fn nothing_secret_is_shown() {
    let (slots, _) = slots();
    let handed_out = slots.hand_out(ALICE, Media::Png, 1);
    let shown = format!("{handed_out:?} {slots:?}");
    let query = brought(&handed_out).query;
    assert!(!shown.contains(&handed_out.token) && !shown.contains(&query), "{shown}");
}
