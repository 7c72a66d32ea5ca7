//! A provider whose answers a test decides, and clients that disconnect from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use promptarium_server::EmbeddedServer;
use promptarium_server::provider::{
    GenerationRequest, PollError, Progress, Provider, ProviderTicket, SubmitError,
};
use serde_json::Value;
use tokio::time::sleep;

use crate::support::client::{Connection, call, request};
use crate::support::{TIMEOUT, wait_until};

/// Accepts or refuses requests after a delay. What it accepts fails for a reason, or never ends.
pub(crate) struct SlowProvider {
    result: Result<(), SubmitError>,
    delay: Duration,
    reason: Option<String>,
    pub(crate) submits: AtomicUsize,
}

impl SlowProvider {
    pub(crate) fn new(result: Result<(), SubmitError>, delay_ms: u64) -> Arc<Self> {
        let delay = Duration::from_millis(delay_ms);
        Arc::new(Self { result, delay, reason: None, submits: AtomicUsize::new(0) })
    }

    pub(crate) fn failing(reason: &str) -> Arc<Self> {
        let (delay, reason) = (Duration::ZERO, Some(reason.to_owned()));
        Arc::new(Self { result: Ok(()), delay, reason, submits: AtomicUsize::new(0) })
    }

    /// Returns once a request was submitted.
    pub(crate) async fn submitted(&self) {
        let submitted = async || self.submits.load(Ordering::SeqCst) > 0;
        wait_until(TIMEOUT, submitted).await.expect("a submission");
    }
}

#[async_trait]
impl Provider for SlowProvider {
    async fn submit(&self, _: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let number = self.submits.fetch_add(1, Ordering::SeqCst);
        sleep(self.delay).await;
        self.result.clone()?;
        Ok(ProviderTicket {
            request_id: format!("r-{number}").into(),
            provider_state: "secret".into(),
        })
    }

    async fn poll(&self, _: &ProviderTicket, _: &GenerationRequest) -> Result<Progress, PollError> {
        self.reason
            .clone()
            .map_or(Ok(Progress::InProgress), |reason| Err(PollError::Permanent(reason)))
    }
}

const JOB: &str = r#"{"modelId":"m","prompt":"p","clientJobId":"j"}"#;

async fn status(server: &EmbeddedServer) -> (u16, Value) {
    let response = call(server, "GET", "/generations/j/status", None).await;
    (response.status, response.data())
}

#[tokio::test]
async fn a_client_that_disconnects_finds_the_job_later_and_what_it_waits_for() {
    let provider = SlowProvider::new(Ok(()), 300);
    let builder = EmbeddedServer::builder().provider(provider.clone());
    let server = builder.start().await.unwrap();
    let mut connection = Connection::to(&server).await;
    connection.send(request(server.api_key(), "POST", "/generations", Some(JOB))).await;
    provider.submitted().await;
    drop(connection);
    wait_until(TIMEOUT, async || status(&server).await.0 == 200).await.expect("the job");
    assert_eq!(status(&server).await.1["waitsFor"], "the provider");
    assert_eq!(call(&server, "POST", "/generations", Some(JOB)).await.status, 202);
    assert_eq!(provider.submits.load(Ordering::SeqCst), 1);
}
