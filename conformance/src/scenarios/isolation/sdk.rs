//! The SDK on what belongs to another account.

use promptarium::{Error, PromptId, VaultId, VaultPromptId, Visibility};

use crate::scenario::core;
use crate::scenarios::endpoints::Ids;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "isolation.sdk.prompt" ["ER-10"] [OtherAccount] prompt,
        "Every SDK call on a prompt of another account is an error of a thing not found" },
    core! { "isolation.sdk.vault" ["ER-10"] [OtherAccount] vault,
        "Every SDK call but fork on a vault of another account is an error of a thing not found" },
];

async fn prompt(case: Case) -> Result<(), Failure> {
    let theirs = Ids::make(&case, &case.other()).await?;
    let own = Ids::make(&case, &case.wire()).await?;
    let (prompts, prompt) = (case.sdk()?.prompts(), PromptId::new(theirs.prompt));
    not_found("get", prompts.get(prompt).await)?;
    not_found("update", prompts.update(prompt).title("t").await)?;
    not_found("save", prompts.save(prompt, VaultId::new(own.target)).await)?;
    not_found("delete", prompts.delete(prompt).await)
}

async fn vault(case: Case) -> Result<(), Failure> {
    let theirs = Ids::make(&case, &case.other()).await?;
    let own = Ids::make(&case, &case.wire()).await?;
    let (client, vault) = (case.sdk()?, VaultId::new(theirs.vault));
    let (membership, loose) = (VaultPromptId::new(theirs.membership), PromptId::new(own.loose));
    let (vaults, contents) = (client.vaults(), client.vault(vault).prompts());
    not_found("get", vaults.get(vault).await)?;
    not_found("update", vaults.update(vault).visibility(Visibility::Public).await)?;
    not_found("contents", contents.list().await)?;
    not_found("add", contents.add([loose]).await)?;
    not_found("pin", contents.pin(membership).await)?;
    not_found("unpin", contents.unpin(membership).await)?;
    not_found("move", contents.move_to(membership, VaultId::new(own.target)).await)?;
    not_found("remove", contents.remove(membership).await)?;
    not_found("delete", vaults.delete(vault).await)
}

fn not_found<T>(call: &str, result: Result<T, Error>) -> Result<(), Failure> {
    let got = match &result {
        Ok(_) => "a success".to_owned(),
        Err(error) => error.to_string(),
    };
    let holds = result.is_err_and(|error| error.is_not_found());
    check::ensure(holds, &format!("{call} to be an error of a thing not found"), got)
}
