//! The forms in which a target may give a secret back: as it is, or in one of the usual encodings;
//! whole, or a piece of it.

use std::iter::zip;

use aho_corasick::{AhoCorasick, MatchKind};
use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};

/// Pieces of a secret that are at least this long never show.
pub(super) const PIECE: usize = 8;
/// Pieces are looked for at every fourth place, which finds any of `PIECE + STRIDE - 1` characters.
const STRIDE: usize = 4;

/// A text that must not show in a report.
pub(super) struct Form {
    text: String,
    /// The length of its shortest piece that must not show either, in bytes.
    piece: usize,
}

/// The whole text, and its secret part as it is and in every encoding that is looked for.
pub(super) fn of(text: &str, secret: &str) -> Vec<Form> {
    let bytes = secret.as_bytes();
    let each = |encode: fn(&u8) -> String| bytes.iter().map(encode).collect::<String>();
    let form = |text, piece| Form { text, piece };
    let mut forms = vec![
        form(text.to_owned(), text.len()),
        form(secret.to_owned(), PIECE),
        form(HEXLOWER.encode(bytes), 2 * PIECE),
        form(HEXUPPER.encode(bytes), 2 * PIECE),
        form(each(|byte| format!("%{byte:02x}")), 3 * PIECE),
        form(each(|byte| format!("%{byte:02X}")), 3 * PIECE),
        form(each(|byte| format!("\\u{byte:04x}")), 6 * PIECE),
        form(each(|byte| format!("\\u{byte:04X}")), 6 * PIECE),
    ];
    for before in 0..3 {
        for alphabet in [&BASE64_NOPAD, &BASE64URL_NOPAD] {
            forms.push(form(within(alphabet, before, bytes), PIECE));
        }
    }
    forms.retain(|form| form.text.len() >= form.piece);
    forms
}

/// What base64 makes of a secret that `before` bytes stand before, for it reads
/// three at a time; only the signs that no neighbour has a part in.
fn within(alphabet: &data_encoding::Encoding, before: usize, secret: &[u8]) -> String {
    let bytes = [&vec![0; before], secret].concat();
    let encoded = alphabet.encode(&bytes);
    let shared = usize::from(bytes.len() % 3 != 0);
    let own = (before * 8).div_ceil(6)..encoded.len() - shared.min(encoded.len());
    encoded.get(own).unwrap_or_default().to_owned()
}

/// Finds every form of every secret in one pass over a text.
pub(super) struct Finder {
    pieces: AhoCorasick,
    /// Of each piece: its placeholder, and what stands before and after it in its form.
    around: Vec<(&'static str, String, String)>,
}

impl Finder {
    /// Each form comes with its placeholder.
    pub(super) fn new<'f>(forms: impl Iterator<Item = (&'static str, &'f Form)>) -> Self {
        let (mut pieces, mut around) = (Vec::new(), Vec::new());
        for (placeholder, Form { text, piece }) in forms {
            for start in (0..text.len()).step_by(STRIDE) {
                let end = start + piece;
                let (Some(found), Some(after)) = (text.get(start..end), text.get(end..)) else {
                    continue;
                };
                pieces.push(found);
                around.push((placeholder, text[..start].to_owned(), after.to_owned()));
            }
        }
        let mut builder = AhoCorasick::builder();
        let pieces = builder.match_kind(MatchKind::LeftmostLongest).build(pieces);
        #[expect(clippy::expect_used, reason = "a run keeps some hundred secrets")]
        let pieces = pieces.expect("fewer than two billion pieces");
        Self { pieces, around }
    }

    /// The text with a placeholder for each piece, and for what continues it on both sides.
    pub(super) fn redact(&self, text: &str) -> String {
        let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(found) = self.pieces.find(rest) {
            let (placeholder, before, after) = &self.around[found.pattern()];
            let (left, right) = (&rest[..found.start()], &rest[found.end()..]);
            let more_left = common(left.chars().rev(), before.chars().rev());
            let more_right = common(right.chars(), after.chars());
            shown.push_str(&left[..left.len() - more_left]);
            shown.push_str(placeholder);
            rest = &right[more_right..];
        }
        shown + rest
    }
}

/// The length in bytes of the beginning that two texts have in common.
fn common(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    zip(one, other).take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
}
