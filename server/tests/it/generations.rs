//! A provider whose answers a test decides.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use promptarium_server::provider::{
    GenerationRequest, PollError, Progress, Provider, ProviderTicket, SubmitError,
};
use tokio::time::sleep;

use crate::support::{TIMEOUT, wait_until};

/// Accepts or refuses requests after a delay. What it accepts is in progress, or each poll fails.
pub(crate) struct SlowProvider {
    result: Result<(), SubmitError>,
    delay: Duration,
    error: Option<PollError>,
    pub(crate) submits: AtomicUsize,
}

impl SlowProvider {
    pub(crate) fn new(result: Result<(), SubmitError>, delay_ms: u64) -> Arc<Self> {
        let delay = Duration::from_millis(delay_ms);
        Arc::new(Self { result, delay, error: None, submits: AtomicUsize::new(0) })
    }

    pub(crate) fn failing(error: PollError) -> Arc<Self> {
        let (delay, error) = (Duration::ZERO, Some(error));
        Arc::new(Self { result: Ok(()), delay, error, submits: AtomicUsize::new(0) })
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
        self.error.clone().map_or(Ok(Progress::InProgress), Err)
    }
}
