//! A scenario: an async function and what a run must know before it calls it.

use std::panic::Location;

use clap::ValueEnum;
use futures::future::BoxFuture;
use serde::Serialize;
use strum::AsRefStr;

use crate::{Case, Failure, Need};

/// The function of a scenario.
pub type RunFn = &'static (dyn Fn(Case) -> BoxFuture<'static, Result<(), Failure>> + Sync);

/// One fact about a deployment and how to check it.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Stable name, `chapter.subject.fact`, such as `prompts.create.title-length`.
    pub id: &'static str,
    /// The fact in one sentence.
    pub title: &'static str,
    /// The rules of `docs/reference/api.md` it proves; never empty.
    pub rules: &'static [&'static str],
    /// Whether the specification states it, an RFC of HTTP does, or the reference server chose it.
    pub profile: Profile,
    /// The points, such as `S-31`, at which the specification is silent and our server chose.
    pub silent: &'static [&'static str],
    /// Whether it sends nothing but `GET` and `HEAD`, as far as the run may only read.
    pub reads: bool,
    /// What it cannot run without, beyond the address and the key.
    pub needs: &'static [Need],
    /// The file and the line of its entry.
    pub source: &'static str,
    /// The scenario itself.
    pub run: RunFn,
}

/// Which set of expectations a scenario belongs to.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum, AsRefStr,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// What the specification states.
    #[default]
    Core,
    /// What RFC 9110 and RFC 9112 require of any HTTP server.
    Http,
    /// What the reference server chose where the specification is silent.
    Reference,
}

impl Scenario {
    /// A scenario made from a row of a table. It lives as long as the program.
    #[track_caller]
    pub(crate) fn generated<F>(
        profile: Profile,
        id: String,
        title: String,
        rules: Vec<&'static str>,
        silent: &'static [&'static str],
        run: impl Fn(Case) -> F + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let made_at = Location::caller();
        Self {
            id: id.leak(),
            title: title.leak(),
            rules: rules.leak(),
            profile,
            silent,
            reads: false,
            needs: &[],
            source: format!("{}:{}", made_at.file(), made_at.line()).leak(),
            run: Box::leak(Box::new(move |case| Box::pin(run(case)) as BoxFuture<'static, _>)),
        }
    }
}

impl Profile {
    /// Every profile, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Core, Self::Http, Self::Reference];

    /// Whether a run of this profile has the scenarios of the other one.
    pub fn includes(self, other: Self) -> bool {
        self == other || (self == Self::Reference && other == Self::Core)
    }
}

/// One scenario: profile, `reads` (if it only reads), id, rules, silent points (optional), needs
/// (optional), function, title. In place of the name of a function there may be a call such as
/// `|case| lists(case, "/vaults")`.
///
/// ```
/// use promptarium_conformance::{Case, Failure, Scenario, Suite, scenario};
///
/// async fn lists_vaults(case: Case) -> Result<(), Failure> {
///     case.wire().get("/vaults").await?.status(200).map(drop)
/// }
///
/// static OURS: &[Scenario] = &[
///     scenario! { Reference "acme.vaults.listed" ["VA-13"] lists_vaults,
///         "Our gateway lets the list of vaults through" },
/// ];
///
/// let suite = Suite::builtin().with(OURS);
/// assert!(suite.find("acme.vaults.listed").is_some());
/// ```
#[macro_export]
macro_rules! scenario {
    (@) => { false };
    (@ reads) => { true };
    ($profile:ident $($reads:ident)? $id:literal [$($rule:literal),*] $(($($silent:literal),*))? $([$($need:ident),*])? $run:path, $title:literal) => {
        $crate::scenario!($profile $($reads)? $id [$($rule),*] $(($($silent),*))? $([$($need),*])? |case| $run(case), $title)
    };
    ($profile:ident $($reads:ident)? $id:literal [$($rule:literal),*] $(($($silent:literal),*))? $([$($need:ident),*])? |$case:ident| $run:expr, $title:literal) => {
        $crate::Scenario {
            id: $id,
            title: $title,
            rules: &[$($rule),*],
            profile: $crate::Profile::$profile,
            silent: &[$($($silent),*)?],
            reads: $crate::scenario!(@ $($reads)?),
            needs: &[$($($crate::Need::$need),*)?],
            source: concat!(file!(), ":", line!()),
            run: &|$case: $crate::Case| Box::pin($run),
        }
    };
}

/// A scenario of the profile core.
macro_rules! core {
    ($($entry:tt)+) => { $crate::scenario!(Core $($entry)+) };
}

/// A scenario of the profile http.
macro_rules! http {
    ($($entry:tt)+) => { $crate::scenario!(Http $($entry)+) };
}

/// A scenario of the profile reference.
macro_rules! reference {
    ($($entry:tt)+) => { $crate::scenario!(Reference $($entry)+) };
}

pub(crate) use {core, http, reference};
