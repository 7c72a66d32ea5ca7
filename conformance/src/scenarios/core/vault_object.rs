//! The fields of a vault, one fact each, and `promptCount` against what the vault lists, after every
//! call that can change it. Of a slug core knows only that it fits into a URL; the reference server
//! derives it as S-16 says. The General vault belongs to the whole account, so core only looks, and
//! what is changed here is put back.

use super::vault_list::list;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "vaults.object.id" ["VA-01"] id,
        "Every vault has an integer id of its own" },
    core! { "vaults.object.texts" ["VA-02", "VA-03", "VA-18"] texts,
        "A vault shows its name and its description, a string or null" },
    core! { "vaults.object.is-system" ["VA-09"]
        |case| shows(case, "isSystem", "false", |value| *value == false),
        "A vault that the caller made is no system vault" },
    core! { "vaults.create.defaults" ["VA-19"]
        |case| shows(case, "visibility", "\"private\"", |value| value == "private"),
        "A vault made from a name alone is private" },
    core! { "vaults.count.starts-at-zero" ["VA-10"]
        |case| shows(case, "promptCount", "0", |value| *value == 0),
        "A new vault has a promptCount of 0" },
    core! { "vaults.count.after-adding" ["VA-10"] after_adding,
        "promptCount is true, alone and in the list, after each way of putting prompts in" },
    core! { "vaults.count.after-taking-out" ["VA-10"] after_taking_out,
        "promptCount is true, alone and in the list, after each way of taking prompts out" },
    core! { "vaults.slug.url-safe" ["VA-04"] url_safe,
        "Whatever the name, a slug is not empty and safe in a URL; names apart have slugs apart" },
];

/// A new vault shows a value that fits in this field, in every answer.
pub(crate) async fn shows(
    case: Case,
    field: &str,
    what: &str,
    fits: impl Fn(&Value) -> bool,
) -> Result {
    let (vault, created) = case.vault_with(json!({})).await?;
    let updated = vault.update(json!({ "visibility": "private" })).await?;
    for reply in [created, vault.read().await?, updated] {
        let value = reply.at(&format!("/data/{field}"))?;
        reply.ensure(fits(value), format!("{field} to be {what}"), value)?;
    }
    let listed = list(&case).await?;
    let entry = listed.entry(vault.id)?;
    let holds = entry.get(field).is_some_and(fits);
    listed.ensure(holds, format!("{field} to be {what}"), entry).map(drop)
}

pub(crate) async fn id(case: Case) -> Result {
    let vaults = try_join_all((0..8).map(|_| case.vault())).await?;
    for vault in &vaults {
        vault.read().await?.equals("/data/id", vault.id)?;
    }
    check::distinct("ids of vaults", vaults.iter().map(|vault| vault.id))
}

async fn texts(case: Case) -> Result {
    // A text stays a text, whatever it looks like.
    let texts = ["Boats, cranes, gulls", "7", "1e3", "true", "null", "{}"].map(Value::from);
    for description in texts.into_iter().chain([Value::Null]) {
        let fields = json!({ "name": case.name("named"), "description": description });
        let read = case.vault_with(fields.clone()).await?.0.read().await?;
        read.equals("/data/name", fields["name"].clone())?;
        read.equals("/data/description", description)?;
    }
    Ok(())
}

async fn true_after(case: &Case, step: &str, vault: &Vault) -> Result {
    let counted = async {
        let count = vault.counts_what_it_lists().await?;
        let vaults = list(case).await?;
        let shown = &vaults.entry(vault.id)?["promptCount"];
        vaults.ensure(*shown == count, format!("a promptCount of {count} in the list"), shown)?;
        Ok(())
    };
    check::with_context(format!("after {step}"), counted.await)
}

async fn after_adding(case: Case) -> Result {
    let [vault, source] = case.vaults().await?;
    let (prompts, [moving]) = (case.prompts(5).await?, source.filled().await?);
    for (prompt, way) in prompts.iter().zip([Way::Add, Way::Save, Way::Update]) {
        vault.put(prompt, way).await?.success()?;
        true_after(&case, way.word(), &vault).await?;
    }
    vault.add(&prompts[3..]).await?.success()?;
    true_after(&case, "adding two prompts", &vault).await?;
    moving.move_to(&vault).await?.success()?;
    true_after(&case, "moving a prompt in", &vault).await?;
    case.prompt_with(json!({ "vaultId": vault.id })).await?;
    true_after(&case, "creating a prompt with the vaultId", &vault).await?;
    // Whatever these answer (S-26).
    vault.add(&prompts).await?;
    true_after(&case, "adding prompts again", &vault).await?;
    prompts[0].save_into(&vault).await?;
    true_after(&case, "saving a prompt again", &vault).await
}

async fn after_taking_out(case: Case) -> Result {
    let (vault, target, [removed, moved, deleted, _]) = case.source_and_target().await?;
    removed.remove().await?.status(200)?;
    true_after(&case, "removing a prompt", &vault).await?;
    moved.move_to(&target).await?.status(200)?;
    true_after(&case, "moving a prompt out", &vault).await?;
    deleted.prompt.delete().await?.status(200)?;
    true_after(&case, "deleting a prompt", &vault).await
}

/// Letters and digits that no other vault has in its name.
pub(crate) fn unique_word() -> String {
    format!("{:012x}", rand::random::<u64>() >> 16)
}

async fn url_safe(case: Case) -> Result {
    let marks: String =
        unique_word().bytes().map(|b| char::from(b"!?*.;,"[usize::from(b) % 6])).collect();
    let names = ["plain", "a b", "Öl 漢字", "50% off", "a/b?c#d", "<\"&'>", "😀 e\u{301}"];
    let names = names.map(|name| format!("{name} {}", unique_word()));
    let mut slugs = Vec::new();
    for name in names.into_iter().chain([marks]) {
        let (_, created) = case.vault_with(json!({ "name": name })).await?;
        let slug = created.string("/data/slug")?;
        let what =
            format!("a slug of the name {} that needs no escaping in a URL", json_text(&name));
        created.ensure(!slug.is_empty() && is_url_safe(slug), what, json_text(&slug))?;
        slugs.push(slug.to_owned());
    }
    check::distinct("slugs", slugs)
}

/// Whether it is one segment of a path as RFC 3986 has it.
fn is_url_safe(slug: &str) -> bool {
    slug.chars().all(|c| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@%".contains(c))
}

pub(crate) async fn listed(case: Case) -> Result {
    let vaults = list(&case).await?;
    let entries = vaults.array("/data")?;
    let system = entries.iter().filter(|vault| vault["isSystem"] == true);
    let names: Vec<_> = system.map(|vault| vault["name"].clone()).collect();
    vaults.ensure(names == ["General"], "one system vault, General", json_text(&names)).map(drop)
}

pub(crate) async fn general(case: &Case) -> Result<Vault> {
    let vaults = list(case).await?;
    let entries = vaults.array("/data")?;
    let general = entries.iter().find(|vault| vault["isSystem"] == true);
    let id = general.and_then(|vault| vault["id"].as_i64());
    let id = id.ok_or_else(|| vaults.failure("a system vault in the list", "none"))?;
    Ok(case.vault_at(id))
}
