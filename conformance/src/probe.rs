//! One look at a target before anything is run, so that a wrong address or a
//! wrong key is told in one line and not by every scenario in turn.

use std::sync::Arc;

use thiserror::Error;

use crate::environment::API_KEY;
use crate::wire::Reply;
use crate::{Case, Target};

/// Why a run would be in vain.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProbeError {
    /// Nothing answers at the address.
    #[error("the target cannot be reached: {0}")]
    Unreachable(String),
    /// Something answers, and the address or the key is wrong.
    #[error("{0}")]
    Misconfigured(String),
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
        reply.map_err(|failure| ProbeError::Unreachable(target.secrets.blank(failure.got)))?;
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

fn is_object(reply: &Reply) -> bool {
    reply.json().is_ok_and(serde_json::Value::is_object)
}
