//! Unusual JSON: repeated keys, depth, bytes that are no text, and other dialects. Bodies that are no
//! JSON are refused by a scenario of the specification.

use super::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "raw.json.key-twice" ["HT-24"] key_twice,
        "A key that stands twice counts as one of the two or is refused" },
    scenario! { "raw.json.deep" ["HT-24"] deep,
        "JSON of 100, 10 000 and 1 000 000 levels is answered or refused, and others are served" },
    scenario! { "raw.json.no-utf-8" ["HT-24"] no_utf_8,
        "A body that is no UTF-8 is refused or its bytes are replaced; the answer is JSON" },
    scenario! { "raw.json.nearly" ["HT-24"]
        nearly,
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
        for value in [&arrays, &objects, &"[".repeat(levels)] {
            let within = format!(r#"{},"odd":{value}}}"#, fixture.body.trim_end_matches('}'));
            for body in [&within, value] {
                let request = fixture.post().json(body);
                let answered = fixture.check(Expect::Answered, &request).await;
                check::with_context(format!("{levels} levels"), answered)?;
            }
        }
        fixture.created().await?;
    }
    Ok(())
}

const NO_UTF_8: &[&[u8]] =
    &[b"\xff", b"\xc3\x28", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"];

/// A create with each of these within its texts.
async fn no_utf_8(case: Case) -> Result {
    // A target that refuses everything proves nothing.
    case.prompt().await?;
    for bytes in NO_UTF_8 {
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

/// Sends bodies in which BODY is a right one, and OPEN that without its last brace. A prompt is
/// created by a success, and none otherwise.
async fn nearly(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let (body, open) = (&fixture.body, fixture.body.trim_end_matches('}'));
    let mut count = 0;
    for what in NEARLY_JSON.split(" ~ ") {
        let odd = what.replace("SINGLE-QUOTES", &body.replace('"', "'"));
        let odd = odd.replace("BODY", body).replace("OPEN", open);
        let reply = case.wire().post_written("/prompts", odd).await?;
        count += usize::from(check::with_context(what, no_server_error(&reply))?);
        check::with_context(what, fixture.has_created(count).await)?;
    }
    Ok(())
}

const NEARLY_JSON: &str = "OPEN,} ~ /* a */BODY ~ BODY// a ~ OPEN,\"a\":NaN} ~ \u{feff}BODY ~ \
    SINGLE-QUOTES ~ OPEN,\"a\":\"\t\"} ~ OPEN,\"a\":01} ~ BODY\u{c} ~ BODY\0";
