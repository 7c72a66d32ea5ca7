//! A client that walks the lists of prompts from the first page to the last, again and again.

use rand::RngExt;
use rand::rngs::StdRng;
use serde::Deserialize;

use crate::http::Request;
use crate::record::{Filter, Id, Page, Walk};
use crate::target::Client;
use crate::writer::KINDS;

/// Walks of one filter after the other: by type, by vault, by both and by none.
pub(crate) const FILTERS: usize = 4;
/// Of the whole list, which is longer, and of a part of it.
const LIMITS: [[usize; 3]; 2] = [[20, 50, 100], [7, 20, 50]];

#[derive(Deserialize)]
struct Listing {
    data: Vec<Listed>,
    pagination: Pagination,
}

#[derive(Deserialize)]
struct Listed {
    id: Id,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pagination {
    next_cursor: Option<String>,
}

/// Walks until the client is stopped, each walk to its end; beginning with one of the filters.
pub(crate) async fn run(client: Client, mut rng: StdRng, first: usize) -> Vec<Walk> {
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
    for (name, value) in [
        ("type", filter.kind.map(str::to_owned)),
        ("vaultId", filter.vault.map(|vault| vault.to_string())),
    ] {
        query.extend(value.map(|value| format!("&{name}={value}")));
    }
    let mut walk = Walk { filter, limit, pages: Vec::new() };
    let mut path = query.clone();
    loop {
        let (span, response) = client.call(rng, &Request::get(&path)).await;
        let listing: Listing = serde_json::from_slice(&response.bytes).expect("a page");
        let ids = listing.data.iter().map(|prompt| prompt.id).collect();
        let cursor = listing.pagination.next_cursor;
        walk.pages.push(Page { span, ids, more: cursor.is_some() });
        let Some(cursor) = cursor else {
            return walk;
        };
        path = format!("{query}&cursor={cursor}");
    }
}
