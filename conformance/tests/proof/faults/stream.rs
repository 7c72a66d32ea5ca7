//! Faults in the bytes of a connection (HT): where bodies and chunks end, requests that break
//! off or come ahead of their turn, and heads that are larger than anybody needs.

use std::sync::Arc;

use crate::heads::{Came, Step, header, request};
use crate::keys::MAIN;
use crate::prelude::*;

const FALLEN: &[u8] =
    b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/// Neither a final response nor what a client with `Expect` waits for.
const PROCESSING: &[u8] = b"HTTP/1.1 102 Processing\r\n\r\n";
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";
/// Longer than any line that clients send.
const LONG: usize = 60 * 1024;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    // Of a chunk size beyond 64 bits the last 64 count.
    fault! { "stream.chunk-size-wraps" ["HT-06"] chunks(|body| {
        let size = body.split("\r\n").next()?;
        let wraps = size.len() > 16 && size.bytes().all(|byte| byte.is_ascii_hexdigit());
        wraps.then(|| body[size.len() - 16..].to_owned())
    }) },
    // A chunked body that breaks off after a chunk is taken as whole.
    fault! { "stream.no-last-chunk" ["HT-04"] at_the_end(|lines, body| {
        header(lines, "transfer-encoding")?;
        let missing = if body.ends_with(b"\r\n0\r\n") { 3 } else { 0 };
        Some(request(lines, &[body, &LAST_CHUNK[missing..]].concat()))
    }) },
    // A body that breaks off before its length is taken as far as it came.
    fault! { "stream.body-too-short" ["HT-04"] at_the_end(|lines, body| {
        let (at, _) = header(lines, "content-length")?;
        let mut lines = lines.to_vec();
        lines[at] = format!("Content-Length: {}", body.len());
        Some(request(&lines, body))
    }) },
    // A JSON body that breaks off before its last bracket is taken as whole.
    fault! { "stream.bracket-missing" ["HT-04"] at_the_end(|lines, body| {
        lacks_bracket(lines, body).then(|| request(lines, &[body, b"}"].concat()))
    }) },
    fault! { "stream.body-nearly-whole" ["HT-04"] stream(nearly_whole) },
    // Bytes behind a body that are no request carry it out again.
    fault! { "stream.rubbish-repeats" ["HT-06"] stream(|came| match first_request(&came.bytes) {
        Some((first, behind)) if !behind.is_empty() && !is_request(behind) => {
            Step::Last([first, first].concat())
        }
        _ => Step::Last(came.bytes.clone()),
    }) },
    fault! { "stream.ahead-cut" ["HT-20"] ahead(|first, second| [first, &second[1..]].concat()) },
    fault! { "stream.expect-102" ["HT-21"]
        heads(PROCESSING, |lines| header(lines, "expect").is_some()) },
    // A body on GET or DELETE is read as the next request.
    fault! { "stream.body-of-get" ["HT-22"] super::wire::heads(|lines| {
        if lines[0].starts_with("GET ") || lines[0].starts_with("DELETE ") {
            lines.retain(|line| !line.starts_with("Content-Length:"));
        }
    }) },
    fault! { "stream.no-colon-500" ["HT-06"]
        heads(FALLEN, |lines| lines[1..].iter().any(|line| !line.contains(':'))) },
    fault! { "stream.folded-500" ["HT-08"]
        heads(FALLEN, |lines| lines.iter().any(|line| line.starts_with([' ', '\t']))) },
    fault! { "stream.escape-byte-500" ["HT-09"]
        heads(FALLEN, |lines| lines.iter().any(|line| line.contains('\x1b'))) },
    fault! { "stream.many-headers-500" ["HT-13"] heads(FALLEN, |lines| lines.len() > 500) },
    fault! { "stream.headers-dropped" ["HT-13"] super::wire::heads(|lines| lines.truncate(90)) },
    fault! { "stream.long-first-line-500" ["HT-14"] heads(FALLEN, |lines| lines[0].len() > LONG) },
    // Of a key that is too long only the beginning is compared.
    fault! { "stream.key-cut" ["HT-13"] super::wire::heads(|lines| {
        let start = format!("Bearer {MAIN}");
        if let Some((at, value)) = header(lines, "authorization")
            && value.len() > 4096
            && value.starts_with(&start)
        {
            lines[at] = format!("Authorization: {start}");
        }
    }) },
];

fn stream(look: impl Fn(&Came) -> Step + Send + Sync + 'static) -> Intercept {
    Intercept::Stream(Arc::new(look))
}

/// Answers requests itself that have such a head.
fn heads(response: &'static [u8], wrong: fn(&[String]) -> bool) -> Intercept {
    stream(move |came| match came.head() {
        Some((lines, _)) if wrong(&lines) => Step::Answer(response),
        None if came.is_head_open() => Step::Wait,
        _ => Step::Last(came.bytes.clone()),
    })
}

/// Makes another body of one in chunks that came whole.
fn chunks(change: fn(&str) -> Option<String>) -> Intercept {
    stream(move |came| {
        let Some((lines, body)) = came.parts().filter(|(lines, _)| is_chunked(lines)) else {
            return if came.is_head_open() { Step::Wait } else { Step::Last(came.bytes.clone()) };
        };
        let changed = std::str::from_utf8(body).ok().and_then(change);
        match changed {
            Some(body) => Step::Last(request(&lines, body.as_bytes())),
            None => Step::Last(came.bytes.clone()),
        }
    })
}

/// Makes a whole request of one that broke off.
fn at_the_end(complete: fn(&[String], &[u8]) -> Option<Vec<u8>>) -> Intercept {
    stream(move |came| match came.parts().filter(|_| is_unfinished(came)) {
        Some((lines, body)) if came.ended => complete(&lines, body).map_or(Step::Wait, Step::Last),
        Some(_) => Step::Wait,
        None if came.is_head_open() => Step::Wait,
        None => Step::Last(came.bytes.clone()),
    })
}

/// Hands on what came in another way where it is more than one request.
fn ahead(change: fn(&[u8], &[u8]) -> Vec<u8>) -> Intercept {
    stream(move |came| match first_request(&came.bytes) {
        Some((first, behind)) if is_request(behind) => Step::Next(change(first, behind)),
        _ => Step::Next(came.bytes.clone()),
    })
}

/// Completes a JSON body that lacks its last byte, and passes that byte over when it comes.
fn nearly_whole(came: &Came) -> Step {
    let Some((lines, body)) = came.parts() else {
        return match &came.bytes[..] {
            b"}" => Step::Next(Vec::new()),
            _ if came.is_head_open() => Step::Wait,
            _ => Step::Last(came.bytes.clone()),
        };
    };
    if lacks_bracket(&lines, body) {
        Step::Next([&came.bytes[..], b"}"].concat())
    } else if lines[0].starts_with("POST ") && is_unfinished(came) {
        Step::Wait
    } else {
        Step::Last(came.bytes.clone())
    }
}

fn lacks_bracket(lines: &[String], body: &[u8]) -> bool {
    length(lines) == Some(body.len() + 1) && body.starts_with(b"{") && !body.ends_with(b"}")
}

/// Whether more of the first request is announced than has come. Nothing is, to a client that
/// waits for 100.
fn is_unfinished(came: &Came) -> bool {
    let Some((lines, body)) = came.parts() else { return false };
    if header(&lines, "expect").is_some() {
        return false;
    }
    match (length(&lines), is_chunked(&lines)) {
        (Some(length), false) => body.len() < length,
        (None, true) => !body.ends_with(b"\r\n\r\n"),
        _ => false,
    }
}

fn is_chunked(lines: &[String]) -> bool {
    header(lines, "transfer-encoding").is_some_and(|(_, coding)| coding == "chunked")
}

fn length(lines: &[String]) -> Option<usize> {
    header(lines, "content-length").and_then(|(_, length)| length.parse().ok())
}

/// The first request, if it is there whole and has no chunks, and what follows it.
fn first_request(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let came = Came { bytes: bytes.to_vec(), ended: false };
    let (lines, body) = came.parts().filter(|(lines, _)| is_head(&lines[0]))?;
    let whole = bytes.len() - body.len() + length(&lines).unwrap_or_default();
    let is_plain = header(&lines, "transfer-encoding").is_none();
    if is_plain { bytes.split_at_checked(whole) } else { None }
}

fn is_request(bytes: &[u8]) -> bool {
    first_request(bytes).is_some()
}

fn is_head(first_line: &str) -> bool {
    first_line.ends_with(" HTTP/1.1")
}
