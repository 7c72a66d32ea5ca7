//! What a deliberate fault is.

use std::sync::Arc;

use promptarium_server::store::Store;

use crate::front::Front;
use crate::heads::{ChangeLines, Reread};
use crate::service::Setting;

/// One way to break one rule.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    /// Stable name, `chapter.what`, such as `prompts.title-121`.
    pub(crate) id: &'static str,
    /// One sentence: what the server does wrong.
    pub(crate) wrong: &'static str,
    /// The rule it breaks.
    pub(crate) rule: &'static str,
    /// Whether the fault is that no answer comes, so that a scenario ends in an
    /// error and not in a failure.
    pub(crate) silent: bool,
    /// How the ids of the scenarios begin that it meets, where it is made from a row of a table.
    pub(crate) among: Option<&'static str>,
    /// Made anew for each server, with a state of its own.
    pub(crate) how: &'static (dyn Fn() -> Intercept + Send + Sync),
}

impl Fault {
    /// Whether it was made for calls that come at the same moment.
    pub(crate) fn is_race(&self) -> bool {
        self.id.starts_with("races.")
    }

    /// The requests that it looks at, as far as they are known beforehand.
    pub(crate) fn routes(&self) -> &'static str {
        match (self.how)() {
            Intercept::Front(front) => front.routes(),
            Intercept::Store(routes, _) => routes,
            _ => "",
        }
    }

    /// Whether it may meet the scenario.
    pub(crate) fn meets(&self, scenario: &str) -> bool {
        self.among.is_none_or(|start| scenario.starts_with(start))
    }
}

/// Puts a fault into a good store.
type Wrap = Box<dyn FnOnce(Arc<dyn Store>) -> Arc<dyn Store>>;

/// Where the fault is put.
pub(crate) enum Intercept {
    /// Between the client and a good server.
    Front(Front),
    /// In the head that a connection begins with, before a good server reads it.
    Heads(ChangeLines),
    /// In the bytes of a connection, before a good server reads them.
    Stream(Reread),
    /// Nobody is served while more connections than so many have said nothing. Its
    /// scenarios run one by one, as each would meet the connections of the others.
    Silent(usize),
    /// Around a good store. Requests of other routes never come to what is wrong.
    Store(&'static str, Wrap),
    /// In what the server is made from.
    #[expect(dead_code, reason = "for faults of the provider, the files and the clock")]
    Setting(fn(&mut Setting)),
}

/// A fault: id, rule, how, what is wrong; `silent` in front if no response comes, and `in`
/// and how ids begin if it is to meet some scenarios only.
macro_rules! fault {
    (in $among:literal $($entry:tt)+) => {
        $crate::fault::Fault { among: Some($among), ..$crate::fault::fault!($($entry)+) }
    };
    (silent $($entry:tt)+) => {
        $crate::fault::Fault { silent: true, ..$crate::fault::fault!($($entry)+) }
    };
    ($id:literal [$rule:literal] $how:expr, $wrong:literal) => {
        $crate::fault::Fault {
            id: $id,
            wrong: $wrong,
            rule: $rule,
            silent: false,
            among: None,
            how: &|| $how,
        }
    };
}

pub(crate) use fault;
