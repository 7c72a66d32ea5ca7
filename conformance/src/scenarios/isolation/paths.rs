//! Paths that name a prompt, a vault or a membership of another account.

use http::Method;
use serde_json::json;

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::{self, Endpoint, Ids};
use crate::{Case, Failure, Scenario, check};

use super::both_ways;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "isolation.path.prompt" ["ER-10"] [OtherAccount] prompt,
        "Every path that names a prompt of another account answers 404" },
    core! { "isolation.path.vault" ["ER-10"] [OtherAccount] vault,
        "Every path but fork that names a vault of another account answers 404, whatever its \
         visibility" },
    core! { "isolation.path.move-source" ["VC-23"] [OtherAccount] move_source,
        "A prompt cannot be moved out of a vault of another account" },
    core! { "isolation.path.private-fork" ["VA-30"] [OtherAccount] private_fork,
        "A private vault of another account cannot be forked" },
    core! { "isolation.path.changes-nothing" ["ER-10"] [OtherAccount] changes_nothing,
        "Calls on the paths of another account change nothing there" },
    reference! { "isolation.path.strange-membership" ["ER-10"] [OtherAccount] strange_membership,
        "A membership of another account cannot be reached through a vault of one's own" },
    reference! { "isolation.path.strange-membership-status"
        ["ER-10"] [OtherAccount] strange_membership_status,
        "A membership of another account in the path of a vault of one's own is 404 (S-31)" },
    reference! { "isolation.path.private-fork-status" ["VA-30"] [OtherAccount] private_fork_status,
        "The fork of a private vault of another account is 404 (S-23)" },
];

const FORK: &str = "/vaults/{vaultId}/fork";
const MOVE: &str = "/vaults/{vaultId}/prompts/{vaultPromptId}/move";

async fn prompt(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (_, _, tried) = pair.make(&case).await?;
        for endpoint in endpoints::all(&case, &tried) {
            if endpoint.names_prompt() {
                endpoint.send(&pair.stranger).await?.status(404)?;
            }
        }
    }
    Ok(())
}

async fn vault(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (_, _, tried) = pair.make(&case).await?;
        let path = format!("/vaults/{}", tried.vault);
        for visibility in ["private", "unlisted", "public"] {
            let change = json!({ "visibility": visibility });
            pair.owner.patch(&path, change).await?.status(200)?;
            for endpoint in endpoints::all(&case, &tried) {
                if endpoint.names_vault() && endpoint.template != FORK {
                    let reply = endpoint.send(&pair.stranger).await?;
                    check::about(format!("a {visibility} vault"), reply.status(404))?;
                }
            }
        }
    }
    Ok(())
}

async fn move_source(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (owned, strange, tried) = pair.make(&case).await?;
        let before = owned.state(&pair.owner).await?;
        let endpoint = endpoints::one(&case, &tried, &Method::POST, MOVE)?;
        endpoint.send(&pair.stranger).await?.status_in(400..=499)?;
        check::equal("what the owner has", &owned.state(&pair.owner).await?, &before)?;
        let path = format!("/vaults/{}/prompts", strange.target);
        let target = pair.stranger.get(&path).await?;
        target.status(200)?.equals("/data", json!([]))?;
    }
    Ok(())
}

async fn private_fork(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (owned, ..) = pair.make(&case).await?;
        let path = format!("/vaults/{}/fork", owned.vault);
        pair.stranger.post_empty(&path).await?.status_in(400..=499)?;
    }
    Ok(())
}

async fn private_fork_status(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (owned, ..) = pair.make(&case).await?;
        let path = format!("/vaults/{}/fork", owned.vault);
        pair.stranger.post_empty(&path).await?.status(404)?;
    }
    Ok(())
}

async fn changes_nothing(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (owned, _, tried) = pair.make(&case).await?;
        let before = owned.state(&pair.owner).await?;
        // Once with the stranger's own things in the bodies, once with the owner's.
        for ids in [tried, owned] {
            for endpoint in endpoints::all(&case, &ids) {
                if endpoint.names_prompt() || endpoint.names_vault() {
                    endpoint.send(&pair.stranger).await?;
                }
            }
        }
        check::equal("what the owner has", &owned.state(&pair.owner).await?, &before)?;
    }
    Ok(())
}

async fn strange_membership(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (owned, strange, _) = pair.make(&case).await?;
        let before = (owned.state(&pair.owner).await?, strange.state(&pair.stranger).await?);
        for endpoint in through_own_vault(&case, &owned, &strange) {
            endpoint.send(&pair.stranger).await?.status_in(400..=499)?;
        }
        let after = (owned.state(&pair.owner).await?, strange.state(&pair.stranger).await?);
        check::equal("what the two accounts have", &after, &before)?;
    }
    Ok(())
}

async fn strange_membership_status(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (owned, strange, _) = pair.make(&case).await?;
        for endpoint in through_own_vault(&case, &owned, &strange) {
            endpoint.send(&pair.stranger).await?.status(404)?;
        }
    }
    Ok(())
}

/// The endpoints of a membership, with the owner's membership in the path of
/// the stranger's vault.
fn through_own_vault(case: &Case, owned: &Ids, strange: &Ids) -> Vec<Endpoint> {
    let (membership, spare) = (owned.membership, owned.spare);
    let mut endpoints = endpoints::all(case, &Ids { membership, spare, ..*strange });
    endpoints.retain(|endpoint| endpoint.template.contains("{vaultPromptId}"));
    endpoints
}
