//! Keys that exist from the start of a service.

use super::{KeyError, NewKey, Scopes, Vendor, account_name};

/// An account and one of its keys, both created at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedKey {
    pub account: String,
    pub key: NewKey,
}

impl SeedKey {
    /// Parses `KEY=ACCOUNT[:SCOPE,…]`. The error continues a sentence that begins with a number.
    fn parse(text: &str, vendor: &Vendor) -> Result<Self, String> {
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
        let (account, rights) = rest.split_once(':').unwrap_or((rest, "prompts:write"));
        let no_account = |problem| format!("has after the `=` what {problem}");
        let account = account_name(account).map_err(no_account)?;
        let revoked = rights == "revoked";
        let scopes = if revoked { Ok(Scopes::ALL) } else { Scopes::parse(rights) };
        let scopes = scopes.map_err(|problem| format!("has a scope that {problem}, revoked"))?;
        let (public_id, digest) = (key.public_id().into(), key.digest());
        Ok(Self { account, key: NewKey { public_id, name: None, digest, scopes, revoked } })
    }

    /// Parses several. The error begins with the number of the key.
    pub fn parse_all(texts: &[String], vendor: &Vendor) -> Result<Vec<Self>, String> {
        let mut seeds: Vec<Self> = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            let problem = |problem| format!("number {} {problem}", at + 1);
            let seed = Self::parse(text, vendor).map_err(problem)?;
            let clash = |other: &Self| other.key.public_id == seed.key.public_id && *other != seed;
            if seeds.iter().any(clash) {
                return Err(problem("has the public id of another one".to_owned()));
            }
            seeds.push(seed);
        }
        Ok(seeds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_key_has_an_account_and_rights_and_errors_do_not_contain_it() {
        let name = "has after the `=` what is not an account name";
        let scope = "has a scope that is not one of: prompts:write, none, revoked";
        let checksum = "has a key with a wrong checksum";
        let form = "has no key of the form promptarium_live_";
        for (text, expected) in [
            ("a1_s3cret=alice", Ok((true, false))),
            ("a1_s3cret=alice:prompts:write", Ok((true, false))),
            ("a1_s3cret=alice:none", Ok((false, false))),
            ("a1_s3cret=alice:revoked", Ok((true, true))),
            ("a1_s3cret", Err("has no `=`")),
            ("a1_s3cret=", Err(name)),
            ("a1_s3cret=a b", Err(name)),
            ("a1_s3cret=alice,promptarium_live_b1_s3cret=bob", Err(name)),
            ("=alice", Err(form)),
            ("p1aaaaaaaaaaaaaa_s3cret=alice", Err(checksum)),
            ("a1_s3cret=alice:prompts:read", Err(scope)),
            ("a1_x=alice:prompts:write,promptarium_live_b1_s3cret=bob", Err(scope)),
        ] {
            let vendor = Vendor::new("promptarium").unwrap();
            match (SeedKey::parse(&format!("promptarium_live_{text}"), &vendor), expected) {
                (Ok(SeedKey { account, key }), Ok((prompts_write, revoked))) => {
                    assert_eq!((&*account, &*key.public_id), ("alice", "a1"), "{text}");
                    let rights = (key.scopes.prompts_write, key.revoked);
                    assert_eq!(rights, (prompts_write, revoked), "{text}");
                }
                (Err(error), Err(expected)) => {
                    assert!(!error.contains("s3cret"), "{error}");
                    assert!(error.starts_with(expected), "{text}: {error}");
                }
                (outcome, _) => panic!("{text}: {outcome:?}"),
            }
        }
    }
}
