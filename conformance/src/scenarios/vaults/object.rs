//! The fields of a vault, one fact each, and `promptCount` against what the vault lists, after every
//! call that can change it. Of a slug core knows only that it fits into a URL; the reference server
//! derives it as S-16 says. The General vault belongs to the whole account, so core only looks, and
//! what is changed here is put back.

use super::list;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.object.id" ["VA-01"] id,
        "Every vault has an integer id of its own" },
    core! { "vaults.object.texts" ["VA-02", "VA-03", "VA-18"] texts,
        "A vault shows its name and its description, a string or null" },
    core! { "vaults.object.is-system" ["VA-09"]
        |case| shows(case, "isSystem", "false", |value| *value == false),
        "A vault that the caller made is no system vault" },
    reference! { "vaults.object.plain" ["VA-03", "VA-06", "VA-07", "VA-08"]
        ("S-13", "S-14", "S-15") plain,
        "A vault made from a name alone has no description, access type, lock or cover image" },
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
    reference! { "vaults.slug.form" ["VA-04"] ("S-16") form,
        "A slug is the name in lower-case ASCII letters and digits, joined by single dashes" },
    reference! { "vaults.slug.unique" ["VA-02", "VA-04"] ("S-16", "S-17") unique,
        "Vaults may have the same name; a slug that is taken gets the smallest free number" },
    reference! { "vaults.slug.follows-rename" ["VA-04"] ("S-16") follows_rename,
        "A rename makes a new slug, and an update that leaves the name as it is leaves the slug" },
    reference! { reads "vaults.general.listed" ["VA-09", "VA-12", "VA-13"] ("S-18") listed,
        "The list holds one system vault, named General" },
    reference! { "vaults.general.fixed" ["VA-12", "VA-24"] ("S-18") fixed,
        "The General vault can be neither renamed nor deleted; its description can be changed" },
    reference! { "vaults.general.holds-prompts" ["VC-10", "VC-15"] ("S-18") holds_prompts,
        "Prompts go into the General vault and out of it as in any vault" },
];

/// A new vault shows a value that fits in this field, in every answer.
async fn shows(case: Case, field: &str, what: &str, fits: impl Fn(&Value) -> bool) -> Result {
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

async fn id(case: Case) -> Result {
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

async fn plain(case: Case) -> Result {
    let locked = ("isLocked", json!(false));
    let others = ["description", "accessType", "coverImageUrl"].map(|field| (field, Value::Null));
    for (field, expected) in others.into_iter().chain([locked]) {
        let what = expected.to_string();
        shows(case.clone(), field, &what, |value| *value == expected).await?;
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
fn unique_word() -> String {
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

async fn form(case: Case) -> Result {
    let names = [
        ("Harbour Dusk", "harbour-dusk"),
        ("  Harbour -- Dusk!! ", "harbour-dusk"),
        ("Straße Ünï", "strasse-uni"),
        ("a_b.c/d", "a-b-c-d"),
        ("漢字", "han-zi"),
    ];
    for (name, slug) in names {
        let word = unique_word();
        let (_, created) = case.vault_with(json!({ "name": format!("{name} {word}") })).await?;
        created.equals("/data/slug", format!("{slug}-{word}"))?;
    }
    let (_, created) = case.vault_with(json!({ "name": "!?!" })).await?;
    let slug = created.string("/data/slug")?;
    let number = slug.strip_prefix("vault-").and_then(|n| n.parse::<u64>().ok());
    let fits = slug == "vault" || number.is_some_and(|n| n >= 2);
    created.ensure(fits, "the slug vault, or vault with a number if that is taken", slug).map(drop)
}

async fn unique(case: Case) -> Result {
    let word = unique_word();
    let name = json!({ "name": format!("Twin {word}") });
    let mut vaults = Vec::new();
    for number in ["", "-2", "-3"] {
        let (vault, created) = case.vault_with(name.clone()).await?;
        created.equals("/data/slug", format!("twin-{word}{number}"))?;
        vaults.push(vault);
    }
    vaults[1].delete().await?.status(200)?;
    let (_, created) = case.vault_with(name).await?;
    created.equals("/data/slug", format!("twin-{word}-2")).map(drop)
}

async fn follows_rename(case: Case) -> Result {
    let (vault, word) = (case.vault().await?, unique_word());
    let reply = vault.update(json!({ "name": format!("Renamed {word}") })).await?;
    reply.status(200)?.equals("/data/slug", format!("renamed-{word}"))?;
    // The number of a slug shows that none is made anew: the plain form is free again by then.
    let name = json!({ "name": format!("Kept {}", unique_word()) });
    let (first, _) = case.vault_with(name.clone()).await?;
    let (second, created) = case.vault_with(name.clone()).await?;
    first.delete().await?.status(200)?;
    for fields in [name, json!({ "visibility": "public" }), json!({})] {
        second.update(fields.clone()).await?.status(200)?;
        let read = second.read().await?;
        let same = read.equals("/data/slug", created.string("/data/slug")?);
        check::with_context(format!("after {fields}"), same)?;
    }
    Ok(())
}

async fn listed(case: Case) -> Result {
    let vaults = list(&case).await?;
    let entries = vaults.array("/data")?;
    let system = entries.iter().filter(|vault| vault["isSystem"] == true);
    let names: Vec<_> = system.map(|vault| vault["name"].clone()).collect();
    vaults.ensure(names == ["General"], "one system vault, General", json_text(&names)).map(drop)
}

pub(in crate::scenarios) async fn general(case: &Case) -> Result<Vault> {
    let vaults = list(case).await?;
    let entries = vaults.array("/data")?;
    let general = entries.iter().find(|vault| vault["isSystem"] == true);
    let id = general.and_then(|vault| vault["id"].as_i64());
    let id = id.ok_or_else(|| vaults.failure("a system vault in the list", "none"))?;
    Ok(case.vault_at(id))
}

async fn fixed(case: Case) -> Result {
    let general = general(&case).await?;
    let reply = general.update(json!({ "name": case.name("vault") })).await?;
    reply.is_bad_request("another name of the General vault")?.string("/details/name")?;
    let reply = general.update(json!({ "name": "General" })).await?;
    reply.status(200)?.equals("/data/name", "General")?;
    let reply = general.delete().await?;
    reply.is_bad_request("the deletion of the General vault")?.equals("/details", json!({}))?;
    let before =
        general.read().await?.equals("/data/name", "General")?.at("/data/description")?.clone();
    let description = case.name("note");
    let reply = general.update(json!({ "description": description })).await?;
    let put_back = general.update(json!({ "description": before })).await?;
    reply.status(200)?.equals("/data/description", description)?;
    put_back.status(200)?.equals("/data/description", before).map(drop)
}

async fn holds_prompts(case: Case) -> Result {
    let (general, prompt) = (general(&case).await?, case.prompt().await?);
    let added = general.add([&prompt]).await?;
    added.status(201)?.equals("/data/added", 1)?;
    let member = general.member_of(&prompt).await?;
    member.remove().await?.has_status(200, "a removal from the General vault").map(drop)
}
