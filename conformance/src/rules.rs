//! The numbered rules of `docs/reference/api.md`, read from the page itself, so that a
//! rule and the text a report shows for it cannot drift apart.

use std::sync::LazyLock;

use crate::spec;

/// The page; a link in the source tree, a file in the published package.
const PAGE: &str = include_str!("../api.md");

const QUOTE: &str = "  > ";

static CHAPTERS: LazyLock<Vec<Chapter>> = LazyLock::new(|| parse(PAGE));

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// The two letters its rules begin with.
    pub prefix: &'static str,
    pub title: &'static str,
    pub rules: Vec<Rule>,
}

/// One checkable statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Rule {
    /// Stable name, such as `PR-12`.
    pub id: &'static str,
    pub text: &'static str,
    /// The sentences it restates, of the specification or of an RFC.
    pub sentences: &'static [&'static str],
}

pub fn chapters() -> &'static [Chapter] {
    &CHAPTERS
}

pub fn all() -> impl Iterator<Item = Rule> {
    chapters().iter().flat_map(|chapter| &chapter.rules).copied()
}

pub fn find(id: &str) -> Option<Rule> {
    all().find(|rule| rule.id == id)
}

/// `## Title (XX)` opens a chapter, `- **XX-01** text` is a rule of it, and a line
/// `  > quote` behind a rule is a sentence that it restates.
fn parse(page: &'static str) -> Vec<Chapter> {
    let mut chapters: Vec<Chapter> = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some((title, prefix)) = heading(line) {
            chapters.push(Chapter { prefix, title, rules: Vec::new() });
        } else if let Some((id, text)) = rule(line)
            && let Some(chapter) = chapters.last_mut()
        {
            let quoted = lines.next_if(|next| next.starts_with(QUOTE));
            let quoted = quoted.and_then(|line| line.strip_prefix(QUOTE));
            let sentences = quoted.map_or(spec::sentences(id), |line| vec![line].leak());
            chapter.rules.push(Rule { id, text, sentences });
        }
    }
    chapters
}

fn heading(line: &'static str) -> Option<(&'static str, &'static str)> {
    let (title, rest) = line.strip_prefix("## ")?.split_once(" (")?;
    let prefix = rest.strip_suffix(')')?;
    (prefix.len() == 2).then_some((title, prefix))
}

fn rule(line: &'static str) -> Option<(&'static str, &'static str)> {
    line.strip_prefix("- **")?.split_once("** ")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{all, chapters};

    #[test]
    fn every_rule_stands_in_the_chapter_of_its_prefix_and_is_numbered_once() {
        let mut seen = HashSet::new();
        for chapter in chapters() {
            assert!(!chapter.rules.is_empty(), "{} is empty", chapter.title);
            for rule in &chapter.rules {
                let number = rule.id.strip_prefix(chapter.prefix).and_then(|n| n.strip_prefix('-'));
                let digits = number.is_some_and(|n| n.len() == 2 && n.parse::<u8>().is_ok());
                assert!(digits, "{} in {}", rule.id, chapter.title);
                assert!(seen.insert(rule.id), "{} twice", rule.id);
            }
        }
    }

    #[test]
    fn no_rule_of_the_page_is_overlooked() {
        let numbered = super::PAGE.split_once("\n## ").unwrap().1;
        let marks = numbered.lines().filter(|line| line.starts_with("- **")).count();
        assert_eq!(all().count(), marks);
        assert_eq!(chapters().len(), 13);
    }
}
