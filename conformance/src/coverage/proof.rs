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

#[cfg(test)]
mod tests {
    use super::{Fault, parse};

    #[test]
    fn a_table_is_read_back_line_by_line() {
        let table =
            "fault\trule\tred\tat times\na.b\tPR-01\ta.b.c a.b.d\ta.race.e\nc.d\tVA-02\ta.b.c\t\n";
        let scenarios = vec!["a.b.c", "a.b.d"];
        let first = Fault { id: "a.b", rule: "PR-01", scenarios, at_times: vec!["a.race.e"] };
        let second = Fault { id: "c.d", rule: "VA-02", scenarios: vec!["a.b.c"], at_times: vec![] };
        assert_eq!(parse(table), [first, second]);
    }
}
