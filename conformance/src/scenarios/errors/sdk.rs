//! Errors as the SDK tells them, beside the same refusal on the wire.

use promptarium::{Error, PromptId, VaultId, VaultPromptId};

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::Ids;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "errors.sdk.prompt-not-found" ["ER-09"] prompt_not_found,
        "Every SDK call on a prompt that was deleted is an error of a thing not found" },
    core! { "errors.sdk.vault-not-found" ["ER-09"] vault_not_found,
        "Every SDK call on a vault that was deleted is an error of a thing not found" },
    core! { "errors.sdk.invalid" ["ER-06"] invalid,
        "An SDK call with a value out of range is an error of an invalid request" },
    core! { "errors.sdk.message" ["ER-01"] message,
        "The SDK's error has the text that stands on the wire" },
    reference! { "errors.sdk.fields" ["ER-03"] fields,
        "The SDK's error has the field messages that stand on the wire (S-60)" },
];

async fn prompt_not_found(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?.deleted(&wire).await?;
    let (prompts, prompt) = (case.sdk()?.prompts(), PromptId::new(ids.prompt));
    not_found("get", prompts.get(prompt).await)?;
    not_found("update", prompts.update(prompt).title("t").await)?;
    not_found("save", prompts.save(prompt, VaultId::new(ids.target)).await)?;
    not_found("delete", prompts.delete(prompt).await)
}

async fn vault_not_found(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?.deleted(&wire).await?;
    let loose = PromptId::new(make::prompt(&case, &wire).await?);
    let (client, vault) = (case.sdk()?, VaultId::new(ids.vault));
    let membership = VaultPromptId::new(ids.membership);
    let (vaults, contents) = (client.vaults(), client.vault(vault).prompts());
    not_found("get", vaults.get(vault).await)?;
    not_found("update", vaults.update(vault).name("n").await)?;
    not_found("fork", vaults.fork(vault).await)?;
    not_found("contents", contents.list().await)?;
    not_found("add", contents.add([loose]).await)?;
    not_found("pin", contents.pin(membership).await)?;
    not_found("unpin", contents.unpin(membership).await)?;
    let target = VaultId::new(ids.target);
    not_found("move", contents.move_to(membership, target).await)?;
    not_found("remove", contents.remove(membership).await)?;
    not_found("delete", vaults.delete(vault).await)
}

fn not_found<T>(call: &str, result: Result<T, Error>) -> Result<(), Failure> {
    refused(call, result, Error::is_not_found).map(drop)
}

async fn invalid(case: Case) -> Result<(), Failure> {
    let (client, wire) = (case.sdk()?, case.wire());
    let prompt = PromptId::new(make::prompt(&case, &wire).await?);
    let vault = VaultId::new(make::vault(&case, &wire).await?);
    let (prompts, vaults) = (client.prompts(), client.vaults());
    let long = "a".repeat(121);
    let is_invalid = Error::is_invalid;
    refused("a long title", prompts.create(&long, "p").await, is_invalid)?;
    refused("an empty text", prompts.create(case.name("prompt"), "").await, is_invalid)?;
    refused("a new long title", prompts.update(prompt).title(&long).await, is_invalid)?;
    refused("a long name", vaults.create(&long).await, is_invalid)?;
    refused("a new empty name", vaults.update(vault).name("").await, is_invalid)?;
    let none: [PromptId; 0] = [];
    refused("no prompts", client.vault(vault).prompts().add(none).await, is_invalid)?;
    Ok(())
}

async fn message(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?.deleted(&wire).await?;
    let reply = wire.get(&format!("/prompts/{}", ids.prompt)).await?;
    let text = reply.string("/error")?.to_owned();
    let answer = case.sdk()?.prompts().get(PromptId::new(ids.prompt)).await;
    let error = refused("get", answer, |error| error.message().is_some())?;
    check::equal("the message", &error.message().unwrap_or_default(), &text.as_str())?;
    let status = error.status().map_or(0, |status| status.as_u16());
    check::equal("the status", &status, &reply.status_code())
}

async fn fields(case: Case) -> Result<(), Failure> {
    let body = serde_json::json!({ "title": "", "prompt": "", "aspectRatio": "a".repeat(21) });
    let reply = case.wire().post("/prompts", body).await?;
    let call = case.sdk()?.prompts().create("", "").aspect_ratio("a".repeat(21));
    let error = refused("create", call.await, Error::is_invalid)?;
    for field in ["title", "prompt", "aspectRatio"] {
        let text = reply.status(400)?.string(&format!("/details/{field}"))?;
        let got = error.field_error(field).unwrap_or_default();
        check::equal(field, &got.as_ref(), &text)?;
    }
    Ok(())
}

fn refused<T>(
    call: &str,
    result: Result<T, Error>,
    so: impl Fn(&Error) -> bool,
) -> Result<Error, Failure> {
    let expected = format!("{call} to be refused, and the SDK to say how");
    match result {
        Err(error) if so(&error) => Ok(error),
        Err(error) => Err(Failure::failed(expected, error.to_string())),
        Ok(_) => Err(Failure::failed(expected, "a success")),
    }
}
