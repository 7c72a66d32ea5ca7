//! Which provider is spoken to, with which key.

use std::fmt;
use std::time::Duration;

use http::HeaderValue;
use url::Url;

use crate::outbound::Limits;

/// The answer to an order. Less than the time that is given to the taking on of a
/// job, so that it is known here why there was no answer.
const SUBMITTING: Limits = Limits { time: Duration::from_secs(45), bytes: 1 << 20 };
/// The answer to a question.
const ASKING: Limits = Limits { time: Duration::from_secs(20), bytes: 1 << 20 };
/// The file of one output.
const OUTPUT: Limits = Limits { time: Duration::from_secs(60), bytes: 32 << 20 };

/// A provider and the key to it.
#[derive(Clone, Debug)]
pub struct QueueSetting {
    pub(super) url: Url,
    pub(super) key: Key,
    pub(super) private_outputs: bool,
    pub(super) submitting: Limits,
    pub(super) asking: Limits,
    pub(super) output: Limits,
}

/// Why a setting cannot be used. The texts do not repeat a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueSettingFault {
    /// The address is none of the web.
    #[error("is not an http or https address without user, query and fragment")]
    Url,
    /// The key cannot stand in a header.
    #[error("holds a key that is empty or has characters that no header can hold")]
    Key,
}

/// The key. It is never shown.
#[derive(Clone)]
pub(super) struct Key {
    text: Box<str>,
    header: HeaderValue,
}

impl QueueSetting {
    /// `url` is what models' ids are appended to, such as `https://queue.fal.run`.
    ///
    /// # Errors
    /// If one of the two cannot be used.
    pub fn new(url: &str, key: &str) -> Result<Self, QueueSettingFault> {
        let url = Url::parse(url).map_err(|_| QueueSettingFault::Url)?;
        let plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if !plain || !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(QueueSettingFault::Url);
        }
        Ok(Self {
            url,
            key: Key::new(key).ok_or(QueueSettingFault::Key)?,
            private_outputs: false,
            submitting: SUBMITTING,
            asking: ASKING,
            output: OUTPUT,
        })
    }

    /// Lets outputs be fetched from addresses that are not public. Those on the
    /// provider's own host and port may be in any case.
    #[must_use]
    pub const fn with_private_outputs(mut self) -> Self {
        self.private_outputs = true;
        self
    }

    /// Whether an address is on the provider's scheme, host and port, and has no
    /// user in it.
    pub(super) fn is_of_provider(&self, url: &Url) -> bool {
        let plain = url.username().is_empty() && url.password().is_none();
        plain && url.origin() == self.url.origin()
    }
}

impl Key {
    fn new(text: &str) -> Option<Self> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        let mut header = HeaderValue::try_from(format!("Key {text}")).ok()?;
        header.set_sensitive(true);
        (visible && !text.is_empty()).then(|| Self { text: text.into(), header })
    }

    /// The value of `Authorization`.
    pub(super) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// A text of somebody else in which neither the key nor a part of it stands.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        // Keys of the form `id:secret` may be repeated by half.
        let parts = self.text.split(':').filter(|part| part.len() >= 8);
        [&*self.text]
            .into_iter()
            .chain(parts)
            .fold(text.to_owned(), |text, part| text.replace(part, "…"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_web_addresses_are_taken() {
        for url in ["http://127.0.0.1:9", "https://queue.fal.run", "https://a.example/q/"] {
            assert!(QueueSetting::new(url, "k").is_ok(), "{url}");
        }
        for url in
            ["", "queue.fal.run", "ftp://a.example", "https://u@a.example", "https://a.example/?q"]
        {
            assert_eq!(QueueSetting::new(url, "k").unwrap_err(), QueueSettingFault::Url, "{url}");
        }
    }

    #[test]
    fn a_key_that_no_header_holds_is_refused_and_not_repeated() {
        for key in ["", "two words", "line\nbreak", "schlüssel"] {
            let fault = QueueSetting::new("https://a.example", key).unwrap_err();
            assert_eq!(fault, QueueSettingFault::Key);
            assert!(key.is_empty() || !fault.to_string().contains(key));
        }
    }

    #[test]
    fn a_key_is_never_shown() {
        let setting = QueueSetting::new("https://a.example", "id-of-key:secret-of-key").unwrap();
        let shown = format!("{setting:?} {:?}", setting.key.header());
        assert!(!shown.contains("of-key"), "{shown}");
        let hidden =
            setting.key.hidden_in("no id-of-key:secret-of-key, id-of-key or secret-of-key");
        assert_eq!(hidden, "no …, … or …");
    }

    #[test]
    fn the_origin_is_all_of_scheme_host_and_port() {
        let setting = QueueSetting::new("https://a.example/queue", "k").unwrap();
        let is = |url: &str| setting.is_of_provider(&Url::parse(url).unwrap());
        assert!(is("https://a.example/anything") && is("https://a.example:443/"));
        for url in [
            "http://a.example/",
            "https://a.example:444/",
            "https://b.a.example/",
            "https://a.example.org/",
            "https://a.example@evil.example/",
            "https://user@a.example/",
            "data:text/plain,a",
        ] {
            assert!(!is(url), "{url}");
        }
    }
}
