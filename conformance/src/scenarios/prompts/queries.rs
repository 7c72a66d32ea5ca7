//! `GET /prompts` with a query that is not as it should be.

use crate::fixture::ids;
use crate::scenario::reference;
use crate::wire::ApiResponse;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "prompts.queries.vault-only-digits" ["PR-17"] vault_only_digits,
        "A query vaultId is a decimal integer of at most 64 bits and nothing else (S-03)" },
    reference! { "prompts.queries.empty" ["PG-04", "PR-17", "PR-18"] empty,
        "A known parameter that is empty is refused with 400, naming it (S-03)" },
    reference! { "prompts.queries.repeated" ["PG-04", "PR-17", "PR-18"] repeated,
        "A known parameter that is given twice is refused with 400, naming it (S-03)" },
    reference! { "prompts.queries.unknown" ["PR-13"] unknown,
        "Unknown parameters are ignored, given twice and empty too (S-03)" },
];

/// It was refused with 400, and details name this parameter and no other.
fn names_only(reply: &ApiResponse, name: &str) -> Result<(), Failure> {
    let details = reply.status(400)?.at("/details")?;
    let mut named = details.as_object().into_iter().flatten().map(|(name, _)| name);
    let only = named.next().is_some_and(|first| first == name) && named.next().is_none();
    reply.ensure(only, format!("details of {name} alone"), details).map(drop)
}

async fn vault_only_digits(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?.id;
    for form in [
        format!("+{vault}"),
        format!(" {vault}"),
        format!("{vault} "),
        format!("{vault}.0"),
        format!("{vault}e0"),
        format!("0x{vault:x}"),
        format!("{vault}\0"),
        "9223372036854775808".to_owned(),
        "-9223372036854775809".to_owned(),
        "٥".to_owned(),
    ] {
        names_only(&case.list().with("vaultId", &form).get().await?, "vaultId")?;
    }
    Ok(())
}

async fn empty(case: Case) -> Result<(), Failure> {
    for name in ["limit", "cursor", "vaultId", "type"] {
        for query in [format!("/prompts?{name}="), format!("/prompts?{name}")] {
            names_only(&case.wire().get(&query).await?, name)?;
        }
    }
    Ok(())
}

async fn repeated(case: Case) -> Result<(), Failure> {
    let (vault, _) = case.stocked_vault(2).await?;
    let cursor = case.list().limit(1).page().await?.next.unwrap_or_default();
    let vault = vault.id.to_string();
    let list = case.list();
    for (name, first, second) in [
        ("limit", "5", "5"),
        ("cursor", &*cursor, &*cursor),
        ("vaultId", &*vault, &*vault),
        ("type", "text", "text"),
        ("limit", "5", "6"),
        ("type", "text", "image"),
    ] {
        names_only(&list.clone().with(name, first).with(name, second).get().await?, name)?;
    }
    let reply = list.with("type", "text").limit(5).with("type", "").get().await?;
    names_only(&reply, "type")
}

async fn unknown(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = case.stocked_vault(2).await?;
    let unknown = "sort=title&sort=&Limit=0&page=x&vaultid=abc&=&%00&promptType=audio";
    let path = format!("/prompts?{unknown}&vaultId={}&&", vault.id);
    let reply = case.wire().get(&path).await?;
    let listed = reply.status(200)?.integers("/data", "id")?;
    check::equal("the list", &listed, &ids(prompts.iter().rev()))
}
