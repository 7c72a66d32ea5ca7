//! Holds the table of `README.md` to the page of silent points: a row for each of
//! them, and what the reference server does in the words of the page.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

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

/// What a client must accept by the page, the suite accepts: all scenarios pass on the servers of the
/// table, and each point that leaves something open is a choice in their sources. Where the page says
/// that a client must accept nothing else, no server chooses, and only there.
pub(crate) fn what_a_client_must_accept_is_a_choice_of_the_servers() -> Result<(), Failed> {
    const ACCEPT: &str = "- **A client must accept**: ";
    let page = fs::read_to_string(path("../docs/reference/silent-points.md"))?;
    let table = rows("tests/independent/README.md")?;
    let files = fs::read_dir(path("tests/independent/alternative"))?.flatten();
    let sources: String = files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect();
    let mut seen = 0;
    for section in page.split("\n## S-").skip(1) {
        let id = format!("S-{}", section.get(..2).unwrap_or_default());
        let accepts = section.lines().find_map(|line| line.strip_prefix(ACCEPT));
        let accepts =
            accepts.ok_or_else(|| format!("{id} does not say what a client must accept"))?;
        let answers = table.get(&id).map(|row| &row[1..]).unwrap_or_default();
        // A server without the thing, or a cell with the reason why there is nothing to choose.
        let without = answers.iter().all(|cell| cell.starts_with("no") || cell == "neither");
        if accepts.starts_with("nothing else") && !without {
            return Err(format!("{id}: a server chooses where nothing else is accepted").into());
        }
        if !without && !sources.contains(&id) {
            return Err(
                format!("{id}: no source of the servers names this choice: {accepts}").into()
            );
        }
        seen += 1;
    }
    if seen == table.len() { Ok(()) } else { Err(format!("{seen} points are read").into()) }
}

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// The rows of a page's table by their silent point, without its cell.
fn rows(page: &str) -> Result<BTreeMap<String, Vec<String>>, Failed> {
    let text = fs::read_to_string(path(page))?;
    let rows = text.lines().filter_map(|line| {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let mut cells = cells.split(" | ").map(|cell| cell.trim().to_owned());
        let id = cells.next()?;
        let id = id.trim_start_matches('[').get(..4)?.to_owned();
        id.starts_with("S-").then(|| (id, cells.collect()))
    });
    Ok(rows.collect())
}
