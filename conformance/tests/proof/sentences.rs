//! `docs/reference/sentences.md`: each sentence and table row of the specification, the scenarios
//! of the core that look at it, and the deliberate faults that they catch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use promptarium_conformance::coverage::proof;
use promptarium_conformance::spec::{self, Clause};
use promptarium_conformance::{Profile, scenarios};

const OPENING: &str = "\
# The specification sentence by sentence

What each sentence or table row of [the specification](../../conformance/spec/service-api.md)
states, with the rules of [api.md](api.md) that say so, the number of core scenarios that look
at it, and the number of deliberate faults against the rules of these scenarios that they catch each
time. A row
without scenarios has the reason. `script/proof` writes this page, and a test fails if a row is
empty.

";

/// Writes the page.
pub(crate) fn write(faults: &[proof::Fault<'_>]) -> io::Result<()> {
    fs::write(path(), text(faults))
}

/// Whether the page is another than this table's.
pub(crate) fn is_stale(faults: &[proof::Fault<'_>]) -> io::Result<bool> {
    Ok(fs::read_to_string(path())? != text(faults))
}

/// The statements with neither a fault that core catches nor a reason.
pub(crate) fn empty() -> Vec<String> {
    let clauses = spec::spec().quotes.iter().flat_map(|quote| &quote.clauses);
    let bare = clauses.filter(|clause| {
        let (scenarios, faults) = counts(clause, proof::faults());
        clause.reason.is_none() && (scenarios == 0 || faults == 0)
    });
    bare.map(|clause| format!("nothing in the core catches a fault of {:?}", clause.says)).collect()
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/sentences.md")
}

/// How many core scenarios look at it, and how many faults of the rules that they prove they catch.
fn counts(clause: &Clause, faults: &[proof::Fault<'_>]) -> (usize, usize) {
    let states = |rule: &str| clause.rules.iter().any(|one| one == rule);
    let looking: BTreeMap<_, _> = scenarios::all()
        .filter(|one| one.profile == Profile::Core && one.rules.iter().any(|rule| states(rule)))
        .map(|one| (one.id, one.rules))
        .collect();
    let caught = faults.iter().filter(|fault| {
        let proves = |id: &&str| looking.get(id).is_some_and(|it| it.contains(&fault.rule));
        fault.scenarios.iter().any(proves)
    });
    (looking.len(), caught.count())
}

fn text(faults: &[proof::Fault<'_>]) -> String {
    let (mut rows, mut stated, mut exempt) = (String::new(), 0, 0);
    for quote in &spec::spec().quotes {
        for clause in &quote.clauses {
            let (scenarios, caught) = counts(clause, faults);
            let rules = clause.rules.join(", ");
            let found = match &clause.reason {
                Some(reason) => {
                    exempt += 1;
                    format!("| – | {reason} |")
                }
                None => format!("| {scenarios} | {caught} |"),
            };
            stated += 1;
            let says = clause.says.replace('|', "\\|");
            rows.push_str(&format!("| {} | {says} | {rules} {found}\n", quote.id));
        }
    }
    let head = format!(
        "{stated} statements in {} sentences and rows; {exempt} cannot be seen from outside, or not \
         within a run.\n\n| Sentence | It states | Rules | Scenarios | Faults |\n|---|---|---|--:|--:|\n",
        spec::spec().quotes.len()
    );
    [OPENING, &head, &rows].concat()
}
