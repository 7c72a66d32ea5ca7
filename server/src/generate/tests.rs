//! A scripted provider for the tests of submission and workers; the stored form of requests,
//! and their digest.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Cursor, Seek};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use image::{ImageFormat, RgbImage};
use jiff::Timestamp;
use serde_json::json;
use tokio::time::sleep;

use super::*;
use crate::blobs::urls::Assets;
use crate::clock::{Clock, ManualClock};
use crate::domain::{
    AccountId, Caller, JobKey, JobRecord, JobState, NewJob, NewKey, OutputKind, Reserved, Scopes,
};
use crate::store::memory::MemoryStore;
use crate::store::prelude::*;

type OnSubmit = dyn Fn(usize) -> Result<(), SubmitError> + Send + Sync;
pub(super) type OnPoll = dyn Fn(usize) -> Result<Progress, PollError> + Send + Sync;

type OnCall = dyn Fn(usize, &str) -> Result<Progress, PollError> + Send + Sync;

/// Each call takes `delay`; its result is chosen by its number, counting from 0, or by the text of
/// the request. A poll of the text `hang` never ends.
pub(super) struct Scripted {
    delay: Duration,
    on_submit: Box<OnSubmit>,
    on_poll: Box<OnCall>,
    submits: AtomicUsize,
    polls: AtomicUsize,
    pub(super) cancels: AtomicUsize,
}

impl Scripted {
    pub(super) fn on_submit(
        delay: Duration,
        on_submit: impl Fn(usize) -> Result<(), SubmitError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::new(delay, Box::new(on_submit), Box::new(|_, _| Ok(Progress::Queued)))
    }

    pub(super) fn on_poll(
        delay: Duration,
        on_poll: impl Fn(usize) -> Result<Progress, PollError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::new(delay, Box::new(|_| Ok(())), Box::new(move |number, _| on_poll(number)))
    }

    pub(super) fn on_text(
        delay: Duration,
        on_text: impl Fn(&str) -> Progress + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::new(delay, Box::new(|_| Ok(())), Box::new(move |_, text| Ok(on_text(text))))
    }

    fn new(delay: Duration, on_submit: Box<OnSubmit>, on_poll: Box<OnCall>) -> Arc<Self> {
        let (submits, polls, cancels) = Default::default();
        Arc::new(Self { delay, on_submit, on_poll, submits, polls, cancels })
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

    async fn poll(
        &self,
        _: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollError> {
        let number = self.polls.fetch_add(1, Ordering::SeqCst);
        sleep(self.delay).await;
        if &*request.prompt == "hang" {
            std::future::pending::<()>().await;
        }
        (self.on_poll)(number, &request.prompt)
    }

    async fn cancel(&self, _: &ProviderTicket) -> Result<(), PollError> {
        self.cancels.fetch_add(1, Ordering::SeqCst);
        Err(PollError::transient("it is over"))
    }
}

pub(super) fn ticket(request_id: &str) -> ProviderTicket {
    ProviderTicket { request_id: request_id.into(), provider_state: "".into() }
}

/// A job of the first account.
pub(super) fn queued_job(ticket: ProviderTicket) -> JobRecord {
    JobRecord {
        key: JobKey { account: AccountId(1), client_job_id: "j".into() },
        request: Arc::default(),
        vault: VaultId::new(1),
        state: JobState::Queued(ticket),
        waits_for: None,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
    }
}

/// A PNG file.
pub(super) fn png(width: u32, height: u32) -> Bytes {
    let mut file = Cursor::new(Vec::new());
    RgbImage::new(width, height).write_to(&mut file, ImageFormat::Png).unwrap();
    file.into_inner().into()
}

/// Pictures of 4 by 3, 4, 5 and so on.
pub(super) fn pictures(count: u32) -> Progress {
    Progress::completed((0..count).map(|at| png(4, 3 + at).into()))
}

/// A request for one picture.
pub(super) fn request(prompt: &str) -> GenerationRequest {
    GenerationRequest {
        model_id: "local/plasma".into(),
        prompt: prompt.into(),
        aspect_ratio: "1:1".into(),
        batch_count: 1,
        ..GenerationRequest::default()
    }
}

pub(super) fn new_job(name: &str, prompt: &str, vault: Option<VaultId>) -> NewJob {
    let request = request(prompt);
    NewJob {
        client_job_id: name.into(),
        digest: request_digest(&request, vault),
        request: Arc::new(request),
        vault,
    }
}

/// What is logged.
pub(super) struct Log(Arc<File>);

impl Log {
    /// Records until the guard is dropped.
    pub(super) fn start() -> (Self, tracing::subscriber::DefaultGuard) {
        let file = Arc::new(tempfile::tempfile().unwrap());
        let lines = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE);
        let lines = lines.with_writer(file.clone()).finish();
        (Self(file), tracing::subscriber::set_default(lines))
    }

    pub(super) fn text(&self) -> String {
        (&*self.0).rewind().unwrap();
        std::io::read_to_string(&*self.0).unwrap()
    }

    /// The first error.
    pub(super) fn error(&self) -> String {
        self.text().lines().find(|line| line.contains("ERROR")).unwrap_or_default().to_owned()
    }
}

pub(super) fn assets() -> Assets {
    Assets::new(&"http://localhost".parse().unwrap(), &[])
}

/// Those of a server without flags.
pub(super) fn settings() -> JobSettings {
    JobSettings::default()
}

/// A clock that does not move.
pub(super) fn clock() -> Clock {
    Clock::Manual(ManualClock::new(Timestamp::UNIX_EPOCH))
}

/// A store with one account. Its schedule uses the time of the runtime.
pub(super) async fn store() -> (Arc<MemoryStore>, Caller) {
    let store = Arc::new(MemoryStore::new(Clock::System));
    let alice = account(&store, "alice").await;
    (store, alice)
}

/// A new account with a key.
pub(super) async fn account(store: &MemoryStore, name: &str) -> Caller {
    let (public_id, digest) = (name.into(), [name.as_bytes()[0]; 32]);
    let key = NewKey { public_id, name: None, digest, scopes: Scopes::ALL, revoked: false };
    store.seed_key(name, key).await.unwrap();
    store.find_key(name, &digest).await.unwrap().unwrap().caller()
}

/// Adds a job that the provider has accepted.
pub(super) async fn queue(store: &MemoryStore, by: &Caller, new: NewJob) {
    let name = new.client_job_id.clone();
    let Reserved::New(job) = store.reserve_job(by, new).await.unwrap() else {
        panic!("the name {name} was taken");
    };
    store.job_submitted(&job.key, ticket(&name)).await.unwrap();
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
    let stored = r#"{"modelId":"local/plasma","prompt":"A harbour","kind":"video",
        "negativePrompt":"","imageInput":"http://localhost/a.png",
        "imageInputs":["http://localhost/b.png","http://localhost/c.png"],"aspectRatio":"16:9",
        "batchCount":4,"parameters":{"seed":7,"style":{"weights":[0.5,1e+16,null]}},
        "referenceImageUrls":["http://localhost/d.png"],"imageEditEndpointId":"local/edit"}"#;
    let lines = stored.lines().map(str::trim_start).collect::<String>();
    assert_eq!(serde_json::to_string(&full()).unwrap(), lines);
    for request in [full(), GenerationRequest::default()] {
        let stored = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<GenerationRequest>(&stored).unwrap(), request);
    }
    // Of another version: with a field more, and without most.
    let stored = json!({ "modelId": "local/plasma", "fromLater": { "a": 1 } });
    let read: GenerationRequest = serde_json::from_value(stored).unwrap();
    let model_id = "local/plasma".into();
    assert_eq!(read, GenerationRequest { model_id, ..GenerationRequest::default() });
}

#[test]
fn every_field_and_the_vault_change_the_digest_and_nothing_else_does() {
    let parse =
        |text| GenerationRequest { parameters: serde_json::from_str(text).unwrap(), ..full() };
    let one = parse(r#"{"seed":1,"style":{"a":[1,2],"b":null}}"#);
    let two = parse(r#"{ "style": {"b": null, "a": [1, 2]}, "seed": 1 }"#);
    assert_eq!(request_digest(&one, None), request_digest(&two, None));
    let mut digests = BTreeSet::new();
    for vault in [None, Some(VaultId::new(1)), Some(VaultId::new(2))] {
        assert!(digests.insert(request_digest(&full(), vault)), "{vault:?}");
    }
    let (full, default) = (json!(full()), json!(GenerationRequest::default()));
    let of_strings = [("imageInputs", json!(["a:b"])), ("imageInputs", json!(["a:", "b"]))];
    let of_values = [json!({}), json!({"seed": "7"}), json!({"seed": [7]})];
    let of_values = of_values.map(|parameters| ("parameters", parameters));
    let fields = full.as_object().unwrap().keys();
    let without = fields.map(|field| (&**field, default[field].clone()));
    for (field, value) in without.chain(of_strings).chain(of_values) {
        let mut request = full.clone();
        request[field] = value;
        let changed = serde_json::from_value(request.clone()).unwrap();
        assert!(digests.insert(request_digest(&changed, None)), "{request}");
    }
}
