//! `POST /prompts/{promptId}/save`.

use futures::future::try_join_all;
use serde_json::{Value, json};

use super::object::whole;
use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.save.answer" ["PR-44"] answer,
        "A save answers 200 with the whole prompt object" },
    core! { "prompts.save.adds" ["PR-44", "VC-03"] adds,
        "A save puts the prompt into the vault" },
    core! { "prompts.save.shows" ["PR-45"] shows,
        "The prompt that a save answers with has the vault in vaultIds" },
    core! { "prompts.save.keeps-others" ["PR-46"] keeps_others,
        "A save leaves the prompt in every vault it was in" },
    core! { "prompts.save.at-once" ["PR-44", "PR-46"] at_once,
        "Saves into several vaults at the same moment all hold" },
    core! { "prompts.save.vault-once" ["PR-08"] vault_once,
        "After a second save into the same vault vaultIds names it once" },
    reference! { "prompts.save.again" ["PR-44", "VC-03"] again,
        "A save of a prompt that is in the vault already keeps membership, place and pin (S-26)" },
    reference! { "prompts.save.again-at-once" ["PR-44", "VC-03"] again_at_once,
        "Saves into one vault at the same moment make one membership (S-26)" },
];

async fn save(case: &Case, prompt: i64, body: Value) -> Result<Reply, Failure> {
    case.wire().post(&format!("/prompts/{prompt}/save"), body).await
}

/// A prompt and a vault that have nothing to do with each other.
async fn pair(case: &Case) -> Result<(i64, i64), Failure> {
    let wire = case.wire();
    Ok((make::prompt(case, &wire).await?, make::vault(case, &wire).await?))
}

async fn answer(case: Case) -> Result<(), Failure> {
    let (prompt, vault) = pair(&case).await?;
    let reply = save(&case, prompt, json!({ "vaultId": vault })).await?;
    whole(reply.status(200)?.equals("/data/id", prompt)?, "/data")
}

async fn adds(case: Case) -> Result<(), Failure> {
    let (prompt, vault) = pair(&case).await?;
    save(&case, prompt, json!({ "vaultId": vault })).await?;
    let ids: Vec<_> =
        make::contents(&case.wire(), vault).await?.iter().map(|member| member.prompt).collect();
    check::equal("the prompts in the vault", &ids, &vec![prompt])
}

async fn shows(case: Case) -> Result<(), Failure> {
    let (prompt, vault) = pair(&case).await?;
    let reply = save(&case, prompt, json!({ "vaultId": vault })).await?;
    let shown = reply.array("/data/vaultIds")?.contains(&json!(vault));
    reply.ensure(shown, format!("vaultIds with {vault}"), reply.at("/data/vaultIds")?)?;
    Ok(())
}

async fn keeps_others(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (prompt, vault) = pair(&case).await?;
    let others = [make::vault(&case, &wire).await?, make::vault(&case, &wire).await?];
    for other in others {
        make::fill(&wire, other, &[prompt]).await?;
    }
    save(&case, prompt, json!({ "vaultId": vault })).await?;
    for other in others {
        let kept = make::contents(&wire, other).await?.iter().any(|m| m.prompt == prompt);
        check::ensure(kept, "the prompt in a vault it was in before", "it is gone")?;
    }
    Ok(())
}

async fn at_once(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let prompt = make::prompt(&case, &wire).await?;
    let mut vaults = try_join_all((0..8).map(|_| make::vault(&case, &wire))).await?;
    let path = format!("/prompts/{prompt}/save");
    let saves = vaults.iter().map(|vault| wire.post(&path, json!({ "vaultId": vault })));
    for reply in try_join_all(saves).await? {
        reply.status(200)?;
    }
    let mut shown = make::vaults_of(&wire, prompt).await?;
    shown.retain(|id| vaults.contains(id));
    shown.sort_unstable();
    vaults.sort_unstable();
    check::equal("the vaultIds", &shown, &vaults)
}

async fn vault_once(case: Case) -> Result<(), Failure> {
    let (prompt, vault) = pair(&case).await?;
    save(&case, prompt, json!({ "vaultId": vault })).await?.status(200)?;
    // Whether this one is accepted is left open.
    let again = save(&case, prompt, json!({ "vaultId": vault })).await?;
    let mut shown = vec![make::vaults_of(&case.wire(), prompt).await?];
    if again.status_code() == 200 {
        shown.push(make::vaults_in(&again)?);
    }
    for vaults in shown {
        let times = vaults.iter().filter(|id| **id == vault).count();
        check::equal("how often vaultIds names the vault", &times, &1)?;
    }
    Ok(())
}

async fn again(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 3).await?;
    let path = format!("/vaults/{vault}/prompts/{}/pin", members[1].membership);
    wire.post_empty(&path).await?.status(200)?;
    let before = wire.get(&format!("/vaults/{vault}/prompts")).await?.at("/data")?.clone();
    for member in members {
        let reply = save(&case, member.prompt, json!({ "vaultId": vault })).await?;
        reply.status(200)?.equals("/data/vaultIds", json!([vault]))?;
    }
    wire.get(&format!("/vaults/{vault}/prompts")).await?.equals("/data", before)?;
    Ok(())
}

async fn again_at_once(case: Case) -> Result<(), Failure> {
    let (prompt, vault) = pair(&case).await?;
    let saves = (0..16).map(|_| save(&case, prompt, json!({ "vaultId": vault })));
    for reply in try_join_all(saves).await? {
        reply.status(200)?.equals("/data/vaultIds", json!([vault]))?;
    }
    let members = make::contents(&case.wire(), vault).await?.len();
    let count = make::count_of(&case.wire(), vault).await?;
    check::equal("memberships and promptCount", &(members, count), &(1, 1))
}
