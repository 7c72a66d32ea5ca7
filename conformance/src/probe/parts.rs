//! Whether the parts behind the API work from here: the provider of generations
//! and the storage of uploads. And what, all in all, cannot be tested.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::json;

use crate::case::{state, status_path};
use crate::report::Untestable;
use crate::{Case, Failure, Need, Selection, Target};

/// How long one generation may take. A scenario may wait for several.
const JOB: Duration = Duration::from_secs(20);

/// Notes in the target what does not work.
pub(super) async fn check(case: &Case, selection: &Selection) {
    let target = case.target();
    if target.manners().read_only {
        return;
    }
    let asks = |chapter| selection.scenarios.iter().any(|one| one.id.starts_with(chapter));
    if asks("uploads.")
        && let Some(reason) = storage(case).await
    {
        let _ = target.capabilities.storage.set(target.secrets.blank(reason));
    }
    if asks("generations.")
        && let Some(reason) = provider(case).await
    {
        let _ = target.capabilities.provider.set(target.secrets.blank(reason));
    }
}

/// Why nothing can be uploaded; none also if that is for the scenarios to tell.
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
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
    match ended.await {
        Ok(state) if state == "failed" => {
            Some(format!("a generation failed after {}", seconds(begun.elapsed())))
        }
        Ok(_) => None,
        Err(Failure { .. }) => {
            Some(format!("a generation had not ended after {}", seconds(begun.elapsed())))
        }
    }
}

/// What cannot be tested, why, and what would mend it.
pub(super) fn untestable(target: &Target, selection: &Selection) -> Vec<Untestable> {
    let mut list = Vec::new();
    let mut add = |what: &str, reason: &str, mend: &str| {
        let (what, reason, mend) = (what.to_owned(), reason.to_owned(), mend.to_owned());
        list.push(Untestable { what, reason, mend });
    };
    if target.manners().read_only {
        add("whatever writes", "this run only reads", "run without --read-only");
    }
    let needs = [
        Need::ReadOnlyKey,
        Need::OtherAccount,
        Need::RevokedKey,
        Need::Session,
        Need::LocalProvider,
    ];
    for need in needs.into_iter().filter(|need| !target.offers(*need)) {
        if selection.scenarios.iter().any(|scenario| scenario.needs.contains(&need)) {
            let (what, reason, mend) = need.in_words();
            add(what, reason, mend);
        }
    }
    let parts = &target.capabilities;
    if let Some(reason) = parts.provider.get() {
        let mend = "look at the provider, or give a model that is quicker in PROMPTARIUM_IMAGE_MODEL, or a larger --time-scale";
        add("what generations come to", reason, mend);
    }
    if let Some(reason) = parts.storage.get() {
        add("uploads of images", reason, "let this machine reach the storage");
    }
    list
}
