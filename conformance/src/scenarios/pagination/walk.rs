//! `GET /prompts` page by page, for every scenario that reads the list, and
//! what such a walk starts from: a vault of its own with prompts in it.
//!
//! The account may be full of other things and other scenarios run beside, so
//! what is asked of a walk is always asked of the scenario's own prompts.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};
use url::form_urlencoded;

use crate::wire::{Reply, Wire};
use crate::{Case, Failure, make};

/// Prompts that one call may put into a vault.
const ADDED_AT_ONCE: usize = 50;

/// Pages after which a walk is taken to be endless.
const PAGES_MAX: usize = 20_000;

/// One page.
pub(in crate::scenarios) struct Page {
    /// The answer.
    pub(in crate::scenarios) reply: Reply,
    /// The ids on it, in its order.
    pub(in crate::scenarios) ids: Vec<i64>,
    /// The cursor of the page that follows.
    pub(in crate::scenarios) next: Option<String>,
}

/// The filter for the prompts of a vault.
pub(in crate::scenarios) fn in_vault(vault: i64) -> Vec<(&'static str, String)> {
    vec![("vaultId", vault.to_string())]
}

/// The path of the list with this query.
pub(in crate::scenarios) fn path(query: &[(&str, String)]) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    text.extend_pairs(query);
    format!("/prompts?{}", text.finish())
}

/// The answer to a list with these filters, this page size and this cursor.
pub(in crate::scenarios) async fn ask(
    wire: &Wire,
    filters: &[(&'static str, String)],
    limit: Option<usize>,
    cursor: Option<&str>,
) -> Result<Reply, Failure> {
    let mut query = filters.to_vec();
    query.extend(limit.map(|limit| ("limit", limit.to_string())));
    query.extend(cursor.map(|cursor| ("cursor", cursor.to_owned())));
    wire.get(&path(&query)).await
}

/// One page of the list.
pub(in crate::scenarios) async fn page(
    wire: &Wire,
    filters: &[(&'static str, String)],
    limit: Option<usize>,
    cursor: Option<&str>,
) -> Result<Page, Failure> {
    let reply = ask(wire, filters, limit, cursor).await?;
    let ids = reply.status(200)?.integers("/data", "id")?;
    let next = match reply.at("/pagination/nextCursor")? {
        Value::Null => None,
        _ => Some(reply.string("/pagination/nextCursor")?.to_owned()),
    };
    Ok(Page { reply, ids, next })
}

/// Every page of the list, up to the one without a next cursor.
pub(in crate::scenarios) async fn walk(
    wire: &Wire,
    filters: &[(&'static str, String)],
    limit: Option<usize>,
) -> Result<Vec<Page>, Failure> {
    let first = page(wire, filters, limit, None).await?;
    go_on(wire, filters, limit, first).await
}

/// `first` and every page that follows it.
pub(in crate::scenarios) async fn go_on(
    wire: &Wire,
    filters: &[(&'static str, String)],
    limit: Option<usize>,
    first: Page,
) -> Result<Vec<Page>, Failure> {
    let mut used = HashSet::new();
    let mut next = first.next.clone();
    let mut pages = vec![first];
    while let Some(cursor) = next {
        let following = page(wire, filters, limit, Some(&cursor)).await?;
        if !used.insert(cursor) || pages.len() >= PAGES_MAX {
            return Err(following.reply.failure("a last page", "a list without an end"));
        }
        next = following.next.clone();
        pages.push(following);
    }
    Ok(pages)
}

/// Those of `ids` that are on the pages, as often and in the order they came.
pub(in crate::scenarios) fn own(pages: &[Page], ids: &[i64]) -> Vec<i64> {
    pages.iter().flat_map(|page| &page.ids).copied().filter(|id| ids.contains(id)).collect()
}

/// Each of `ids` is on the pages exactly once.
pub(in crate::scenarios) fn once(what: &str, pages: &[Page], ids: &[i64]) -> Result<(), Failure> {
    let (mut got, mut expected) = (own(pages, ids), ids.to_vec());
    got.sort_unstable();
    expected.sort_unstable();
    crate::check::equal(&format!("{what}: the prompts of all pages together"), &got, &expected)
}

/// Walks until each of `ids` was seen. Others may change the list meanwhile, and
/// on some servers that hides an entry from one walk; then it walks again.
pub(in crate::scenarios) async fn find(
    case: &Case,
    wire: &Wire,
    filters: &[(&'static str, String)],
    ids: &[i64],
) -> Result<(), Failure> {
    let what = format!("the prompts {ids:?} in the list");
    case.until(&what, Duration::from_secs(10), || async {
        let mut missing: HashSet<i64> = ids.iter().copied().collect();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let page = page(wire, filters, Some(100), cursor.as_deref()).await?;
            missing.retain(|id| !page.ids.contains(id));
            cursor = page.next;
            if missing.is_empty() || cursor.is_none() {
                break;
            }
        }
        Ok(missing.is_empty().then_some(()))
    })
    .await
}

/// `count` new prompts in a vault, made one after the other: the oldest first.
pub(in crate::scenarios) async fn stock(
    case: &Case,
    wire: &Wire,
    vault: i64,
    count: usize,
) -> Result<Vec<i64>, Failure> {
    let mut prompts = Vec::with_capacity(count);
    for _ in 0..count {
        prompts.push(make::prompt(case, wire).await?);
    }
    put(wire, vault, &prompts).await?;
    Ok(prompts)
}

/// Puts prompts into a vault, as many at once as may be.
pub(in crate::scenarios) async fn put(
    wire: &Wire,
    vault: i64,
    prompts: &[i64],
) -> Result<(), Failure> {
    for some in prompts.chunks(ADDED_AT_ONCE) {
        let body = json!({ "promptIds": some });
        wire.post(&format!("/vaults/{vault}/prompts"), body).await?.status(201)?;
    }
    Ok(())
}

/// A new vault with `count` new prompts in it, the oldest first.
pub(in crate::scenarios) async fn stocked(
    case: &Case,
    wire: &Wire,
    count: usize,
) -> Result<(i64, Vec<i64>), Failure> {
    let vault = make::vault(case, wire).await?;
    Ok((vault, stock(case, wire, vault, count).await?))
}
