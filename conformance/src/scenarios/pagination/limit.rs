//! The query `limit`: how many entries a page may hold, and which values are
//! refused.

use crate::fixture::{List, Page};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "pagination.limit.default" ["PG-02"]
        |case| first_page_holds_at_most(case, 20, 25, None),
        "Without limit a page holds at most 20 entries" },
    core! { "pagination.limit.size" ["PG-03"] size,
        "A page holds at most as many entries as limit says" },
    core! { "pagination.limit.hundred" ["PG-03"]
        |case| first_page_holds_at_most(case, 100, 101, Some(100)),
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

fn holds_at_most(page: &Page, limit: usize) -> Result<(), Failure> {
    let got = format!("{} entries", page.ids.len());
    page.reply.ensure(page.ids.len() <= limit, format!("at most {limit} entries"), got).map(drop)
}

async fn first_page_holds_at_most(
    case: Case,
    most: usize,
    entries: usize,
    limit: Option<usize>,
) -> Result<(), Failure> {
    let (vault, _) = case.stocked_vault(entries).await?;
    let list = limit.into_iter().fold(vault.list(), List::limit);
    holds_at_most(&list.page().await?, most)
}

async fn size(case: Case) -> Result<(), Failure> {
    let (vault, _) = case.stocked_vault(9).await?;
    for limit in [1, 2, 3, 7] {
        let list = vault.list().limit(limit);
        let first = list.page().await?;
        holds_at_most(&first, limit)?;
        holds_at_most(&list.after(&first).page().await?, limit)?;
    }
    Ok(())
}

async fn default_is_twenty(case: Case) -> Result<(), Failure> {
    let (vault, _) = case.stocked_vault(21).await?;
    let page = vault.list().page().await?;
    page.reply.ensure(page.ids.len() == 20, "20 entries", page.ids.len()).map(drop)
}

async fn pages_are_full(case: Case) -> Result<(), Failure> {
    let (vault, _) = case.stocked_vault(8).await?;
    for (limit, expected) in
        [(1, vec![1; 8]), (2, vec![2; 4]), (3, vec![3, 3, 2]), (7, vec![7, 1]), (100, vec![8])]
    {
        let pages = vault.list().limit(limit).walk().await?.pages;
        let sizes = pages.iter().map(|page| page.ids.len());
        let sizes: Vec<_> = sizes.filter(|size| *size > 0).collect();
        check::equal(&format!("the page sizes with limit {limit}"), &sizes, &expected)?;
    }
    Ok(())
}

async fn only_digits(case: Case) -> Result<(), Failure> {
    for limit in ["+5", " 5", "5 ", "5.0", "1e1", "0x5", "5_0", "٥", "5\u{0}"] {
        let reply = case.list().with("limit", limit).get().await?;
        reply.is_bad_request(format!("limit {limit:?}"))?.string("/details/limit")?;
    }
    Ok(())
}

async fn every_filter(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    vault.fill(2).await?;
    let first = vault.list().limit(1).page().await?;
    let (all, list) = (case.list(), vault.list());
    for filtered in [
        list.clone(),
        all.clone().with("type", "text"),
        all.with("type", "video"),
        list.after(&first),
    ] {
        for (limit, status) in [("1", 200), ("100", 200), ("0", 400), ("101", 400), ("-1", 400)] {
            let reply = filtered.clone().with("limit", limit).get().await?;
            reply.has_status(status, format!("limit {limit}"))?;
        }
    }
    Ok(())
}
