//! The keys and the session of a run, and how they are kept out of everything that is shown.
//! Whatever leaves the process passes [`Secrets::redact`].

use std::sync::Mutex;

use aho_corasick::AhoCorasick;
use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, Encoding, HEXLOWER, HEXUPPER};
use serde_json::Value;

use crate::lock;

/// Pieces of a secret that are at least this long never show.
const PIECE: usize = 8;

/// What must not show: the keys a run was given, and what answers granted access with.
#[derive(Default)]
pub(crate) struct Secrets(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// Each behind the variable that stands for it in a shell line; the longest comes first, as one
    /// may begin with another.
    secrets: Vec<(&'static str, String)>,
    /// What is looked for in a text, and what replaces it.
    patterns: Vec<String>,
    placeholders: Vec<&'static str>,
    /// Made when a text is redacted, and anew after a secret was added.
    finder: Option<AhoCorasick>,
}

impl Secrets {
    /// Keeps the keys a run was given, each with the variable it came from.
    pub(crate) fn new<'k>(keys: impl Iterator<Item = (&'static str, &'k str)>) -> Self {
        let secrets = Self::default();
        keys.for_each(|(variable, key)| secrets.keep_key(variable, key));
        secrets
    }

    /// Keeps secret the credentials in an answer: the token and the signed part of the address of a
    /// slot for an upload, and a new key.
    pub(crate) fn learn(&self, answer: &Value) {
        let text = |place| answer.pointer(place).and_then(Value::as_str);
        let signed = text("/data/uploadUrl").map(|url| url.split_once('?').unwrap_or(("", url)).1);
        for text in text("/data/token").into_iter().chain(signed) {
            self.keep("UPLOAD_TOKEN", "[slot]", text, "");
        }
        if let Some(key) = text("/data/key") {
            self.keep_key("NEW_API_KEY", key);
        }
    }

    fn keep_key(&self, variable: &'static str, key: &str) {
        self.keep(variable, "[key]", key, key.rsplit('_').next().unwrap_or(key));
    }

    /// Keeps a text secret, and every long piece of a part of it.
    fn keep(&self, variable: &'static str, placeholder: &'static str, text: &str, secret: &str) {
        let mut kept = lock(&self.0);
        if text.len() >= PIECE && kept.secrets.iter().all(|(_, other)| other != text) {
            kept.patterns.extend(patterns(text, secret));
            let count = kept.patterns.len();
            kept.placeholders.resize(count, placeholder);
            kept.secrets.push((variable, text.to_owned()));
            kept.secrets.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
            kept.finder = None;
        }
    }

    /// The text without any secret and without any long piece of its secret part, as a
    /// target may repeat a truncated key, or encode it.
    pub(crate) fn redact(&self, text: impl AsRef<str>) -> String {
        let (text, kept) = (text.as_ref(), &mut *lock(&self.0));
        let Kept { patterns, placeholders, finder, .. } = kept;
        #[expect(clippy::expect_used, reason = "a run keeps some hundred secrets")]
        let finder = finder.get_or_insert_with(|| {
            AhoCorasick::new(patterns).expect("fewer than two billion patterns")
        });
        let found = finder.find_overlapping_iter(text);
        let mut found: Vec<_> = found.map(|it| (it.start(), it.end(), it.pattern())).collect();
        found.sort_unstable();
        let (mut shown, mut done) = (String::with_capacity(text.len()), 0);
        for (start, end, pattern) in found {
            // Pieces that overlap are parts of one secret.
            if start >= done {
                shown.push_str(&text[done..start]);
                shown.push_str(placeholders[pattern]);
            }
            done = done.max(end);
        }
        shown + &text[done..]
    }

    /// An `Authorization` value for double quotes in a shell line: a key becomes its variable, a
    /// truncated key the same piece of its variable, and what resembles a key is redacted.
    pub(crate) fn in_shell(&self, value: &str) -> String {
        let kept = lock(&self.0);
        let all = &kept.secrets;
        for (variable, text) in all {
            if let Some((before, after)) = value.split_once(text) {
                let (before, after) = (for_double_quotes(before), for_double_quotes(after));
                return format!("{before}${{{variable}}}{after}");
            }
        }
        let (scheme, token) = value.rsplit_once(' ').unwrap_or(("", value));
        let scheme = for_double_quotes(scheme);
        let is_cut = |text: &str| token.len() >= PIECE && text.starts_with(token);
        if let Some((variable, _)) = all.iter().find(|(_, text)| is_cut(text)) {
            return format!("{scheme} ${{{variable}:0:{}}}", token.len());
        }
        let common =
            |text: &str| text.chars().zip(token.chars()).take_while(|(a, b)| a == b).count();
        if all.iter().any(|(_, text)| common(text) >= PIECE) {
            return format!("{scheme} [redacted]");
        }
        drop(kept);
        for_double_quotes(&self.redact(value))
    }
}

/// The whole text, and every piece of its secret part as it is and in the usual encodings.
fn patterns(text: &str, secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let each = |encode: fn(&u8) -> String| bytes.iter().map(encode).collect::<String>();
    // Each with the length of an encoded byte.
    let mut forms = vec![
        (secret.to_owned(), 1),
        (HEXLOWER.encode(bytes), 2),
        (HEXUPPER.encode(bytes), 2),
        (each(|byte| format!("%{byte:02x}")), 3),
        (each(|byte| format!("%{byte:02X}")), 3),
        (each(|byte| format!("\\u{byte:04x}")), 6),
        (each(|byte| format!("\\u{byte:04X}")), 6),
    ];
    for before in 0..3 {
        let alphabets = [&BASE64_NOPAD, &BASE64URL_NOPAD];
        forms.extend(alphabets.map(|alphabet| (within(alphabet, before, bytes), 1)));
    }
    let pieces = forms.iter().flat_map(|(form, width)| {
        let starts = (0..form.len()).step_by(*width);
        starts.filter_map(move |start| form.get(start..start + PIECE * width))
    });
    pieces.chain([text]).map(str::to_owned).collect()
}

/// The base64 form of a secret behind `before` bytes, as three bytes are encoded together; only the
/// characters in which no neighbour has a part.
fn within(alphabet: &Encoding, before: usize, secret: &[u8]) -> String {
    let bytes = [&vec![0; before], secret].concat();
    let encoded = alphabet.encode(&bytes);
    let shared = usize::from(bytes.len() % 3 != 0);
    let own = (before * 8).div_ceil(6)..encoded.len() - shared.min(encoded.len());
    encoded.get(own).unwrap_or_default().to_owned()
}

/// As it may stand between double quotes in a shell line.
fn for_double_quotes(text: &str) -> String {
    let escaped = |one| matches!(one, '"' | '\\' | '$' | '`').then_some('\\');
    text.chars().flat_map(|one| escaped(one).into_iter().chain([one])).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Secrets;

    const KEY: &str = "acme_live_a1_0123456789abcdefghijklmnopqrstuv";

    fn secrets() -> Secrets {
        Secrets::new([("MAIN", KEY), ("OTHER", &format!("{KEY}-longer"))].into_iter())
    }

    #[test]
    fn whole_keys_and_long_pieces_of_them_do_not_show() {
        let secrets = secrets();
        let text = format!("{KEY} {KEY}-longer {} 89abcdefghi acme_live_a1", &KEY[..30]);
        let redacted = secrets.redact(&text);
        assert_eq!(redacted, "[key] [key] acme_live_a1_[key] [key] acme_live_a1");
    }

    #[test]
    fn a_shell_line_names_variables_in_place_of_keys() {
        let secrets = secrets();
        assert_eq!(secrets.in_shell(&format!("Bearer {KEY}")), "Bearer ${MAIN}");
        assert_eq!(secrets.in_shell(&format!("Bearer {KEY}-longer")), "Bearer ${OTHER}");
        assert!(secrets.in_shell(&format!("Bearer {}", &KEY[..20])).ends_with(":0:20}"));
        assert_eq!(secrets.in_shell(&format!("Bearer {}X", &KEY[..20])), "Bearer [redacted]");
        assert_eq!(secrets.in_shell("Basic $`x`"), "Basic \\$\\`x\\`");
    }

    #[test]
    fn what_an_answer_grants_access_with_does_not_show() {
        let (secrets, key) = (secrets(), "acme_live_p1_newSecretOfARun0123456789");
        for data in [
            json!({ "uploadUrl": "https://s/a.png?sig=0a1b2c3d", "token": "tok-en_12" }),
            json!({ "uploadUrl": "https://s/signed/b.png", "token": "" }),
            json!({ "publicId": "p1", "key": key }),
            json!([]),
        ] {
            secrets.learn(&json!({ "data": data }));
        }
        let text = format!("?sig=0a1b2c3d tok-en_12 https://s/signed/b.png {key} SecretOfARun");
        assert_eq!(secrets.redact(text), "?[slot] [slot] [slot] [key] [key]");
        assert_eq!(secrets.in_shell("Bearer tok-en_12"), "Bearer ${UPLOAD_TOKEN}");
        assert_eq!(secrets.in_shell("Bearer tok-en_1X"), "Bearer [redacted]");
        assert_eq!(secrets.in_shell(&format!("Bearer {key}")), "Bearer ${NEW_API_KEY}");
    }
}
