//! `DELETE /prompts/{promptId}`: its answer, and where the prompt is gone from.

use futures::future::try_join_all;
use serde_json::json;

use super::super::pagination::walk::{find, in_vault, own, walk};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.delete.answer" ["PR-40"] answer,
        "A delete answers 200 with the id and deleted true" },
    core! { "prompts.delete.gone" ["PR-41"] gone,
        "A prompt that was deleted cannot be read any more" },
    core! { "prompts.delete.not-listed" ["PR-41", "PR-13"] not_listed,
        "A prompt that was deleted is not in the list of prompts" },
    core! { "prompts.delete.in-no-vault" ["PR-42"] in_no_vault,
        "A prompt that was deleted is in none of the vaults it was in" },
    core! { "prompts.delete.not-counted" ["PR-42", "VA-10"] not_counted,
        "A prompt that was deleted does not count in the vaults it was in" },
    core! { "prompts.delete.not-by-vault" ["PR-42", "PR-15"] not_by_vault,
        "The list with vaultId does not hold a prompt that was deleted" },
    core! { "prompts.delete.others-stay" ["PR-42"] others_stay,
        "A delete leaves the other prompts of the vault" },
    reference! { "prompts.delete.at-once" ["PR-40", "PR-41"] at_once,
        "Of several deletes of one prompt at the same moment exactly one succeeds" },
    reference! { "prompts.delete.exact-answer" ["PR-40"] exact_answer,
        "The data of a delete is the id and deleted, and nothing else (S-68)" },
];

async fn answer(case: Case) -> Result<(), Failure> {
    let prompt = make::prompt(&case, &case.wire()).await?;
    let reply = case.wire().delete(&format!("/prompts/{prompt}")).await?;
    reply.status(200)?.equals("/data/id", prompt)?.equals("/data/deleted", true)?;
    Ok(())
}

/// A prompt that is no more.
async fn deleted(case: &Case) -> Result<i64, Failure> {
    let prompt = make::prompt(case, &case.wire()).await?;
    case.wire().delete(&format!("/prompts/{prompt}")).await?;
    Ok(prompt)
}

async fn gone(case: Case) -> Result<(), Failure> {
    let prompt = deleted(&case).await?;
    case.wire().get(&format!("/prompts/{prompt}")).await?.status(404)?;
    Ok(())
}

async fn not_listed(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let prompt = make::prompt(&case, &wire).await?;
    find(&case, &wire, &[], &[prompt]).await?;
    wire.delete(&format!("/prompts/{prompt}")).await?;
    let pages = walk(&wire, &[], Some(100)).await?;
    check::equal("the deleted prompt in the list", &own(&pages, &[prompt]), &vec![])
}

/// A prompt that is no more, and the vaults it was in.
async fn deleted_member(case: &Case) -> Result<(i64, [i64; 2]), Failure> {
    let wire = case.wire();
    let vaults = [make::vault(case, &wire).await?, make::vault(case, &wire).await?];
    let prompt = make::prompt(case, &wire).await?;
    for vault in vaults {
        make::fill(&wire, vault, &[prompt]).await?;
    }
    wire.delete(&format!("/prompts/{prompt}")).await?;
    Ok((prompt, vaults))
}

async fn in_no_vault(case: Case) -> Result<(), Failure> {
    let (_, vaults) = deleted_member(&case).await?;
    for vault in vaults {
        let contents = make::contents(&case.wire(), vault).await?;
        check::equal("the contents of a vault it was in", &contents, &vec![])?;
    }
    Ok(())
}

async fn not_counted(case: Case) -> Result<(), Failure> {
    let (_, vaults) = deleted_member(&case).await?;
    for vault in vaults {
        let count = make::count_of(&case.wire(), vault).await?;
        check::equal("the promptCount of a vault it was in", &count, &0)?;
    }
    Ok(())
}

async fn not_by_vault(case: Case) -> Result<(), Failure> {
    let (prompt, vaults) = deleted_member(&case).await?;
    for vault in vaults {
        let pages = walk(&case.wire(), &in_vault(vault), None).await?;
        check::equal("the deleted prompt in the list", &own(&pages, &[prompt]), &vec![])?;
    }
    Ok(())
}

async fn others_stay(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 4).await?;
    let mut expected = make::contents(&wire, vault).await?;
    wire.delete(&format!("/prompts/{}", members[1].prompt)).await?;
    expected.retain(|member| member.prompt != members[1].prompt);
    let left = make::contents(&wire, vault).await?;
    let left: Vec<_> = left.into_iter().filter(|member| *member != members[1]).collect();
    check::equal("the other prompts of the vault", &left, &expected)
}

async fn at_once(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let path = format!("/prompts/{}", make::prompt(&case, &wire).await?);
    let replies = try_join_all((0..16).map(|_| wire.delete(&path))).await?;
    let mut statuses: Vec<_> = replies.iter().map(crate::wire::Reply::status_code).collect();
    statuses.sort_unstable();
    let mut expected = vec![404; 16];
    expected[0] = 200;
    check::equal("the statuses", &statuses, &expected)
}

async fn exact_answer(case: Case) -> Result<(), Failure> {
    let prompt = make::prompt(&case, &case.wire()).await?;
    let reply = case.wire().delete(&format!("/prompts/{prompt}")).await?;
    reply.equals("/data", json!({ "id": prompt, "deleted": true }))?;
    Ok(())
}
