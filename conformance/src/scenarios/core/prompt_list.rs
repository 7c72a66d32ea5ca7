//! `GET /prompts`: what it holds, its filters `vaultId` and `type`, and queries that are not as they
//! should be.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "prompts.list.holds-own" ["PR-13", "PR-14"] holds_own,
        "The list without filters holds every prompt of the caller, in a vault or not" },
    core! { "prompts.list.vault" ["PR-15", "PG-08"] vault,
        "With vaultId the list holds exactly the prompts of that vault, also after changes" },
    core! { "prompts.list.type" ["PR-16"] kind,
        "With type every page holds prompts of that type and no other" },
    core! { "prompts.list.type-and-vault" ["PR-15", "PR-16"] type_and_vault,
        "With type and vaultId the list holds exactly the prompts that match both" },
    core! { "prompts.list.type-follows-changes" ["PR-16"] type_follows_changes,
        "A prompt that changes its type changes the lists with type" },
];

const TYPES: [&str; 3] = ["image", "text", "video"];

/// A type, and a model that prompts of it may name.
fn typed(case: &Case, kind: &str) -> Value {
    let model = if kind == "video" { case.video_model() } else { case.image_model() };
    json!({ "promptType": kind, "modelId": model })
}

async fn prompt_of(case: &Case, kind: &str) -> Result<Prompt> {
    Ok(case.prompt_with(typed(case, kind)).await?.0)
}

async fn holds_own(case: Case) -> Result {
    let (_, mut prompts) = case.vault_of(2).await?;
    for kind in TYPES {
        prompts.push(prompt_of(&case, kind).await?);
    }
    case.list().find(&case, &prompts).await
}

pub(crate) async fn vault(case: Case) -> Result {
    let (first, inside) = case.vault_of(3).await?;
    let (second, outside) = case.vault_of(2).await?;
    let empty = case.vault().await?;
    case.prompt().await?;
    first.list().walk().await?.expect_exactly(&inside)?;
    second.list().walk().await?.expect_exactly(&outside)?;
    empty.list().walk().await?.expect_exactly([0; 0])?;
    let (vault, [removed, kept]) = case.filled_vault().await?;
    let late = case.prompt().await?;
    vault.add([&late]).await?.status(201)?;
    removed.remove().await?.status(200)?;
    vault.list().walk().await?.expect_exactly([&kept.prompt, &late])
}

async fn kind(case: Case) -> Result {
    for kind in TYPES {
        let (list, prompt) = (case.list().with("type", kind), prompt_of(&case, kind).await?);
        prompt_of(&case, kind).await?;
        list.find(&case, [&prompt]).await?;
        let list = list.limit(1);
        let first = list.page().await?;
        let second = list.clone().after(&first).page().await?;
        for page in [&first, &second] {
            for entry in page.reply.array("/data")? {
                let expected = format!("only {kind} prompts with type={kind}");
                page.reply.ensure(entry["promptType"] == kind, expected, &entry["promptType"])?;
            }
        }
    }
    Ok(())
}

async fn type_and_vault(case: Case) -> Result {
    let [vault, other] = case.vaults().await?;
    for kind in TYPES {
        let inside = [prompt_of(&case, kind).await?, prompt_of(&case, kind).await?];
        vault.add(&inside).await?.status(201)?;
        let elsewhere = prompt_of(&case, kind).await?;
        other.add([&elsewhere]).await?.status(201)?;
        prompt_of(&case, kind).await?;
        vault.list().with("type", kind).walk().await?.expect_exactly(&inside)?;
        other.list().with("type", kind).walk().await?.expect_exactly([&elsewhere])?;
    }
    Ok(())
}

async fn type_follows_changes(case: Case) -> Result {
    let (vault, prompt) = (case.vault().await?, prompt_of(&case, "text").await?);
    vault.add([&prompt]).await?.status(201)?;
    for now in ["image", "video", "text"] {
        prompt.update(typed(&case, now)).await?.success()?;
        for kind in TYPES {
            let expected = (kind == now).then_some(&prompt);
            vault.list().with("type", kind).walk().await?.expect_exactly(expected)?;
        }
    }
    Ok(())
}

/// It was refused with 400, and details name this parameter and no other.
pub(crate) fn names_only(reply: &ApiResponse, name: &str) -> Result {
    reply.status(400)?.has_only("/details", &[name]).map(drop)
}

/// A parameter that takes this value takes nothing but its digits.
pub(crate) async fn only_digits(case: &Case, name: &'static str, value: i64) -> Result {
    let forms = ["+{}", " {}", "{} ", "{}.0", "{}e0", "0x{}", "{}_0", "{}\0", "٥"];
    for form in forms.iter().chain(&["9223372036854775808", "-9223372036854775809"]) {
        let form = form.replace("{}", &value.to_string());
        names_only(&case.list().with(name, &form).get().await?, name)?;
    }
    Ok(())
}

pub(crate) async fn empty(case: Case) -> Result {
    only_digits(&case, "limit", 5).await?;
    for name in ["limit", "cursor", "vaultId", "type"] {
        for query in [format!("/prompts?{name}="), format!("/prompts?{name}")] {
            names_only(&case.wire().get(&query).await?, name)?;
        }
    }
    Ok(())
}
