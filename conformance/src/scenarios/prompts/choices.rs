//! The prompt object where the specification leaves it open: its order, its
//! form, and what our server never shows.

use serde_json::{Value, json};

use super::object::{FIELDS, all_inputs, in_every_answer};
use crate::fixture::vault_ids;
use crate::scenario::reference;
use crate::wire::ApiResponse;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "prompts.object.same-everywhere"
        ["PR-13", "PR-19", "PR-30", "PR-31", "PR-44"] same_everywhere,
        "Create, read, list, save and an update of nothing answer with equal objects (S-07)" },
    reference! { "prompts.object.exact-fields" ["PR-11", "PR-12"] exact_fields,
        "A prompt object has its ten fields and no other (S-05)" },
    reference! { "prompts.object.status-active" ["PR-05"]
        |case| shows(case, "status", json!("active")),
        "Every prompt has the status active and keeps it (S-04)" },
    reference! { "prompts.object.images-empty" ["PR-06"]
        |case| shows(case, "images", json!([])),
        "The images are empty until a generation fills them, imageUrl or not (S-05, S-06)" },
    reference! { "prompts.object.vault-ids-order" ["PR-08"] vault_ids_order,
        "The vaultIds ascend, each once, and are empty without a vault (S-07)" },
];

async fn same_everywhere(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    let mut fields = all_inputs(&case);
    fields["vaultId"] = json!(vault.id);
    let (prompt, created) = case.prompt_with(fields).await?;
    let expected = created.at("/data")?;
    vault.list().get().await?.equals("/data/0", expected.clone())?;
    for reply in
        [prompt.get().await?, prompt.update(json!({})).await?, prompt.save_into(&vault).await?]
    {
        reply.equals("/data", expected.clone())?;
    }
    Ok(())
}

async fn exact_fields(case: Case) -> Result<(), Failure> {
    let check = |reply: &ApiResponse, prompt: &str| {
        let object = reply.at(prompt)?.as_object();
        let mut keys: Vec<_> = object.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        let mut expected = FIELDS;
        keys.sort_unstable();
        expected.sort_unstable();
        let what = format!("the keys {expected:?}");
        reply.ensure(keys == expected, what, format!("{keys:?}")).map(drop)
    };
    in_every_answer(&case, all_inputs(&case), check).await
}

/// Every answer shows this value.
async fn shows(case: Case, field: &str, value: Value) -> Result<(), Failure> {
    let check = |reply: &ApiResponse, prompt: &str| {
        reply.equals(&format!("{prompt}/{field}"), value.clone()).map(drop)
    };
    in_every_answer(&case, all_inputs(&case), check).await
}

async fn vault_ids_order(case: Case) -> Result<(), Failure> {
    let (vaults, prompt) = (case.vaults::<4>().await?, case.prompt().await?);
    prompt.read().await?.equals("/data/vaultIds", json!([]))?;
    for at in [2, 0, 3, 1, 2] {
        vaults[at].add_in_turn([&prompt]).await?;
    }
    let reply = prompt.read().await?;
    let (named, mut expected) = (vault_ids(&reply)?, vaults.map(|vault| vault.id));
    expected.sort_unstable();
    reply
        .ensure(named == expected, format!("vaultIds {expected:?}"), format!("{named:?}"))
        .map(drop)
}
