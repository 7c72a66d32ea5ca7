//! Which deliberate faults the suite catches, read from the table that their tests write, so that
//! the command shows what was really seen.

use std::sync::LazyLock;

/// One fault per line, in the order of the fields of [`Fault`]: tabs and spaces between them.
const TABLE: &str = include_str!("../../proof.tsv");

static FAULTS: LazyLock<Vec<Fault<'static>>> = LazyLock::new(|| parse(TABLE));

/// A server that breaks a rule, and the scenarios that fail on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault<'t> {
    /// Stable name, such as `prompts.title-121`.
    pub id: &'t str,
    pub rule: &'t str,
    pub scenarios: Vec<&'t str>,
    /// Those that fail at times, as others happen to act at the same moment; they are no proof.
    pub at_times: Vec<&'t str>,
}

impl<'t> Fault<'t> {
    /// The scenarios that fail there, always or at times.
    pub fn red(&self) -> impl Iterator<Item = &'t str> {
        self.scenarios.iter().chain(&self.at_times).copied()
    }
}

pub fn faults() -> &'static [Fault<'static>] {
    &FAULTS
}

pub fn parse(table: &str) -> Vec<Fault<'_>> {
    table.lines().skip(1).filter_map(fault).collect()
}

fn fault(line: &str) -> Option<Fault<'_>> {
    let [id, rule, always, at_times] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
    let scenarios = always.split_whitespace().collect();
    Some(Fault { id, rule, scenarios, at_times: at_times.split_whitespace().collect() })
}
