//! A client that walks the lists of prompts from the first page to the last, again and again.

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::Value;

use super::record::{Filter, Page, Walk};
use super::target::Client;
use super::writer::KINDS;
use crate::support::http::Request;

/// Walks of one filter after the other: by type, by vault, by both and by none.
pub(crate) const FILTERS: usize = 4;
/// Of the whole list, which is longer, and of a part of it.
const LIMITS: [[usize; 3]; 2] = [[20, 50, 100], [7, 20, 50]];

/// Walks until the client is stopped, each walk to its end; beginning with one of the filters.
pub(crate) async fn walk_on(client: Client, mut rng: StdRng, first: usize) -> Vec<Walk> {
    let mut walks = Vec::new();
    for number in first.. {
        walks.push(walk(&client, &mut rng, number).await);
        if client.is_stopped() {
            break;
        }
    }
    walks
}

/// One walk with the filter of this number.
pub(crate) async fn walk(client: &Client, rng: &mut StdRng, number: usize) -> Walk {
    let filter = Filter {
        kind: number.is_multiple_of(2).then(|| KINDS[rng.random_range(0..KINDS.len())]),
        vault: (number % FILTERS > 1)
            .then(|| client.vaults[rng.random_range(0..client.vaults.len())]),
    };
    let is_part = filter.kind.is_some() || filter.vault.is_some();
    let limit = LIMITS[usize::from(is_part)][rng.random_range(0..3)];
    let mut query = format!("/prompts?limit={limit}");
    query.extend(filter.kind.map(|kind| format!("&type={kind}")));
    query.extend(filter.vault.map(|vault| format!("&vaultId={vault}")));
    let mut walk = Walk { filter, limit, pages: Vec::new() };
    let mut path = query.clone();
    loop {
        let (span, response) = client.call(rng, &Request::get(&path)).await;
        let page: Value = response.json();
        let ids = page["data"].as_array().expect("a page").iter();
        let ids = ids.map(|prompt| prompt["id"].as_i64().expect("an id")).collect();
        let cursor = page["pagination"]["nextCursor"].as_str();
        walk.pages.push(Page { span, ids, more: cursor.is_some() });
        let Some(cursor) = cursor else {
            return walk;
        };
        path = format!("{query}&cursor={cursor}");
    }
}
