//! The keys of a run, and how they are kept out of everything that is shown.
//! Whatever leaves the process passes [`Secrets::blank`].

use std::borrow::Cow;

/// Pieces of a key's secret part that are at least this long never show.
const PIECE: usize = 8;
/// Pieces are looked for at every fourth place, so that any piece of
/// `PIECE + STRIDE - 1` characters is found.
const STRIDE: usize = 4;

/// The keys a run was given, each with the variable it came from.
pub(crate) struct Secrets(Vec<(&'static str, String)>);

impl Secrets {
    /// Keeps the longest first, for one key may begin with another.
    pub(crate) fn new(mut keys: Vec<(&'static str, String)>) -> Self {
        keys.retain(|(_, key)| !key.is_empty());
        keys.sort_by_key(|(_, key)| std::cmp::Reverse(key.len()));
        Self(keys)
    }

    /// The text without any key and without any long piece of a key's secret
    /// part, as a target may repeat a truncated key.
    pub(crate) fn blank<'t>(&self, text: impl Into<Cow<'t, str>>) -> String {
        let mut text = text.into();
        for (_, key) in &self.0 {
            if text.contains(key.as_str()) {
                text = text.replace(key.as_str(), "[key]").into();
            }
        }
        for (_, key) in &self.0 {
            let secret = key.rsplit('_').next().unwrap_or(key);
            while let Some(found) = longest_piece(&text, secret) {
                text = text.replace(found, "[key]").into();
            }
        }
        text.into_owned()
    }

    /// An `Authorization` value as it may stand between double quotes in a
    /// shell line: a key becomes its variable, a truncated key the same piece
    /// of its variable, and what resembles a key is blanked.
    pub(crate) fn in_shell(&self, value: &str) -> String {
        for (variable, key) in &self.0 {
            if let Some((before, after)) = value.split_once(key.as_str()) {
                let (before, after) = (for_double_quotes(before), for_double_quotes(after));
                return format!("{before}${{{variable}}}{after}");
            }
        }
        let (scheme, token) = value.rsplit_once(' ').unwrap_or(("", value));
        let scheme = for_double_quotes(scheme);
        for (variable, key) in &self.0 {
            if token.len() >= PIECE && key.starts_with(token) {
                return format!("{scheme} ${{{variable}:0:{}}}", token.len());
            }
        }
        let resembles = |(_, key): &(_, String)| {
            key.chars().zip(token.chars()).take_while(|(a, b)| a == b).count() >= PIECE
        };
        if self.0.iter().any(resembles) {
            return format!("{scheme} [blanked]");
        }
        for_double_quotes(&self.blank(value))
    }
}

/// The first piece of `secret` in `text`, as long as it goes.
fn longest_piece<'s>(text: &str, secret: &'s str) -> Option<&'s str> {
    let starts = (0..secret.len()).step_by(STRIDE);
    let mut pieces = starts.filter_map(|start| Some((start, secret.get(start..start + PIECE)?)));
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

fn for_double_quotes(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    const KEY: &str = "acme_live_a1_0123456789abcdefghijklmnopqrstuv";

    fn secrets() -> Secrets {
        Secrets::new(vec![("MAIN", KEY.into()), ("OTHER", format!("{KEY}-longer"))])
    }

    #[test]
    fn whole_keys_and_long_pieces_of_them_do_not_show() {
        let secrets = secrets();
        let text = format!("{KEY} {KEY}-longer {} 89abcdefghi acme_live_a1", &KEY[..30]);
        let blanked = secrets.blank(&text);
        assert_eq!(blanked, "[key] [key] acme_live_a1_[key] [key] acme_live_a1");
    }

    #[test]
    fn a_shell_line_names_variables_in_place_of_keys() {
        let secrets = secrets();
        assert_eq!(secrets.in_shell(&format!("Bearer {KEY}")), "Bearer ${MAIN}");
        assert_eq!(secrets.in_shell(&format!("Bearer {KEY}-longer")), "Bearer ${OTHER}");
        assert!(secrets.in_shell(&format!("Bearer {}", &KEY[..20])).ends_with(":0:20}"));
        assert_eq!(secrets.in_shell(&format!("Bearer {}X", &KEY[..20])), "Bearer [blanked]");
        assert_eq!(secrets.in_shell("Basic $`x`"), "Basic \\$\\`x\\`");
    }
}
