//! What is checked before anything is run, so that a wrong address or a wrong key is reported in
//! one line and not by every scenario in turn.

mod keys;
mod parts;

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use http::header::AUTHORIZATION;
use thiserror::Error;
use tokio::time::timeout;

use crate::run_id::RunId;
use crate::target::environment::API_KEY;
use crate::target::{Blocked, Target};
use crate::wire::ApiResponse;
use crate::{Case, Failure, Selection};

/// How long deleting what was made may take.
const CLEAN_UP: Duration = Duration::from_secs(10);

/// Why a run would be in vain.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProbeError {
    /// Nothing answers at the address.
    #[error("the target cannot be reached: {0}")]
    Unreachable(String),
    /// It was told to stop.
    #[error("the run was stopped before its end")]
    Stopped,
    /// Something answers, and the address or the key is wrong.
    #[error("{0}")]
    Misconfigured(String),
}

/// Checks everything a run of these scenarios builds on: the address, each key, and, where it may
/// write, the provider and the storage. What it creates has `run_id` in its name and is deleted.
/// Stops once `stop` is done. Parts that do not work are noted in the target, so that the
/// scenarios which need them are skipped; the result says what cannot be tested.
pub async fn preflight(
    target: &Arc<Target>,
    selection: &Selection,
    run_id: &RunId,
    stop: impl Future<Output = ()>,
) -> Result<Vec<Blocked>, ProbeError> {
    let case = Case::new(Arc::clone(target), format!("{run_id}-0"));
    let look = async {
        probe(target).await?;
        keys::check(&case).await?;
        keys::begin_session(&case, selection).await?;
        parts::check(&case, selection).await;
        Ok(parts::blocked(target, selection))
    };
    let found = tokio::select! {
        found = look => found,
        () = stop => Err(ProbeError::Stopped),
    };
    // Where a key or the provider is wrong, something may stay, which `sweep` finds.
    let _ = timeout(target.scaled(CLEAN_UP), case.clean_up()).await;
    found
}

/// Asks once for the vaults. Whatever looks like an API answer, a faulty one included, is left to
/// the scenarios.
pub async fn probe(target: &Arc<Target>) -> Result<(), ProbeError> {
    let case = Case::new(Arc::clone(target), "probe");
    let reply = case.wire().get("/vaults").await;
    let reply =
        reply.map_err(|failure| ProbeError::Unreachable(target.secrets.redact(failure.got)))?;
    let wrong = |text: String| Err(ProbeError::Misconfigured(text));
    let base_url = target.base_url();
    match reply.status_code() {
        401 => wrong(format!("{base_url} refuses the key of {API_KEY} (status 401)")),
        300..=399 => wrong(format!(
            "{base_url} sends the caller elsewhere (status {}); give the final address",
            reply.status_code()
        )),
        502..=504 if !is_object(&reply) => {
            let status = reply.status_code();
            Err(ProbeError::Unreachable(format!("status {status} from a server before it")))
        }
        status if !is_object(&reply) => wrong(format!(
            "{base_url} is not the root of an API: GET {base_url}/vaults gives status {status} \
             and no JSON object"
        )),
        _ => Ok(()),
    }
}

fn is_object(reply: &ApiResponse) -> bool {
    reply.json().is_ok_and(serde_json::Value::is_object)
}

/// Why passing on this target would mean nothing: it gives a good request and bad ones the same
/// answer. `None` if it tells them apart.
pub(crate) async fn indiscriminate(target: &Arc<Target>) -> Option<String> {
    let case = Case::new(Arc::clone(target), RunId::new(jiff::Timestamp::now()).to_string());
    let wire = case.wire();
    let good = wire.get("/vaults").await;
    let is_good = |reply: &ApiResponse| reply.status_code() < 300 && reply.at("/data").is_ok();
    let stranger = case.anonymous().call(Method::GET, "/vaults");
    let stranger = stranger.header(AUTHORIZATION.as_str(), "Bearer nobody_live_0_0").send().await;
    let bad = [
        ("with a key that nobody has", stranger),
        ("of a prompt that nobody has", wire.get("/prompts/2147483001").await),
        ("with a limit of 0", wire.get("/prompts?limit=0").await),
    ];
    if !good.as_ref().is_ok_and(is_good) {
        return Some(format!("GET /vaults with a good key gives {}", in_words(&good)));
    }
    let is_refusal = |reply: &ApiResponse| (400..500).contains(&reply.status_code());
    if bad.iter().any(|(_, reply)| reply.as_ref().is_ok_and(is_refusal)) {
        return None;
    }
    let answers = bad.iter().map(|(what, reply)| format!("a GET {what} {}", in_words(reply)));
    let answers = answers.collect::<Vec<_>>().join(", ");
    Some(format!("good requests and bad ones get the same answer: GET /vaults, {answers}"))
}

fn in_words(reply: &Result<ApiResponse, Failure>) -> String {
    match reply {
        Ok(reply) => format!("status {}", reply.status_code()),
        Err(failure) => failure.got.clone(),
    }
}
