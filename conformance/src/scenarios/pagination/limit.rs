//! The query `limit`: how many entries a page may hold, and which values are
//! refused.

use super::walk::{in_vault, page, path, stocked, walk};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "pagination.limit.default" ["PG-02"] default,
        "Without limit a page holds at most 20 entries" },
    core! { "pagination.limit.size" ["PG-03"] size,
        "A page holds at most as many entries as limit says" },
    core! { "pagination.limit.hundred" ["PG-03"] hundred,
        "With limit 100 a page holds at most 100 of 101 entries" },
    reference! { "pagination.limit.default-is-twenty" ["PG-02"] default_is_twenty,
        "Without limit a page holds exactly 20 entries while more follow" },
    reference! { "pagination.limit.pages-are-full" ["PG-03"] pages_are_full,
        "Every page but the last holds exactly as many entries as limit says" },
    reference! { "pagination.limit.only-digits" ["PG-04"] only_digits,
        "A limit with a sign, a space, a fraction or an exponent is refused, naming limit (S-03)" },
    reference! { "pagination.limit.every-filter" ["LI-01"] every_filter,
        "The bounds of limit hold beside a vault, a type and a cursor" },
];

async fn default(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 25).await?;
    let page = page(&case.wire(), &in_vault(vault), None, None).await?;
    let got = format!("{} entries", page.ids.len());
    page.reply.ensure(page.ids.len() <= 20, "at most 20 entries", got)?;
    Ok(())
}

async fn size(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 9).await?;
    for limit in [1, 2, 3, 7] {
        let first = page(&case.wire(), &in_vault(vault), Some(limit), None).await?;
        let next = first.next.as_deref();
        let second = page(&case.wire(), &in_vault(vault), Some(limit), next).await?;
        for page in [&first, &second] {
            let got = format!("{} entries", page.ids.len());
            page.reply.ensure(page.ids.len() <= limit, format!("at most {limit} entries"), got)?;
        }
    }
    Ok(())
}

async fn hundred(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 101).await?;
    let page = page(&case.wire(), &in_vault(vault), Some(100), None).await?;
    let got = format!("{} entries", page.ids.len());
    page.reply.ensure(page.ids.len() <= 100, "at most 100 entries", got)?;
    Ok(())
}

async fn default_is_twenty(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 21).await?;
    let page = page(&case.wire(), &in_vault(vault), None, None).await?;
    crate::check::equal("the number of entries on the page", &page.ids.len(), &20)
}

async fn pages_are_full(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 8).await?;
    for (limit, expected) in
        [(1, vec![1; 8]), (2, vec![2; 4]), (3, vec![3, 3, 2]), (7, vec![7, 1]), (100, vec![8])]
    {
        let pages = walk(&case.wire(), &in_vault(vault), Some(limit)).await?;
        let sizes = pages.iter().map(|page| page.ids.len());
        let sizes: Vec<_> = sizes.filter(|size| *size > 0).collect();
        crate::check::equal(&format!("the page sizes with limit {limit}"), &sizes, &expected)?;
    }
    Ok(())
}

async fn only_digits(case: Case) -> Result<(), Failure> {
    names_limit(&case, &["+5", " 5", "5 ", "5.0", "1e1", "0x5", "5_0", "٥", "5\u{0}"]).await
}

async fn names_limit(case: &Case, limits: &[&str]) -> Result<(), Failure> {
    for limit in limits {
        let reply = case.wire().get(&path(&[("limit", (*limit).to_owned())])).await?;
        let named = reply.status_code() == 400 && reply.string("/details/limit").is_ok();
        let got = format!("status {}, or details without it", reply.status_code());
        reply.ensure(named, format!("status 400 naming limit for {limit:?}"), got)?;
    }
    Ok(())
}

async fn every_filter(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    make::members(&case, &wire, vault, 2).await?;
    let first = wire.get(&format!("/prompts?limit=1&vaultId={vault}")).await?;
    let cursor = first.status(200)?.at("/pagination/nextCursor")?.as_str().unwrap_or_default();
    let cursor: String = url::form_urlencoded::byte_serialize(cursor.as_bytes()).collect();
    let mut filters = vec![format!("vaultId={vault}"), "type=text".into(), "type=video".into()];
    if !cursor.is_empty() {
        filters.push(format!("vaultId={vault}&cursor={cursor}"));
    }
    for filter in filters {
        for (limit, status) in [(1, 200), (100, 200), (0, 400), (101, 400), (-1, 400)] {
            let reply = wire.get(&format!("/prompts?limit={limit}&{filter}")).await?;
            reply.accepted(status, format!("limit {limit} beside {filter}"))?;
        }
    }
    Ok(())
}
