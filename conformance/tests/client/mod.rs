//! The SDK held against the wire: what it sends arrives, and what it returns is what a plain
//! request shows. These scenarios test the SDK, not a deployment, so they are no part of the
//! suite; `tests/backends` runs them on our server and `tests/independent` on the others.

mod calls;
mod generations;
mod lists;
mod models;
mod uploads;

use std::error::Error as _;
use std::time::Duration;

use futures::future::BoxFuture;
use promptarium::transport::{Body, Failure as Unanswered, Transport};
use promptarium::{Client, Error, RetryPolicy};
use promptarium_conformance::{Case, Failure, Scenario};
use serde::Serialize;
use serde_json::Value;

pub(crate) static SCENARIOS: &[&[Scenario]] =
    &[calls::ALL, generations::ALL, lists::ALL, models::ALL, uploads::ALL];

/// Why a scenario did not pass.
pub(crate) enum Broken {
    Failure(Failure),
    Sdk(Error),
}

type Result<T = ()> = std::result::Result<T, Broken>;

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self::Sdk(error)
    }
}

/// An SDK call that should have worked. Where there was no answer to it, the failure is that of
/// the call below, which may be nobody's fault.
impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        let error = match broken {
            Broken::Failure(failure) => return failure,
            Broken::Sdk(error) => error,
        };
        let mut cause = error.source();
        while let Some(one) = cause {
            if let Some(below) = one.downcast_ref::<Self>() {
                return below.clone();
            }
            cause = one.source();
        }
        Self::failed("the SDK call to succeed", error.to_string())
    }
}

/// The comparisons of the suite.
mod check {
    use std::fmt::Debug;

    use promptarium_conformance::check;
    pub(super) use promptarium_conformance::check::{stable_fields, timestamp};
    use serde::Serialize;

    pub(super) fn equal<T: PartialEq + Debug + Serialize + ?Sized>(
        what: &str,
        got: &T,
        expected: &T,
    ) -> super::Result {
        Ok(check::equal(what, got, expected)?)
    }

    pub(super) fn ensure(holds: bool, expected: &str, got: impl Into<String>) -> super::Result {
        Ok(check::ensure(holds, expected, got)?)
    }
}

pub(crate) async fn run(
    scenario: impl Future<Output = Result>,
) -> std::result::Result<(), Failure> {
    Ok(scenario.await?)
}

/// An entry like that of a scenario, whose function may end in an error of the SDK.
macro_rules! sdk {
    ($profile:ident $id:literal [$($rule:literal),*] $([$($need:ident),*])? $run:ident, $title:literal) => {
        promptarium_conformance::scenario!($profile $id [$($rule),*] $([$($need),*])?
            |case| $crate::client::run($run(case)), $title)
    };
}
use sdk;

/// The SDK over the calls of a case.
trait Sdk {
    /// With the key of the account under test.
    fn sdk(&self) -> Result<Client>;

    /// With this key.
    fn sdk_as(&self, key: &str) -> Result<Client>;
}

/// Longer than any scenario runs: each call below keeps the time of its own.
const BEYOND: Duration = Duration::from_secs(24 * 60 * 60);

impl Sdk for Case {
    fn sdk(&self) -> Result<Client> {
        self.sdk_as(&self.target().config().api_key)
    }

    fn sdk_as(&self, key: &str) -> Result<Client> {
        let builder = Client::builder().base_url(self.target().base_url()).api_key(key);
        let builder = builder.transport(Over(self.clone())).idle_timeout(BEYOND);
        let builder = builder.request_timeout(BEYOND).overall_timeout(BEYOND);
        // What a second attempt would hide is what is looked for here.
        Ok(builder.retry(RetryPolicy::never()).build()?)
    }
}

/// Calls of the SDK are calls like all others: tracked, retried, shown in reports.
struct Over(Case);

impl Transport for Over {
    fn send(
        &self,
        request: http::Request<Body>,
    ) -> BoxFuture<'static, std::result::Result<http::Response<Body>, Unanswered>> {
        let case = self.0.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let url = head.uri.to_string();
            let call = match url.strip_prefix(case.target().base_url()) {
                Some(path) => case.wire().call(head.method, path),
                None => case.storage(head.method, &url),
            };
            let call = call.headers(head.headers);
            let body = body.collect().await?;
            let call = if body.is_empty() { call } else { call.untyped_body(body) };
            // The failure is passed on as the cause of the SDK's error.
            let reply = call.send().await.map_err(Unanswered::exchanging)?;
            let mut response = http::Response::new(Body::full(reply.body().clone()));
            *response.status_mut() =
                reply.status_code().try_into().map_err(Unanswered::exchanging)?;
            *response.headers_mut() = reply.headers().clone();
            Ok(response)
        })
    }
}

/// What the SDK returned has the fields that the wire shows.
fn same(sdk: &impl Serialize, wire: &Value) -> Result {
    let sdk = serde_json::to_value(sdk)
        .map_err(|error| Failure::error("a model of the SDK as JSON", error.to_string()))?;
    let without_times = |value: &Value| {
        let mut value = check::stable_fields(value);
        for time in ["createdAt", "updatedAt"] {
            // A moment has many spellings.
            let moment = value[time].as_str().and_then(check::timestamp);
            if let Some(moment) = moment {
                value[time] = moment.to_string().into();
            }
        }
        value
    };
    check::equal("the model of the SDK", &without_times(&sdk), &without_times(wire))
}

fn expect_error<T>(
    call: &str,
    result: std::result::Result<T, Error>,
    expected: (&str, fn(&Error) -> bool),
) -> Result<Error> {
    let (name, holds) = expected;
    match result {
        Err(error) if holds(&error) => Ok(error),
        Err(error) => Err(Failure::failed(format!("{call}: {name}"), error.to_string()).into()),
        Ok(_) => Err(Failure::failed(format!("{call}: {name}"), "a success").into()),
    }
}
