//! One look at a target before anything is run, so that a wrong address or a
//! wrong key is told in one line and not by every scenario in turn.

mod keys;
mod parts;
mod pulse;
mod session;

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::time::timeout;

pub(crate) use self::pulse::indiscriminate;
use crate::run_id::RunId;
use crate::target::environment::API_KEY;
use crate::target::{Blocked, Target};
use crate::wire::ApiResponse;
use crate::{Case, Selection};

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

/// Looks at everything a run of these scenarios builds on: the address, each key,
/// and, where it may write, the provider and the storage. What it makes it deletes.
/// What it makes has the run's `mark`. Once `stop` is done it goes no further.
/// Parts that do not work are noted in the target, so that the scenarios which
/// need them are skipped; what cannot be tested is told.
///
/// # Errors
/// See [`ProbeError`].
pub async fn preflight(
    target: &Arc<Target>,
    selection: &Selection,
    mark: &RunId,
    stop: impl Future<Output = ()>,
) -> Result<Vec<Blocked>, ProbeError> {
    let case = Case::new(Arc::clone(target), format!("{mark}-0"));
    let look = async {
        probe(target).await?;
        keys::check(&case).await?;
        session::begin(&case, selection).await?;
        parts::check(&case, selection).await;
        Ok(parts::blocked(target, selection))
    };
    let found = tokio::select! {
        found = look => found,
        () = stop => Err(ProbeError::Stopped),
    };
    // Where a key or the provider is wrong, something may stay; it is marked.
    let _ = timeout(target.scaled(CLEAN_UP), case.clean_up()).await;
    found
}

/// Asks once for the vaults. Whatever looks like an API answer, a faulty one
/// included, is left to the scenarios.
///
/// # Errors
/// See [`ProbeError`].
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
