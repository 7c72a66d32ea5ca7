//! The SDK against servers that choose otherwise, and against ours, with one response in ten lost
//! after the work was done: every generation is queued exactly once and every image is found.

mod calls;
#[path = "../../../conformance/tests/independent"]
mod independent {
    #[allow(dead_code, unused_imports, reason = "only some of its servers are used here")]
    pub(crate) mod alternative;
}

use std::error::Error as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use hyper::{Request, Response};
use libtest_mimic::{Arguments, Failed, Trial};
use promptarium::transport::{Body, Failure, Transport};
use promptarium::{Client, Error, FinishedGeneration, RetryBudget, RetryPolicy, VaultId};
use promptarium_server::EmbeddedServer;
use promptarium_server::provider::{
    GenerationRequest, Output, PollError, Progress, Provider, ProviderTicket, SubmitError,
};
use tokio::runtime::{Handle, Runtime};

use self::independent::alternative::choices::MINIMAL_IMAGES;
use self::independent::alternative::{self, NESTED, Secrets, VERBOSE};

const GENERATIONS: usize = 100;
/// Each vault takes the output of several jobs, which have to be told apart.
const VAULTS: usize = 5;
const AT_ONCE: usize = 25;
const LOST_EVERY: usize = 10;
/// No timeout ends a call on a busy machine: it would be one more lost response, or a job queued
/// twice.
const PATIENT: Duration = Duration::from_secs(600);

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let runtime = Runtime::new()?;
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials(runtime.handle()));
    // After a failure a blocking call may wait for ever.
    runtime.shutdown_background();
    Ok(conclusion.exit_code())
}

fn trials(runtime: &Handle) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (choices, keys, is_blocking) in [
        (&VERBOSE, Secrets::verbose(), false),
        (&MINIMAL_IMAGES, Secrets::minimal(), true),
        (&NESTED, Secrets::minimal(), false),
    ] {
        let runtime = runtime.clone();
        trials.push(Trial::test(format!("{}::walk", choices.name), move || {
            let key = keys.main.clone();
            let server = runtime.block_on(alternative::start(keys, choices))?;
            let before = server.jobs();
            walk(&runtime, &server.base_url(), &key, choices.models[0], is_blocking)?;
            equal("jobs on the server", &(server.jobs() - before), &GENERATIONS)
        }));
    }
    let handle = runtime.clone();
    trials.push(Trial::test("ours::walk", move || {
        let provider = Arc::new(CountingProvider::default());
        let server = EmbeddedServer::builder().provider(provider.clone());
        let server = handle.block_on(server.start())?;
        walk(&handle, server.base_url(), server.api_key(), "local/plasma", true)?;
        equal("jobs at the provider", &provider.submitted.load(Ordering::Relaxed), &GENERATIONS)
    }));
    let handle = runtime.clone();
    trials.push(Trial::test("verbose::calls", move || {
        let keys = Secrets::verbose();
        let server = handle.block_on(alternative::start(keys.clone(), &VERBOSE))?;
        let keys = [&keys.main, &keys.other, "contrary_live_none_00000000"];
        all_calls(&handle, &server.base_url(), keys, VERBOSE.models)
    }));
    let handle = runtime.clone();
    trials.push(Trial::test("ours::calls", move || {
        let other = "promptarium_live_other_t5XaC2eZk9HvM7pJ";
        let server = EmbeddedServer::builder().seed_key(format!("{other}=bob:prompts:write"));
        let server = handle.block_on(server.start())?;
        let unknown = "promptarium_live_none_t5XaC2eZk9HvM7pJ";
        let keys = [server.api_key(), other, unknown];
        all_calls(&handle, server.base_url(), keys, ["local/plasma", "local/plasma-video"])
    }));
    trials
}

fn all_calls(
    runtime: &Handle,
    url: &str,
    keys: [&str; 3],
    models: [&'static str; 2],
) -> Result<(), Failed> {
    let client = |key: &str| Client::new(url, key).map_err(|error| in_words(&error));
    let [client, other, stranger] = [client(keys[0])?, client(keys[1])?, client(keys[2])?];
    runtime.block_on(calls::all([&client, &other, &stranger], models))
}

/// Counts the jobs that are paid for; each is completed at once.
#[derive(Default)]
struct CountingProvider {
    submitted: AtomicUsize,
}

#[async_trait]
impl Provider for CountingProvider {
    async fn submit(&self, _: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let number = self.submitted.fetch_add(1, Ordering::Relaxed);
        Ok(ProviderTicket { request_id: number.to_string().into(), provider_state: "".into() })
    }

    async fn poll(
        &self,
        _: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollError> {
        // The head and the end of a picture, whose size the provider tells. Without its end it would
        // be fetched again for two minutes.
        let bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\0\0\0\0IEND\xae\x42\x60\x82";
        let output = |_| Output { size: Some((1, 1)), ..Output::from(Bytes::from_static(bytes)) };
        Ok(Progress::completed((0..request.batch_count).map(output)))
    }
}

/// Waits for many generations at once, one response in ten of which is lost.
fn walk(
    runtime: &Handle,
    url: &str,
    key: &str,
    model: &str,
    is_blocking: bool,
) -> Result<(), Failed> {
    let lossy = Lossy { inner: reqwest::Client::new(), requests: Arc::default() };
    let client = Client::builder()
        .base_url(url)
        .api_key(key)
        .transport(lossy)
        .retry(RetryPolicy::new().max_attempts(10).max_backoff(Duration::from_secs(1)))
        .retry_budget(RetryBudget::unlimited())
        .idle_timeout(PATIENT)
        .request_timeout(PATIENT)
        .overall_timeout(PATIENT)
        .build()?;
    let finished = runtime.block_on(async {
        let vaults = stream::iter(0..VAULTS).map(|number| vault(&client, number));
        let vaults: Vec<_> = vaults.buffered(1).try_collect().await?;
        let each = (0..GENERATIONS).map(|number| {
            let (client, vault) = (client.clone(), vaults[number % VAULTS]);
            generation(client, model.to_owned(), number, vault, is_blocking)
        });
        stream::iter(each).buffer_unordered(AT_ONCE).try_collect::<Vec<_>>().await
    });
    let finished = finished.map_err(|error| in_words(&error))?;
    equal("finished generations", &finished.len(), &GENERATIONS)?;
    for (number, finished) in finished {
        equal(&format!("images of {number}"), &finished.images().count(), &outputs(number))?;
        let texts = finished.prompts.iter().all(|prompt| prompt.text == text(number));
        equal(&format!("the prompts of {number} have its text"), &texts, &true)?;
    }
    Ok(())
}

/// A vault of this run. It may be created twice if the response is lost.
async fn vault(client: &Client, number: usize) -> Result<VaultId, Error> {
    loop {
        match client.vaults().create(format!("SDK {number} {}", uuid())).await {
            Ok(vault) => return Ok(vault.id),
            Err(error) if error.is_retryable() => {}
            Err(error) => return Err(error),
        }
    }
}

fn uuid() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

async fn generation(
    client: Client,
    model: String,
    number: usize,
    vault: VaultId,
    is_blocking: bool,
) -> Result<(usize, FinishedGeneration), Error> {
    let create = client.generations().create(model, text(number)).vault(vault);
    let both = create.batch_count(u32::try_from(outputs(number)).unwrap_or(1)).and_wait();
    if !is_blocking {
        return Ok((number, both.await?));
    }
    match tokio::task::spawn_blocking(|| both.send_blocking()).await {
        Ok(finished) => Ok((number, finished?)),
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

fn text(number: usize) -> String {
    format!("Harbour number {number}")
}

const fn outputs(number: usize) -> usize {
    if number.is_multiple_of(7) { 3 } else { 1 }
}

/// Sends everything, and loses every tenth response to work that was done. After a lost refusal the
/// client could not tell that nothing was queued, and would not send it again.
struct Lossy {
    inner: reqwest::Client,
    requests: Arc<AtomicUsize>,
}

impl Transport for Lossy {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let response = Transport::send(&self.inner, request);
        Box::pin(async move {
            let response = response.await?;
            if number.is_multiple_of(LOST_EVERY) && response.status().is_success() {
                return Err(Failure::exchanging("the response was lost"));
            }
            Ok(response)
        })
    }
}

fn equal<T>(what: &str, got: &T, expected: &T) -> Result<(), Failed>
where
    T: PartialEq + std::fmt::Debug,
{
    if got == expected { Ok(()) } else { Err(format!("{what}: {got:?}, not {expected:?}").into()) }
}

fn in_words(error: &Error) -> Failed {
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    format!("{error}{source}").into()
}
