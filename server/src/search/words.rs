//! The words of a search, and the match with a prompt.

use std::cmp::Reverse;

use memchr::memmem::Finder;

use super::fold::fold;
use crate::store::PromptTexts;

/// Words and phrases. A prompt has them if each occurs in its title, its text or its platform, also
/// within a longer word.
#[derive(Debug)]
pub(crate) struct Words(Vec<Phrase>);

/// Words that follow one another, with white space in between. Most phrases are one word.
#[derive(Debug)]
struct Phrase {
    first: Finder<'static>,
    rest: Vec<Box<str>>,
}

impl Words {
    /// The words of a text, and the phrases between its quotation marks. White space and punctuation
    /// separate words; of a text without words the punctuation is looked for. `None` if there is
    /// nothing that can be seen.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let folded = folded(text);
        let parts = folded.split('"').enumerate();
        let words = parts.flat_map(|(number, part)| match number % 2 {
            0 => words(part).map(|word| vec![word]).collect(),
            _ => vec![part.split_whitespace().collect()],
        });
        let mut phrases: Vec<Vec<&str>> = words.filter(|words| !words.is_empty()).collect();
        if phrases.is_empty() {
            phrases.extend(folded.split_whitespace().map(|word| vec![word]));
        }
        // The longest one, which is rare, is looked for first.
        phrases.sort_by_key(|phrase| Reverse(phrase.iter().map(|word| word.len()).sum::<usize>()));
        phrases.dedup();
        let phrases: Vec<_> = phrases.iter().filter_map(|words| Phrase::new(words)).collect();
        (!phrases.is_empty()).then_some(Self(phrases))
    }

    /// Whether a prompt has all of them. The buffer saves allocations.
    pub(crate) fn are_in(&self, prompt: &PromptTexts, buffer: &mut String) -> bool {
        buffer.clear();
        let PromptTexts { title, text, platform, .. } = prompt;
        for text in [title, text].into_iter().chain(platform) {
            fold(text, buffer);
            // It is in no text, so no phrase goes over it.
            buffer.push('\0');
        }
        self.0.iter().all(|phrase| phrase.is_in(buffer))
    }
}

impl Phrase {
    fn new(words: &[&str]) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        let first = Finder::new(*first).into_owned();
        Some(Self { first, rest: rest.iter().map(|word| Box::from(*word)).collect() })
    }

    fn is_in(&self, text: &str) -> bool {
        let (bytes, mut from) = (text.as_bytes(), 0);
        while let Some(at) = self.first.find(&bytes[from..]) {
            let end = from + at + self.first.needle().len();
            if self.rest.is_empty() || self.continues(&text[end..]) {
                return true;
            }
            from += at + 1;
        }
        false
    }

    /// Whether the other words come next.
    fn continues(&self, mut text: &str) -> bool {
        self.rest.iter().all(|word| {
            let trimmed = text.trim_start();
            let is_apart = trimmed.len() < text.len();
            let Some(after) = trimmed.strip_prefix(&**word) else { return false };
            text = after;
            is_apart
        })
    }
}

pub(crate) fn folded(text: &str) -> String {
    let mut folded = String::new();
    fold(text, &mut folded);
    folded
}

/// The words of a folded text.
pub(crate) fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(separates).filter(|word| !word.is_empty())
}

/// White space and punctuation. Symbols, such as emoji, do not separate words.
fn separates(c: char) -> bool {
    let is_punctuation = matches!(c,
        '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '¡' | '¿' | '«' | '»' | '·' | '،' | '؛' | '؟'
        | '।' | '॥');
    c.is_whitespace()
        || c.is_control()
        || c.is_ascii_punctuation()
        || is_punctuation && !c.is_alphanumeric()
}

/// A title of each script.
#[cfg(test)]
pub(crate) const TITLES: [&str; 22] = [
    "Crème brûlée",
    "Straße",
    "Vie\u{323}\u{302}t",
    "İzmir",
    "Ελληνικά",
    "Україна",
    "हिन्दी",
    "ไทย น้ำ",
    "မြန်မာ",
    "ខ្មែរ",
    "日本語の文法",
    "ｶﾞｷﾞｸﾞ",
    "한국어",
    "ﬁligree",
    "שָׁלוֹם",
    "مُحَمَّد",
    "বাংলা",
    "தமிழ்",
    "አማርኛ",
    "ქართული",
    "A 🐙 in the sea",
    "e\u{301}te\u{301}",
];

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use promptarium::PromptId;

    use super::*;

    fn prompt(title: &str, text: &str, platform: Option<&str>) -> PromptTexts {
        let id = PromptId::new(1);
        let platform = platform.map(Arc::from);
        PromptTexts { id, title: title.into(), text: text.into(), platform }
    }

    fn finds(search: &str, title: &str) -> bool {
        Words::parse(search).unwrap().are_in(&prompt(title, "", None), &mut String::new())
    }

    #[test]
    fn a_title_in_any_script_is_found_by_itself_and_by_no_other() {
        for title in TITLES {
            for other in TITLES {
                assert_eq!(finds(title, other), title == other, "{title} in {other}");
            }
        }
    }

    #[test]
    fn words_are_found_without_accents_in_any_case_and_within_words() {
        for (search, title) in [
            ("creme brulee", "Crème brûlée"),
            ("CRÈME", "creme"),
            ("strasse", "Straße"),
            ("Straße", "STRASSE"),
            ("文法", "日本語の文法"),
            ("語", "日本語の文法"),
            ("Việt", "Vie\u{323}\u{302}t"),
            ("Vie\u{323}\u{302}t", "việt nam"),
            ("viet", "Việt"),
            ("izmir", "İzmir"),
            ("IZMIR", "İzmir"),
            ("İZMİR", "izmir"),
            ("ελληνικα", "Ελληνικά"),
            ("ΕΛΛΗΝΙΚΌΣ", "Ελληνικός"),
            ("УКРАЇНА", "Україна"),
            ("ガギ", "ｶﾞｷﾞｸﾞ"),
            ("filigree", "ﬁligree"),
            ("น้ำ", "ไทยน้ำ"),
            ("bour", "A Harbour before sunrise"),
            ("neon-city", "A city of NEON"),
            ("harbour, dawn!", "Dawn/harbour.png"),
            ("don't", "Don’t"),
            ("🐙", "An octopus 🐙"),
            ("❤", "With ❤\u{fe0f}"),
            ("4:3", "Format 3 to 4"),
        ] {
            assert!(finds(search, title), "{search} in {title}");
        }
        for (search, title) in [
            ("harbour gull", "A harbour"),
            ("हन्दी", "हिन्दी"),
            ("カギ", "ガギ"),
            ("🐙", "An octopus 🐠"),
        ] {
            assert!(!finds(search, title), "{search} in {title}");
        }
    }

    #[test]
    fn a_phrase_is_found_as_it_is_but_for_white_space() {
        for (search, title, found) in [
            ("\"two words\"", "In two\n  WORDS", true),
            ("\"two words\"", "words, two", false),
            ("\"two words\"", "two, words", false),
            ("\"two words\"", "twowords", false),
            ("“two words”", "two words", true),
            ("\"wo wor\"", "two words", true),
            ("\"two words", "two words", true),
            ("\"two words", "words two", false),
            ("one \"two words\"", "two words, one", true),
            ("\"aa b c\"", "aaa b aa b c", true),
            ("\"16:9\"", "a 16:9 picture", true),
            ("\"16:9\"", "16 of 9", false),
            ("\"c++\" loop", "A loop in C++", true),
            ("\"c++\"", "c", false),
        ] {
            assert_eq!(finds(search, title), found, "{search} in {title}");
        }
    }

    #[test]
    fn each_word_may_be_in_another_text_but_a_phrase_is_in_one() {
        let prompt = prompt("A gull", "calm sea", Some("Canvas"));
        for (search, found) in [
            ("canvas gull sea", true),
            ("canvas gull harbour", false),
            ("\"gull calm\"", false),
            ("\"sea canvas\"", false),
            ("\"calm sea\"", true),
        ] {
            let words = Words::parse(search).unwrap();
            assert_eq!(words.are_in(&prompt, &mut String::new()), found, "{search}");
        }
    }

    #[test]
    fn punctuation_alone_is_looked_for_and_what_cannot_be_seen_is_nothing() {
        assert!(finds("***", "A *** hotel"));
        assert!(!finds("***", "A hotel"));
        for nothing in ["", "  ", "\u{3000}\n", "\u{200b}", "\u{301}", "\"\""] {
            let words = Words::parse(nothing);
            assert_eq!(words.is_none(), nothing != "\"\"", "{nothing:?}");
        }
    }
}
