//! The keys of a server, in the forms that keys may have (S-49).

#[derive(Clone)]
pub(crate) struct Secrets {
    /// With the scope `prompts:write`.
    pub(crate) main: String,
    /// Of the same account, without it.
    pub(crate) read_only: String,
    /// With the scope, of another account.
    pub(crate) other: String,
    pub(crate) revoked: String,
}

impl Secrets {
    fn of(key: impl Fn(&str) -> String, [main, read_only, other, revoked]: [&str; 4]) -> Self {
        Self {
            main: key(main),
            read_only: key(read_only),
            other: key(other),
            revoked: key(revoked),
        }
    }

    pub(crate) fn verbose() -> Self {
        let parts = ["main_8Jq2vXw7", "idle_kP4tYz9c", "rest_Rb6nLm3d", "gone_Hs5fGq1x"];
        Self::of(|part| format!("contrary_live_{part}"), parts)
    }

    pub(crate) fn tolerant() -> Self {
        Self::of(|part| format!("studio_live_{part}_0123456789abcdef"), ["1", "2", "3", "4"])
    }

    /// Of odd signs, and as long as a token of other makers.
    pub(crate) fn minimal() -> Self {
        let key = |part: &str| format!("a.b-c_live_{part}~1_{}=/+", "x9.-".repeat(100));
        Self::of(key, ["m", "r", "o", "v"])
    }
}
