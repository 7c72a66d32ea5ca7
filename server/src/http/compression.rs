//! Compresses responses with gzip for clients that accept it.
//!
//! Only responses to `GET` and `HEAD` are compressed. A new key, the one secret that the service
//! makes, is in the response to a `POST`, so that no length tells about it (BREACH). Assets are
//! compressed formats already.

use std::io;

use async_compression::Level;
use async_compression::tokio::bufread::GzipEncoder;
use futures::stream::{StreamExt, TryStreamExt};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};
use http_body_util::{BodyDataStream, Either, StreamBody};
use hyper::body::{Body as _, Frame};
use tokio::task::yield_now;
use tokio_util::io::{ReaderStream, StreamReader};

use crate::http::response::{Response, ResponseBody, ResponseBodyError};
use crate::limits::LISTING_CHUNK_BYTES;

/// The response, compressed if the client accepts that and it is worth it.
pub(crate) fn for_client(parts: &Parts, response: Response) -> Response {
    let reads = matches!(parts.method, Method::GET | Method::HEAD);
    // What fits into one packet arrives no sooner.
    let is_small = response.body().size_hint().upper().is_some_and(|size| size < 1400);
    let media = response.headers().get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let is_text = media.starts_with(b"application/json") || media.starts_with(b"text/");
    if !reads || is_small || !is_text || !accepts_gzip(&parts.headers) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    head.headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(etag) = head.headers.get_mut(ETAG) {
        // The same content in other bytes.
        let weak = [b"W/", etag.as_bytes()].concat();
        *etag = HeaderValue::from_bytes(&weak).unwrap_or_else(|_| etag.clone());
    }
    Response::from_parts(head, gzip(body))
}

/// Whether the client accepts gzip, and prefers no other encoding to it (RFC 9110, 12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let quality = |wanted: &str| {
        let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
        let mut codings = lines.flat_map(|line| line.split(',')).filter_map(|coding| {
            let (name, parameters) = coding.split_once(';').unwrap_or((coding, "q=1"));
            let quality = parameters.trim().strip_prefix("q=").and_then(|q| q.parse().ok());
            name.trim().eq_ignore_ascii_case(wanted).then(|| quality.unwrap_or(0.0))
        });
        codings.next()
    };
    let gzip = quality("gzip").or_else(|| quality("x-gzip")).or_else(|| quality("*"));
    let gzip: f32 = gzip.unwrap_or(0.0);
    gzip > 0.0 && quality("identity").is_none_or(|identity| identity <= gzip)
}

/// Compresses while it is sent, piece by piece, so that a large body keeps the thread from no other
/// request.
fn gzip(body: ResponseBody) -> ResponseBody {
    let data = StreamReader::new(BodyDataStream::new(body).map_err(io::Error::other));
    let packed = GzipEncoder::with_quality(data, Level::Fastest);
    let pieces = ReaderStream::with_capacity(packed, LISTING_CHUNK_BYTES).then(async |piece| {
        yield_now().await;
        piece.map(Frame::data).map_err(|_| ResponseBodyError)
    });
    Either::Right(StreamBody::new(pieces.boxed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_values_decide_whether_gzip_is_accepted() {
        for (lines, accepted) in [
            (&["gzip"][..], true),
            (&["br, GZIP;q=0.5"], true),
            (&["*"], true),
            (&["deflate", "gzip ; q=0.001"], true),
            (&["identity;q=0.5, gzip;q=1.0"], true),
            (&["identity;q=0, *"], true),
            (&["br, deflate"], false),
            (&["gzip;q=0.000, *"], false),
            (&["identity"], false),
            (&["identity, gzip;q=0.9"], false),
            (&["gzip;q=x"], false),
            (&["gzipped"], false),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(ACCEPT_ENCODING, HeaderValue::from_static(line));
            }
            assert_eq!(accepts_gzip(&headers), accepted, "{lines:?}");
        }
    }
}
