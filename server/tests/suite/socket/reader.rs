//! Responses read from bytes. A response ends by its length, by its chunks, or with the connection.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use httparse::{EMPTY_HEADER, Status};
use libtest_mimic::{Failed, Trial};

/// More header lines than any response of this API has.
const LINES_MAX: usize = 128;

/// The first response in `bytes` and its length; `None` while it is incomplete. `bodiless` says that
/// it answers `HEAD`, and `ended` that the connection has ended. The error says why it is no HTTP.
pub(super) fn response(
    bytes: &[u8],
    bodiless: bool,
    ended: bool,
) -> Result<Option<(Response<Bytes>, usize)>, String> {
    let mut lines = [EMPTY_HEADER; LINES_MAX];
    let mut head = httparse::Response::new(&mut lines);
    let parsed = head.parse(bytes).map_err(|error| format!("{error} in the head"))?;
    let Status::Complete(length) = parsed else { return Ok(None) };
    let status = head.code.and_then(|code| StatusCode::from_u16(code).ok());
    let status = status.ok_or("an invalid status")?;
    let header = |line: &httparse::Header<'_>| {
        let name = HeaderName::from_bytes(line.name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_bytes(line.value).ok()?))
    };
    let headers: http::HeaderMap = head.headers.iter().filter_map(header).collect();
    let rest = &bytes[length..];
    let body = if bodiless || status.is_informational() || matches!(status.as_u16(), 204 | 304) {
        Some((Vec::new(), 0))
    } else if let Some(coding) = headers.get(TRANSFER_ENCODING) {
        if !coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
            return Err("an unknown coding".into());
        }
        chunks(rest)?
    } else if let Some(size) = headers.get(CONTENT_LENGTH) {
        let size = size.to_str().ok().and_then(|size| size.parse().ok());
        let size = size.ok_or("an invalid Content-Length")?;
        rest.get(..size).map(|body| (body.to_vec(), size))
    } else {
        ended.then(|| (rest.to_vec(), rest.len()))
    };
    Ok(body.map(|(body, size)| {
        let mut response = Response::new(body.into());
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        (response, length + size)
    }))
}

/// The body of a chunked response and its length on the wire; `None` while it is incomplete.
fn chunks(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, String> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let parsed =
            httparse::parse_chunk_size(&bytes[at..]).map_err(|_| "an invalid chunk size")?;
        let Status::Complete((start, size)) = parsed else { return Ok(None) };
        at += start;
        let rest = &bytes[at..];
        if size == 0 {
            let mut lines = [EMPTY_HEADER; LINES_MAX];
            let trailer = httparse::parse_headers(rest, &mut lines);
            let trailer = trailer.map_err(|error| format!("{error} in the trailer"))?;
            let Status::Complete((length, _)) = trailer else { return Ok(None) };
            return Ok(Some((body, at + length)));
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        match rest.get(size..).and_then(|end| end.get(..2)) {
            Some(b"\r\n") => body.extend_from_slice(&rest[..size]),
            Some(_) => return Err("a chunk that does not end where it says".into()),
            None => return Ok(None),
        }
        at += size + 2;
    }
}

/// The reader itself, on bytes that no server of the tests sends.
pub(crate) fn tests() -> Vec<Trial> {
    vec![
        Trial::test("reader::a_response_ends_where_it_says", whole),
        Trial::test("reader::half_a_response_is_incomplete_and_other_bytes_are_an_error", others),
    ]
}

fn read(bytes: &str, ended: bool) -> Result<Option<(u16, String, usize)>, String> {
    let read = response(bytes.as_bytes(), false, ended)?;
    Ok(read.map(|(response, length)| {
        let text = String::from_utf8_lossy(response.body()).into_owned();
        (response.status().as_u16(), text, length)
    }))
}

fn equal<T: PartialEq + std::fmt::Debug>(got: &T, expected: &T, bytes: &str) -> Result<(), Failed> {
    let text = || format!("{bytes:?} reads {got:?}, not {expected:?}").into();
    if got == expected { Ok(()) } else { Err(text()) }
}

fn whole() -> Result<(), Failed> {
    let sized = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                   3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nA: b\r\n\r\n";
    for (bytes, text) in [(sized, "hi"), (chunked, "abcd")] {
        let expected = Ok(Some((200, text.to_owned(), bytes.len())));
        equal(&read(&format!("{bytes}HTTP/1.1 4"), false), &expected, bytes)?;
    }
    let open = "HTTP/1.0 400 Bad\r\n\r\nwords";
    equal(&read(open, false), &Ok(None), open)?;
    equal(&read(open, true), &Ok(Some((400, "words".to_owned(), open.len()))), open)?;
    let interim = "HTTP/1.1 100 Continue\r\n\r\n";
    equal(&read(interim, false), &Ok(Some((100, String::new(), interim.len()))), interim)
}

fn others() -> Result<(), Failed> {
    for half in ["", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"] {
        equal(&read(half, true), &Ok(None), half)?;
    }
    for other in [
        "SSH-2.0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
    ] {
        equal(&read(other, true).is_err(), &true, other)?;
    }
    Ok(())
}
