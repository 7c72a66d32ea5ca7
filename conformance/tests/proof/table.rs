//! `conformance/proof.tsv`: which fault turns which scenarios red. It is written by a run and
//! held by the next ones.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::{fs, io};

use promptarium_conformance::coverage::proof;

use crate::fault::Fault;
use crate::trial::{Ids, Red, rules_of};
use crate::{faults, page};

const HEADING: &str = "fault\trule\tred scenarios\tred at times";

/// What turned red under which fault.
#[derive(Default)]
pub(crate) struct Rows(Mutex<BTreeMap<&'static str, Red>>);

/// What the table lists as red under this fault, if it has a line.
pub(crate) fn listed(fault: &str) -> Option<Red> {
    static LINES: LazyLock<HashMap<&str, &proof::Fault<'_>>> =
        LazyLock::new(|| proof::faults().iter().map(|line| (line.id, line)).collect());
    LINES.get(fault).map(|line| red_of(line))
}

fn red_of(line: &proof::Fault<'_>) -> Red {
    let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Ids>();
    Red { always: owned(&line.scenarios), at_times: owned(&line.at_times) }
}

impl Rows {
    pub(crate) fn add(&self, fault: &'static str, red: Red) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(fault, red);
    }

    /// Writes the table: these rows, and its own for faults that did not run this time. Then
    /// the page.
    pub(crate) fn write(&self) -> io::Result<()> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = fs::read_to_string(path())?;
        let old = proof::parse(&old);
        let row = |fault: &Fault| {
            let before = || old.iter().find(|line| line.id == fault.id).map(red_of);
            rows.get(fault.id).cloned().or_else(before).map(|red| row(fault, &red))
        };
        let rows: Vec<_> = faults::all().filter_map(row).collect();
        let text = format!("{HEADING}\n{}\n", rows.join("\n"));
        page::write(&proof::parse(&text))?;
        fs::write(path(), text)
    }
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("proof.tsv")
}

fn row(fault: &Fault, red: &Red) -> String {
    let ids = |ids: &Ids| ids.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    [fault.id, fault.rule, &ids(&red.always), &ids(&red.at_times)].join("\t")
}

/// Where table, faults and page do not fit together; rules with neither a fault nor a reason
/// are for the suite's own coverage to tell.
pub(crate) fn drift() -> io::Result<Vec<String>> {
    let mut drift = Vec::new();
    for fault in faults::all() {
        match proof::faults().iter().find(|line| line.id == fault.id) {
            None => drift.push(format!("{} has no line; run script/proof", fault.id)),
            Some(line) if line.rule != fault.rule => {
                drift.push(format!("the line of {} is stale", fault.id));
            }
            Some(line) if !line.scenarios.iter().any(|id| rules_of(id).contains(&fault.rule)) => {
                drift.push(format!("{}: no scenario of {} is red", fault.id, fault.rule));
            }
            Some(_) => {}
        }
    }
    for line in proof::faults() {
        if !faults::all().any(|fault| fault.id == line.id) {
            drift.push(format!("{} is no fault", line.id));
        }
    }
    if page::is_stale(proof::faults())? {
        drift.push("a page is stale; run PROMPTARIUM_PROOF=new script/proof page::".into());
    }
    Ok(drift)
}
