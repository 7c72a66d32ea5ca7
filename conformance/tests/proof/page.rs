//! `docs/reference/conformance-proof.md`: what the table says, counted, and what it does not prove.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use promptarium_conformance::coverage::{proof, why_no_fault};
use promptarium_conformance::{rules, scenarios};

use crate::unseen::{BY_OTHER_RULES, Broken, Seen, UNSEEN};

const OPENING: &str = "\
# What the conformance suite catches

A scenario that cannot fail proves nothing. So each deliberate fault is a server that is
correct except for one thing, such as a title of 121 characters that it accepts. The fault
breaks one rule of [api.md](api.md), and a scenario of that rule must fail. Scenarios of other
rules fail too where they depend on what is broken; all others must pass.

`conformance/proof.tsv` records which scenarios fail under which fault, and `cargo test` runs
each fault against those and a share of the others. A scenario may fail at times only, where
its requests race or where the fault shows in what other scenarios left behind.

[sentences.md](sentences.md) has the same by sentences of the specification.

The last three columns count the scenarios that fail under a fault of a rule of their own, only
under faults of other rules, and never. A scenario may belong to several chapters.

";

const DETAILS: &str = "
## Details

Each rule with its scenarios and faults; the faults and rules under which one scenario is red;
what one fault does wrong; and that fault alone:

```sh
promptarium-conformance coverage
grep 'vaults.list.once' conformance/proof.tsv | cut -f1,2
grep -rA1 '\"vaults.slug-name\"' conformance/tests/proof/faults
cargo test -p promptarium-conformance --test proof -- vaults.slug-name
```

`script/proof` runs the faults anew, and writes the table and this page.
";

/// Writes the page.
pub(crate) fn write(faults: &[proof::Fault<'_>]) -> io::Result<()> {
    fs::write(path(), text(faults))
}

/// Whether the page is another than this table's.
pub(crate) fn is_stale(faults: &[proof::Fault<'_>]) -> io::Result<bool> {
    Ok(fs::read_to_string(path())? != text(faults))
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/conformance-proof.md")
}

fn text(faults: &[proof::Fault<'_>]) -> String {
    let broken = Broken::by(faults);
    let counts = chapters(faults, &broken);
    [OPENING, &counts, &unproved_rules(), &unproved_scenarios(), DETAILS].concat()
}

/// Rules, faults and scenarios by chapter.
fn chapters(faults: &[proof::Fault<'_>], broken: &Broken<'_>) -> String {
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
    let chapters = rules::chapters();
    let rows = chapters.iter().map(|one| row(&format!("{} {}", one.prefix, one.title), one.prefix));
    format!(
        "| Chapter | Rules | Broken | Faults | Scenarios | Red, own | Red, others | Never |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n{}{}",
        rows.collect::<String>(),
        row("All", "")
    )
}

/// The rules that no fault breaks, by reason.
fn unproved_rules() -> String {
    let reasons = rules::all().filter_map(|rule| Some((why_no_fault(rule.id)?, rule.id)));
    format!("\n## Not proved\n\nRules without a fault:\n\n{}", by_reason(reasons))
}

fn unproved_scenarios() -> String {
    let listed = |scenarios: &[(&'static str, &str)]| {
        by_reason(scenarios.iter().map(|(id, reason)| ((*reason).to_owned(), *id)))
    };
    format!(
        "\nScenarios that no fault turns red:\n\n{}\nScenarios that turn red, but under no fault \
         of a rule of their own:\n\n{}",
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
