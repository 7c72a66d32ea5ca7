//! What is checked before anything is run, so that a wrong address or a wrong key is reported in
//! one line and not by every scenario in turn.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Method;
use http::header::AUTHORIZATION;
use serde_json::json;
use strum::VariantArray as _;
use thiserror::Error;
use tokio::time::timeout;

use crate::case::{state, status_path};
use crate::failure::Result;
use crate::run_id::RunId;
use crate::target::environment::{API_KEY, OTHER_API_KEY, READ_ONLY_API_KEY};
use crate::target::{NOT_IMPLEMENTED, Need, Target, Untestable};
use crate::wire::ApiResponse;
use crate::{Case, Selection};

/// How long deleting the created resources may take.
const CLEAN_UP: Duration = Duration::from_secs(10);
/// How long one generation may take. A scenario may wait for several.
const JOB: Duration = Duration::from_secs(20);

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
        check_keys(&case).await?;
        check_parts(&case, selection).await;
        Ok(untestable(target, selection))
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
        status @ 300..=399 => wrong(format!(
            "{base_url} sends the caller elsewhere (status {status}); give the final address"
        )),
        status @ 502..=504 if !is_object(&reply) => {
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

fn in_words(reply: &Result<ApiResponse>) -> String {
    match reply {
        Ok(reply) => format!("status {}", reply.status_code()),
        Err(failure) => failure.got.clone(),
    }
}

/// Whether each key is of the account that their variable says: two keys of one account would look
/// like a leak. That a revoked key works, or that one without `prompts:write` writes, is for
/// scenarios to report.
async fn check_keys(case: &Case) -> Result<(), ProbeError> {
    let config = &case.target().config;
    // A target that accepts any key says nothing about ours; scenarios will report it.
    let call = case.anonymous().call(Method::GET, "/vaults");
    let invented = call.header(AUTHORIZATION.as_str(), invented(&config.api_key)).send();
    if vaults(invented.await).is_some() {
        return Ok(());
    }
    let Some(own) = vaults(case.wire().get("/vaults").await) else { return Ok(()) };
    if config.read_only_api_key.is_some() {
        let reply = case.read_only().get("/vaults").await;
        if is_unauthorized(&reply) {
            // Reading may need a scope of its own (S-50). If a key may not even read, its
            // refusals can have another cause than the missing scope.
            let _ = case.target().capabilities.read_only_key.set(());
        } else if vaults(reply).is_some_and(|seen| !seen.is_empty() && seen.is_disjoint(&own)) {
            let what = "is of another account than PROMPTARIUM_API_KEY: they list different vaults";
            return wrong(READ_ONLY_API_KEY, what);
        }
    }
    if config.other_api_key.is_some() {
        let reply = case.other().get("/vaults").await;
        if is_unauthorized(&reply) {
            let what = "is refused (GET /vaults gives 401); one that works is expected";
            return wrong(OTHER_API_KEY, what);
        }
        if vaults(reply).is_some_and(|others| !others.is_empty() && others == own) {
            let what = "is of the same account as PROMPTARIUM_API_KEY: both list the same vaults";
            return wrong(OTHER_API_KEY, what);
        }
    }
    Ok(())
}

fn wrong(variable: &str, what: &str) -> Result<(), ProbeError> {
    Err(ProbeError::Misconfigured(format!("the key of {variable} {what}")))
}

/// A header with a key of the same form that nobody has.
fn invented(key: &str) -> String {
    let (start, secret) = key.rsplit_once('_').unwrap_or(("", key));
    let other = secret.chars().rev().map(|one| if one == 'a' { 'b' } else { 'a' });
    format!("Bearer {start}_{}", other.collect::<String>())
}

fn is_unauthorized(reply: &Result<ApiResponse>) -> bool {
    reply.as_ref().is_ok_and(|reply| reply.status_code() == 401)
}

fn vaults(reply: Result<ApiResponse>) -> Option<HashSet<i64>> {
    let reply = reply.ok().filter(|reply| reply.status_code() == 200)?;
    Some(reply.integers("/data", "id").ok()?.into_iter().collect())
}

/// Whether the parts behind the API work from here: the provider of generations and the storage of
/// uploads.
async fn check_parts(case: &Case, selection: &Selection) {
    let (capabilities, secrets) = (&case.target().capabilities, &case.target().secrets);
    let writes = !case.target().options().read_only;
    let asks =
        |chapter| writes && selection.scenarios.iter().any(|one| one.id.starts_with(chapter));
    if asks("uploads.") {
        let reason = storage(case).await;
        reason.map(|reason| capabilities.storage.set(secrets.redact(reason)));
    }
    if asks("generations.") {
        let reason = provider(case).await;
        reason.map(|reason| capabilities.provider.set(secrets.redact(reason)));
    }
}

/// Why nothing can be uploaded; `None` also for faults that the scenarios report.
async fn storage(case: &Case) -> Option<String> {
    let body = json!({ "contentType": "image/png", "size": 100 });
    let slot = case.wire().post("/uploads/images", body).await.ok()?;
    let address = slot.string("/data/uploadUrl").ok()?;
    // Any answer at all will do; nothing is uploaded.
    let failure = case.storage(Method::OPTIONS, address).send().await.err()?;
    Some(format!("the address of a slot for an upload cannot be reached: {}", failure.got))
}

/// Why no generation can be waited for.
async fn provider(case: &Case) -> Option<String> {
    let begun = Instant::now();
    let body = json!({ "modelId": case.image_model(), "prompt": case.name("A harbour") });
    let queued = case.wire().post("/generations", body).await.ok()?;
    if matches!(queued.status_code(), 502..=504) {
        return Some(format!("a generation is refused with status {}", queued.status_code()));
    }
    let path = status_path(queued.string("/data/clientJobId").ok()?);
    let ended = case.until("a generation to end", JOB, || async {
        let status = case.wire().get(&path).await?;
        Ok(state(&status).filter(|state| matches!(state.as_str(), "completed" | "failed")))
    });
    let what = match ended.await {
        Ok(state) if state == "failed" => "failed",
        Ok(_) => return None,
        Err(_) => "had not ended",
    };
    Some(format!("a generation {what} after {:.1} s", begun.elapsed().as_secs_f64()))
}

/// What, all in all, cannot be tested.
fn untestable(target: &Target, selection: &Selection) -> Vec<Untestable> {
    let missing = |need: &Need| !target.offers(*need) && selection.needs(*need);
    let mut untestable = Vec::new();
    if target.options().read_only {
        let remedy = "run without --read-only";
        untestable.push(Untestable::new("whatever writes", "this run only reads", remedy));
    }
    untestable.extend(Need::VARIANTS.iter().copied().filter(missing).map(Need::untestable));
    if let Some(reason) = target.capabilities.provider.get() {
        let remedy = "check the provider, or set PROMPTARIUM_IMAGE_MODEL to a faster model, or \
             --time-scale to a larger factor";
        untestable.push(Untestable::new("the output of generations", reason, remedy));
    }
    if let Some(reason) = target.capabilities.storage.get() {
        let remedy = "make the storage reachable from here";
        untestable.push(Untestable::new("uploads of images", reason, remedy));
    }
    untestable
}
