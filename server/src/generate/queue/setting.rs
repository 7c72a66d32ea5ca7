//! The queue provider's address and key.

use http::HeaderValue;
use url::Url;

use crate::limits::{
    OUTPUT_BYTES_MAX, OUTPUT_TIMEOUT, QUEUE_POLL_TIMEOUT, QUEUE_RESPONSE_BYTES_MAX,
    QUEUE_SUBMIT_TIMEOUT,
};
use crate::outbound::Limits;

/// A provider, its key, and the limits of requests to it.
#[derive(Clone, Debug)]
pub struct QueueSetting {
    pub(super) url: Url,
    pub(super) key: Key,
    pub(super) private_outputs: bool,
    pub(super) submit_limits: Limits,
    pub(super) poll_limits: Limits,
    pub(super) output_limits: Limits,
}

/// Why a setting cannot be used. The texts do not contain the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueSettingError {
    /// The address is not one of the web.
    #[error("is not an http or https address without user, query and fragment")]
    Url,
    /// The key cannot be sent in a header.
    #[error("holds a key that is empty or has characters that no header can hold")]
    Key,
}

/// The value of `Authorization`. It is marked as sensitive, so `Debug` does not show it.
#[derive(Clone, Debug)]
pub(super) struct Key(HeaderValue);

const SCHEME: &str = "Key ";

impl QueueSetting {
    /// Ids of models are appended to `url`, for example `https://queue.fal.run`.
    pub fn new(url: &str, key: &str) -> Result<Self, QueueSettingError> {
        let url = Url::parse(url).map_err(|_| QueueSettingError::Url)?;
        let plain = has_no_user(&url) && url.query().is_none() && url.fragment().is_none();
        if !plain || !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(QueueSettingError::Url);
        }
        let json = |time| Limits { time, bytes: QUEUE_RESPONSE_BYTES_MAX };
        Ok(Self {
            url,
            key: Key::new(key).ok_or(QueueSettingError::Key)?,
            private_outputs: false,
            submit_limits: json(QUEUE_SUBMIT_TIMEOUT),
            poll_limits: json(QUEUE_POLL_TIMEOUT),
            output_limits: Limits { time: OUTPUT_TIMEOUT, bytes: OUTPUT_BYTES_MAX },
        })
    }

    /// Allows outputs at addresses that are not public. Those at the provider's own origin are
    /// always allowed.
    #[must_use]
    pub const fn with_private_outputs(mut self) -> Self {
        self.private_outputs = true;
        self
    }

    /// Whether a URL has the provider's scheme, host and port, and no user.
    pub(super) fn is_same_origin(&self, url: &Url) -> bool {
        has_no_user(url) && url.origin() == self.url.origin()
    }
}

fn has_no_user(url: &Url) -> bool {
    url.username().is_empty() && url.password().is_none()
}

impl Key {
    fn new(text: &str) -> Option<Self> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        let mut header = HeaderValue::try_from(format!("{SCHEME}{text}")).ok()?;
        header.set_sensitive(true);
        (visible && !text.is_empty()).then_some(Self(header))
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Removes the key, and each half of a key of the form `id:secret`, from a text.
    pub(super) fn redact(&self, text: &str) -> String {
        let key = self.0.to_str().unwrap_or_default().trim_start_matches(SCHEME);
        let parts = key.split(':').filter(|part| part.len() >= 8);
        std::iter::once(key)
            .chain(parts)
            .fold(text.to_owned(), |text, part| text.replace(part, "…"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_web_address_and_a_key_that_a_header_can_hold_are_accepted() {
        for url in ["http://127.0.0.1:9", "https://queue.fal.run", "https://a.example/q/"] {
            assert!(QueueSetting::new(url, "k").is_ok(), "{url}");
        }
        for url in
            ["", "queue.fal.run", "ftp://a.example", "https://u@a.example", "https://a.example/?q"]
        {
            assert_eq!(QueueSetting::new(url, "k").unwrap_err(), QueueSettingError::Url, "{url}");
        }
        for key in ["", "two words", "line\nbreak", "schlüssel"] {
            let error = QueueSetting::new("https://a.example", key).unwrap_err();
            assert_eq!(error, QueueSettingError::Key);
            assert!(key.is_empty() || !error.to_string().contains(key));
        }
    }

    #[test]
    fn a_key_is_never_shown() {
        let setting = QueueSetting::new("https://a.example", "id-of-key:secret-of-key").unwrap();
        let shown = format!("{setting:?} {:?}", setting.key.header());
        assert!(!shown.contains("of-key"), "{shown}");
        let redacted = setting.key.redact("no id-of-key:secret-of-key, id-of-key or secret-of-key");
        assert_eq!(redacted, "no …, … or …");
    }

    #[test]
    fn the_origin_is_all_of_scheme_host_and_port() {
        let setting = QueueSetting::new("https://a.example/queue", "k").unwrap();
        let is = |url: &str| setting.is_same_origin(&Url::parse(url).unwrap());
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
