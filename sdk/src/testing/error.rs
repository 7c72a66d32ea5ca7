//! An error of every kind, for code that takes one.
//!
//! Each is made by a client of this crate out of an answer that leads to it, so texts,
//! facts and predicates are those of real ones. Calls here are sent once: what would be
//! tried again is not.
//!
//! ```
//! use std::time::Duration;
//! use promptarium::testing::error;
//!
//! /// The code to be tested.
//! fn pause(error: &promptarium::Error) -> Option<Duration> {
//!     error.is_retryable().then(|| error.retry_after().unwrap_or(Duration::from_secs(1)))
//! }
//!
//! assert_eq!(pause(&error::rate_limited(Duration::from_secs(30))), Some(Duration::from_secs(30)));
//! assert_eq!(pause(&error::connect()), Some(Duration::from_secs(1)));
//! assert_eq!(pause(&error::not_found()), None);
//! ```

use std::fmt::Debug;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::{Answer, STORAGE_URL, Script, VirtualClock, fixture};
use crate::{Client, ClientBuilder, Error, GenerationState, PromptId, RetryPolicy, UploadSource};

/// The error of `GET /prompts/{promptId}` when it is answered like this.
///
/// # Panics
///
/// If it is no error: the answer is a prompt.
///
/// ```
/// use promptarium::testing::{Answer, error};
///
/// let error = error::of(Answer::raw(502, "text/html", "<h1>Bad Gateway</h1>"));
/// assert!(error.is_retryable());
/// ```
#[must_use]
pub fn of(answer: Answer) -> Error {
    let get = |client: Client| client.prompts().get(PromptId::new(7)).into_future();
    error(|script| script.any().always(answer), |builder| builder, get)
}

/// The service refuses with this status and message.
#[must_use]
pub fn refused(status: u16, message: &str) -> Error {
    of(Answer::refusal(status, message).request_id("request-1"))
}

/// 404: [`Error::is_not_found`].
#[must_use]
pub fn not_found() -> Error {
    refused(404, "there is no such prompt")
}

/// 401: [`Error::is_unauthorized`].
#[must_use]
pub fn unauthorized() -> Error {
    refused(401, "the API key is not valid")
}

/// 400 with what is wrong with which field: [`Error::is_invalid`].
///
/// ```
/// use promptarium::testing::error;
///
/// let error = error::invalid(&[("title", "must not be empty")]);
/// assert_eq!(error.field_error("title").as_deref(), Some("must not be empty"));
/// ```
#[must_use]
pub fn invalid(fields: &[(&str, &str)]) -> Error {
    let answer = Answer::refusal(400, "the prompt cannot be stored").request_id("request-1");
    let create = |client: Client| client.prompts().create("", "").into_future();
    let answer = fields.iter().fold(answer, |answer, (name, text)| answer.field(name, text));
    error(|script| script.any().always(answer), |builder| builder, create)
}

/// 429 with a `Retry-After`: [`Error::retry_after`].
#[must_use]
pub fn rate_limited(retry_after: Duration) -> Error {
    of(Answer::refusal(429, "too many requests").retry_after(retry_after))
}

/// 503, without a `Retry-After`.
#[must_use]
pub fn unavailable() -> Error {
    refused(503, "the service is not available")
}

/// A time limit ran out: [`Error::is_timeout`].
#[must_use]
pub fn timeout() -> Error {
    of(Answer::never())
}

/// No connection came about: [`Error::is_connect`].
#[must_use]
pub fn connect() -> Error {
    of(Answer::no_connection())
}

/// The connection broke before an answer came.
#[must_use]
pub fn transport() -> Error {
    of(Answer::hang_up())
}

/// The answer cannot be read: [`Error::is_decode`].
#[must_use]
pub fn decode() -> Error {
    of(Answer::raw(200, "application/json", r#"{"data":{"id":"seven"}}"#))
}

/// The answer points elsewhere: [`Error::is_redirect`].
#[must_use]
pub fn redirect() -> Error {
    of(Answer::raw(302, "", "").header("location", "https://elsewhere.example/"))
}

/// The answer is larger than allowed: [`Error::is_too_large`].
#[must_use]
pub fn too_large() -> Error {
    let get = |client: Client| client.prompts().get(PromptId::new(7)).into_future();
    let tell = |script: &Script| script.any().always(Answer::data(&fixture::prompt()));
    error(tell, |builder| builder.max_response_size(16), get)
}

/// A list would never end: [`Error::is_pagination_loop`].
#[must_use]
pub fn pagination_loop() -> Error {
    let mut page = fixture::page(vec![fixture::prompt()]);
    page.next_cursor = Some("from-1".into());
    let tell = |script: &Script| script.any().always(Answer::page(&page));
    error(
        tell,
        |builder| builder,
        async |client| {
            let mut pages = client.prompts().list().pages();
            while let Some(page) = pages.next().await {
                page?;
            }
            Ok(())
        },
    )
}

/// A generation ended without output, for this reason: [`Error::is_job_failed`].
#[must_use]
pub fn job_failed(reason: &str) -> Error {
    let mut status = fixture::generation_status(GenerationState::Failed);
    status.error = Some(reason.to_owned());
    let wait = |client: Client| client.generations().wait("job-1").into_future();
    error(|script| script.any().always(Answer::data(&status)), |builder| builder, wait)
}

/// A generation did not end within this time; it was last heard of as in progress:
/// [`Error::is_deadline`].
#[must_use]
pub fn deadline(after: Duration) -> Error {
    let status = fixture::generation_status(GenerationState::InProgress);
    let wait = |client: Client| client.generations().wait("job-1").deadline(after).into_future();
    error(|script| script.any().always(Answer::data(&status)), |builder| builder, wait)
}

/// The client cannot work as it was set up: [`Error::is_config`].
#[must_use]
pub fn config() -> Error {
    failed(Client::builder().build())
}

/// What a call was given cannot be sent, an image without bytes here:
/// [`Error::is_input`].
#[must_use]
pub fn input() -> Error {
    let upload = |client: Client| client.uploads().image(fixture::png().slice(..0)).into_future();
    error(|_| (), |builder| builder, upload)
}

/// The storage did not accept the slot of an upload: [`Error::is_slot_refused`].
#[must_use]
pub fn slot_refused() -> Error {
    upload(UploadSource::bytes(fixture::png()))
}

/// An upload from a reader would have to be sent again: [`Error::is_one_shot`].
#[must_use]
pub fn one_shot() -> Error {
    let png = std::io::Cursor::new(fixture::png());
    upload(UploadSource::reader(png, fixture::png().len() as u64))
}

fn upload(source: UploadSource) -> Error {
    let tell = |script: &Script| {
        let late = Answer::refusal(403, "the slot has run out");
        script.put(format!("{STORAGE_URL}/{{name}}")).always(late);
        script.storage();
    };
    error(tell, |builder| builder, |client| client.uploads().image(source).into_future())
}

/// What a call comes to with a script, on a clock that is moved from here: no runtime is
/// needed, and nothing takes time.
fn error<T: Debug, F: Future<Output = Result<T, Error>>>(
    tell: impl FnOnce(&Script),
    set: impl FnOnce(ClientBuilder) -> ClientBuilder,
    call: impl FnOnce(Client) -> F,
) -> Error {
    let script = Script::with_clock(VirtualClock::by_hand());
    tell(&script);
    let client = set(super::builder(&script).retry(RetryPolicy::never())).build();
    let mut call = pin!(async {
        match client {
            Ok(client) => call(client).await,
            Err(error) => Err(error),
        }
    });
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        match call.as_mut().poll(&mut cx) {
            Poll::Ready(outcome) => return failed(outcome),
            // Nothing here waits for anything but the clock, at most for the next turn.
            Poll::Pending => {
                script.clock().jump();
            }
        }
    }
}

#[expect(clippy::expect_used, reason = "that each of the above fails is tested")]
fn failed<T: Debug>(outcome: Result<T, Error>) -> Error {
    outcome.map(|value| format!("{value:?}")).expect_err("this is no error")
}
