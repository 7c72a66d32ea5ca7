//! The prompt object where the specification leaves it open: its order, its
//! form, and what our server never shows.

use serde_json::json;

use super::object::{FIELDS, all_inputs, everywhere};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "prompts.object.same-everywhere"
        ["PR-13", "PR-19", "PR-30", "PR-31", "PR-44"] same_everywhere,
        "Create, read, list, save and an update of nothing answer with equal objects (S-07)" },
    reference! { "prompts.object.exact-fields" ["PR-11", "PR-12"] exact_fields,
        "A prompt object has its ten fields and no other (S-05)" },
    reference! { "prompts.object.status-active" ["PR-05"] status_active,
        "Every prompt has the status active and keeps it (S-04)" },
    reference! { "prompts.object.images-empty" ["PR-06"] images_empty,
        "The images are empty until a generation fills them, imageUrl or not (S-05, S-06)" },
    reference! { "prompts.object.vault-ids-order" ["PR-08"] vault_ids_order,
        "The vaultIds ascend, each once, and are empty without a vault (S-07)" },
];

async fn same_everywhere(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let mut fields = all_inputs(&case);
    fields["vaultId"] = json!(vault);
    let created = make::prompt_with(&case, &wire, fields).await?;
    let path = format!("/prompts/{}", created.integer("/data/id")?);
    let expected = created.at("/data")?.clone();
    wire.get(&path).await?.equals("/data", expected.clone())?;
    wire.get(&format!("/prompts?vaultId={vault}")).await?.equals("/data/0", expected.clone())?;
    wire.patch(&path, json!({})).await?.equals("/data", expected.clone())?;
    let saved = wire.post(&format!("{path}/save"), json!({ "vaultId": vault })).await?;
    saved.equals("/data", expected)?;
    Ok(())
}

async fn exact_fields(case: Case) -> Result<(), Failure> {
    let mut expected = FIELDS.map(str::to_owned).to_vec();
    expected.sort_unstable();
    for (reply, place) in everywhere(&case, all_inputs(&case)).await? {
        let prompt = reply.at(place)?.as_object();
        let mut keys: Vec<_> = prompt.into_iter().flatten().map(|(key, _)| key.clone()).collect();
        keys.sort_unstable();
        reply.ensure(keys == expected, format!("the keys {expected:?}"), format!("{keys:?}"))?;
    }
    Ok(())
}

async fn status_active(case: Case) -> Result<(), Failure> {
    for (reply, place) in everywhere(&case, all_inputs(&case)).await? {
        reply.equals(&format!("{place}/status"), "active")?;
    }
    Ok(())
}

async fn images_empty(case: Case) -> Result<(), Failure> {
    for (reply, place) in everywhere(&case, all_inputs(&case)).await? {
        reply.equals(&format!("{place}/images"), json!([]))?;
    }
    Ok(())
}

async fn vault_ids_order(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let mut vaults = Vec::new();
    for _ in 0..4 {
        vaults.push(make::vault(&case, &wire).await?);
    }
    let prompt = make::prompt(&case, &wire).await?;
    check::equal("the vaultIds without a vault", &make::vaults_of(&wire, prompt).await?, &vec![])?;
    for at in [2, 0, 3, 1, 2] {
        make::fill(&wire, vaults[at], &[prompt]).await?;
    }
    vaults.sort_unstable();
    check::equal("the vaultIds", &make::vaults_of(&wire, prompt).await?, &vaults)
}
