//! Whether the parts behind the API work from here: the provider of generations and the storage of
//! uploads. And what, all in all, cannot be tested.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::json;
use strum::VariantArray as _;

use crate::case::{state, status_path};
use crate::target::{Need, Target, Untestable};
use crate::{Case, Selection};

/// How long one generation may take. A scenario may wait for several.
const JOB: Duration = Duration::from_secs(20);

pub(super) async fn check(case: &Case, selection: &Selection) {
    let (capabilities, secrets) = (&case.target().capabilities, &case.target().secrets);
    let asks = |chapter| selection.scenarios.iter().any(|one| one.id.starts_with(chapter));
    if case.target().options().read_only {
        return;
    }
    if asks("uploads.")
        && let Some(reason) = storage(case).await
    {
        let _ = capabilities.storage.set(secrets.redact(reason));
    }
    if asks("generations.")
        && let Some(reason) = provider(case).await
    {
        let _ = capabilities.provider.set(secrets.redact(reason));
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

pub(super) fn untestable(target: &Target, selection: &Selection) -> Vec<Untestable> {
    let missing = |need: &Need| !target.offers(*need) && selection.needs(*need);
    let mut untestable = Vec::new();
    if target.options().read_only {
        let remedy = "run without --read-only";
        untestable.push(Untestable::new("whatever writes", "this run only reads", remedy));
    }
    untestable.extend(Need::VARIANTS.iter().copied().filter(missing).map(Need::untestable));
    if let Some(reason) = target.capabilities.provider.get() {
        let remedy = "check the provider, or set PROMPTARIUM_IMAGE_MODEL to a faster model, or --time-scale to a larger factor";
        untestable.push(Untestable::new("the output of generations", reason, remedy));
    }
    if let Some(reason) = target.capabilities.storage.get() {
        let remedy = "make the storage reachable from here";
        untestable.push(Untestable::new("uploads of images", reason, remedy));
    }
    untestable
}
