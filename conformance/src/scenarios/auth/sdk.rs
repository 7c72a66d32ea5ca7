//! Keys as the SDK brings them, and what it makes of a refusal.

use promptarium::{Client, Error, PromptId, VaultId, VaultPromptId, Visibility};

use crate::scenario::core;
use crate::scenarios::endpoints::Ids;
use crate::{Case, Failure, Scenario, check};

use super::{main_key, mistyped};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "auth.sdk.unknown-key" ["AU-01", "AU-05"] unknown_key,
        "Every call of an SDK client with an unknown key is an error of authentication" },
    core! { "auth.sdk.read-only-prompts" ["AU-07"] [ReadOnlyKey] read_only_prompts,
        "The SDK tells that creating, updating and deleting prompts needs the scope" },
    core! { "auth.sdk.read-only-vaults" ["AU-08"] [ReadOnlyKey] read_only_vaults,
        "The SDK tells that creating, updating and deleting vaults needs the scope" },
];

async fn unknown_key(case: Case) -> Result<(), Failure> {
    let ids = Ids::make(&case, &case.wire()).await?;
    let client = case.sdk_as(&mistyped(main_key(&case), 3))?;
    let (prompt, vault) = (PromptId::new(ids.prompt), VaultId::new(ids.vault));
    let membership = VaultPromptId::new(ids.membership);
    let (prompts, vaults) = (client.prompts(), client.vaults());
    let contents = client.vault(vault).prompts();
    refused("prompts list", prompts.list().page().await)?;
    refused("prompts stream", prompts.list().items().next().await.transpose())?;
    refused("prompts create", prompts.create(case.name("prompt"), "p").await)?;
    refused("prompts get", prompts.get(prompt).await)?;
    refused("prompts update", prompts.update(prompt).title("t").await)?;
    refused("prompts save", prompts.save(prompt, vault).await)?;
    refused("prompts delete", prompts.delete(prompt).await)?;
    refused("vaults list", vaults.list().await)?;
    refused("vaults create", vaults.create(case.name("vault")).await)?;
    refused("vaults get", vaults.get(vault).await)?;
    refused("vaults update", vaults.update(vault).visibility(Visibility::Public).await)?;
    refused("vaults fork", vaults.fork(vault).await)?;
    refused("contents list", contents.list().await)?;
    refused("contents add", contents.add([prompt]).await)?;
    refused("contents pin", contents.pin(membership).await)?;
    refused("contents unpin", contents.unpin(membership).await)?;
    refused("contents move", contents.move_to(membership, vault).await)?;
    refused("contents remove", contents.remove(membership).await)?;
    refused("vaults delete", vaults.delete(vault).await)
}

async fn read_only_prompts(case: Case) -> Result<(), Failure> {
    let ids = Ids::make(&case, &case.wire()).await?;
    let prompts = reader(&case)?.prompts();
    let prompt = PromptId::new(ids.prompt);
    refused("create", prompts.create(case.name("prompt"), "p").await)?;
    refused("update", prompts.update(prompt).title("t").await)?;
    refused("delete", prompts.delete(prompt).await)
}

async fn read_only_vaults(case: Case) -> Result<(), Failure> {
    let ids = Ids::make(&case, &case.wire()).await?;
    let vaults = reader(&case)?.vaults();
    let vault = VaultId::new(ids.vault);
    refused("create", vaults.create(case.name("vault")).await)?;
    refused("update", vaults.update(vault).name("n").await)?;
    refused("delete", vaults.delete(vault).await)
}

fn reader(case: &Case) -> Result<Client, Failure> {
    case.sdk_as(case.target().config.read_only_api_key.as_deref().unwrap_or_default())
}

fn refused<T>(call: &str, result: Result<T, Error>) -> Result<(), Failure> {
    let got = match &result {
        Ok(_) => "a success".to_owned(),
        Err(error) => error.to_string(),
    };
    let holds = result.is_err_and(|error| error.is_unauthorized());
    check::ensure(holds, &format!("{call} to be an error of authentication"), got)
}
