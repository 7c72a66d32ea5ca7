//! What a request's path names, and the parameters in it.

use std::borrow::Cow;

use http::HeaderValue;
use percent_encoding::percent_decode_str;
use promptarium::path;

/// What the parameters of a path name, and so what is missing on 404.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// The path has no parameters.
    None,
    /// A prompt of the caller.
    Prompt,
    /// A vault of the caller.
    Vault,
    /// A vault of any account that is not private.
    SharedVault,
    /// A membership in a vault of the caller.
    Membership,
    /// A generation of the caller.
    Job,
    /// A stored file.
    Asset,
}

impl ResourceKind {
    /// What the parameters of a route template name.
    pub fn of_template(template: &str) -> Self {
        if template.contains("{vaultPromptId}") {
            Self::Membership
        } else if template == path::VAULT_FORK {
            Self::SharedVault
        } else if template.contains("{vaultId}") {
            Self::Vault
        } else if template.contains("{promptId}") {
            Self::Prompt
        } else if template.contains("{clientJobId}") {
            Self::Job
        } else if template.contains("{name}") {
            Self::Asset
        } else {
            Self::None
        }
    }

    /// The text of a 404.
    pub fn not_found_text(self) -> &'static str {
        match self {
            Self::Prompt => "there is no such prompt in this account",
            Self::Vault => "there is no such vault in this account",
            Self::SharedVault => "there is no such vault, or its owner keeps it private",
            Self::Membership => "there is no such vault in this account, or no such prompt in it",
            Self::Job => "there is no generation of this clientJobId in this account",
            Self::Asset => "there is nothing at this address, or nothing yet",
            Self::None => "there is no such thing in this account",
        }
    }
}

/// What an error response says about the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTarget {
    /// What its path names.
    pub resource: ResourceKind,
    /// Whether it could have changed something.
    pub writes: bool,
}

impl RequestTarget {
    /// A request that has no route.
    pub const UNKNOWN: Self = Self { resource: ResourceKind::None, writes: false };
}

/// Why a request has no route.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// No route has this path.
    #[error("there is nothing at this path")]
    UnknownPath,
    /// A route has this path, but not with this method.
    #[error("this path does not take this method; it takes {}", allow.to_str().unwrap_or_default())]
    WrongMethod {
        /// The methods it takes, for the header `Allow`.
        allow: HeaderValue,
    },
}

/// The most parameters that a path has.
const PARAMS_MAX: usize = 2;

/// The parameters of one path, in order, as they were sent. One in a form that its handler
/// does not expect names nothing; the handler says so after it has checked key and body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathParams<'a>([&'a str; PARAMS_MAX]);

impl<'a> PathParams<'a> {
    /// The id at this index. An id has one spelling: decimal digits without a sign or leading
    /// zeros.
    pub fn id(&self, index: usize) -> Option<i64> {
        let text = self.0.get(index)?;
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        if is_plain { text.parse().ok() } else { None }
    }

    /// The text at this index, percent-decoded. `None` if it is empty, an escape is broken, or
    /// it is not UTF-8.
    pub fn text(&self, index: usize) -> Option<Cow<'a, str>> {
        let text = *self.0.get(index)?;
        let is_escape = |rest: &str| {
            rest.get(..2).is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        if text.is_empty() || !text.split('%').skip(1).all(is_escape) {
            return None;
        }
        percent_decode_str(text).decode_utf8().ok()
    }
}

impl<'a> FromIterator<&'a str> for PathParams<'a> {
    fn from_iter<I: IntoIterator<Item = &'a str>>(values: I) -> Self {
        let mut params = Self::default();
        for (param, value) in params.0.iter_mut().zip(values) {
            *param = value;
        }
        params
    }
}

#[cfg(test)]
mod tests {
    use promptarium::{JobId, path};

    use super::*;

    fn params(text: &str) -> PathParams<'_> {
        [text].into_iter().collect()
    }

    #[test]
    fn only_plain_positive_integers_are_ids() {
        assert_eq!(params("1").id(0), Some(1));
        assert_eq!(params("9223372036854775807").id(0), Some(i64::MAX));
        for text in
            ["", "0", "-1", "+1", "01", "1.0", "1e2", "%31", "x", "9223372036854775808", "١"]
        {
            assert_eq!(params(text).id(0), None, "{text}");
        }
        assert_eq!((params("1").id(1), params("1").id(2)), (None, None));
    }

    #[test]
    fn a_text_is_decoded_to_what_it_was_before_the_path_was_built() {
        for text in ["a", "a/../b?c#%", "%", "%25", "ü 漢\u{1}", "..", "a+b"] {
            let path = path::generation_status(&JobId::from(text));
            let segment = path.split('/').nth(2).unwrap();
            assert_eq!(params(segment).text(0).as_deref(), Some(text), "{path}");
        }
    }

    #[test]
    fn broken_escapes_are_no_text() {
        for text in ["", "%", "%2", "%zz", "%+1", "a%2", "%ff", "%c3"] {
            assert_eq!(params(text).text(0), None, "{text}");
        }
    }
}
