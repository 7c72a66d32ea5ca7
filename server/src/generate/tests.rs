//! A scripted provider for the tests of submission and workers; the stored form of requests and
//! their digest.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, json};
use tokio::time::sleep;

use super::*;
use crate::clock::ManualClock;
use crate::domain::{Caller, NewJob, NewKey, OutputKind, Scopes};
use crate::store::memory::MemoryStore;
use crate::store::prelude::*;

type OnSubmit = dyn Fn(usize) -> Result<(), SubmitError> + Send + Sync;
type OnPoll = dyn Fn(usize) -> Result<Progress, PollError> + Send + Sync;

/// Each call takes `delay`; its result is chosen by its number, counting from 0.
pub(super) struct Scripted {
    delay: Duration,
    on_submit: Box<OnSubmit>,
    on_poll: Box<OnPoll>,
    submits: AtomicUsize,
    polls: AtomicUsize,
}

impl Scripted {
    pub(super) fn on_submit(
        delay: Duration,
        on_submit: impl Fn(usize) -> Result<(), SubmitError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::new(delay, Box::new(on_submit), Box::new(|_| Ok(Progress::Queued)))
    }

    pub(super) fn on_poll(
        delay: Duration,
        on_poll: impl Fn(usize) -> Result<Progress, PollError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::new(delay, Box::new(|_| Ok(())), Box::new(on_poll))
    }

    fn new(delay: Duration, on_submit: Box<OnSubmit>, on_poll: Box<OnPoll>) -> Arc<Self> {
        let (submits, polls) = <(AtomicUsize, AtomicUsize)>::default();
        Arc::new(Self { delay, on_submit, on_poll, submits, polls })
    }

    /// How many submissions and polls have begun.
    pub(super) fn calls(&self) -> (usize, usize) {
        (self.submits.load(Ordering::SeqCst), self.polls.load(Ordering::SeqCst))
    }
}

#[async_trait]
impl Provider for Scripted {
    async fn submit(&self, _: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let number = self.submits.fetch_add(1, Ordering::SeqCst);
        sleep(self.delay).await;
        (self.on_submit)(number).map(|()| ticket(&format!("r-{number}")))
    }

    async fn poll(&self, _: &ProviderTicket, _: &GenerationRequest) -> Result<Progress, PollError> {
        let number = self.polls.fetch_add(1, Ordering::SeqCst);
        sleep(self.delay).await;
        (self.on_poll)(number)
    }
}

pub(super) fn ticket(request_id: &str) -> ProviderTicket {
    ProviderTicket { request_id: request_id.into(), provider_state: "".into() }
}

pub(super) fn pictures(count: u32) -> Progress {
    let picture = |at: u32| Output {
        bytes: Bytes::from(format!("picture {at}")),
        media: Media::Png,
        width: 640,
        height: 480 + at,
    };
    Progress::Completed((0..count).map(picture).collect())
}

pub(super) fn new_job(name: &str, prompt: &str, vault: Option<VaultId>) -> NewJob {
    let request = GenerationRequest {
        model_id: "local/plasma".into(),
        prompt: prompt.into(),
        aspect_ratio: "1:1".into(),
        batch_count: 1,
        ..GenerationRequest::default()
    };
    NewJob {
        client_job_id: name.into(),
        digest: request_digest(&request, vault),
        request: Arc::new(request),
        vault,
    }
}

/// Records what is logged.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Until the guard is dropped.
    pub(super) fn subscribe(&self) -> tracing::subscriber::DefaultGuard {
        let writer = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || writer.clone());
        tracing::subscriber::set_default(subscriber.finish())
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A clock that does not move.
pub(super) fn clock() -> Clock {
    Clock::Manual(ManualClock::new(Timestamp::UNIX_EPOCH))
}

/// A store with one account. Its schedule uses the time of the runtime.
pub(super) async fn store() -> (Arc<MemoryStore>, Caller) {
    let store = Arc::new(MemoryStore::new(Clock::System));
    let scopes = Scopes::ALL;
    let key = NewKey { public_id: "a".into(), digest: [7; 32], scopes, revoked: false };
    store.seed_key("alice", key).await.unwrap();
    let caller = store.find_key("a").await.unwrap().unwrap().caller();
    (store, caller)
}

fn full() -> GenerationRequest {
    GenerationRequest {
        model_id: "local/plasma".into(),
        prompt: "A harbour".into(),
        kind: OutputKind::Video,
        negative_prompt: Some("".into()),
        image_input: Some("http://localhost/a.png".into()),
        image_inputs: vec!["http://localhost/b.png".into(), "http://localhost/c.png".into()],
        aspect_ratio: "16:9".into(),
        batch_count: 4,
        parameters: json!({"seed": 7, "style": {"weights": [0.5, 1e16, null]}})
            .as_object()
            .cloned(),
        reference_image_urls: vec!["http://localhost/d.png".into()],
        image_edit_endpoint_id: Some("local/edit".into()),
    }
}

/// Servers of other versions read this text: adding to it is safe, any other change is not.
#[test]
fn the_stored_form_of_a_request_is_stable() {
    insta::assert_json_snapshot!(full(), @r#"
    {
      "modelId": "local/plasma",
      "prompt": "A harbour",
      "kind": "video",
      "negativePrompt": "",
      "imageInput": "http://localhost/a.png",
      "imageInputs": [
        "http://localhost/b.png",
        "http://localhost/c.png"
      ],
      "aspectRatio": "16:9",
      "batchCount": 4,
      "parameters": {
        "seed": 7,
        "style": {
          "weights": [
            0.5,
            10000000000000000.0,
            null
          ]
        }
      },
      "referenceImageUrls": [
        "http://localhost/d.png"
      ],
      "imageEditEndpointId": "local/edit"
    }
    "#);
    insta::assert_json_snapshot!(GenerationRequest::default(), @r#"
    {
      "modelId": "",
      "prompt": "",
      "kind": "image",
      "negativePrompt": null,
      "imageInput": null,
      "imageInputs": [],
      "aspectRatio": "",
      "batchCount": 0,
      "parameters": null,
      "referenceImageUrls": [],
      "imageEditEndpointId": null
    }
    "#);
}

#[test]
fn a_stored_request_reads_back_unchanged() {
    for request in [
        full(),
        GenerationRequest::default(),
        GenerationRequest { parameters: Some(Map::new()), ..full() },
    ] {
        let stored = serde_json::to_string(&request).unwrap();
        assert_eq!(
            serde_json::from_str::<GenerationRequest>(&stored).unwrap(),
            request,
            "{stored}"
        );
    }
}

#[test]
fn unknown_and_missing_fields_of_other_versions_are_accepted() {
    let stored = r#"{"modelId":"local/plasma","prompt":"A harbour","fromLater":{"a":1}}"#;
    let expected = GenerationRequest {
        model_id: "local/plasma".into(),
        prompt: "A harbour".into(),
        ..GenerationRequest::default()
    };
    assert_eq!(serde_json::from_str::<GenerationRequest>(stored).unwrap(), expected);
}

#[test]
fn equal_requests_have_equal_digests_however_their_json_is_written() {
    let parse =
        |text| GenerationRequest { parameters: serde_json::from_str(text).unwrap(), ..full() };
    let one = parse(r#"{"seed":1,"style":{"a":[1,2],"b":null}}"#);
    let two = parse(r#"{ "style": {"b": null, "a": [1, 2]}, "seed": 1 }"#);
    assert_eq!(request_digest(&one, None), request_digest(&two, None));
}

#[test]
fn every_field_changes_the_digest() {
    let plain = full;
    let parameters = |value: serde_json::Value| value.as_object().cloned();
    let all = [
        (plain(), None),
        (plain(), Some(VaultId::new(1))),
        (plain(), Some(VaultId::new(2))),
        (GenerationRequest { model_id: "local/other".into(), ..plain() }, None),
        (GenerationRequest { prompt: "A harbou".into(), ..plain() }, None),
        (GenerationRequest { kind: OutputKind::Image, ..plain() }, None),
        (GenerationRequest { negative_prompt: None, ..plain() }, None),
        (GenerationRequest { image_input: Some("a:b".into()), ..plain() }, None),
        (GenerationRequest { image_inputs: vec!["a:b".into()], ..plain() }, None),
        (GenerationRequest { image_inputs: vec!["a:".into(), "b".into()], ..plain() }, None),
        (GenerationRequest { aspect_ratio: "1:1".into(), ..plain() }, None),
        (GenerationRequest { batch_count: 2, ..plain() }, None),
        (GenerationRequest { reference_image_urls: vec!["a:b".into()], ..plain() }, None),
        (GenerationRequest { image_edit_endpoint_id: Some("a:b".into()), ..plain() }, None),
        (GenerationRequest { parameters: None, ..plain() }, None),
        (GenerationRequest { parameters: parameters(json!({})), ..plain() }, None),
        (GenerationRequest { parameters: parameters(json!({"seed": "7"})), ..plain() }, None),
        (GenerationRequest { parameters: parameters(json!({"seed": [7]})), ..plain() }, None),
    ];
    let digests = all.iter().map(|(request, vault)| request_digest(request, *vault));
    let distinct = digests.collect::<std::collections::BTreeSet<_>>();
    assert_eq!(distinct.len(), all.len());
}
