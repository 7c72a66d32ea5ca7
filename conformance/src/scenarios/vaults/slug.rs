//! What can be said of a vault's slug: core knows only that it fits into a
//! URL, the reference server derives it as S-16 says.

use serde_json::json;

use super::read;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.slug.url-safe" ["VA-04"] url_safe,
        "A slug has only characters that are safe in a URL" },
    reference! { "vaults.slug.form" ["VA-04"] form,
        "A slug is the name in lower-case ASCII letters and digits, joined by single dashes" },
    reference! { "vaults.slug.from-nothing" ["VA-04"] from_nothing,
        "A name without letters and digits gives the slug vault" },
    reference! { "vaults.slug.unique" ["VA-04"] unique,
        "A slug that is taken gets the smallest free number" },
    reference! { "vaults.slug.follows-rename" ["VA-04"] follows_rename,
        "A rename makes a new slug" },
    reference! { "vaults.slug.kept" ["VA-04"] kept,
        "An update that leaves the name as it is leaves the slug" },
];

async fn url_safe(case: Case) -> Result<(), Failure> {
    let plain = case.name("slug");
    let wire = case.wire();
    for mark in ["plain", "a b", "Öl 漢字", "50% off", "a/b?c#d", "<\"&'>", "😀 e\u{301}"] {
        let made = make::vault_with(&case, &wire, json!({ "name": unique_name(mark) })).await?;
        let slug = made.string("/data/slug")?;
        let what = format!("a slug of the name {mark:?} that needs no escaping in a URL");
        made.ensure(is_url_safe(slug), what, format!("{slug:?}"))?;
    }
    let made = make::vault_with(&case, &wire, json!({ "name": plain })).await?;
    made.ensure(!made.string("/data/slug")?.is_empty(), "a slug that is not empty", "\"\"")?;
    Ok(())
}

/// Whether it is one segment of a path as RFC 3986 has it.
fn is_url_safe(slug: &str) -> bool {
    slug.chars().all(|c| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@%".contains(c))
}

/// S-16.
async fn form(case: Case) -> Result<(), Failure> {
    let names = [
        ("Harbour Dusk", "harbour-dusk"),
        ("  Harbour -- Dusk!! ", "harbour-dusk"),
        ("Straße Ünï", "strasse-uni"),
        ("a_b.c/d", "a-b-c-d"),
        ("漢字", "han-zi"),
    ];
    for (name, slug) in names {
        let tail = tail();
        let name = format!("{name} {tail}");
        let made = make::vault_with(&case, &case.wire(), json!({ "name": name })).await?;
        made.equals("/data/slug", format!("{slug}-{tail}"))?;
    }
    Ok(())
}

/// S-16.
async fn from_nothing(case: Case) -> Result<(), Failure> {
    let made = make::vault_with(&case, &case.wire(), json!({ "name": "!?!" })).await?;
    let slug = made.string("/data/slug")?;
    let number = slug.strip_prefix("vault-").and_then(|n| n.parse::<u64>().ok());
    let fits = slug == "vault" || number.is_some_and(|n| n >= 2);
    made.ensure(fits, "the slug vault, or vault with a number if that is taken", slug)?;
    Ok(())
}

/// S-16 and S-17.
async fn unique(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let tail = tail();
    let mut vaults = Vec::new();
    for expected in [format!("twin-{tail}"), format!("twin-{tail}-2"), format!("twin-{tail}-3")] {
        let body = json!({ "name": format!("Twin {tail}") });
        let made = make::vault_with(&case, &wire, body).await?;
        made.equals("/data/slug", expected)?;
        vaults.push(made.integer("/data/id")?);
    }
    wire.delete(&format!("/vaults/{}", vaults[1])).await?.status(200)?;
    let body = json!({ "name": format!("Twin {tail}") });
    let made = make::vault_with(&case, &wire, body).await?;
    made.equals("/data/slug", format!("twin-{tail}-2"))?;
    Ok(())
}

/// S-16.
async fn follows_rename(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let tail = tail();
    let body = json!({ "name": format!("Renamed {tail}") });
    let reply = wire.patch(&format!("/vaults/{vault}"), body).await?;
    reply.status(200)?.equals("/data/slug", format!("renamed-{tail}"))?;
    Ok(())
}

/// S-16. The number of a slug shows that none is made anew: the plain form is
/// free again by then.
async fn kept(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let name = unique_name("Kept");
    let first = make::vault_with(&case, &wire, json!({ "name": name })).await?;
    let second = make::vault_with(&case, &wire, json!({ "name": name })).await?;
    let (slug, vault) = (second.string("/data/slug")?, second.integer("/data/id")?);
    wire.delete(&format!("/vaults/{}", first.integer("/data/id")?)).await?.status(200)?;
    for body in [json!({ "name": name }), json!({ "visibility": "public" }), json!({})] {
        wire.patch(&format!("/vaults/{vault}"), body.clone()).await?.status(200)?;
        let now = read(&wire, vault).await?;
        check::equal(&format!("the slug after {body}"), &now.string("/data/slug")?, &slug)?;
    }
    Ok(())
}

fn unique_name(word: &str) -> String {
    format!("{word} {}", tail())
}

/// Letters and digits that no other vault has in its name.
fn tail() -> String {
    format!("{:012x}", rand::random::<u64>() >> 16)
}
