//! Downloads that start in the middle.

use insta::assert_snapshot;
use promptarium::testing::{Answer, client};
use promptarium::{Error, RetryPolicy};

use super::retries::{URL, bytes, ranges, rest, storage, whole};
use crate::errors::kinds;

async fn from_600(answers: Vec<Answer>) -> (Result<Vec<u8>, Error>, Vec<String>) {
    let script = storage(answers);
    let asset = client(&script).assets().download(URL).start_at(600).await;
    (asset.map(|asset| asset.bytes.to_vec()), ranges(&script))
}

#[tokio::test(start_paused = true)]
async fn a_download_can_start_at_a_byte() {
    let (rest_of_it, requests) = from_600(vec![rest(600).cut_at(100), rest(600)]).await;
    assert!(rest_of_it.unwrap() == bytes()[600..]);
    assert_eq!(requests, ["bytes=600- -", "bytes=600- -"]);

    let untold = Answer::raw(206, "", bytes()[600..].to_vec());
    let untold = untold.header("content-range", "bytes 600-999/*");
    assert!(from_600(vec![untold]).await.0.unwrap() == bytes()[600..]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_start_at_the_byte_is_an_error() {
    let (ignored, requests) = from_600(vec![whole()]).await;
    let error = ignored.unwrap_err();
    assert_snapshot!(error, @"GET {url}: 200 OK does not continue at byte 600: the server does not support ranges, or the asset has changed");
    assert_eq!((kinds(&error).as_str(), requests.len()), ("status", 1));
    assert_snapshot!(from_600(vec![rest(599)]).await.0.unwrap_err(), @"GET {url}: 206 Partial Content does not continue at byte 600: the server does not support ranges, or the asset has changed");
    for range in ["items 600-999/1000", "600-999", "bytes */1000", ""] {
        let other = Answer::raw(206, "", vec![1; 400]).header("content-range", range);
        assert!(from_600(vec![other]).await.0.is_err(), "{range}");
    }
    assert_snapshot!(from_600(vec![Answer::error(416, "too far")]).await.0.unwrap_err(), @"GET {url}: 416 Range Not Satisfiable: too far");
}

#[tokio::test(start_paused = true)]
async fn the_largest_size_is_that_of_the_whole_asset() {
    let script = storage(vec![rest(600)]);
    let error = client(&script).assets().download(URL).start_at(600).max_size(999).await;
    let error = error.unwrap_err();
    assert_snapshot!(error, @"GET {url}: response larger than 999 bytes (max_size; 206 Partial Content)");
    assert_eq!(kinds(&error), "too_large");
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
