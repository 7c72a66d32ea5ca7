//! Values in other forms than the usual one, where their meaning is certain.

use promptarium::{AddedPrompts, Deleted, Prompt, PromptId, PromptImage, Timestamp, UploadSlot};
use serde_json::to_value;

use super::*;

fn integer_in(text: &str) -> Result<u64, serde_json::Error> {
    let wire = format!(r#"{{"added":{text},"vaultId":3,"promptCount":2}}"#);
    serde_json::from_str(&wire).map(|prompts: AddedPrompts| prompts.added)
}

#[test]
fn an_integer_may_be_written_as_a_float() {
    for (text, expected) in [
        ("1024", 1024),
        ("1024.0", 1024),
        ("7e0", 7),
        ("1.5e1", 15),
        ("-0.0", 0),
        ("18446744073709551615", u64::MAX),
        ("900719925474099.0", 900_719_925_474_099),
    ] {
        assert_eq!(integer_in(text).expect(text), expected, "{text}");
    }
    for text in
        ["1.5", "-1", "-1.0", "1e40", "18446744073709551616", "9007199254740993.0", "\"7\"", "null"]
    {
        assert!(integer_in(text).is_err(), "{text}");
    }
    assert_snapshot!(integer_in("-1").unwrap_err(), @"invalid value: -1, expected u64 at line 1 column 11");
    assert_snapshot!(integer_in("1.5").unwrap_err(), @"invalid value: 1.5, expected u64 at line 1 column 12");
}

#[test]
fn an_id_may_be_written_as_a_float() {
    for text in ["7", "7.0", "7e0"] {
        assert_eq!(serde_json::from_str::<PromptId>(text).unwrap(), PromptId::new(7), "{text}");
        let deleted = format!(r#"{{"id":{text},"deleted":true}}"#);
        let deleted: Deleted<VaultId> = serde_json::from_str(&deleted).expect(text);
        assert_eq!(deleted.id, VaultId::new(7));
    }
    for wrong in [json!("7"), json!(7.5), json!(true), json!(null), json!(u64::MAX), json!(1e19)] {
        assert!(from_value::<PromptId>(wrong.clone()).is_err(), "{wrong}");
    }
    let mut wire = prompt(7);
    wire["vaultIds"] = json!([3.0]);
    assert_eq!(read::<Prompt>(&wire).vault_ids, [VaultId::new(3)]);
    let mut wire = slot();
    (wire["size"], wire["expiresIn"]) = (json!(1024.0), json!(7.2e3));
    assert_eq!(read::<UploadSlot>(&wire), read(&slot()));
}

#[test]
fn a_size_that_is_no_number_of_pixels_is_unknown() {
    let width = |wire: Option<Value>| {
        let mut image = prompt(7)["images"][0].clone();
        image.as_object_mut().unwrap().remove("width");
        image.as_object_mut().unwrap().extend(wire.map(|wire| ("width".to_owned(), wire)));
        let image: PromptImage = from_value(image).unwrap();
        assert_eq!(image.height, Some(576));
        image.width
    };
    assert_eq!(width(Some(json!(1024))), Some(1024));
    assert_eq!(width(Some(json!(1024.0))), Some(1024));
    assert_eq!(width(Some(json!(u32::MAX))), Some(u32::MAX));
    assert_eq!(width(None), None);
    for unknown in [
        json!(null),
        json!(-1),
        json!(0.5),
        json!(4_294_967_296_u64),
        json!("1024"),
        json!("auto"),
        json!(true),
        json!([1024]),
        json!({ "px": 1024 }),
    ] {
        assert_eq!(width(Some(unknown.clone())), None, "{unknown}");
    }
}

#[test]
fn a_list_that_is_null_or_missing_is_empty() {
    let mut wire = prompt(7);
    wire["images"] = json!(null);
    wire.as_object_mut().unwrap().remove("vaultIds");
    let prompt: Prompt = read(&wire);
    assert!(prompt.images.is_empty() && prompt.vault_ids.is_empty());
}

fn timestamp(text: &str) -> Result<Vault, serde_json::Error> {
    let mut wire = vault();
    wire["createdAt"] = json!(text);
    from_value::<Vault>(wire)
}

#[test]
fn timestamps_are_decoded_leniently_and_encoded_in_utc() {
    let noon: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    for text in [
        "2026-03-01T12:00:00Z",
        "2026-03-01t12:00:00z",
        "2026-03-01T12:00:00.000000000Z",
        "2026-03-01T13:30:00+01:30",
        "2026-03-01T07:00:00-05:00",
        "2026-03-01T12:00:00",
        "2026-03-01 12:00:00",
        "2026-03-01T12:00",
        "20260301T120000Z",
        "2026-03-01 12:00:00+00",
        "2026-03-01T13:30:00+0130",
        "2026-03-01T12:00:00+00:00[UTC]",
    ] {
        assert_eq!(timestamp(text).expect(text).created_at, noon, "{text}");
    }
    // A leap second is the one before.
    let leap = timestamp("2016-12-31T23:59:60Z").unwrap().created_at;
    assert_eq!(leap.to_string(), "2016-12-31T23:59:59Z");
    assert_eq!(timestamp("0001-01-01T00:00:00").unwrap().created_at.as_second(), -62_135_596_800);
    let fine = timestamp("2026-03-01T13:00:00.123456789+01:00").unwrap();
    assert_eq!(to_value(&fine).unwrap()["createdAt"], "2026-03-01T12:00:00.123456789Z");
    for text in ["", "yesterday", "12:00:00Z", "2026-13-01T12:00:00Z", "1772366400"] {
        assert!(timestamp(text).is_err(), "{text}");
    }
    let error = timestamp("yesterday").unwrap_err().to_string();
    assert!(error.starts_with("not an ISO 8601 timestamp: "), "{error}");
}

#[test]
fn fractional_digits_of_a_timestamp_after_the_ninth_are_cut() {
    let cut: Timestamp = "2026-03-01T12:00:00.123456789Z".parse().unwrap();
    for text in [
        "2026-03-01T12:00:00.1234567899Z",
        "2026-03-01T12:00:00.123456789012Z",
        "2026-03-01T13:00:00.123456789012+01:00",
        "2026-03-01T12:00:00,1234567890z",
        "2026-03-01T12:00:00.1234567890",
        &format!("2026-03-01T12:00:00.123456789{}Z", "9".repeat(100)),
    ] {
        assert_eq!(timestamp(text).expect(text).created_at, cut, "{text}");
    }
    for text in ["2026-03-01T12:00:00.1234567890é", "2026-03-01T12:00:00.", "é.1234567890Z"] {
        assert!(timestamp(text).is_err(), "{text}");
    }
}

#[test]
fn the_last_day_of_the_last_year_is_the_last_timestamp() {
    let time = |text: &str| {
        let mut wire = prompt(7);
        wire["createdAt"] = json!(text);
        from_value::<Prompt>(wire).map(|prompt| prompt.created_at)
    };
    for text in [
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59.9999999Z",
        "9999-12-31T23:59:59",
        "9999-12-31T23:59:59-08:00",
    ] {
        assert_eq!(time(text).ok(), Some(Timestamp::MAX), "{text}");
    }
    assert_eq!(time("9999-12-30T12:00:00Z").unwrap().to_string(), "9999-12-30T12:00:00Z");
    for text in ["9999-13-31T23:59:59Z", "10000-01-01T00:00:00Z", "never"] {
        assert!(time(text).is_err(), "{text}");
    }
}

#[test]
fn null_in_place_of_a_word_is_an_unknown_word() {
    for field in ["promptType", "status"] {
        let mut wire = prompt(7);
        wire[field] = Value::Null;
        let prompt: Prompt = from_value(wire.clone()).unwrap_or_else(|e| panic!("{field}: {e}"));
        assert_eq!(to_value(&prompt).unwrap()[field], "null");
        wire.as_object_mut().unwrap().remove(field);
        assert!(from_value::<Prompt>(wire).is_err(), "{field}");
    }
}
