//! What a scenario is: an async function and what must be known about it
//! before it runs. Running belongs to `run`, the list to [`crate::scenarios`].

use futures::future::BoxFuture;

use crate::{Case, Failure};

/// The function of a scenario.
pub type RunFn = &'static (dyn Fn(Case) -> BoxFuture<'static, Result<(), Failure>> + Sync);

/// One thing a deployment must do, and how to see whether it does.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Stable name, `chapter.subject.fact`, such as `prompts.create.title-length`.
    pub id: &'static str,
    /// The fact in one sentence.
    pub title: &'static str,
    /// The rules of `docs/api.md` it proves; never empty.
    pub rules: &'static [&'static str],
    /// Whether the specification states it or the reference server chose it.
    pub profile: Profile,
    /// What it cannot run without, beyond the address and the key.
    pub needs: &'static [Need],
    /// The file and the line of its entry.
    pub source: &'static str,
    /// The scenario itself.
    pub run: RunFn,
}

/// Which set of expectations a scenario belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// What the specification states.
    Core,
    /// What the reference server chose where the specification is silent.
    Reference,
}

/// Something a target may lack; a scenario that needs it is then skipped, and
/// the report says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// A key of the same account without `prompts:write`.
    ReadOnlyKey,
    /// A key of another account.
    OtherAccount,
    /// A key that was revoked.
    RevokedKey,
    /// A session of a browser in the account under test.
    Session,
    /// The provider that is built into the reference server.
    LocalProvider,
    /// HTTP/1.1, whose requests are lines of text that can be written wrong.
    HttpOne,
}

impl Scenario {
    /// A scenario made from a row of a table. It lives as long as the program.
    pub(crate) fn generated(
        profile: Profile,
        id: String,
        title: String,
        rules: Vec<&'static str>,
        source: &'static str,
        run: RunFn,
    ) -> Self {
        Self {
            id: id.leak(),
            title: title.leak(),
            rules: rules.leak(),
            profile,
            needs: &[],
            source,
            run,
        }
    }
}

impl Profile {
    /// As the command line and every report call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Reference => "reference",
        }
    }
}

impl Need {
    /// What cannot be tested without it, why, and what would mend it.
    pub(crate) fn in_words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::ReadOnlyKey => (
                "that a key without prompts:write cannot write",
                "there is no such key",
                "set PROMPTARIUM_READ_ONLY_API_KEY",
            ),
            Self::OtherAccount => (
                "that accounts are kept apart",
                "there is no key of another account",
                "set PROMPTARIUM_OTHER_API_KEY",
            ),
            Self::RevokedKey => (
                "that a revoked key is refused",
                "there is no revoked key",
                "set PROMPTARIUM_REVOKED_API_KEY",
            ),
            Self::Session => (
                "what only a browser session may do: making, listing and revoking API keys",
                "there is no sign-in link",
                "give --sign-in-url, or set PROMPTARIUM_SIGN_IN_URL",
            ),
            Self::LocalProvider => (
                "what the built-in provider makes",
                "PROMPTARIUM_IMAGE_MODEL names another provider's model",
                "leave it unset on the reference server",
            ),
            Self::HttpOne => (
                "requests that break the form of HTTP/1.1",
                "the run speaks HTTP/2 only",
                "leave --http 2 away",
            ),
        }
    }

    /// Why a scenario with this need cannot run, and what would mend it.
    pub fn missing(self) -> &'static str {
        match self {
            Self::ReadOnlyKey => {
                "needs a key without prompts:write of the same account; set PROMPTARIUM_READ_ONLY_API_KEY"
            }
            Self::OtherAccount => "needs a key of another account; set PROMPTARIUM_OTHER_API_KEY",
            Self::RevokedKey => "needs a revoked key; set PROMPTARIUM_REVOKED_API_KEY",
            Self::Session => {
                "needs a browser session; give a sign-in link of the target by --sign-in-url or PROMPTARIUM_SIGN_IN_URL"
            }
            Self::HttpOne => "needs HTTP/1.1; this run speaks HTTP/2 only (--http 2)",
            Self::LocalProvider => {
                "needs the models under local/; PROMPTARIUM_IMAGE_MODEL names another provider's"
            }
        }
    }
}

/// One scenario of the profile core: id, rules, needs (optional), function, title.
macro_rules! core {
    ($($entry:tt)+) => { $crate::scenario::scenario!(Core, $($entry)+) };
}

/// One scenario of the profile reference, written like `core!`.
macro_rules! reference {
    ($($entry:tt)+) => { $crate::scenario::scenario!(Reference, $($entry)+) };
}

macro_rules! scenario {
    ($profile:ident, $id:literal [$($rule:literal),+] $([$($need:ident),*])? $run:path, $title:literal) => {
        $crate::Scenario {
            id: $id,
            title: $title,
            rules: &[$($rule),+],
            profile: $crate::Profile::$profile,
            needs: &[$($($crate::Need::$need),*)?],
            source: concat!(file!(), ":", line!()),
            run: &|case| Box::pin($run(case)),
        }
    };
}

pub(crate) use {core, reference, scenario};
