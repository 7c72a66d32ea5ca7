//! JSON at its edges: keys twice, depth, numbers, escapes, and what is nearly JSON.

use std::fmt::Write as _;

use super::raw::{Expect, Fixture};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    http! { "raw.json.key-twice" ["HT-24"] key_twice,
        "A key that stands twice counts as one of the two or is refused" },
    http! { "raw.json.deep" ["HT-24"] [HttpOne] deep,
        "JSON of 100, 10 000 and 1 000 000 levels is answered or refused, and others are served" },
    http! { "raw.json.numbers" ["HT-24"] numbers,
        "Numbers beyond every range name no vault and bring no server error" },
    http! { "raw.json.half-pairs" ["HT-24"] |case| odd_texts(case, HALF_PAIRS),
        "Half a surrogate pair is refused or replaced; the answer is JSON in either case" },
    http! { "raw.json.no-utf-8" ["HT-24"] |case| odd_texts(case, NO_UTF_8),
        "A body that is no UTF-8 is refused or its bytes are replaced; the answer is JSON" },
    http! { "raw.json.broken" ["HT-24"]
        |case| odd_bodies(case, broken, |what, reply| reply.is_client_error(what).map(|_| false)),
        "A body that is no JSON is refused, and nothing is made of its readable part" },
    http! { "raw.json.nearly" ["HT-24"]
        |case| odd_bodies(case, nearly, |what, reply| check::with_context(what, no_server_error(reply))),
        "Comments, commas at the end and other dialects are read whole or refused" },
];

/// Whether it was a success. Anything else must be a client error.
fn no_server_error(reply: &ApiResponse) -> Result<bool> {
    let status = reply.status_code();
    reply.ensure(matches!(status, 200..300 | 400..500), "2xx or 4xx", status)?;
    Ok(reply.is_success())
}

async fn key_twice(case: Case) -> Result {
    // A target that refuses everything proves nothing.
    case.prompt().await?;
    let (first, second) = (case.name("first"), case.name("second"));
    let body = format!(
        r#"{{"title":"{first}","prompt":"{first}","title":"{second}","prompt":"{second}"}}"#
    );
    let reply = case.wire().post_written("/prompts", body).await?;
    if no_server_error(&reply)? {
        for place in ["/data/title", "/data/prompt"] {
            let value = reply.string(place)?;
            reply.ensure(value == first || value == second, "one of the two", value)?;
        }
        let stored = case.prompt_of(&reply)?.read().await?;
        stored.equals("/data/title", reply.string("/data/title")?)?;
    }
    Ok(())
}

async fn deep(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    for levels in [100, 10_000, 1_000_000] {
        let arrays = "[".repeat(levels) + &"]".repeat(levels);
        let objects = r#"{"a":"#.repeat(levels) + "1" + &"}".repeat(levels);
        let open = "[".repeat(levels);
        for value in [&arrays, &objects, &open] {
            let mut body = fixture.body();
            body.pop();
            let _ = write!(body, r#","odd":{value}}}"#);
            for body in [&body, value] {
                let request = fixture.post().json(body);
                let answered = fixture.check(Expect::Answered, &request).await;
                check::with_context(format!("{levels} levels"), answered)?;
            }
        }
        fixture.created().await?;
    }
    Ok(())
}

async fn numbers(case: Case) -> Result {
    let prompt = case.prompt().await?;
    let path = format!("{}/save", prompt.path());
    let (long, small) = ("9".repeat(10_000), format!("0.{}1", "0".repeat(10_000)));
    let numbers = "-0 -1 +1 0.5 0x10 1_000 1e400 -1e400 1e-400 1e999999999999 NaN Infinity \
                   -Infinity 9223372036854775808 18446744073709551616";
    for number in numbers.split(' ').chain([&*long, &small]) {
        let body = format!(r#"{{"vaultId":{number}}}"#);
        let reply = case.wire().post_written(&path, body).await?;
        reply.is_client_error(format!("the vault {number:.30}"))?;
    }
    prompt.read().await.map(drop)
}

const HALF_PAIRS: &[&[u8]] =
    &[br"\ud83d", br"\ude00", br"\ude00\ud83d", br"a\ud83dz", br"\ud83d\u0041", br"\uD83D\uD83D"];

const NO_UTF_8: &[&[u8]] =
    &[b"\xff", b"\xc3\x28", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"];

/// A create with each of these within its texts.
async fn odd_texts(case: Case, odd: &[&[u8]]) -> Result {
    // A target that refuses everything proves nothing.
    case.prompt().await?;
    for bytes in odd {
        let (name, what) = (case.name("odd"), bytes.escape_ascii());
        let title = format!(r#"{{"title":"{name} "#);
        let body = [title.as_bytes(), bytes, br#"","prompt":""#, bytes, br#""}"#].concat();
        let reply = case.wire().post_written("/prompts", body).await?;
        if check::with_context(&what, no_server_error(&reply))? {
            let title = reply.string("/data/title")?;
            reply.ensure(title.starts_with(&name), format!("a title like {name}"), title)?;
        }
        check::with_context(&what, reply.json())?;
    }
    Ok(())
}

/// Sends bodies that are made from a right one and from that without its last brace.
/// A prompt is created if `created` says so, and none otherwise.
async fn odd_bodies(
    case: Case,
    bodies: fn(&str, &str) -> Vec<(&'static str, String)>,
    created: fn(&str, &ApiResponse) -> Result<bool>,
) -> Result {
    let fixture = Fixture::new(&case).await?;
    let body = fixture.body();
    let mut count = 0;
    for (what, odd) in bodies(&body, body.trim_end_matches('}')) {
        count += usize::from(created(what, &case.wire().post_written("/prompts", odd).await?)?);
        check::with_context(what, fixture.has_created(count).await)?;
    }
    Ok(())
}

fn broken(body: &str, open: &str) -> Vec<(&'static str, String)> {
    vec![
        ("the end is missing", open.to_owned()),
        ("an open string", open.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned() + "\"7"),
        ("no value", format!("{open},\"a\":}}")),
        ("no colon", format!("{open},\"a\" 1}}")),
        ("words behind", format!("{body} words")),
        ("a second object", format!("{body}{body}")),
        ("a bracket behind", format!("{body}]")),
        ("an unknown escape", format!("{open},\"a\":\"\\x\"}}")),
        ("a form", "title=t&prompt=p".to_owned()),
        ("in quotes", json!(body).to_string()),
        ("in an array", format!("[{body}]")),
    ]
}

fn nearly(body: &str, open: &str) -> Vec<(&'static str, String)> {
    vec![
        ("a comma at the end", format!("{open},}}")),
        ("a comment", format!("/* a */{body}")),
        ("a comment of a line", format!("{body}// a")),
        ("NaN", format!("{open},\"a\":NaN}}")),
        ("a byte order mark", format!("\u{feff}{body}")),
        ("single quotes", body.replace('"', "'")),
        ("a tab in a string", format!("{open},\"a\":\"\t\"}}")),
        ("a number with a zero", format!("{open},\"a\":01}}")),
        ("an unprintable space", format!("{body}\u{c}")),
        ("a zero byte", format!("{body}\0")),
    ]
}
