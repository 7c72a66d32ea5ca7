//! `GET /prompts` with a query that is not as it should be.

use super::super::pagination::walk::{page, path, stocked};
use crate::scenario::reference;
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

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

async fn names(case: &Case, name: &str, values: &[&str]) -> Result<(), Failure> {
    for value in values {
        let reply = case.wire().get(&path(&[(name, (*value).to_owned())])).await?;
        names_only(&reply, &[name], &format!("{name}={value}"))?;
    }
    Ok(())
}

/// It was refused with 400, and details name these and no others.
fn names_only(reply: &Reply, expected: &[&str], query: &str) -> Result<(), Failure> {
    let got = reply.status_code();
    reply.ensure(got == 400, format!("status 400 for {query}"), got)?;
    let details = reply.at("/details")?;
    let mut named: Vec<_> =
        details.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let mut expected = expected.to_vec();
    named.sort_unstable();
    expected.sort_unstable();
    let wanted = format!("details of {expected:?} for {query}");
    reply.ensure(named == expected, wanted, details)?;
    Ok(())
}

async fn vault_only_digits(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let forms = [
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
    ];
    names(&case, "vaultId", &forms.each_ref().map(String::as_str)).await
}

async fn empty(case: Case) -> Result<(), Failure> {
    for name in ["limit", "cursor", "vaultId", "type"] {
        for query in [format!("/prompts?{name}="), format!("/prompts?{name}")] {
            names_only(&case.wire().get(&query).await?, &[name], &query)?;
        }
    }
    Ok(())
}

async fn repeated(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 2).await?;
    let first = page(&case.wire(), &[], Some(1), None).await?;
    let cursor = first.next.unwrap_or_default();
    let vault = vault.to_string();
    for (name, value) in
        [("limit", "5"), ("cursor", &*cursor), ("vaultId", &*vault), ("type", "text")]
    {
        let query = path(&[(name, value.to_owned()), (name, value.to_owned())]);
        names_only(&case.wire().get(&query).await?, &[name], &query)?;
    }
    for query in ["limit=5&limit=6", "type=text&type=image", "type=text&limit=5&type="] {
        let name = if query.starts_with("limit") { "limit" } else { "type" };
        names_only(&case.wire().get(&format!("/prompts?{query}")).await?, &[name], query)?;
    }
    Ok(())
}

async fn unknown(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 2).await?;
    let unknown = "sort=title&sort=&Limit=0&page=x&vaultid=abc&=&%00&promptType=audio";
    let reply = case.wire().get(&format!("/prompts?{unknown}&vaultId={vault}&&")).await?;
    let ids = reply.status(200)?.integers("/data", "id")?;
    check::equal("the list", &ids, &prompts.into_iter().rev().collect())
}
