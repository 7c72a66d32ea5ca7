//! Pages of `GET /prompts` for chapters without fixtures; [`List`] has more.

use crate::Failure;
use crate::fixture::List;
pub(in crate::scenarios) use crate::fixture::Page;
use crate::wire::Wire;

/// The filter for the prompts of a vault.
pub(in crate::scenarios) fn in_vault(vault: i64) -> Vec<(&'static str, String)> {
    vec![("vaultId", vault.to_string())]
}

fn list(wire: &Wire, filters: &[(&'static str, String)], limit: Option<usize>) -> List {
    let list = List::of(wire.clone());
    let list = filters.iter().fold(list, |list, (name, value)| list.with(name, value));
    limit.into_iter().fold(list, List::limit)
}

/// One page of the list.
pub(in crate::scenarios) async fn page(
    wire: &Wire,
    filters: &[(&'static str, String)],
    limit: Option<usize>,
    cursor: Option<&str>,
) -> Result<Page, Failure> {
    let list = list(wire, filters, limit);
    cursor.into_iter().fold(list, |list, cursor| list.with("cursor", cursor)).page().await
}

/// Every page of the list, up to the one without a next cursor.
pub(in crate::scenarios) async fn walk(
    wire: &Wire,
    filters: &[(&'static str, String)],
    limit: Option<usize>,
) -> Result<Vec<Page>, Failure> {
    Ok(list(wire, filters, limit).walk().await?.pages)
}
