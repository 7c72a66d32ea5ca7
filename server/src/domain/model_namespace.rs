//! The prefix of model ids.

/// The namespace of a provider's models: letters, digits, `.`, `_` and `-`. A model id is
/// `<namespace>/<model>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelNamespace(Box<str>);

impl ModelNamespace {
    /// Accepts at least one letter, digit, `.`, `_` or `-`.
    pub fn new(text: &str) -> Option<Self> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        (!text.is_empty() && text.chars().all(allowed)).then(|| Self(text.into()))
    }

    /// The namespace, without a slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
