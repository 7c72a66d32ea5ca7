//! What the table says, counted: `docs/internals/conformance-proof.md` by chapters, and
//! `sentences.md` of this crate by sentences of the specification. Between its two marks each page is
//! written anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use promptarium_conformance::coverage::{proof, why_no_fault};
use promptarium_conformance::spec::{self, Clause};
use promptarium_conformance::{Profile, rules, scenarios};

use crate::unseen::{BY_OTHER_RULES, Broken, Seen, UNSEEN};

const MARKS: [&str; 2] = ["<!-- script/proof -->\n", "<!-- /script/proof -->\n"];

type Faults<'f> = &'f [proof::Fault<'f>];

/// What stands between the marks of a page.
type Text = fn(Faults<'_>) -> String;

/// By their paths from the folder of this crate.
const PAGES: [(&str, Text); 2] =
    [("../docs/internals/conformance-proof.md", by_chapters), ("sentences.md", by_sentences)];

/// Writes the pages.
pub(crate) fn write(faults: Faults<'_>) -> io::Result<()> {
    PAGES.iter().try_for_each(|(name, text)| fs::write(path(name), renewed(name, &text(faults))?))
}

/// Whether a page is another than this table's.
pub(crate) fn is_stale(faults: Faults<'_>) -> io::Result<bool> {
    for (name, text) in PAGES {
        if fs::read_to_string(path(name))? != renewed(name, &text(faults))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn renewed(name: &str, text: &str) -> io::Result<String> {
    let page = fs::read_to_string(path(name))?;
    let parts = page.split_once(MARKS[0]).and_then(|(start, rest)| {
        let (_, end) = rest.split_once(MARKS[1])?;
        Some([start, MARKS[0], "\n", text, "\n", MARKS[1], end].concat())
    });
    parts.ok_or_else(|| io::Error::other(format!("{name} lacks its marks {MARKS:?}")))
}

/// Rules, faults and scenarios by chapter, and what no fault proves.
fn by_chapters(faults: Faults<'_>) -> String {
    let broken = Broken::by(faults);
    let row = |title: &str, prefix: &str| {
        let of = |rule: &&str| rule.starts_with(prefix);
        let rules: Vec<_> = rules::all().filter(|rule| of(&rule.id)).collect();
        let has_fault = |rule: &&rules::Rule| faults.iter().any(|fault| fault.rule == rule.id);
        let seen: Vec<_> = scenarios::all()
            .filter(|one| one.rules.iter().any(of))
            .map(|one| broken.seen(one))
            .collect();
        let count = |as_seen| seen.iter().filter(|one| **one == as_seen).count();
        let cells = [
            rules.len(),
            rules.iter().filter(has_fault).count(),
            faults.iter().filter(|fault| of(&fault.rule)).count(),
            seen.len(),
            count(Seen::ByItsRules),
            count(Seen::ByOtherRules),
            count(Seen::Never),
        ];
        format!("| {title} | {} |\n", cells.map(|cell| cell.to_string()).join(" | "))
    };
    let rows =
        rules::chapters().map(|[prefix, title, _]| row(&format!("{prefix} {title}"), prefix));
    let unproved = rules::all().filter_map(|rule| Some((why_no_fault(rule.id)?, rule.id)));
    let listed = |all: &[(&'static str, &str)]| {
        by_reason(all.iter().map(|(id, reason)| ((*reason).to_owned(), *id)))
    };
    format!(
        "| Chapter | Rules | Broken | Faults | Scenarios | Red, own | Red, others | Never |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n{}{}\n## Not proved\n\nRules without a fault:\n\n{}\n\
         Scenarios that no fault turns red:\n\n{}\nScenarios that turn red, but under no fault of a \
         rule of their own:\n\n{}",
        rows.collect::<String>(),
        row("All", ""),
        by_reason(unproved),
        listed(UNSEEN),
        listed(BY_OTHER_RULES)
    )
}

fn by_reason<'i>(reasons: impl Iterator<Item = (String, &'i str)>) -> String {
    let mut grouped: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (reason, id) in reasons {
        grouped.entry(reason).or_default().push(id);
    }
    let line = |(reason, ids): (String, Vec<&str>)| format!("- {}: {reason}\n", ids.join(", "));
    grouped.into_iter().map(line).collect()
}

/// How many core scenarios look at it, and how many faults of the rules that they prove they catch.
fn counts(clause: &Clause, faults: Faults<'_>) -> (usize, usize) {
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

/// The statements with neither a fault that core catches nor a reason.
pub(crate) fn unproved_statements() -> Vec<String> {
    let clauses = spec::spec().quotes.iter().flat_map(|quote| &quote.clauses);
    let bare = clauses.filter(|clause| {
        let (scenarios, faults) = counts(clause, proof::faults());
        clause.reason.is_none() && (scenarios == 0 || faults == 0)
    });
    bare.map(|clause| format!("nothing in the core catches a fault of {:?}", clause.says)).collect()
}

fn by_sentences(faults: Faults<'_>) -> String {
    let (mut rows, mut stated, mut exempt) = (String::new(), 0, 0);
    for quote in &spec::spec().quotes {
        for clause in &quote.clauses {
            let found = match &clause.reason {
                Some(reason) => format!("| – | {reason} |"),
                None => {
                    let (scenarios, caught) = counts(clause, faults);
                    format!("| {scenarios} | {caught} |")
                }
            };
            (stated, exempt) = (stated + 1, exempt + usize::from(clause.reason.is_some()));
            let (says, rules) = (clause.says.replace('|', "\\|"), clause.rules.join(", "));
            rows.push_str(&format!("| {} | {says} | {rules} {found}\n", quote.id));
        }
    }
    format!(
        "{stated} statements in {} sentences and rows; {exempt} cannot be seen from outside, or not \
         within a run.\n\n| Sentence | It states | Rules | Scenarios | Faults |\n\
         |---|---|---|--:|--:|\n{rows}",
        spec::spec().quotes.len()
    )
}
