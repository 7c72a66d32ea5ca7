//! Holds the table of `README.md` to the page of silent points: a row for each of
//! them, and what the reference server does in the words of the page.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

/// How many servers there are beside the reference.
const SERVERS: usize = 3;

/// In the cell of a server that makes the choice of the reference.
const SAME: &str = "as the reference server";

/// How a cell begins that says why there is nothing to choose.
const NO_OTHER: [&str; 2] = ["no other", "none: there is no other"];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("table::every_silent_point_has_an_answer_of_each_server", answers),
        Trial::test("table::what_a_client_must_accept_is_a_choice_of_the_servers", choices),
    ]
}

fn ensure(holds: bool, told: impl Into<String>) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(told.into().into()) }
}

/// Each silent point has a row with an answer of each server, and no other has. At least one
/// server makes each choice otherwise, or its cell says why there is no other to make.
fn answers() -> Result<(), Failed> {
    let (page, table) =
        (rows("../docs/reference/silent-points.md")?, rows("tests/independent/README.md")?);
    ensure(page.len() >= 70, "the page is not where this test looks")?;
    ensure(page.keys().eq(table.keys()), "the page and the table have other points")?;
    for ((id, cells), row) in page.iter().zip(table.values()) {
        let [reference, others @ ..] = &row[..] else {
            return Err(format!("{id} has no answers").into());
        };
        let same = cells.last() == Some(reference);
        ensure(same, format!("{id}: the page says {cells:?}, the table {reference:?}"))?;
        let all = others.len() == SERVERS && !others.iter().any(String::is_empty);
        ensure(all, format!("{id}: a server has no answer"))?;
        // Another choice, or a cell that gives the reason why there is no other answer to try.
        let is_other = |cell: &String| {
            let is_reason = NO_OTHER.iter().any(|start| cell.starts_with(start));
            is_reason || cell != reference && cell != SAME
        };
        let other = others.iter().any(is_other);
        ensure(other, format!("{id}: no server chooses otherwise than the reference"))?;
    }
    Ok(())
}

/// What a client must accept by the page, the suite accepts: all scenarios pass on the servers of the
/// table, and each point that leaves something open is a choice in their sources. Where the page says
/// that a client must accept nothing else, no server chooses, and only there.
fn choices() -> Result<(), Failed> {
    const ACCEPT: &str = "- **A client must accept**: ";
    let page = fs::read_to_string(path("../docs/reference/silent-points.md"))?;
    let table = rows("tests/independent/README.md")?;
    let files = fs::read_dir(path("tests/independent/alternative"))?.flatten();
    let sources: String = files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect();
    let sections: Vec<_> = page.split("\n## S-").skip(1).collect();
    ensure(sections.len() == table.len(), format!("{} points are read", sections.len()))?;
    for section in sections {
        let id = format!("S-{}", section.get(..2).unwrap_or_default());
        let accepts = section.lines().find_map(|line| line.strip_prefix(ACCEPT));
        let accepts =
            accepts.ok_or_else(|| format!("{id} does not say what a client must accept"))?;
        let answers = table.get(&id).map(|row| &row[1..]).unwrap_or_default();
        // A server without the thing, or a cell with the reason why there is nothing to choose.
        let without = answers.iter().all(|cell| cell.starts_with("no") || cell == "neither");
        let chooses = format!("{id}: a server chooses where nothing else is accepted");
        ensure(without || !accepts.starts_with("nothing else"), chooses)?;
        let unnamed = format!("{id}: no source of the servers names this choice: {accepts}");
        ensure(without || sources.contains(&id), unnamed)?;
    }
    Ok(())
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
