//! The numbered rules of `docs/reference/api.md`, read from the page itself, so that a
//! rule and the text that a report shows for it cannot differ.

use std::sync::LazyLock;

use crate::spec;

/// The page; a link in the source tree, a file in the published package.
const PAGE: &str = include_str!("../api.md");

/// One statement that can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Rule {
    /// Stable name, such as `PR-12`.
    pub id: &'static str,
    pub text: &'static str,
    /// The sentences it restates, of the specification or of an RFC.
    pub sentences: &'static [&'static str],
}

/// The two letters that the rules of each chapter begin with, its title and its text.
pub fn chapters() -> impl Iterator<Item = [&'static str; 3]> {
    PAGE.split("\n## ").skip(1).filter_map(|chapter| {
        let (title, rest) = chapter.split_once(" (")?;
        let (prefix, text) = rest.split_once(")\n")?;
        Some([prefix, title, text])
    })
}

pub fn all() -> impl Iterator<Item = Rule> {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| chapters().flat_map(rules).collect());
    RULES.iter().copied()
}

pub fn find(id: &str) -> Option<Rule> {
    all().find(|rule| rule.id == id)
}

/// A line `- **XX-01** text` is a rule, and a line `  > quote` behind it a sentence that it
/// restates.
fn rules([prefix, _, text]: [&'static str; 3]) -> impl Iterator<Item = Rule> {
    text.lines().zip(text.lines().skip(1).chain([""])).filter_map(move |(line, next)| {
        let (id, text) = line.strip_prefix("- **")?.split_once("** ")?;
        id.strip_prefix(prefix)?.strip_prefix('-')?.parse::<u8>().ok()?;
        let quoted = next.strip_prefix("  > ");
        let sentences = quoted.map_or_else(|| spec::sentences(id), |sentence| vec![sentence]);
        Some(Rule { id, text, sentences: sentences.leak() })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{PAGE, all, chapters};

    #[test]
    fn every_rule_of_the_page_is_read_and_has_a_number_of_its_own_in_its_chapter() {
        let marks = PAGE.split_once("\n## ").unwrap().1.matches("\n- **").count();
        let ids: HashSet<_> = all().map(|rule| rule.id).filter(|id| id.len() == 5).collect();
        assert_eq!((ids.len(), all().count(), chapters().count()), (marks, marks, 12));
    }
}
