//! That the servers do choose otherwise. A scenario of the profile `reference`
//! holds a choice of the reference server; if it passes on all of them, no other
//! answer was tried, and it stands here with the reason.

use std::sync::Arc;

use futures::StreamExt;
use libtest_mimic::Failed;
use promptarium_conformance::report::Outcome;
use promptarium_conformance::{Need, Profile, Run, Scenario, Target, run, scenarios};

/// How many run at once.
const JOBS: usize = 16;

const NO_RULE: &str = "another answer would break a rule that is near it";
const NO_OTHER: &str = "there is no other answer that anybody would give";
const NOT_YET: &str = "the servers are too plain to do it otherwise";

/// Choices that no server makes otherwise.
const SHARED_CHOICES: &[(&str, &str)] = &[
    ("auth.header.case", NO_RULE),
    ("auth.header.elsewhere", NO_RULE),
    ("errors.order.key-before-rest", NOT_YET),
    ("pagination.changes.deleted", NO_RULE),
    ("pagination.cursors.again", NO_OTHER),
    ("prompts.models.kept-as-text", NO_RULE),
    ("envelope.text.half-surrogate", NOT_YET),
    ("races.prompt.updates", NOT_YET),
    ("races.vault.forked-whole", NO_RULE),
    ("raw.head.status", NOT_YET),
    ("raw.body.status", NOT_YET),
    ("raw.pace.many-waiting", NOT_YET),
    ("raw.path.no-other-thing", NOT_YET),
    ("raw.query.no-text", NOT_YET),
    ("uploads.images.before-upload", NOT_YET),
    ("vaults.race.updates", NOT_YET),
];

/// Every choice is made otherwise by one of the servers, or it is known why not.
pub(crate) async fn each_choice_differs(targets: &[Arc<Target>]) -> Result<(), Failed> {
    let is_tried = |scenario: &&Scenario| {
        let ours = [Need::LocalProvider, Need::Session];
        let needs_ours = scenario.needs.iter().any(|need| ours.contains(need));
        scenario.profile == Profile::Reference && !needs_ours
    };
    let choices: Vec<_> = scenarios::all().filter(is_tried).collect();
    let alike = futures::stream::iter(choices.iter().enumerate())
        .map(|(number, scenario)| async move {
            for target in targets {
                if !passes(target, scenario, number).await {
                    return None;
                }
            }
            Some(scenario.id)
        })
        .buffer_unordered(JOBS)
        .filter_map(async |alike| alike);
    let alike: Vec<_> = alike.collect().await;
    let known = |id: &str| SHARED_CHOICES.iter().any(|(known, _)| *known == id);
    let unknown: Vec<_> = alike.iter().filter(|id| !known(id)).collect();
    let stale: Vec<_> = SHARED_CHOICES.iter().filter(|(id, _)| !alike.contains(id)).collect();
    if unknown.is_empty() && stale.is_empty() {
        return Ok(());
    }
    Err(format!("made as the reference server does: {unknown:?}\nno longer so: {stale:?}").into())
}

async fn passes(target: &Arc<Target>, scenario: &'static Scenario, number: usize) -> bool {
    let never = std::future::pending();
    let tag = format!("oth-{number}");
    let record = run::one(target, scenario, &tag, 5 * Run::DEADLINE, never).await;
    matches!(record.outcome, Outcome::Passed)
}
