//! Folding of texts: what people take for the same letter becomes the same character.
//!
//! A text is decomposed (NFKD), loses its accents and all that is invisible, becomes lower case, and is
//! composed again. Marks that are letters of their script, such as the vowels of Hindi and Thai, stay.
//! Most characters become one letter or nothing whatever is around them: a table has these.

use std::iter::once;
use std::sync::LazyLock;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Lower-case letters that have no decomposition, and punctuation that programs write for the user,
/// each with what it folds to.
const OTHERS: &str = "ßss æae œoe þth øo łl đd ðd ħh ŧt ıi ςσ ‘' ’' “\" ”\" „\" ‐- –- —- −-";

/// Accents of Latin, Greek and Cyrillic letters, the points of Hebrew and Arabic, which most texts leave
/// out, and characters that are not visible.
const fn is_dropped(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{652}' | '\u{670}'
        | '\u{ad}' | '\u{61c}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}

/// What each character up to U+FFFF folds to, if it is one character or nothing.
static TABLE: LazyLock<Box<[Option<Option<char>>]>> =
    LazyLock::new(|| (0..=0xffff).map(|code| fold_one(char::from_u32(code)?)).collect());

fn fold_one(c: char) -> Option<Option<char>> {
    let mut folded = String::new();
    fold_any(c.encode_utf8(&mut [0; 4]), &mut folded);
    let mut chars = folded.chars();
    match (chars.next(), chars.next()) {
        (Some(to), None) => {
            // What may be composed with the character before is not `Yes`.
            (is_nfc_quick(once(to)) == IsNormalized::Yes).then_some(Some(to))
        }
        (None, _) => Some(None),
        _ => None,
    }
}

/// Appends a text of any characters.
fn fold_any(text: &str, out: &mut String) {
    let lower = text.nfkd().filter(|c| !is_dropped(*c)).flat_map(char::to_lowercase);
    let other = |c: char| OTHERS.split(' ').find_map(|other| other.strip_prefix(c));
    let plain = lower.flat_map(|c| {
        let other = other(c).unwrap_or_default();
        other.chars().chain(other.is_empty().then_some(c))
    });
    out.extend(plain.nfc());
}

/// Appends a text, folded.
pub(super) fn fold(text: &str, out: &mut String) {
    let (table, begin) = (&**TABLE, out.len());
    let folded = |c: char| table.get(c as usize).copied().flatten();
    if text.is_ascii() {
        out.push_str(text);
        return out[begin..].make_ascii_lowercase();
    }
    let is_mark = |c: char| !c.is_ascii() && canonical_combining_class(c) > 0;
    // Where the last letter is, in both texts.
    let (mut letter, mut letter_out, mut at, mut has_mark) = (0, begin, 0, false);
    while let Some(c) = text[at..].chars().next() {
        match folded(c) {
            Some(None) => at += c.len_utf8(),
            // The order of several marks of a letter may change.
            Some(Some(to)) if !(has_mark && is_mark(to)) => {
                has_mark = is_mark(to);
                if !has_mark {
                    (letter, letter_out) = (at, out.len());
                }
                out.push(to);
                at += c.len_utf8();
            }
            // From the last letter to the next one.
            _ => {
                let is_letter = |c: char| folded(c).flatten().is_some_and(|to| !is_mark(to));
                let end = text[at..].find(is_letter).map_or(text.len(), |length| at + length);
                out.truncate(letter_out);
                fold_any(&text[letter..end], out);
                (letter, letter_out, at, has_mark) = (end, out.len(), end, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded(text: &str) -> String {
        let mut out = "before ".to_owned();
        fold(text, &mut out);
        out.split_off("before ".len())
    }

    #[test]
    fn equal_texts_in_other_spellings_fold_to_the_same() {
        for (texts, expected) in [
            (
                &["Crème brûlée", "Cre\u{300}me bru\u{302}le\u{301}e", "CRÈME BRÛLÉE"][..],
                "creme brulee",
            ),
            (&["Straße", "STRASSE", "STRAẞE", "Stra\u{ad}ße"], "strasse"),
            (&["Việt", "Vie\u{323}\u{302}t", "Vie\u{302}\u{323}t", "VIỆT"], "viet"),
            (&["İzmir", "izmir", "IZMIR", "ızmır", "I\u{307}zmir"], "izmir"),
            (&["Ελληνικός", "ΕΛΛΗΝΙΚΌΣ", "Ελληνικο\u{301}ς"], "ελληνικοσ"),
            (&["Україна", "УКРАЇНА", "Украі\u{308}на"], "украіна"),
            (&["ﬁnal Æsir Øre Łódź", "FINAL æsir øre łódź"], "final aesir ore lodz"),
            (&["ｶﾞｷﾞ", "ガギ", "カ\u{3099}キ\u{3099}"], "ガギ"),
            (&["ＡＢ１２　ｃ", "ab12 c"], "ab12 c"),
            (&["한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"], "한국"),
            (&["क़लम", "क\u{93c}लम"], "क\u{93c}लम"),
            (&["हिन्दी"], "हिन्दी"),
            (&["น้ำ", "น\u{e49}\u{e4d}\u{e32}"], "น\u{e49}\u{e4d}\u{e32}"),
            (&["မြန်မာ"], "မြန်မာ"),
            (&["ខ្មែរ"], "ខ្មែរ"),
            (&["שָׁלוֹם", "שלום"], "שלום"),
            (&["مُحَمَّد", "محمد", "محـمد"], "محمد"),
            (&["❤\u{fe0f}", "❤"], "❤"),
            (&["don’t “go”", "don't \"go\""], "don't \"go\""),
            (&["文法", "语"], ""),
        ] {
            for text in texts.iter().filter(|_| !expected.is_empty()) {
                assert_eq!(folded(text), expected, "{text:?}");
            }
        }
        assert_ne!(folded("हिन्दी"), folded("हन्द"));
        assert_ne!(folded("ガ"), folded("カ"));
    }

    proptest! {
        #[test]
        fn the_table_folds_as_a_whole_text_is_folded(
            text in "[a-cÀ-ſ\u{300}-\u{33f}ßｦ-ﾟか-が\u{3099}\u{1100}-\u{1112}\u{1161}-\u{1163}\u{11a8}-\u{11aa}각-갛\u{905}-\u{94d}\u{9be}-\u{9d7}\u{e31}-\u{e4d}\u{1025}-\u{103a}\u{1780}-\u{17d3}\u{f71}-\u{f80}ﬀ-ﬆ①-⑨😀👩\u{200d}\u{fe0f}\u{1d15e}]{0,12}",
            any in any::<String>(),
        ) {
            let ascii = "Letters in SEVERAL blocks, with more";
            let long = format!("{ascii}{text}{ascii}{any}{ascii}");
            for text in [&text, &any, &long] {
                let mut whole = String::new();
                fold_any(text, &mut whole);
                prop_assert_eq!(folded(text), &*whole);
                // The query and the text may be given in any form.
                prop_assert_eq!(folded(&text.nfd().collect::<String>()), &*whole);
                prop_assert_eq!(folded(&text.nfc().collect::<String>()), &*whole);
                prop_assert_eq!(folded(&whole), &*whole);
            }
        }
    }
}
