//! Results of blocking calls: values, lists, uploads, jobs, errors.

use std::time::Duration;

use futures::executor::block_on;
use insta::assert_snapshot;
use promptarium::blocking::Blocking;
use promptarium::{Client, Cursor, Items, Prompt, PromptId, UploadSource};
use wiremock::ResponseTemplate;

use super::{client, requests};
use crate::errors::kinds;
use crate::generations::service;
use crate::pages::{THREE, ids, list};
use crate::stub::{KEY, answering, envelope, prompt};
use crate::uploads::{giving_slots, png, storage};

const SOON: Duration = Duration::from_millis(1);

#[test]
fn a_call_returns_its_value_and_the_response() {
    let answer = ResponseTemplate::new(200).set_body_json(envelope(&prompt(7)));
    let server = block_on(answering(answer.insert_header("x-request-id", "r-1")));
    let client = client(&server);
    assert_eq!(client.prompts().get(PromptId::new(7)).send_blocking().unwrap().title, "Prompt 7");
    let prompt = client.prompts().get(PromptId::new(7)).send_with_meta_blocking().unwrap();
    assert_eq!((prompt.value.id.get(), prompt.meta.request_id().as_deref()), (7, Some("r-1")));
    let raw = client.get("/prompts/7").send_blocking().unwrap();
    assert_eq!(raw.data::<Prompt>().unwrap().title, "Prompt 7");
}

#[test]
fn a_failure_is_the_same_error() {
    let server = block_on(answering(ResponseTemplate::new(404)));
    let error = client(&server).prompts().get(PromptId::new(7)).send_blocking().unwrap_err();
    assert_snapshot!(error, @"GET /prompts/{promptId}: 404 Not Found, with an empty body; does the base URL end in `/api/v1`?");
    assert_eq!(kinds(&error), "status");
}

#[test]
fn time_limits_hold() {
    // It accepts connections and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", silent.local_addr().unwrap());
    let client = Client::new(address, KEY).unwrap();
    let call = client.vaults().list().timeout(Duration::from_millis(50));
    assert!(call.send_blocking().unwrap_err().is_timeout());
}

#[test]
fn a_list_is_an_iterator_over_all_pages() {
    let server = block_on(list(THREE));
    let client = client(&server);
    let page = client.prompts().list().send_blocking().unwrap();
    assert_eq!((ids(&page.items), page.next_cursor), (vec![1, 2], Some("b".into())));

    let all: Result<Vec<_>, _> = client.prompts().list().items().blocking().collect();
    assert_eq!(ids(&all.unwrap()), [1, 2, 3, 4, 5]);
    let pages: Vec<_> =
        client.prompts().list().pages().blocking().map(|page| page.unwrap().items).collect();
    assert_eq!(
        pages.iter().map(|page| ids(page)).collect::<Vec<_>>(),
        [vec![1, 2], vec![3], vec![4, 5]]
    );
}

#[test]
fn an_iterator_fetches_when_it_is_asked_and_ends_after_an_error() {
    let server = block_on(list(&[("", &[1, 2], Some("b"))]));
    let mut items: Blocking<Items<Prompt>> = client(&server).prompts().list().items().blocking();
    assert!(requests(&server).is_empty());
    assert!(items.next().unwrap().is_ok() && items.next().unwrap().is_ok());
    assert_eq!(requests(&server).len(), 1);
    assert_eq!(items.next().unwrap().unwrap_err().status().unwrap(), 400);
    assert_eq!(items.cursor(), Some(&Cursor::from("b")));
    assert!(items.next().is_none());

    let mut pages = client(&server).prompts().list().pages().blocking();
    assert!(pages.next().unwrap().is_ok());
    assert_eq!(pages.cursor(), Some(&Cursor::from("b")));
}

#[test]
fn an_image_is_uploaded_from_bytes_a_file_and_a_reader() {
    let path = std::env::temp_dir().join(format!("promptarium-block-{}.png", std::process::id()));
    std::fs::write(&path, png(300_000)).unwrap();
    let storage = block_on(storage(vec![]));
    let service = block_on(giving_slots(storage.uri(), |_| ()));
    let client = client(&service);
    for source in [
        UploadSource::bytes(png(300_000)),
        UploadSource::path(&path),
        UploadSource::reader(std::io::Cursor::new(png(400_000)), 300_000),
    ] {
        let mut sent = Vec::new();
        let upload = client.uploads().image(source);
        let image = upload.on_progress(|progress| sent.push(progress.sent)).send_blocking();
        assert_eq!(image.unwrap().size, 300_000);
        assert_eq!((sent[0], *sent.last().unwrap()), (0, 300_000));
    }
    std::fs::remove_file(path).unwrap();
    let puts = requests(&storage);
    assert!(puts.len() == 3 && puts.iter().all(|put| put.body == png(300_000)));
}

#[test]
fn an_asset_is_fetched() {
    let answer = ResponseTemplate::new(200).set_body_raw(vec![7; 1000], "image/png");
    let server = block_on(answering(answer));
    let assets = client(&server).assets();
    let day = Duration::from_secs(24 * 3600);
    let get = || assets.download(format!("{}/a.png", server.uri())).timeout(day);
    assert_eq!(get().send_blocking().unwrap().bytes.len(), 1000);
    assert!(get().max_size(999).send_blocking().unwrap_err().is_too_large());
    assert!(!requests(&server)[0].headers.contains_key("authorization"));
}

#[test]
fn a_job_is_waited_for_and_watched() {
    let server = block_on(service(&["queued", "503", "in_progress", "completed"]));
    let generations = client(&server).generations();
    let job = generations.create("local/plasma", "A harbour").send_blocking().unwrap();
    let mut states = Vec::new();
    let wait =
        generations.wait(&job).poll_interval(SOON).max_poll_interval(SOON).timeout(Duration::MAX);
    let wait = wait.on_change(|status| states.push(status.state.to_string()));
    let finished = wait.send_blocking().unwrap();
    assert_eq!(finished.images().next().unwrap().url.as_str(), "https://cdn.example/a.png");
    assert_eq!(states, ["queued", "in_progress", "completed"]);

    let server = block_on(service(&["queued", "503", "completed"]));
    let watch =
        client(&server).generations().watch("job-1").poll_interval(SOON).max_poll_interval(SOON);
    let mut watch = watch.timeout(Duration::MAX).blocking();
    assert_eq!((watch.job_id().as_str(), watch.last_status()), ("job-1", None));
    assert_eq!(watch.next().unwrap().unwrap().state.as_str(), "queued");
    assert_eq!(watch.last_status().unwrap().state.as_str(), "queued");
    assert!(watch.last_error().is_none());
    let rest: Vec<_> = watch.map(|status| status.unwrap().state.to_string()).collect();
    assert_eq!(rest, ["completed"]);
}

#[test]
fn a_job_that_failed_or_is_late_is_an_error() {
    let server = block_on(service(&["failed"]));
    let wait = client(&server).generations().wait("job-1");
    assert_snapshot!(wait.send_blocking().unwrap_err(), @r#"the generation "job-1" failed: no paint left"#);
    let server = block_on(service(&["queued"]));
    let generations = client(&server).generations();
    assert!(
        generations
            .wait("job-1")
            .timeout(Duration::from_millis(20))
            .send_blocking()
            .unwrap_err()
            .is_wait_timeout()
    );
    let mut watch = generations.watch("job-1").timeout(Duration::from_millis(20)).blocking();
    assert!(watch.by_ref().last().unwrap().unwrap_err().is_wait_timeout());
}

#[test]
fn nothing_shows_the_key() {
    let server = block_on(answering(ResponseTemplate::new(500)));
    let client = client(&server);
    let (prompts, jobs) = (client.prompts(), client.generations());
    let lists = (prompts.list().items().blocking(), prompts.list().pages().blocking());
    let shown = format!("{client:?} {prompts:?} {lists:?} {:?}", (jobs.watch("j"), jobs.wait("j")));
    assert!(!shown.contains("s3cret") && shown.contains("Client"), "{shown}");
}
