//! The keys of a server, in the forms that keys may have (S-49).

/// The keys the server knows.
#[derive(Clone)]
pub(crate) struct Secrets {
    /// With the scope `prompts:write`.
    pub(crate) main: String,
    /// Of the same account, without it.
    pub(crate) read_only: String,
    /// With the scope, of another account.
    pub(crate) other: String,
    /// Revoked.
    pub(crate) revoked: String,
}

impl Secrets {
    pub(crate) fn verbose() -> Self {
        Self {
            main: "contrary_live_main_8Jq2vXw7".into(),
            read_only: "contrary_live_idle_kP4tYz9c".into(),
            other: "contrary_live_rest_Rb6nLm3d".into(),
            revoked: "contrary_live_gone_Hs5fGq1x".into(),
        }
    }

    pub(crate) fn tolerant() -> Self {
        let key = |part: &str| format!("studio_live_{part}_0123456789abcdef");
        Self { main: key("1"), read_only: key("2"), other: key("3"), revoked: key("4") }
    }

    /// Of odd signs, and as long as a token of other makers.
    pub(crate) fn minimal() -> Self {
        let key = |part: &str| format!("a.b-c_live_{part}~1_{}=/+", "x9.-".repeat(100));
        Self { main: key("m"), read_only: key("r"), other: key("o"), revoked: key("v") }
    }
}
