//! What every call has in common: its options, sending it, and reading the response.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

use crate::client::Client;
use crate::error::Error;
use crate::macros::{debug, sendable};
use crate::response::{RawResponse, WithMeta};
use crate::send::config::CallOptions;
use crate::send::evidence::{Evidence, is_absent};
use crate::send::outcome::Outcome;
use crate::send::policy::Backoff;
use crate::send::reply::Reply;
use crate::send::request::Request;
use crate::send::timeout::until;

#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) options: CallOptions,
}

/// A call of one endpoint; the methods of [`resources`](crate::resources) return it and say what
/// it does.
///
/// Nothing is sent until it is awaited. `tokio::spawn`, `join!` and `join_all` take futures: give
/// them [`send`](Self::send) of the call.
#[must_use = "a call is sent only when it is awaited, or by `send`"]
pub struct Call<T> {
    pub(crate) context: Context,
    request: Request,
    read: Arc<Read<T>>,
}

type Read<T> = dyn Fn(Reply) -> Result<T, Error> + Send + Sync;

const FIRST_QUESTION: Duration = Duration::from_millis(200);

impl Client {
    pub(crate) fn context(&self) -> Context {
        Context { client: self.clone(), options: CallOptions::default() }
    }

    /// A call that returns the `data` of the response.
    pub(crate) fn call<T: DeserializeOwned + 'static>(&self, request: Request) -> Call<T> {
        Call::new(self.context(), request, Reply::data)
    }
}

impl<T> Call<T> {
    pub(crate) fn new(
        context: Context,
        request: Request,
        read: impl Fn(Reply) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Self {
        Self { context, request, read: Arc::new(read) }
    }

    pub(crate) async fn run(self) -> Result<T, Error> {
        self.exchange(&*self.read).await
    }

    /// The same, with status, headers and body of the response.
    pub(crate) async fn run_with_meta(self) -> Result<WithMeta<T>, Error> {
        self.exchange(|reply| {
            let meta = RawResponse::new(reply.detached());
            (self.read)(reply).map(|value| WithMeta { value, meta })
        })
        .await
    }

    async fn exchange<R>(
        &self,
        read: impl Fn(Reply) -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        let Context { client, options } = &self.context;
        let error = match client.0.send(&self.request, options).await.and_then(&read) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        match &self.request.status {
            Some(status) if error.outcome() != Outcome::NotDone => {
                match Box::pin(self.find_job(status, &error)).await {
                    Some(reply) => read(reply),
                    None => Err(error),
                }
            }
            _ => Err(error),
        }
    }

    /// Asks for the job of a request with an unknown outcome, for as long as the response to the
    /// request was waited for. `None` if that does not show it: a service may store a job late, so
    /// an absence does not say that it never will.
    async fn find_job(&self, status: &Request, error: &Error) -> Option<Reply> {
        let Context { client, options } = &self.context;
        let limits = options.limits(&client.0);
        let window = limits.response();
        let end = Instant::now()
            .checked_add(window)
            .into_iter()
            .chain(limits.deadline.map(|(end, _)| end))
            .min();
        let once = options.clone().without_retries();
        // The last question comes near the end.
        let mut backoff = Backoff::new(FIRST_QUESTION, window / 8);
        let mut delay = backoff.delay(error.retry_after().filter(|after| *after < window));
        let asking = async {
            loop {
                sleep(delay).await;
                if let Ok(reply) = client.0.send(status, &once).await {
                    match reply.job_evidence() {
                        Ok(Evidence::Present(())) => return Some(reply),
                        // After any other refusal, such as 401, a later response tells no more.
                        Err(error)
                            if !reply.status.is_success()
                                && !error.is_retryable()
                                && !is_absent(&error) =>
                        {
                            return None;
                        }
                        Ok(Evidence::Absent | Evidence::Unclear(_)) | Err(_) => {}
                    }
                }
                delay = backoff.delay(None);
            }
        };
        until(end, asking).await.ok().flatten()
    }
}

/// Runs the future of a call; the one place that checks for a runtime, without which Tokio's
/// timers and files panic.
pub(crate) async fn in_runtime<T>(
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    Handle::try_current().map_err(|_| {
        Error::config(
            "no Tokio runtime is running; await the call inside one, or use the feature `blocking`",
        )
    })?;
    work.await
}

sendable!([T: Send + 'static] Call<T> -> T, |call| call);

impl<T> Clone for Call<T> {
    fn clone(&self) -> Self {
        let (context, request) = (self.context.clone(), self.request.clone());
        Self { context, request, read: self.read.clone() }
    }
}

debug!([T] Call<T>, |it| context = it.context, route = it.request.route);
