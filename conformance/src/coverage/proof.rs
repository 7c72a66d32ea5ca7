//! Which deliberate faults the suite catches, read from the page that their
//! tests write, so that the command shows what was really seen.

use std::sync::LazyLock;

/// The page; a link in the source tree, a file in the published package.
const PAGE: &str = include_str!("../../proof.md");

/// What stands around the id of a scenario.
const AROUND: [char; 3] = ['`', '(', ')'];

static PARSED: LazyLock<Page<'static>> = LazyLock::new(|| parse(PAGE));

/// What the page says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page<'p> {
    /// The faults, in the order of the page.
    pub faults: Vec<Fault<'p>>,
    /// The rules that no fault breaks.
    pub unproved: Vec<Unproved<'p>>,
}

/// A server that breaks a rule, and what it does not get past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault<'p> {
    /// Stable name, such as `prompts.title-121`.
    pub id: &'p str,
    /// What that server does wrong.
    pub wrong: &'p str,
    /// The rule it breaks, and behind it rules whose scenarios cannot do without what
    /// is broken.
    pub rules: Vec<&'p str>,
    /// The ids of the scenarios that fail there.
    pub scenarios: Vec<&'p str>,
    /// The ids of the scenarios that fail there or not, as others happen to act
    /// at the same moment. They are no proof.
    pub at_times: Vec<&'p str>,
}

/// A rule without a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unproved<'p> {
    /// The rule's id.
    pub rule: &'p str,
    /// Why there is none.
    pub reason: &'p str,
}

/// Every fault of the page.
pub fn faults() -> &'static [Fault<'static>] {
    &PARSED.faults
}

/// Every rule that the page gives a reason for.
pub fn unproved() -> &'static [Unproved<'static>] {
    &PARSED.unproved
}

/// Reads a page: a fault is a line ``| `id` | what | rules | `scenarios` |``, where
/// parentheses are around what fails at times only, and a rule without a fault is
/// `- **XX-01** reason`.
pub fn parse(page: &str) -> Page<'_> {
    Page {
        faults: page.lines().filter_map(fault).collect(),
        unproved: page.lines().filter_map(unproved_rule).collect(),
    }
}

fn fault<'p>(line: &'p str) -> Option<Fault<'p>> {
    let cells: Vec<_> = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ").collect();
    let &[id, wrong, rules, scenarios] = cells.as_slice() else { return None };
    let (at_times, always): (Vec<_>, Vec<_>) =
        scenarios.split(", ").partition(|id| id.starts_with('('));
    let names = |ids: Vec<&'p str>| ids.into_iter().map(|id| id.trim_matches(AROUND)).collect();
    Some(Fault {
        id: id.strip_suffix('`')?,
        wrong,
        rules: rules.split(", ").collect(),
        scenarios: names(always),
        at_times: names(at_times),
    })
}

fn unproved_rule(line: &str) -> Option<Unproved<'_>> {
    let (rule, reason) = line.strip_prefix("- **")?.split_once("** ")?;
    Some(Unproved { rule, reason })
}

#[cfg(test)]
mod tests {
    use super::{Fault, Page, Unproved, parse};

    #[test]
    fn a_page_is_read_back_line_by_line() {
        let page = "# Title\n\n| Fault | What | Rules | Scenarios |\n|---|---|---|---|\n\
                    | `a.b` | It is wrong. | PR-01, PR-02 | `a.b.c`, (`a.race.e`), `a.b.d` |\n\n\
                    ## Rules\n\n- **VE-03** A promise.\n";
        let fault = Fault {
            id: "a.b",
            wrong: "It is wrong.",
            rules: vec!["PR-01", "PR-02"],
            scenarios: vec!["a.b.c", "a.b.d"],
            at_times: vec!["a.race.e"],
        };
        let unproved = Unproved { rule: "VE-03", reason: "A promise." };
        assert_eq!(parse(page), Page { faults: vec![fault], unproved: vec![unproved] });
    }
}
