//! The forms in which a target may give a secret back: as it is, or in one of the usual encodings.

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};

/// Pieces of a secret that are at least this long never show.
pub(super) const PIECE: usize = 8;
/// Pieces are looked for at every fourth place, so that any piece of
/// `PIECE + STRIDE - 1` characters is found.
const STRIDE: usize = 4;

/// A secret in one encoding.
pub(super) struct Form {
    text: String,
    /// How long a piece must be to be one.
    piece: usize,
    /// What every text in this encoding holds; spares most texts the search.
    sign: &'static str,
}

/// The secret as it is and in every encoding that is looked for.
pub(super) fn of(secret: &str) -> Vec<Form> {
    let bytes = secret.as_bytes();
    let each = |encode: fn(&u8) -> String| bytes.iter().map(encode).collect::<String>();
    let form = |text, piece, sign| Form { text, piece, sign };
    let mut forms = vec![
        form(secret.to_owned(), PIECE, ""),
        form(HEXLOWER.encode(bytes), 2 * PIECE, ""),
        form(HEXUPPER.encode(bytes), 2 * PIECE, ""),
        form(each(|byte| format!("%{byte:02x}")), 3 * PIECE, "%"),
        form(each(|byte| format!("%{byte:02X}")), 3 * PIECE, "%"),
        form(each(|byte| format!("\\u{byte:04x}")), 6 * PIECE, "\\u00"),
        form(each(|byte| format!("\\u{byte:04X}")), 6 * PIECE, "\\u00"),
    ];
    for before in 0..3 {
        for alphabet in [&BASE64_NOPAD, &BASE64URL_NOPAD] {
            forms.push(form(within(alphabet, before, bytes), PIECE, ""));
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

impl Form {
    /// The first piece of it in `text`, as long as it goes.
    pub(super) fn longest_piece(&self, text: &str) -> Option<&str> {
        let (secret, length) = (self.text.as_str(), self.piece);
        if !text.contains(self.sign) {
            return None;
        }
        let starts = (0..secret.len()).step_by(STRIDE);
        let mut pieces =
            starts.filter_map(|start| Some((start, secret.get(start..start + length)?)));
        let (mut start, piece) = pieces.find(|(_, piece)| text.contains(piece))?;
        let mut end = start + piece.len();
        while start > 0 && secret.get(start - 1..end).is_some_and(|longer| text.contains(longer)) {
            start -= 1;
        }
        while secret.get(start..=end).is_some_and(|longer| text.contains(longer)) {
            end += 1;
        }
        secret.get(start..end)
    }
}
