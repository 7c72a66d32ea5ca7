//! Scenarios that look at what is there already. Others that run at once sway them,
//! so each is tried alone on servers with a fault that the table lists for it.

use futures::StreamExt;
use libtest_mimic::Failed;
use promptarium_conformance::coverage::proof;
use promptarium_conformance::scenarios;

use crate::faults;
use crate::parts::NotStarted;
use crate::service::Running;
use crate::trial;

/// How many scenarios are tried at once, and under how many faults.
const AT_ONCE: usize = 4;
const TRIES: usize = 6;

/// Each is red alone under one of its faults.
pub(crate) async fn each_can_fail() -> Result<(), Failed> {
    let ids = scenarios::all().map(|scenario| scenario.id);
    let looking = ids.filter(|id| id.starts_with("existing-data."));
    let tried: Vec<_> = futures::stream::iter(looking)
        .map(|id| async move { (id, can_fail(id).await) })
        .buffered(AT_ONCE)
        .collect()
        .await;
    for (id, can_fail) in tried {
        if !can_fail? {
            return Err(format!("{id} is red under none of its faults").into());
        }
    }
    Ok(())
}

async fn can_fail(scenario: &str) -> Result<bool, NotStarted> {
    let listed = proof::faults().iter().filter(|line| line.red().any(|id| id == scenario));
    for line in listed.take(TRIES) {
        let Some(fault) = faults::all().find(|one| one.id == line.id) else { continue };
        let running = Running::faulty(fault).await?;
        if trial::outcomes(&running, |one| one.id == scenario).await.red(fault).contains(scenario) {
            return Ok(true);
        }
    }
    Ok(false)
}
