//! `promptCount` against what the vault really lists, after every call that
//! can change it. Only the count is looked at: what each call does to the
//! contents is proved in `contents`.

use serde_json::json;

use crate::scenario::core;
use crate::wire::Wire;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.count.starts-at-zero" ["VA-10"] starts_at_zero,
        "A new vault has a promptCount of 0" },
    core! { "vaults.count.after-adding" ["VA-10"] after_adding,
        "promptCount is true after each way of putting prompts into the vault" },
    core! { "vaults.count.after-taking-out" ["VA-10"] after_taking_out,
        "promptCount is true after each way of taking prompts out of the vault" },
    core! { "vaults.count.in-the-list" ["VA-10"] in_the_list,
        "The list of vaults shows the same promptCount as the vault" },
];

async fn starts_at_zero(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let count = make::count_of(&case.wire(), vault).await?;
    check::equal("promptCount of a new vault", &count, &0)
}

async fn after_adding(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let prompts = make::prompts(&case, &wire, 5).await?;
    let source = make::vault(&case, &wire).await?;
    let moving = make::members(&case, &wire, source, 1).await?;

    let add = |ids: &[i64]| (format!("/vaults/{vault}/prompts"), json!({ "promptIds": ids }));
    let into = json!({ "vaultId": vault });
    let steps = [
        ("adding one prompt", add(&prompts[..1])),
        ("adding two prompts", add(&prompts[1..3])),
        ("saving a prompt", (format!("/prompts/{}/save", prompts[3]), into.clone())),
        (
            "moving a prompt in",
            (
                format!("/vaults/{source}/prompts/{}/move", moving[0].membership),
                json!({ "targetVaultId": vault }),
            ),
        ),
    ];
    for (step, (path, body)) in steps {
        wire.post(&path, body).await?.status_in(200..=201)?;
        count_is_true(&wire, vault, step).await?;
    }
    wire.patch(&format!("/prompts/{}", prompts[4]), into.clone()).await?.status(200)?;
    count_is_true(&wire, vault, "updating a prompt with the vaultId").await?;
    make::prompt_with(&case, &wire, into.clone()).await?;
    count_is_true(&wire, vault, "creating a prompt with the vaultId").await?;

    // Whatever these answer (S-26).
    wire.post(&format!("/vaults/{vault}/prompts"), json!({ "promptIds": prompts })).await?;
    count_is_true(&wire, vault, "adding prompts again").await?;
    wire.post(&format!("/prompts/{}/save", prompts[0]), into).await?;
    count_is_true(&wire, vault, "saving a prompt again").await
}

async fn after_taking_out(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let target = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 4).await?;

    let path = format!("/vaults/{vault}/prompts/{}", members[0].membership);
    wire.delete(&path).await?.status(200)?;
    count_is_true(&wire, vault, "removing a prompt").await?;

    let path = format!("/vaults/{vault}/prompts/{}/move", members[1].membership);
    wire.post(&path, json!({ "targetVaultId": target })).await?.status(200)?;
    count_is_true(&wire, vault, "moving a prompt out").await?;

    wire.delete(&format!("/prompts/{}", members[2].prompt)).await?.status(200)?;
    count_is_true(&wire, vault, "deleting a prompt").await
}

async fn in_the_list(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    make::members(&case, &wire, vault, 3).await?;
    let entry = super::list(&wire).await?.entry(vault)?;
    let listed = make::contents(&wire, vault).await?.len();
    check::equal("promptCount in the list of vaults", &entry["promptCount"], &json!(listed))
}

async fn count_is_true(wire: &Wire, vault: i64, step: &str) -> Result<(), Failure> {
    let listed = make::contents(wire, vault).await?.len();
    let count = make::count_of(wire, vault).await?;
    let what = format!("promptCount after {step}, with {listed} prompts in the listing,");
    check::equal(&what, &usize::try_from(count).ok(), &Some(listed))
}
