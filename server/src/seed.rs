//! Keys that are known before the server starts: `KEY=ACCOUNT[:SCOPE,…]`.
//!
//! Seeds let a test or an emulation choose its keys. This file reads the text;
//! the store makes the account and the key. No error holds any part of the text
//! but a scope, because the rest may be a secret.

use std::fmt;

use promptarium::Scope;

use crate::domain::{KeyFault, NewKey, Scopes, Vendor};

/// An account and one key of it, to be there when the server starts.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The account's name.
    pub account: String,
    /// The key, its secret as a digest.
    pub key: NewKey,
}

/// What is wrong with a seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeedFault {
    /// There is no `=` in it.
    #[error("has no `=` between key and account (KEY=ACCOUNT[:SCOPE,...])")]
    NoAccount,
    /// The account's name is missing or would not survive the environment.
    #[error(
        "needs an account name of at most 200 characters after the `=`, without spaces, `,` or `=` \
         (KEY=ACCOUNT[:SCOPE,...])"
    )]
    AccountName,
    /// The part before `=` is no key of this vendor.
    #[error("has no key of the form {0}_live_<public id>_<secret> before the `=`")]
    Form(Vendor),
    /// The key has the form of one that was made, and never was.
    #[error("has a key with a wrong checksum: it was cut short or mistyped")]
    Checksum,
    /// A scope that does not exist.
    #[error(
        "asks for {0}; the scopes are: {all} (or `none`, or `revoked`)",
        all = Scope::KNOWN.iter().map(Scope::as_str).collect::<Vec<_>>().join(", ")
    )]
    Scope(ScopeName),
}

/// What was written for a scope. It is shown only if it looks like one: where
/// seeds were strung together the wrong way, the next key would stand here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeName(String);

impl Seed {
    /// Reads `KEY=ACCOUNT[:SCOPE,…]`. The account's name ends at the first colon.
    /// Without scopes the key has all of them; `none` gives it none, `revoked`
    /// makes it a revoked one.
    ///
    /// # Errors
    /// The first thing wrong with it.
    pub fn parse(text: &str, vendor: &Vendor) -> Result<Self, SeedFault> {
        let (key, rest) = text.split_once('=').ok_or(SeedFault::NoAccount)?;
        let key = vendor.read(key).map_err(|fault| match fault {
            KeyFault::Form => SeedFault::Form(vendor.clone()),
            KeyFault::Checksum => SeedFault::Checksum,
        })?;
        let (account, scopes) = match rest.split_once(':') {
            Some((account, scopes)) => (account, Some(scopes)),
            None => (rest, None),
        };
        if !is_account_name(account) {
            return Err(SeedFault::AccountName);
        }
        let (scopes, revoked) = match scopes {
            None => (Scopes::ALL, false),
            Some("none") => (Scopes::default(), false),
            Some("revoked") => (Scopes::ALL, true),
            Some(list) => (scopes_of(list)?, false),
        };
        Ok(Self {
            account: account.to_owned(),
            key: NewKey {
                public_id: key.public_id().into(),
                digest: key.digest(),
                scopes,
                revoked,
            },
        })
    }
}

/// Whether an account may be called so: anything that can stand in a seed.
pub fn is_account_name(text: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '=' | ',' | ':');
    !text.is_empty() && text.chars().count() <= 200 && !text.contains(odd)
}

impl fmt::Display for ScopeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let looks_like_one = |c: char| c.is_ascii_lowercase() || matches!(c, ':' | '-' | '.');
        if !self.0.is_empty() && self.0.chars().all(looks_like_one) {
            write!(f, "the scope `{}`, which does not exist", self.0)
        } else {
            f.write_str("something that is no scope")
        }
    }
}

fn scopes_of(list: &str) -> Result<Scopes, SeedFault> {
    let mut scopes = Scopes::default();
    for name in list.split(',') {
        match Scope::known(name) {
            Some(Scope::PromptsWrite) => scopes.prompts_write = true,
            _ => return Err(SeedFault::Scope(ScopeName(name.to_owned()))),
        }
    }
    Ok(scopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Seed, SeedFault> {
        Seed::parse(text, &Vendor::new("promptarium").unwrap())
    }

    fn fault(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn without_scopes_a_seed_has_all_of_them() {
        let seed = parse("promptarium_live_a1_s3cret=alice").unwrap();
        assert_eq!(seed.account, "alice");
        assert_eq!(&*seed.key.public_id, "a1");
        assert!(seed.key.scopes.prompts_write);
        assert!(!seed.key.revoked);
    }

    #[test]
    fn the_account_ends_at_the_first_colon() {
        let seed = parse("promptarium_live_a1_s=alice:prompts:write").unwrap();
        assert_eq!(seed.account, "alice");
        assert!(seed.key.scopes.prompts_write);
    }

    #[test]
    fn none_and_revoked_are_no_scopes() {
        let none = parse("promptarium_live_a1_s=alice:none").unwrap().key;
        assert!(!none.scopes.prompts_write && !none.revoked);
        assert!(parse("promptarium_live_a1_s=alice:revoked").unwrap().key.revoked);
    }

    #[test]
    fn every_fault_is_told_without_the_key() {
        insta::assert_snapshot!(
            [
                fault("promptarium_live_a1_s3cret"),
                fault("promptarium_live_a1_s3cret="),
                fault("promptarium_live_a1_s3cret=:prompts:write"),
                fault("promptarium_live_a1_s3cret=a b"),
                fault("s3cret=alice"),
                fault("promptarium_live_p1aaaaaaaaaaaaaa_s3cret=alice"),
                fault("promptarium_live_a1_s3cret=alice:prompts:read"),
                fault("promptarium_live_a1_s3cret=alice:"),
                fault("promptarium_live_a1_s3cret=alice,promptarium_live_b1_s3cret=bob"),
                fault("promptarium_live_a1_x=alice:prompts:write,promptarium_live_b1_s3cret=bob"),
            ]
            .join("\n"),
            @r"
    has no `=` between key and account (KEY=ACCOUNT[:SCOPE,...])
    needs an account name of at most 200 characters after the `=`, without spaces, `,` or `=` (KEY=ACCOUNT[:SCOPE,...])
    needs an account name of at most 200 characters after the `=`, without spaces, `,` or `=` (KEY=ACCOUNT[:SCOPE,...])
    needs an account name of at most 200 characters after the `=`, without spaces, `,` or `=` (KEY=ACCOUNT[:SCOPE,...])
    has no key of the form promptarium_live_<public id>_<secret> before the `=`
    has a key with a wrong checksum: it was cut short or mistyped
    asks for the scope `prompts:read`, which does not exist; the scopes are: prompts:write (or `none`, or `revoked`)
    asks for something that is no scope; the scopes are: prompts:write (or `none`, or `revoked`)
    needs an account name of at most 200 characters after the `=`, without spaces, `,` or `=` (KEY=ACCOUNT[:SCOPE,...])
    asks for something that is no scope; the scopes are: prompts:write (or `none`, or `revoked`)
    "
        );
    }
}
