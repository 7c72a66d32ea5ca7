//! Values of each kind of field, as JSON is written: some that it takes, and some it does not.

use super::request::{Correct, Request};
use super::table::{Field, Kind};
use crate::scenarios::shared::prelude::*;

/// Letters of one to four bytes, and a mix. Each is one code point and one grapheme, so that
/// servers that count either agree; bytes and UTF-16 units are no characters.
const LETTERS: [&str; 5] = ["a", "é", "漢", "😀", "aé漢😀"];

pub const URI: &str = "https://example.com/a.png";

/// Each of these in place of an address, in a list behind a right one.
pub fn entries(field: &Field, bad: &[&str]) -> Vec<String> {
    let of = |bad: &&str| match field.kind {
        Kind::Uris(..) => json!([URI, bad]).to_string(),
        _ => json!(bad).to_string(),
    };
    bad.iter().map(of).collect()
}

/// A text of `count` characters, with a name if there is room, as names may have to differ (S-17).
pub fn text(call: &Correct, field: &Field, letters: &str, count: usize) -> String {
    let own = call.case.name(field.name);
    let start = if own.chars().count() < count { own } else { String::new() };
    let rest = count - start.chars().count();
    start + &letters.chars().cycle().take(rest).collect::<String>()
}

fn escaped(text: &str) -> String {
    format!("\"{}\"", text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>())
}

/// Texts of `count` characters, the last one with every character escaped.
pub fn texts(call: &Correct, field: &Field, count: usize) -> Vec<String> {
    // Each text of a generation is a job.
    let skipped = if field.request == Request::Generate { LETTERS.len() - 1 } else { 0 };
    let letters = LETTERS.into_iter().skip(skipped);
    let plain = letters.map(|letters| json!(text(call, field, letters, count)).to_string());
    let last = escaped(&text(call, field, "漢é😀", count));
    // Some languages take it for no text.
    plain.chain([last]).chain((count == 1).then(|| r#""0""#.to_owned())).collect()
}

pub fn ratio(count: usize) -> String {
    let left = (count - 1) / 2;
    let number = |digits: usize| format!("1{}", "0".repeat(digits - 1));
    json!(format!("{}:{}", number(left), number(count - 1 - left))).to_string()
}

/// Values with `size` characters or entries, or the integer itself.
pub async fn of_size(call: &Correct, field: &Field, size: i64) -> Result<Vec<String>> {
    let count = size as usize;
    let value = match field.kind {
        Kind::Text(..) => return Ok(texts(call, field, count)),
        Kind::Ratio(_) => return Ok(vec![ratio(count)]),
        Kind::Ids(..) => json!(ids(call.case.prompts(count).await?)),
        Kind::Uris(_) if field.name == "referenceMediaUrls" => {
            (0..count).map(|n| format!("https://example.com/{n}.png")).collect()
        }
        // A provider fetches these.
        Kind::Uris(_) => json!(uploaded_urls(&call.case, count).await?),
        Kind::Object => json!({}),
        _ => json!(size),
    };
    Ok(vec![value.to_string()])
}

/// A list of so many entries that are one and the same: whoever counts different ones takes it.
pub fn repeated(call: &Correct, field: &Field, count: usize) -> Option<String> {
    let entry = match field.kind {
        Kind::Ids(..) => call.value(field.name).trim_matches(['[', ']']).to_owned(),
        Kind::Uris(_) => json!(URI).to_string(),
        _ => return None,
    };
    Some(format!("[{}]", vec![entry; count].join(",")))
}

/// What some languages read as an integer and JSON and HTTP do not.
const SPELLINGS: &str = r#""1_0" "0x10" "5abc" "1e1" "１０" "1,0""#;

/// Values of other types; `null` has a scenario of its own.
pub fn of_other_types(call: &Correct, field: &Field) -> Vec<String> {
    let values = match field.kind {
        Kind::Text(..) | Kind::AnyText | Kind::Ratio(..) | Kind::OneOf(..) | Kind::Uri => {
            r#"7 1.5 true false ["a"] {"a":"b"}"#
        }
        Kind::Uris(..) => {
            r#""https://example.com/a.png" 7 true {"0":"https://example.com/a.png"}
            ["https://example.com/a.png",7] ["https://example.com/a.png",true]
            ["https://example.com/a.png",null] ["https://example.com/a.png",{"a":"b"}]
            [["https://example.com/a.png"]]"#
        }
        Kind::Id | Kind::PositiveId | Kind::Integer(..) => r#""abc" 1.5 true [1] {"id":1}"#,
        Kind::Ids(..) => r#"1 "1" true {} ["abc"] [true] [null] [[1]] [{"id":1}] [1.5]"#,
        Kind::Object => r#""{}" 5 true [] [{}]"#,
    };
    let mut values: Vec<_> = values.split_whitespace().map(str::to_owned).collect();
    let own = call.value(field.name);
    // In a query, digits are an integer.
    let is_body = field.request.has_body();
    match field.kind {
        Kind::Id | Kind::Integer(..) if !is_body => {
            values.extend(SPELLINGS.split(' ').map(str::to_owned));
        }
        Kind::Id | Kind::PositiveId | Kind::Integer(..) if is_body => {
            let text = json!(if own.is_empty() { "1" } else { own }).to_string();
            values.extend([text, "false".to_owned(), json!("").to_string()]);
        }
        Kind::OneOf(words, _) => values.push(json!([words.split(' ').next()]).to_string()),
        Kind::Ids(..) => {
            values.push(own.replace('[', "[\"").replace(']', "\"]"));
            values.push(own.trim_matches(['[', ']']).to_owned());
        }
        _ => {}
    }
    values
}

pub fn below(least: i64) -> Vec<String> {
    let near = [least - 1, least - 2, -10_485_760].map(|value| value.to_string());
    near.into_iter().chain(["-9223372036854775808".to_owned()]).collect()
}

pub fn above(most: i64) -> Vec<String> {
    let near = [most + 1, most + 1000, 1 << 31, (1 << 32) + 1].map(|value| value.to_string());
    let far =
        ["9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551617"];
    near.into_iter().chain(far.map(str::to_owned)).collect()
}
