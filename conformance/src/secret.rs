//! The keys of a run, and how they are kept out of everything that is shown.
//! Whatever leaves the process passes [`Secrets::blank`].

mod forms;

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use self::forms::{Form, PIECE};
use crate::shell::for_double_quotes;

/// The variable of a shell line that stands for the token of an upload slot,
/// which is different in every run.
const TOKEN_VARIABLE: &str = "UPLOAD_TOKEN";

/// The keys a run was given, each with the variable it came from, and what it
/// was told on the way.
pub(crate) struct Secrets {
    keys: Vec<(&'static str, String)>,
    /// Of the secret part of every key.
    forms: Vec<Form>,
    told: Mutex<Vec<String>>,
}

impl Secrets {
    /// Keeps the longest first, for one key may begin with another.
    pub(crate) fn new(mut keys: Vec<(&'static str, String)>) -> Self {
        keys.retain(|(_, key)| !key.is_empty());
        keys.sort_by_key(|(_, key)| std::cmp::Reverse(key.len()));
        let secret = |key: &str| forms::of(key.rsplit('_').next().unwrap_or(key));
        let forms = keys.iter().flat_map(|(_, key)| secret(key)).collect();
        Self { keys, forms, told: Mutex::default() }
    }

    /// Keeps secret what a slot for an upload grants access with, if the answer
    /// is one: the token, and the signed part of the address.
    pub(crate) fn learn(&self, answer: &Value) {
        let text = |place| answer.pointer(place).and_then(Value::as_str);
        let signed = text("/data/uploadUrl").map(|url| url.split_once('?').unwrap_or(("", url)).1);
        let found = text("/data/token").into_iter().chain(signed);
        self.told().extend(found.filter(|text| text.len() >= PIECE).map(str::to_owned));
    }

    fn told(&self) -> MutexGuard<'_, Vec<String>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text without any key and without any long piece of a key's secret
    /// part, as a target may repeat a truncated key, or encode it.
    pub(crate) fn blank<'t>(&self, text: impl Into<Cow<'t, str>>) -> String {
        let mut text = text.into();
        for told in self.told().iter() {
            if text.contains(told.as_str()) {
                text = text.replace(told.as_str(), "[slot]").into();
            }
        }
        for (_, key) in &self.keys {
            if text.contains(key.as_str()) {
                text = text.replace(key.as_str(), "[key]").into();
            }
        }
        for form in &self.forms {
            while let Some(found) = form.longest_piece(&text) {
                text = text.replace(found, "[key]").into();
            }
        }
        text.into_owned()
    }

    /// An `Authorization` value as it may stand between double quotes in a
    /// shell line: a key becomes its variable, a truncated key the same piece
    /// of its variable, and what resembles a key is blanked.
    pub(crate) fn in_shell(&self, value: &str) -> String {
        let told = self.told().clone();
        let told = told.iter().map(|token| (TOKEN_VARIABLE, token.as_str()));
        let keys = self.keys.iter().map(|(variable, key)| (*variable, key.as_str()));
        let known: Vec<_> = keys.chain(told).collect();
        for (variable, key) in &known {
            if let Some((before, after)) = value.split_once(key) {
                let (before, after) = (for_double_quotes(before), for_double_quotes(after));
                return format!("{before}${{{variable}}}{after}");
            }
        }
        let (scheme, token) = value.rsplit_once(' ').unwrap_or(("", value));
        let scheme = for_double_quotes(scheme);
        for (variable, key) in &known {
            if token.len() >= PIECE && key.starts_with(token) {
                return format!("{scheme} ${{{variable}:0:{}}}", token.len());
            }
        }
        let resembles = |(_, key): &(_, &str)| {
            key.chars().zip(token.chars()).take_while(|(a, b)| a == b).count() >= PIECE
        };
        if known.iter().any(resembles) {
            return format!("{scheme} [blanked]");
        }
        for_double_quotes(&self.blank(value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
    fn a_key_does_not_show_in_the_usual_encodings() {
        let secrets = Secrets::new(vec![("MAIN", KEY.into())]);
        let whole = ["", "Bearer ", "a"].map(|before| format!("{before}{KEY}"));
        let bytes = || KEY.bytes();
        let mut encoded = vec![
            bytes().map(|byte| format!("%{byte:02X}")).collect::<String>(),
            bytes().map(|byte| format!("%{byte:02x}")).collect(),
            bytes().map(|byte| format!("\\u{byte:04x}")).collect(),
            bytes().map(|byte| format!("{byte:02x}")).collect(),
        ];
        for text in &whole {
            encoded.push(data_encoding::BASE64.encode(text.as_bytes()));
            encoded.push(data_encoding::BASE64URL_NOPAD.encode(text.as_bytes()));
        }
        for text in encoded {
            let blanked = secrets.blank(text.as_str());
            assert!(blanked.contains("[key]"), "{text}");
            // What is left belongs to the part of a key that is no secret.
            let (before, after) = blanked.split_once("[key]").unwrap();
            assert!(text.starts_with(before) && after.len() < 12, "{blanked}");
        }
        let harmless = "%41%42%43 \\u0041 QUJD 414243";
        assert_eq!(secrets.blank(harmless), harmless);
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

    #[test]
    fn what_a_slot_grants_access_with_does_not_show() {
        let secrets = secrets();
        let slot = json!({ "data": { "uploadUrl": "https://s/a.png?sig=0a1b2c3d", "token": "tok-en_12" } });
        secrets.learn(&slot);
        secrets.learn(&json!({ "data": { "uploadUrl": "https://s/signed/b.png", "token": "" } }));
        secrets.learn(&json!([]));
        assert_eq!(secrets.blank(slot.to_string()).matches("[slot]").count(), 2);
        assert_eq!(secrets.blank("PUT https://s/signed/b.png"), "PUT [slot]");
        assert_eq!(secrets.in_shell("Bearer tok-en_12"), "Bearer ${UPLOAD_TOKEN}");
        assert_eq!(secrets.in_shell("Bearer tok-en_1X"), "Bearer [blanked]");
    }
}
