//! Keys that exist from the start: `KEY=ACCOUNT[:SCOPE,…]`.
//!
//! Tests and emulations choose their keys this way. No error contains any part of the text,
//! because it may be a secret.

use promptarium::Scope;

use crate::domain::{KeyError, NewKey, Scopes, Vendor};

/// An account and one of its keys, both created at the start.
#[derive(Clone, Debug)]
pub struct SeedKey {
    /// Name of the account.
    pub account: String,
    /// The key, with a digest of its secret.
    pub key: NewKey,
}

impl SeedKey {
    /// Parses `KEY=ACCOUNT[:SCOPE,…]`. The name of the account ends at the first colon.
    /// Without scopes the key has all of them; `none` gives it none, `revoked` makes it a
    /// revoked key.
    ///
    /// # Errors
    /// The first problem; it continues a sentence that begins with the number of the key.
    pub fn parse(text: &str, vendor: &Vendor) -> Result<Self, String> {
        let (key, rest) = text
            .split_once('=')
            .ok_or("has no `=` between key and account (KEY=ACCOUNT[:SCOPE,...])")?;
        let key = vendor.read(key).map_err(|error| match error {
            KeyError::Form => {
                format!("has no key of the form {vendor}_live_<public id>_<secret> before the `=`")
            }
            KeyError::Checksum => {
                "has a key with a wrong checksum: it was cut short or mistyped".to_owned()
            }
        })?;
        let (account, scopes) = match rest.split_once(':') {
            Some((account, scopes)) => (account, Some(scopes)),
            None => (rest, None),
        };
        if !is_account_name(account) {
            let rule = "of at most 200 characters after the `=`, without spaces, `,` or `=`";
            return Err(format!("needs an account name {rule} (KEY=ACCOUNT[:SCOPE,...])"));
        }
        let revoked = scopes == Some("revoked");
        let scopes = match scopes {
            None | Some("revoked") => Scopes::ALL,
            Some(list) => parse_scopes(list).ok_or_else(|| {
                let known: Vec<_> = Scope::KNOWN.iter().map(Scope::as_str).collect();
                let known = known.join(", ");
                format!("has an unknown scope after the account; the scopes are: {known} (or `none`, or `revoked`)")
            })?,
        };
        let (public_id, digest) = (key.public_id().into(), key.digest());
        let account = account.to_owned();
        Ok(Self { account, key: NewKey { public_id, digest, scopes, revoked } })
    }
}

/// Parses the values of `--seed-key` or its variable. White space separates several in one value.
pub(super) fn parse_all(
    values: &[String],
    vendor: &Vendor,
    source: &str,
) -> Result<Vec<SeedKey>, String> {
    if values.iter().any(|value| value.trim().is_empty()) {
        return Err(format!("{source}: the value is empty"));
    }
    let parts = values.iter().flat_map(|value| value.split_whitespace());
    let parse = |(at, part)| {
        SeedKey::parse(part, vendor).map_err(|e| format!("{source}: number {} {e}", at + 1))
    };
    parts.enumerate().map(parse).collect()
}

/// Whether an account may have this name: anything that fits into a seed key.
pub(super) fn is_account_name(text: &str) -> bool {
    let reserved = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '=' | ',' | ':');
    !text.is_empty() && text.chars().count() <= 200 && !text.contains(reserved)
}

/// Parses `none`, or scopes separated by commas.
pub(super) fn parse_scopes(text: &str) -> Option<Scopes> {
    let mut scopes = Scopes::default();
    if text == "none" {
        return Some(scopes);
    }
    for name in text.split(',') {
        match Scope::known(name) {
            Some(Scope::PromptsWrite) => scopes.prompts_write = true,
            _ => return None,
        }
    }
    Some(scopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<SeedKey, String> {
        SeedKey::parse(text, &Vendor::new("promptarium").unwrap())
    }

    #[test]
    fn parses_account_scopes_and_revocation() {
        for (rest, account, prompts_write, revoked) in [
            ("alice", "alice", true, false),
            ("alice:prompts:write", "alice", true, false),
            ("alice:none", "alice", false, false),
            ("alice:revoked", "alice", true, true),
        ] {
            let seed = parse(&format!("promptarium_live_a1_s3cret={rest}")).unwrap();
            assert_eq!((seed.account.as_str(), &*seed.key.public_id), (account, "a1"), "{rest}");
            assert_eq!(seed.key.scopes, Scopes { prompts_write }, "{rest}");
            assert_eq!(seed.key.revoked, revoked, "{rest}");
        }
    }

    #[test]
    fn errors_do_not_contain_the_text() {
        let (name, form) = ("needs an account name", "has no key of the form promptarium_live_");
        let scope = "has an unknown scope";
        for (text, expected) in [
            ("promptarium_live_a1_s3cret", "has no `=`"),
            ("promptarium_live_a1_s3cret=", name),
            ("promptarium_live_a1_s3cret=:prompts:write", name),
            ("promptarium_live_a1_s3cret=a b", name),
            ("promptarium_live_a1_s3cret=alice,promptarium_live_b1_s3cret=bob", name),
            ("s3cret=alice", form),
            ("other_live_a1_s3cret=alice", form),
            ("promptarium_live_p1aaaaaaaaaaaaaa_s3cret=alice", "has a key with a wrong checksum"),
            ("promptarium_live_a1_s3cret=alice:prompts:read", scope),
            ("promptarium_live_a1_s3cret=alice:", scope),
            ("promptarium_live_a1_x=alice:prompts:write,promptarium_live_b1_s3cret=bob", scope),
        ] {
            let error = parse(text).unwrap_err();
            assert!(!error.contains("s3cret"), "{error}");
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
