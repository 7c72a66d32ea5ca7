//! Holds the table of `README.md` to the page of silent points: a row for each of
//! them, and what the reference server does in the words of the page.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use libtest_mimic::Failed;

/// Each silent point has a row with an answer of each server, and no other has.
pub(crate) fn every_silent_point_has_an_answer_of_each_server() -> Result<(), Failed> {
    let (page, table) = (rows("../docs/silent-points.md")?, rows("tests/independent/README.md")?);
    for (id, cells) in &page {
        let row = table.get(id).ok_or_else(|| format!("{id} has no row in the table"))?;
        let [reference, lavish, terse] = &row[..] else {
            return Err(format!("{id} has {} answers in place of three", row.len()).into());
        };
        if cells.last() != Some(reference) {
            return Err(format!("{id}: the page says {cells:?}, the table {reference:?}").into());
        }
        if lavish.is_empty() || terse.is_empty() {
            return Err(format!("{id}: a server has no answer").into());
        }
    }
    match table.keys().find(|id| !page.contains_key(*id)) {
        Some(id) => Err(format!("{id} is no silent point").into()),
        None if page.len() < 70 => Err("the page is not where this test looks".into()),
        None => Ok(()),
    }
}

/// The rows of a page's table by their silent point, without its cell.
fn rows(page: &str) -> Result<BTreeMap<String, Vec<String>>, Failed> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page))?;
    let rows = text.lines().filter_map(|line| {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let mut cells = cells.split(" | ").map(|cell| cell.trim().to_owned());
        let id = cells.next()?;
        let id = id.trim_start_matches('[').get(..4)?.to_owned();
        id.starts_with("S-").then(|| (id, cells.collect()))
    });
    Ok(rows.collect())
}
