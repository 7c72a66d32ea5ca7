//! Downloads as streams.

use std::time::Duration;

use futures::StreamExt;
use insta::assert_snapshot;
use promptarium::testing::{Answer, Script, client};
use promptarium::{AssetStream, Error};

use super::retries::{URL, bytes, ranges, rest, storage, whole};
use crate::errors::kinds;

fn open(script: &Script) -> AssetStream {
    client(script).assets().download(URL).stream()
}

/// The bytes until the end or an error, after which there is no more.
async fn all(mut stream: AssetStream) -> (Vec<u8>, Option<Error>) {
    let (mut all, mut error) = (Vec::new(), None);
    while let Some(chunk) = stream.next().await {
        assert!(error.is_none());
        match chunk {
            Ok(bytes) => all.extend_from_slice(&bytes),
            Err(failed) => error = Some(failed),
        }
        assert_eq!(stream.received(), all.len() as u64);
    }
    (all, error)
}

#[tokio::test]
async fn a_stream_yields_the_bytes_and_knows_its_head() {
    let script = storage(vec![whole()]);
    let mut stream = open(&script);
    assert_eq!((stream.content_type(), stream.size(), stream.received()), (None, None, 0));
    assert!(script.requests().is_empty(), "nothing is requested before it is polled");
    stream.ready().await.unwrap();
    assert_eq!((stream.content_type(), stream.size()), (Some("image/png"), Some(1000)));
    assert_eq!(stream.received(), 0);
    stream.ready().await.unwrap();
    assert!(stream.try_next().await.unwrap().unwrap() == bytes());
    assert_eq!(stream.received(), 1000);
    assert!(stream.next().await.is_none());
    assert!(stream.next().await.is_none());
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_error_after_the_first_byte_ends_a_stream_and_another_one_gets_the_rest() {
    let script = storage(vec![Answer::error(503, "busy"), whole().cut_at(400), rest(400)]);
    let (mut received, error) = all(open(&script)).await;
    assert!(received == bytes()[..400]);
    let error = error.unwrap();
    assert_snapshot!(error, @"GET {url}: connection closed before the whole response was received (200 OK) (after 2 attempts)");
    assert_eq!(kinds(&error), "transport retryable");
    let mut stream = client(&script).assets().download(URL).start_at(400).stream();
    assert_eq!(stream.received(), 400);
    while let Some(bytes) = stream.try_next().await.unwrap() {
        received.extend_from_slice(&bytes);
    }
    assert!(received == bytes());
    assert_eq!(ranges(&script), ["- -", "- -", "bytes=400- -"]);

    // Before the first byte the asset is requested anew.
    let script = storage(vec![Answer::raw(200, "", bytes()).cut_at(0), whole()]);
    let (received, error) = all(open(&script)).await;
    assert!(error.is_none() && received == bytes());
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_head_ends_a_stream() {
    let script = storage(vec![Answer::error(404, "no")]);
    let mut stream = open(&script);
    assert!(stream.ready().await.unwrap_err().is_not_found());
    assert!(stream.next().await.is_none());
    stream.ready().await.unwrap();
    let odd = client(&script).assets().download("/1.png").stream();
    assert_snapshot!(all(odd).await.1.unwrap(), @"the URL of the asset is not an absolute http or https URL");
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_of_a_stream_is_no_timeout() {
    let script = storage(vec![whole()]);
    let mut stream = open(&script);
    stream.ready().await.unwrap();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(stream.try_next().await.unwrap().unwrap() == bytes());
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(stream.try_next().await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_poll_of_a_stream_can_be_given_up() {
    let script = storage(vec![whole().after(Duration::from_secs(5))]);
    let mut stream = open(&script);
    let second = Duration::from_secs(1);
    assert!(tokio::time::timeout(second, stream.next()).await.is_err());
    assert!(stream.try_next().await.unwrap().unwrap() == bytes());
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test]
async fn a_stream_owns_its_client_and_can_be_moved() {
    let script = storage(vec![]);
    script.get(URL).always(whole());
    let stream = open(&script);
    let chunks: Vec<_> = tokio::spawn(StreamExt::collect::<Vec<_>>(stream)).await.unwrap();
    assert_eq!(chunks.into_iter().map(|chunk| chunk.unwrap().len()).sum::<usize>(), 1000);

    let (sender, seen) = std::sync::mpsc::channel();
    let download = client(&script).assets().download(URL).start_at(0);
    let stream = download.on_progress(move |progress| sender.send(progress.received).unwrap());
    all(stream.stream()).await;
    assert_eq!(seen.iter().collect::<Vec<_>>(), [0, 1000]);
}

#[test]
fn a_stream_is_a_blocking_iterator_too() {
    let script = storage(vec![whole()]);
    let chunks: Result<Vec<_>, _> = open(&script).blocking().collect();
    assert!(chunks.unwrap().concat() == bytes());
}
