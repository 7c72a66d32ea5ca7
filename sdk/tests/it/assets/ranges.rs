//! Which responses are continued, and downloads that start in the middle.

use insta::assert_snapshot;
use promptarium::testing::{Answer, client};
use promptarium::{Error, RetryPolicy};

use super::retries::{URL, bytes, ranges, rest, storage, succeeds, whole};
use crate::errors::kinds;

/// The beginning of an asset with these headers.
fn cut(headers: &[(&str, &str)]) -> Answer {
    let answer = Answer::raw(200, "image/png", bytes()).cut_at(400);
    headers.iter().fold(answer, |answer, (name, value)| answer.header(name, value))
}

const MODIFIED: (&str, &str) = ("last-modified", "Sun, 01 Mar 2026 11:00:00 GMT");
const LATER: (&str, &str) = ("date", "Sun, 01 Mar 2026 11:00:01 GMT");

#[tokio::test(start_paused = true)]
async fn only_a_strong_validator_lets_the_rest_be_requested() {
    let rest = || Answer::raw(206, "image/png", bytes()[400..].to_vec());
    let rest = || rest().header("content-range", "bytes 400-999/1000");
    let range = "bytes=400- Sun, 01 Mar 2026 11:00:00 GMT";
    succeeds(vec![cut(&[MODIFIED, LATER]), rest()], &["- -", range]).await;
    let modified_now = ("date", MODIFIED.1);
    for headers in [
        &[][..],
        &[("etag", "W/\"v1\"")],
        &[("etag", "W/\"v1\""), MODIFIED, LATER],
        &[("etag", "\"v1\""), ("accept-ranges", "none")],
        &[MODIFIED],
        &[MODIFIED, modified_now],
    ] {
        succeeds(vec![cut(headers), whole()], &["- -", "- -"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_asset_that_changed_is_downloaded_anew() {
    let old = || Answer::raw(200, "image/png", vec![1; 700]).header("etag", "\"v0\"").cut_at(400);
    let first = "- -";
    let range = "bytes=400- \"v0\"";
    // The server sends all of the new version.
    succeeds(vec![old(), whole()], &[first, range]).await;
    // The new version is shorter than what was received of the old one.
    succeeds(vec![old(), Answer::error(416, "no"), whole()], &[first, range, first]).await;
    // The server does not heed `If-Range`, but shows another version.
    succeeds(vec![old(), rest(400), whole()], &[first, range, first]).await;
    // It is cut, too.
    succeeds(vec![old(), whole().cut_at(500), rest(500)], &[first, range, "bytes=500- \"v1\""])
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_part_that_was_not_requested_is_not_taken() {
    for range in [
        "bytes 0-999/1000",
        "bytes 399-999/1000",
        "bytes 400-999/1001",
        "bytes 400-1000/1000",
        "bytes 999-400/1000",
        "items 400-999/1000",
        "400-999",
        "",
    ] {
        let other = Answer::raw(206, "image/png", vec![1; 600]).header("content-range", range);
        let other = other.header("etag", "\"v1\"");
        let requests = &["- -", "bytes=400- \"v1\"", "- -"];
        succeeds(vec![whole().cut_at(400), other, whole()], requests).await;
    }
    // Without its size it is.
    let rest = Answer::raw(206, "image/png", bytes()[400..].to_vec());
    let rest = rest.header("content-range", "bytes 400-999/*");
    succeeds(vec![whole().cut_at(400), rest], &["- -", "bytes=400- \"v1\""]).await;
}

#[tokio::test(start_paused = true)]
async fn the_largest_size_is_that_of_all_parts_together() {
    let unknown = || Answer::raw(206, "image/png", vec![1; 600]);
    let unknown = || unknown().header("content-range", "bytes 400-999/*");
    let script = storage(vec![cut(&[("etag", "\"v1\"")]), unknown()]);
    let error = client(&script).assets().download(URL).max_size(999).await.unwrap_err();
    assert_snapshot!(error, @"GET {url}: response larger than 999 bytes (max_size; 206 Partial Content) (after 2 attempts)");
    assert_eq!(kinds(&error), "too_large");
}

async fn from_600(answers: Vec<Answer>) -> (Result<Vec<u8>, Error>, Vec<String>) {
    let script = storage(answers);
    let asset = client(&script).assets().download(URL).start_at(600).await;
    (asset.map(|asset| asset.bytes.to_vec()), ranges(&script))
}

#[tokio::test(start_paused = true)]
async fn a_download_can_start_at_a_byte() {
    let (rest_of_it, requests) = from_600(vec![rest(600).cut_at(100), rest(700)]).await;
    assert!(rest_of_it.unwrap() == bytes()[600..]);
    assert_eq!(requests, ["bytes=600- -", "bytes=700- \"v1\""]);

    let untold = Answer::raw(206, "", bytes()[600..].to_vec());
    let untold = untold.header("content-range", "bytes 600-999/1000");
    let (rest_of_it, requests) = from_600(vec![untold.clone().cut_at(100), untold]).await;
    assert!(rest_of_it.unwrap() == bytes()[600..]);
    assert_eq!(requests, ["bytes=600- -", "bytes=600- -"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_start_at_the_byte_is_an_error() {
    let (ignored, requests) = from_600(vec![whole()]).await;
    let error = ignored.unwrap_err();
    assert_snapshot!(error, @"GET {url}: 200 OK does not continue at byte 600: the server does not support ranges, or the asset has changed");
    assert_eq!((kinds(&error).as_str(), requests.len()), ("status", 1));
    assert_snapshot!(from_600(vec![rest(599)]).await.0.unwrap_err(), @"GET {url}: 206 Partial Content does not continue at byte 600: the server does not support ranges, or the asset has changed");
    assert_snapshot!(from_600(vec![Answer::error(416, "too far")]).await.0.unwrap_err(), @"GET {url}: 416 Range Not Satisfiable: too far");
    // What the program has is of the old version.
    assert_snapshot!(from_600(vec![rest(600).cut_at(100), whole()]).await.0.unwrap_err(), @"GET {url}: 200 OK does not continue at byte 700: the server does not support ranges, or the asset has changed (after 2 attempts)");
}

#[tokio::test]
async fn the_middle_of_an_asset_is_not_saved_as_a_whole() {
    let script = storage(vec![]);
    let download = client(&script).assets().download(URL).start_at(600);
    let error = download.retry(RetryPolicy::never()).save("1.png").await.unwrap_err();
    assert_snapshot!(error, @"`save` writes a whole asset; append the `stream` to a partial file instead");
    assert!(script.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_partial_file_that_is_complete_has_no_rest() {
    let satisfied = |size: &str| {
        let answer = Answer::error(416, "no such range");
        answer.header("content-range", &format!("bytes */{size}"))
    };
    let from = |answer| client(&storage(vec![answer])).assets().download(URL).start_at(1000);
    let asset = from(satisfied("1000")).await.unwrap();
    assert!(asset.bytes.is_empty());
    let mut stream = from(satisfied("1000")).stream();
    assert!(stream.try_next().await.unwrap().is_none());
    assert_eq!(stream.size(), Some(1000));
    for other in ["999", "1001", "*"] {
        assert_eq!(from(satisfied(other)).await.unwrap_err().status().unwrap(), 416, "{other}");
    }
}
