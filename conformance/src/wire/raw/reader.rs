//! Answers out of bytes, just enough to know where one ends: by its length, by its
//! chunks, or by the end of the connection.

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::exchange::Response;

/// More header lines than any answer of this API has.
const LINES_MAX: usize = 128;

/// What the bytes hold so far.
pub(super) enum Part {
    /// An answer, and how many bytes it took.
    Answer(Response, usize),
    /// Nothing whole yet.
    Unfinished,
    /// No HTTP answer, and what is wrong with it.
    Nonsense(String),
}

/// Where a body ends.
enum Extent {
    Known(usize),
    Chunked,
    ToTheEnd,
}

/// The first answer in `bytes`, which is one to `HEAD` if `bodiless`; `ended` is that of the
/// stream.
pub(super) fn part(bytes: &[u8], bodiless: bool, ended: bool) -> Part {
    if bytes.is_empty() {
        return Part::Unfinished;
    }
    let mut lines = [httparse::EMPTY_HEADER; LINES_MAX];
    let mut head = httparse::Response::new(&mut lines);
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Part::Unfinished,
        Err(error) => return Part::Nonsense(format!("{error} in the head")),
    };
    let Some(status) = head.code.and_then(|code| StatusCode::from_u16(code).ok()) else {
        return Part::Nonsense("a status that is none".into());
    };
    let mut headers = HeaderMap::new();
    for line in head.headers.iter() {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(line.name.as_bytes()), HeaderValue::from_bytes(line.value))
        {
            headers.append(name, value);
        }
    }
    let rest = &bytes[length..];
    let extent = if bodiless { Ok(Extent::Known(0)) } else { extent(status, &headers) };
    let body = match extent {
        Err(what) => return Part::Nonsense(what),
        Ok(Extent::Known(size)) => rest.get(..size).map(|body| (body.to_vec(), size)),
        Ok(Extent::ToTheEnd) => ended.then(|| (rest.to_vec(), rest.len())),
        Ok(Extent::Chunked) => match chunks(rest) {
            Ok(body) => body,
            Err(what) => return Part::Nonsense(what),
        },
    };
    match body {
        Some((body, size)) => {
            Part::Answer(Response { status, headers, body: body.into() }, length + size)
        }
        None => Part::Unfinished,
    }
}

fn extent(status: StatusCode, headers: &HeaderMap) -> Result<Extent, String> {
    if status.is_informational() || matches!(status.as_u16(), 204 | 304) {
        return Ok(Extent::Known(0));
    }
    if let Some(coding) = headers.get(TRANSFER_ENCODING) {
        let chunked = coding.to_str().is_ok_and(|coding| coding.eq_ignore_ascii_case("chunked"));
        return if chunked { Ok(Extent::Chunked) } else { Err("an unknown coding".into()) };
    }
    let Some(size) = headers.get(CONTENT_LENGTH) else { return Ok(Extent::ToTheEnd) };
    let size = size.to_str().ok().and_then(|size| size.parse().ok());
    size.map(Extent::Known).ok_or_else(|| "a Content-Length that is none".into())
}

/// The body of a chunked answer and how many bytes it took; none while it goes on.
fn chunks(mut rest: &[u8]) -> Result<Option<(Vec<u8>, usize)>, String> {
    let all = rest.len();
    let mut body = Vec::new();
    loop {
        let (start, size) = match httparse::parse_chunk_size(rest) {
            Ok(httparse::Status::Complete(found)) => found,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err("a chunk size that is none".into()),
        };
        let size = usize::try_from(size).map_err(|_| "an enormous chunk")?;
        rest = &rest[start..];
        if size == 0 {
            return Ok(trailer(rest).map(|length| (body, all - rest.len() + length)));
        }
        let Some(chunk) = rest.get(..size) else { return Ok(None) };
        body.extend_from_slice(chunk);
        match rest.get(size..size + 2) {
            Some(b"\r\n") => rest = &rest[size + 2..],
            Some(_) => return Err("a chunk that does not end where it says".into()),
            None => return Ok(None),
        }
    }
}

/// How long the lines after the last chunk are, with the empty one that ends them.
fn trailer(rest: &[u8]) -> Option<usize> {
    if rest.starts_with(b"\r\n") {
        return Some(2);
    }
    rest.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

#[cfg(test)]
mod tests {
    use super::{Part, Response, part};

    /// Status, body and length of an answer; in words what else the bytes are.
    fn answer(bytes: &str, ended: bool) -> Result<(u16, String, usize), &'static str> {
        match part(bytes.as_bytes(), false, ended) {
            Part::Answer(Response { status, body, .. }, length) => {
                Ok((status.as_u16(), String::from_utf8(body.into()).unwrap(), length))
            }
            Part::Unfinished => Err("unfinished"),
            Part::Nonsense(_) => Err("nonsense"),
        }
    }

    #[test]
    fn an_answer_ends_where_it_says() {
        let sized = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 4";
        assert_eq!(answer(sized, false), Ok((200, "hi".into(), sized.len() - 10)));
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                       3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nA: b\r\n\r\nmore";
        assert_eq!(answer(chunked, false), Ok((200, "abcd".into(), chunked.len() - 4)));
        let open = "HTTP/1.0 400 Bad\r\n\r\nwords";
        assert_eq!(answer(open, false), Err("unfinished"));
        assert_eq!(answer(open, true), Ok((400, "words".into(), open.len())));
        assert_eq!(answer("HTTP/1.1 100 Continue\r\n\r\nHTTP", false).unwrap().1, "");
    }

    #[test]
    fn half_an_answer_is_unfinished_and_no_answer_is_nonsense() {
        for half in ["", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"] {
            assert_eq!(answer(half, true), Err("unfinished"), "{half:?}");
        }
        for nonsense in [
            "SSH-2.0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        ] {
            assert_eq!(answer(nonsense, false), Err("nonsense"), "{nonsense:?}");
        }
    }
}
