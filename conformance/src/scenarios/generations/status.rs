//! The status of a job.

pub(super) mod choices;

use serde_json::json;
use url::Url;

use super::job::{completed, own_id, queue, status};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.status.again-and-again" ["GE-05", "GE-31"] again_and_again,
        "statusUrl can be called again and again, before the end and after it" },
    reference! { "generations.status.unknown" ["GE-31"] unknown,
        "The status of a job that never was is no success" },
];

async fn again_and_again(case: Case) -> Result<(), Failure> {
    let (job, wire) = (queue(&case, json!({})).await?, case.wire());
    let url = job.answer.string("/data/statusUrl")?;
    // The key belongs nowhere but below the API root.
    let [root, url] = [case.target().base_url(), url].map(str::parse::<Url>);
    let path = root.ok().zip(url.ok()).and_then(|(root, url)| below(&root, &url));
    let path =
        &path.ok_or_else(|| job.answer.failure("a statusUrl below the API root", "another"))?;
    for _ in 0..3 {
        wire.get(path).await?.status_in(200..=299)?;
    }
    completed(&case, &wire, &job.id).await?;
    for _ in 0..3 {
        wire.get(path).await?.status_in(200..=299)?;
    }
    Ok(())
}

/// The path of an address below a root, if that is where it is.
fn below(root: &Url, url: &Url) -> Option<String> {
    let path = url.path().strip_prefix(root.path())?;
    (root.origin() == url.origin()).then(|| path.to_owned())
}

async fn unknown(case: Case) -> Result<(), Failure> {
    // A target that refuses everything must not pass for that alone.
    queue(&case, json!({})).await?;
    let reply = status(&case.wire(), &own_id(&case)).await?;
    reply.is_client_error("the status of a job that never was")?;
    Ok(())
}
