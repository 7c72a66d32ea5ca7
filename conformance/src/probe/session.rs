//! Whether the sign-in link opens a session, and one of the account under test.

use super::ProbeError;
use crate::target::environment::API_KEY;
use crate::{Case, Need, Selection, Verdict, check};

/// Begins the session of the run, if scenarios need it.
pub(super) async fn begin(case: &Case, selection: &Selection) -> Result<(), ProbeError> {
    let asked = selection.scenarios.iter().any(|one| one.needs.contains(&Need::Session));
    if !asked || !case.target().offers(Need::Session) {
        return Ok(());
    }
    let wrong = |text: &str| Err(ProbeError::Misconfigured(case.target().secrets.redact(text)));
    let wire = match case.session().await {
        Ok(wire) => wire,
        Err(failure) if failure.verdict == Verdict::Error => return wrong(&failure.got),
        // For scenarios to tell.
        Err(_) => return Ok(()),
    };
    let Some((_, own, _)) = check::key_parts(&case.target().config.api_key) else { return Ok(()) };
    let listed = wire.get("/api-keys").await;
    match listed.and_then(|reply| reply.status(200)?.array("/data")) {
        Ok(keys) if keys.iter().all(|key| key["publicId"] != own) => wrong(&format!(
            "the link of --sign-in-url is for another account than that of {API_KEY}"
        )),
        _ => Ok(()),
    }
}
