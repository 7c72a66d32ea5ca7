//! What can be said of a vault's slug: core knows only that it fits into a
//! URL, the reference server derives it as S-16 says.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.slug.url-safe" ["VA-04"] url_safe,
        "A slug is not empty and has only characters that are safe in a URL, whatever the name" },
    core! { "vaults.slug.of-the-name" ["VA-04"] of_the_name,
        "Names that have nothing in common give different slugs" },
    reference! { "vaults.slug.form" ["VA-04"] ("S-16") form,
        "A slug is the name in lower-case ASCII letters and digits, joined by single dashes" },
    reference! { "vaults.slug.from-nothing" ["VA-04"] ("S-16") from_nothing,
        "A name without letters and digits gives the slug vault" },
    reference! { "vaults.slug.unique" ["VA-04"] ("S-16", "S-17") unique,
        "A slug that is taken gets the smallest free number" },
    reference! { "vaults.slug.follows-rename" ["VA-04"] ("S-16") follows_rename,
        "A rename makes a new slug" },
    reference! { "vaults.slug.kept" ["VA-04"] kept,
        "An update that leaves the name as it is leaves the slug" },
];

/// Letters and digits that no other vault has in its name.
fn unique_word() -> String {
    format!("{:012x}", rand::random::<u64>() >> 16)
}

async fn url_safe(case: Case) -> Result {
    let marks: String =
        unique_word().bytes().map(|b| char::from(b"!?*.;,"[usize::from(b) % 6])).collect();
    let names = ["plain", "a b", "Öl 漢字", "50% off", "a/b?c#d", "<\"&'>", "😀 e\u{301}"];
    let names = names.map(|name| format!("{name} {}", unique_word()));
    for name in names.into_iter().chain([marks]) {
        let (_, created) = case.vault_with(json!({ "name": name })).await?;
        let slug = created.string("/data/slug")?;
        let what =
            format!("a slug of the name {} that needs no escaping in a URL", json_text(&name));
        created.ensure(!slug.is_empty() && is_url_safe(slug), what, json_text(&slug))?;
    }
    Ok(())
}

async fn of_the_name(case: Case) -> Result {
    let mut slugs = Vec::new();
    for name in ["Harbour", "Meadow"] {
        let fields = json!({ "name": format!("{name} {}", unique_word()) });
        let (_, created) = case.vault_with(fields).await?;
        slugs.push(created.string("/data/slug")?.to_owned());
    }
    check::ensure(slugs[0] != slugs[1], "different slugs", format!("{:?} twice", slugs[0]))
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
    Ok(())
}

async fn from_nothing(case: Case) -> Result {
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
    reply.status(200)?.equals("/data/slug", format!("renamed-{word}")).map(drop)
}

/// S-16. The number of a slug shows that none is made anew: the plain form is
/// free again by then.
async fn kept(case: Case) -> Result {
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
