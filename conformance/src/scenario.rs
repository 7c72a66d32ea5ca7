//! A scenario: an async function and what a run must know before it calls it.

use std::panic::Location;

use futures::future::BoxFuture;

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
    /// What it proves: rules of `docs/reference/api.md`, or whatever the authors of an own suite
    /// number their rules by. Never empty.
    pub rules: &'static [&'static str],
    /// Whether it sends nothing but `GET` and `HEAD`, as far as the run may only read.
    pub reads: bool,
    /// Whether it runs after all others and alone, as it looks at what every call changes.
    pub last: bool,
    /// What it cannot run without, beyond the address and the key.
    pub needs: &'static [Need],
    /// The file and the line of its entry.
    pub source: &'static str,
    /// The scenario itself.
    pub run: RunFn,
}

impl Scenario {
    /// A scenario made from a row of a table. It lives as long as the program.
    #[track_caller]
    pub fn generated<F>(
        id: String,
        title: String,
        rules: Vec<&'static str>,
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
            reads: false,
            last: false,
            needs: &[],
            source: format!("{}:{}", made_at.file(), made_at.line()).leak(),
            run: Box::leak(Box::new(move |case| Box::pin(run(case)) as BoxFuture<'static, _>)),
        }
    }
}

/// One scenario: `reads` (if it only reads) or `last`, id, rules, needs (optional), function, title.
/// In place of the name of a function there may be a call such as `|case| lists(case, "/vaults")`.
///
/// ```
/// use promptarium_conformance::{Case, Failure, Scenario, Suite, scenario};
///
/// async fn lists_vaults(case: Case) -> Result<(), Failure> {
///     case.wire().get("/vaults").await?.status(200).map(drop)
/// }
///
/// static OURS: &[Scenario] = &[
///     scenario! { "acme.vaults.listed" ["VA-13"] lists_vaults,
///         "Our gateway lets the list of vaults through" },
/// ];
///
/// let suite = Suite::builtin().with(OURS);
/// assert!(suite.find("acme.vaults.listed").is_some());
/// ```
#[macro_export]
macro_rules! scenario {
    (@reads reads) => { true };
    (@last last) => { true };
    (@$asked:ident $($kind:ident)?) => { false };
    ($($kind:ident)? $id:literal [$($rule:literal),*] $([$($need:ident),*])? $run:path, $title:literal) => {
        $crate::scenario!($($kind)? $id [$($rule),*] $([$($need),*])? |case| $run(case), $title)
    };
    ($($kind:ident)? $id:literal [$($rule:literal),*] $([$($need:ident),*])? |$case:ident| $run:expr, $title:literal) => {
        $crate::Scenario {
            id: $id,
            title: $title,
            rules: &[$($rule),*],
            reads: $crate::scenario!(@reads $($kind)?),
            last: $crate::scenario!(@last $($kind)?),
            needs: &[$($($crate::Need::$need),*)?],
            source: concat!(file!(), ":", line!()),
            run: &|$case: $crate::Case| Box::pin($run),
        }
    };
}
