//! Holds the table of `README.md` to the page of silent points: a row for each of
//! them, and what the reference server does in the words of the page.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use libtest_mimic::Failed;

/// How many servers there are beside the reference.
const SERVERS: usize = 3;

/// In the cell of a server that makes the choice of the reference.
const SAME: &str = "as the reference server";

/// How a cell begins that says why there is nothing to choose.
const NO_OTHER: [&str; 2] = ["no other", "none: there is no other"];

/// Each silent point has a row with an answer of each server, and no other has. At least one
/// server makes each choice otherwise, or its cell says why there is no other to make.
pub(crate) fn every_silent_point_has_an_answer_of_each_server() -> Result<(), Failed> {
    let (page, table) =
        (rows("../docs/reference/silent-points.md")?, rows("tests/independent/README.md")?);
    for (id, cells) in &page {
        let row = table.get(id).ok_or_else(|| format!("{id} has no row in the table"))?;
        let [reference, others @ ..] = &row[..] else {
            return Err(format!("{id} has no answers").into());
        };
        if cells.last() != Some(reference) {
            return Err(format!("{id}: the page says {cells:?}, the table {reference:?}").into());
        }
        if others.len() != SERVERS || others.iter().any(String::is_empty) {
            return Err(format!("{id}: a server has no answer").into());
        }
        // A cell that gives the reason why there is no other answer to try.
        let is_reason = |cell: &String| NO_OTHER.iter().any(|start| cell.starts_with(start));
        let otherwise = |cell: &String| cell != reference && cell != SAME;
        if !others.iter().any(|cell| is_reason(cell) || otherwise(cell)) {
            return Err(format!("{id}: no server chooses otherwise than the reference").into());
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
