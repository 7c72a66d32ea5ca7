//! Scenarios that look at what is there already. Others that run at once sway them,
//! so each is tried alone on a server with a fault that it has to see.

use futures::StreamExt;
use libtest_mimic::Failed;
use promptarium_conformance::scenarios;

use crate::faults;
use crate::parts::NotStarted;
use crate::service::Running;
use crate::trial;

/// How many of them are tried at once.
const AT_ONCE: usize = 4;

/// A scenario, and a fault that turns it red.
const SEEN: &[(&str, &str)] = &[
    ("existing-data.prompts.item", "prompts.list-short"),
    ("existing-data.prompts.item", "prompts.type-upper-case"),
    ("existing-data.prompts.filters", "prompts.type-upper-case"),
    ("existing-data.prompts.filters", "existing-data.vault-and-one"),
    ("existing-data.prompts.pages", "pagination.limit-and-one"),
    ("existing-data.prompts.pages", "pagination.border-twice"),
    ("existing-data.prompts.end", "pagination.cursor-empty"),
    ("existing-data.vaults.item", "vaults.visibility-word"),
    ("existing-data.vaults.order", "vaults.list-oldest-first"),
    ("existing-data.vaults.item", "vaults.slug-name"),
    ("existing-data.vaults.contents", "vaults.count-alone"),
    ("existing-data.vaults.contents", "contents.pins-last"),
    ("existing-data.foreign.prompt", "isolation.prompt-read"),
    ("existing-data.foreign.vault", "isolation.vault-read"),
    ("existing-data.foreign.vault", "isolation.public-contents"),
];

/// Each scenario that looks is red alone under each of its faults.
pub(crate) async fn each_can_fail() -> Result<(), Failed> {
    let named = |id: &str| SEEN.iter().any(|(scenario, _)| *scenario == id);
    let looking = scenarios::all().filter(|scenario| scenario.id.starts_with("existing-data."));
    let bare = looking.filter(|scenario| !named(scenario.id));
    let mut wrong: Vec<_> =
        bare.map(|scenario| format!("no fault is named for {}", scenario.id)).collect();
    let tried: Vec<_> = futures::stream::iter(SEEN)
        .map(|(scenario, fault)| is_red(scenario, fault))
        .buffered(AT_ONCE)
        .collect()
        .await;
    for ((scenario, fault), red) in SEEN.iter().zip(tried) {
        if !red? {
            wrong.push(format!("{scenario} is not red under {fault}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

async fn is_red(scenario: &str, fault: &str) -> Result<bool, NotStarted> {
    let found = faults::all().find(|one| one.id == fault);
    let fault = found.ok_or_else(|| format!("{fault} is no fault"))?;
    let running = Running::faulty(fault).await?;
    let red = trial::outcomes(&running, |one| one.id == scenario).await.red(fault);
    Ok(red.always.contains(scenario) || red.at_times.contains(scenario))
}
