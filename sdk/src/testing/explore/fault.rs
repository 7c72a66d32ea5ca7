//! Faults, and a transport that injects one.

use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_core::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::Client;
use crate::testing::service::route;
use crate::testing::{Answer, FakeService};
use crate::transport::{Body, Failure, Transport};

/// How long a request takes. It lets time pass in a function that repeats a request endlessly.
const LATENCY: Duration = Duration::from_millis(500);

/// When a late request is applied: after the idle timeout of a client.
const LATE: Duration = Duration::from_secs(30);

/// When a late response comes: after every timeout of a client.
const RESPONSE: Duration = Duration::from_secs(900);

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What goes wrong with one request.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Fault {
            $($(#[$doc])* $name,)*
        }

        impl Fault {
            /// All faults, in the order in which they are tried.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$name),*];
        }

        impl fmt::Display for Fault {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$name => $text,)* })
            }
        }
    };
}

faults! {
    /// The connection is lost before the service receives the request.
    RequestLost = "request lost",
    /// The service applies the request, and the connection is lost before the response.
    ResponseLost = "response lost",
    /// The service applies the request, and the connection is lost within the response.
    ResponseCut = "response cut",
    /// 429 with `Retry-After: 1`; the request is not applied.
    RateLimited = "429",
    /// 503; the request is not applied.
    Unavailable = "503",
    /// 503 although the request is applied.
    UnavailableApplied = "503 though applied",
    /// The service applies the request at once, and answers after 15 minutes.
    ResponseLate = "response late",
    /// The service applies the request after 30 seconds, and answers after 15 minutes.
    AppliedLate = "applied late",
    /// The function is dropped, as by a crash, before the service receives the request.
    DroppedBefore = "dropped before the request",
    /// The function is dropped, as by a crash, after the service applied the request.
    DroppedAfter = "dropped before the response",
}

/// The network of one run.
#[derive(Clone)]
pub(super) struct FaultyTransport {
    service: FakeService,
    fault: Option<(usize, Fault)>,
    requests: Arc<Mutex<Vec<String>>>,
    /// Whether the run has ended; then no request is answered.
    stopped: watch::Sender<bool>,
}

impl FaultyTransport {
    /// With a fault at the request of this number, counted from 1.
    pub(super) fn new(service: &FakeService, fault: Option<(usize, Fault)>) -> Self {
        let stopped = watch::Sender::new(false);
        Self { service: service.clone(), fault, requests: Arc::default(), stopped }
    }

    #[expect(clippy::expect_used, reason = "the settings are constants, and are tested")]
    pub(super) fn client(&self) -> Client {
        let builder = self.service.builder().transport(self.clone());
        builder.build().expect("the settings of a test client are valid")
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn stop(&self) {
        self.stopped.send_replace(true);
    }

    pub(super) async fn stopped(&self) {
        // The sender is in `self`, so this does not fail.
        let _ = self.stopped.subscribe().wait_for(|stopped| *stopped).await;
    }

    /// Records the request, and returns its fault.
    fn record(&self, request: &Request<Body>) -> Option<Fault> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(route(request));
        let (number, fault) = self.fault?;
        (requests.len() == number).then_some(fault)
    }

    async fn exchange(self, request: Request<Body>) -> Result<Response<Body>, Failure> {
        if *self.stopped.borrow() {
            return pending().await;
        }
        let fault = self.record(&request);
        let (head, body) = request.into_parts();
        let request = Request::from_parts(head, Body::full(body.collect().await?));
        sleep(LATENCY).await;
        let response = match fault {
            Some(Fault::AppliedLate) => {
                // A task, since the client drops this future at its timeout.
                let applied = tokio::spawn(async move {
                    sleep(LATE).await;
                    self.service.send(request).await
                });
                sleep(RESPONSE).await;
                return applied.await.map_err(Failure::exchanging)?;
            }
            Some(
                Fault::RequestLost | Fault::RateLimited | Fault::Unavailable | Fault::DroppedBefore,
            ) => Response::default(),
            _ => self.service.send(request).await?,
        };
        match fault {
            Some(Fault::RequestLost | Fault::ResponseLost) => Answer::disconnect().send().await,
            Some(Fault::ResponseCut) => cut(response).await,
            Some(Fault::RateLimited) => {
                let answer = Answer::error(429, "too many requests");
                answer.retry_after(Duration::from_secs(1)).send().await
            }
            Some(Fault::Unavailable | Fault::UnavailableApplied) => {
                Answer::error(503, "unavailable").send().await
            }
            Some(Fault::DroppedBefore | Fault::DroppedAfter) => {
                self.stop();
                pending().await
            }
            Some(Fault::ResponseLate | Fault::AppliedLate) => {
                sleep(RESPONSE).await;
                Ok(response)
            }
            None => Ok(response),
        }
    }
}

/// Loses the connection in the middle of the body.
async fn cut(response: Response<Body>) -> Result<Response<Body>, Failure> {
    let (head, body) = response.into_parts();
    let body = body.collect().await?;
    let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let (middle, status) = (body.len() / 2, head.status.as_u16());
    Answer::raw(status, content_type.unwrap_or(""), body).cut_at(middle).send().await
}

impl Transport for FaultyTransport {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        Box::pin(self.clone().exchange(request))
    }
}
