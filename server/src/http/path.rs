//! What a request's path names, and the parameters in it.

use std::borrow::Cow;

use http::Method;
use percent_encoding::percent_decode_str;
use promptarium::path;

/// The text of a 404, by a part of the route's template.
const NOT_FOUND: [(&str, &str); 11] = [
    ("{slug}", "nothing is shared at this address, or it is no longer shared"),
    ("{vaultPromptId}", "there is no such vault in this account, or no such prompt in it"),
    (path::VAULT_FORK, "there is no such vault, or its owner keeps it private"),
    ("{vaultId}", "there is no such vault in this account"),
    ("{promptId}", "there is no such prompt in this account"),
    ("{clientJobId}", "there is no generation of this clientJobId in this account"),
    ("{publicId}", "there is no API key of this public id in this account"),
    ("{deliveryId}", "there is no such delivery, or no such webhook in this account"),
    ("{webhookId}", "there is no such webhook in this account"),
    ("{sessionId}", "there is no such session in this account"),
    ("{name}", "there is nothing at this address, or nothing yet"),
];

/// What an error response says about the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestTarget {
    pub not_found: &'static str,
    pub writes: bool,
}

impl RequestTarget {
    /// The target of a request; `template` is the path of its route.
    pub(crate) fn new(template: &str, method: &Method) -> Self {
        let named = NOT_FOUND.iter().find(|(part, _)| template.contains(part));
        let not_found = named.map_or("there is nothing at this address", |(_, text)| text);
        Self { not_found, writes: !matches!(*method, Method::GET | Method::HEAD) }
    }
}

/// The parameters of one path, at most two, as they were sent. One in another form than expected
/// names nothing, of which the handler says so after it has checked key and body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathParams<'a>([&'a str; 2]);

impl<'a> PathParams<'a> {
    pub(crate) fn new(mut values: impl Iterator<Item = &'a str>) -> Self {
        Self([(); 2].map(|()| values.next().unwrap_or_default()))
    }

    /// The id at this index: decimal digits without a sign or leading zeros.
    pub fn id(&self, index: usize) -> Option<i64> {
        let text = self.0.get(index)?;
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        if is_plain { text.parse().ok() } else { None }
    }

    /// The text at this index, percent-decoded. `None` if it is empty or broken, or holds a NUL,
    /// which PostgreSQL does not take.
    pub fn text(&self, index: usize) -> Option<Cow<'a, str>> {
        let text = *self.0.get(index)?;
        let is_escape = |rest: &str| {
            rest.get(..2).is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        if text.is_empty() || !text.split('%').skip(1).all(is_escape) {
            return None;
        }
        percent_decode_str(text).decode_utf8().ok().filter(|text| !text.contains('\0'))
    }
}

#[cfg(test)]
mod tests {
    use promptarium::JobId;
    use promptarium::path;

    use super::*;

    fn params(text: &str) -> PathParams<'_> {
        PathParams::new([text].into_iter())
    }

    #[test]
    fn a_404_names_what_is_missing() {
        let text = |template| RequestTarget::new(template, &Method::GET).not_found;
        assert!(text(path::VAULT_FORK).ends_with("or its owner keeps it private"));
        assert!(text(path::VAULT_PROMPT_PIN).ends_with("or no such prompt in it"));
    }

    #[test]
    fn only_plain_positive_integers_are_ids() {
        assert_eq!(params("9223372036854775807").id(0), Some(i64::MAX));
        for text in "|0|-1|+1|01|1.0|1e2|%31|x|9223372036854775808|١".split('|') {
            assert_eq!(params(text).id(0), None, "{text}");
        }
        assert_eq!(
            (params("1").id(0), params("1").id(1), params("1").id(2)),
            (Some(1), None, None)
        );
    }

    #[test]
    fn a_text_is_decoded_to_what_it_was_before_the_path_was_built() {
        for text in ["a", "a/../b?c#%", "%", "%25", "ü 漢\u{1}", "..", "a+b"] {
            let path = path::generation_status(&JobId::from(text));
            let segment = path.split('/').nth(2).unwrap();
            assert_eq!(params(segment).text(0).as_deref(), Some(text), "{path}");
        }
        for broken in ["", "%", "%2", "%zz", "%+1", "a%2", "%ff", "%c3", "%00", "a%00b"] {
            assert_eq!(params(broken).text(0), None, "{broken}");
        }
    }
}
