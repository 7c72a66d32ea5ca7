//! `GET /prompts`: what it holds, and its filters `vaultId` and `type`.

use serde_json::json;

use super::super::pagination::walk::{Page, find, in_vault, page, put, stocked, walk};
use super::object::whole;
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.list.answer" ["PR-13"] answer,
        "The list answers 200 with an array of whole prompt objects" },
    core! { "prompts.list.holds-own" ["PR-13", "PR-14"] holds_own,
        "The list without filters holds every prompt of the caller, in a vault or not" },
    core! { "prompts.list.vault" ["PR-15"] vault,
        "With vaultId the list holds exactly the prompts of that vault" },
    core! { "prompts.list.vault-follows-changes" ["PR-15"] vault_follows_changes,
        "The list with vaultId follows what is put into the vault and taken out of it" },
    core! { "prompts.list.type" ["PR-16"] kind,
        "With type the list holds prompts of that type and no other" },
    core! { "prompts.list.type-and-vault" ["PR-15", "PR-16"] type_and_vault,
        "With type and vaultId the list holds exactly the prompts that match both" },
    core! { "prompts.list.type-follows-changes" ["PR-16"] type_follows_changes,
        "A prompt that changes its type changes the lists with type" },
];

const TYPES: [&str; 3] = ["image", "text", "video"];

fn typed(vault: i64, kind: &str) -> Vec<(&'static str, String)> {
    let mut filters = in_vault(vault);
    filters.push(("type", kind.to_owned()));
    filters
}

/// A new prompt of a type.
async fn prompt_of(case: &Case, kind: &str) -> Result<i64, Failure> {
    let fields = json!({ "promptType": kind, "modelId": model_of(case, kind) });
    make::prompt_with(case, &case.wire(), fields).await?.integer("/data/id")
}

/// The first page that is not empty (S-71), or the last one.
async fn first_entries(case: &Case, filters: &[(&'static str, String)]) -> Result<Page, Failure> {
    let mut cursor = None;
    loop {
        let page = page(&case.wire(), filters, Some(100), cursor.as_deref()).await?;
        if !page.ids.is_empty() || page.next.is_none() {
            return Ok(page);
        }
        cursor = page.next;
    }
}

/// A model that prompts of a type may name.
fn model_of<'c>(case: &'c Case, kind: &str) -> &'c str {
    if kind == "video" { case.video_model() } else { case.image_model() }
}

/// The list with these filters holds exactly these prompts.
async fn holds(
    case: &Case,
    filters: &[(&'static str, String)],
    prompts: &[i64],
) -> Result<(), Failure> {
    let pages = walk(&case.wire(), filters, None).await?;
    let mut got: Vec<_> = pages.iter().flat_map(|page| page.ids.clone()).collect();
    let mut expected = prompts.to_vec();
    got.sort_unstable();
    expected.sort_unstable();
    check::equal(&format!("the list with {filters:?}"), &got, &expected)
}

async fn answer(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 2).await?;
    for page in walk(&case.wire(), &in_vault(vault), None).await? {
        for at in 0..page.ids.len() {
            whole(&page.reply, &format!("/data/{at}"))?;
        }
    }
    Ok(())
}

async fn holds_own(case: Case) -> Result<(), Failure> {
    let (_, mut prompts) = stocked(&case, &case.wire(), 2).await?;
    for kind in TYPES {
        prompts.push(prompt_of(&case, kind).await?);
    }
    find(&case, &case.wire(), &[], &prompts).await
}

async fn vault(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (first, inside) = stocked(&case, &wire, 3).await?;
    let (second, outside) = stocked(&case, &wire, 2).await?;
    let (empty, _) = stocked(&case, &wire, 0).await?;
    make::prompt(&case, &wire).await?;
    holds(&case, &in_vault(first), &inside).await?;
    holds(&case, &in_vault(second), &outside).await?;
    holds(&case, &in_vault(empty), &[]).await
}

async fn vault_follows_changes(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 2).await?;
    let late = make::prompt(&case, &wire).await?;
    put(&wire, vault, &[late]).await?;
    let path = format!("/vaults/{vault}/prompts/{}", members[0].membership);
    wire.delete(&path).await?.status(200)?;
    holds(&case, &in_vault(vault), &[members[1].prompt, late]).await
}

async fn kind(case: Case) -> Result<(), Failure> {
    for kind in TYPES {
        let prompt = prompt_of(&case, kind).await?;
        let filters = [("type", kind.to_owned())];
        find(&case, &case.wire(), &filters, &[prompt]).await?;
        let first = first_entries(&case, &filters).await?.reply;
        for entry in first.array("/data")? {
            let expected = format!("only {kind} prompts with type={kind}");
            first.ensure(entry["promptType"] == kind, expected, &entry["promptType"])?;
        }
    }
    Ok(())
}

async fn type_and_vault(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, other) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    for kind in TYPES {
        let (first, second) = (prompt_of(&case, kind).await?, prompt_of(&case, kind).await?);
        put(&wire, vault, &[first, second]).await?;
        let elsewhere = prompt_of(&case, kind).await?;
        put(&wire, other, &[elsewhere]).await?;
        prompt_of(&case, kind).await?;
        holds(&case, &typed(vault, kind), &[first, second]).await?;
        holds(&case, &typed(other, kind), &[elsewhere]).await?;
    }
    Ok(())
}

async fn type_follows_changes(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let prompt = prompt_of(&case, "text").await?;
    put(&wire, vault, &[prompt]).await?;
    for now in ["image", "video", "text"] {
        let body = json!({ "promptType": now, "modelId": model_of(&case, now) });
        wire.patch(&format!("/prompts/{prompt}"), body).await?.status_in(200..=299)?;
        for kind in TYPES {
            let expected = if kind == now { vec![prompt] } else { vec![] };
            holds(&case, &typed(vault, kind), &expected).await?;
        }
    }
    Ok(())
}
