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
use crate::target::{NOT_IMPLEMENTED, Target, Untestable};
use crate::wire::ApiResponse;
use crate::{Case, Failure, Selection};

/// How long deleting the created resources may take.
const CLEAN_UP: Duration = Duration::from_secs(10);

/// Why a run cannot begin.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProbeError {
    /// Nothing answers at the address.
    #[error("the target cannot be reached: {0}")]
    Unreachable(String),
    /// The run was stopped.
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
) -> Result<Vec<Untestable>, ProbeError> {
    let case = Case::new(Arc::clone(target), format!("{run_id}-0"));
    let look = async {
        probe(target).await?;
        keys::check(&case).await?;
        parts::check(&case, selection).await;
        Ok(parts::untestable(target, selection))
    };
    let found = tokio::select! {
        found = look => found,
        () = stop => Err(ProbeError::Stopped),
    };
    // Where a key or the provider is wrong, something may stay, which `sweep` finds.
    let _ = timeout(target.scaled(CLEAN_UP), case.clean_up()).await;
    found
}

/// Asks for the vaults, and for prompts if there are no vaults. Every answer that an API can give,
/// a faulty one included, is left to the scenarios.
pub async fn probe(target: &Arc<Target>) -> Result<(), ProbeError> {
    let case = Case::new(Arc::clone(target), "probe");
    let ask = async |path| {
        let reply = case.wire().get(path).await;
        reply.map_err(|failure| {
            let got = target.secrets.redact(failure.got);
            let hint = hint(&got);
            ProbeError::Unreachable(got + hint)
        })
    };
    let mut asked = "/vaults";
    let mut reply = ask(asked).await?;
    if NOT_IMPLEMENTED.contains(&reply.status_code()) && !is_object(&reply) {
        asked = "/prompts";
        reply = ask(asked).await?;
    }
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
            "{base_url} is not the root of an API: GET {base_url}{asked} gives status {status} \
             and no JSON object"
        )),
        _ => Ok(()),
    }
}

/// What would change a failure to connect.
fn hint(got: &str) -> &'static str {
    if got.contains("certificate") || got.contains("CaUsedAsEndEntity") {
        return "; --cacert FILE trusts the certificate in a file";
    }
    let is_two = got.contains("invalid HTTP version");
    if is_two { "; is it HTTP/2 without TLS? then give --http 2" } else { "" }
}

fn is_object(reply: &ApiResponse) -> bool {
    reply.json().is_ok_and(serde_json::Value::is_object)
}

/// Why passing on this target would mean nothing: on none of three endpoints it gives a good
/// request and a bad one different answers. `None` if it tells them apart. That the good one
/// fails is for the scenarios to report.
pub(crate) async fn indiscriminate(target: &Arc<Target>) -> Option<String> {
    let case = Case::new(Arc::clone(target), RunId::new(jiff::Timestamp::now()).to_string());
    let get = |path| case.wire().call(Method::GET, path);
    let stranger = case.anonymous().call(Method::GET, "/vaults");
    let stranger = stranger.header(AUTHORIZATION.as_str(), "Bearer nobody_live_0_0");
    let (page, none) = (get("/prompts?limit=0"), get("/prompts/2147483001"));
    let calls = [
        ("GET /vaults", get("/vaults"), "with a key that nobody has", stranger),
        ("GET /prompts", get("/prompts?limit=1"), "with a limit of 0", page),
        ("GET /prompts", get("/prompts?limit=1"), "of a prompt that nobody has", none),
    ];
    let mut same = Vec::new();
    for (call, good, what, bad) in calls {
        let (good, bad) = (good.send().await, bad.send().await);
        if let (Ok(good), Ok(bad)) = (&good, &bad)
            && (400..500).contains(&bad.status_code())
            && good.status_code() != bad.status_code()
        {
            return None;
        }
        same.push(format!("{call} gives {} and, {what}, {}", in_words(&good), in_words(&bad)));
    }
    Some(format!("good requests and bad ones get the same answers: {}", same.join("; ")))
}

fn in_words(reply: &Result<ApiResponse, Failure>) -> String {
    match reply {
        Ok(reply) => format!("status {}", reply.status_code()),
        Err(failure) => failure.got.clone(),
    }
}
