//! What a deliberate fault is.

use std::sync::Arc;

use promptarium_server::store::Store;

use crate::front::Front;
use crate::heads::Reread;
use crate::service::Setting;

/// One way to break one rule.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    /// Stable name, `chapter.what`, such as `prompts.title-121`.
    pub(crate) id: &'static str,
    /// One sentence: what the server does wrong.
    pub(crate) wrong: &'static str,
    /// The rule it breaks, and behind it those whose scenarios cannot do without what
    /// is broken.
    pub(crate) rules: &'static [&'static str],
    /// Whether the fault is that no answer comes, so that a scenario ends in an
    /// error and not in a failure.
    pub(crate) silent: bool,
    /// Made anew for each server, with a state of its own.
    pub(crate) how: fn() -> How,
}

impl Fault {
    /// Whether it was made for calls that come at the same moment.
    pub(crate) fn is_race(&self) -> bool {
        self.id.starts_with("races.")
    }
}

/// Where the fault is put.
pub(crate) enum How {
    /// Between the client and a good server.
    Front(Front),
    /// Between the client and a good server's reading of HTTP itself.
    Heads(Reread),
    /// Nobody is served while more connections than so many have said nothing. Its
    /// scenarios run one by one, as each would meet the connections of the others.
    Silent(usize),
    /// Around a good store. Requests of other routes never come to what is wrong.
    Store(&'static str, fn(Arc<dyn Store>) -> Arc<dyn Store>),
    /// In what the server is made from.
    #[expect(dead_code, reason = "for faults of the provider, the files and the clock")]
    Setting(fn(&mut Setting)),
}

/// A fault: id, what is wrong, rules, how.
macro_rules! fault {
    ($id:literal, $wrong:literal, [$($rule:literal),+ $(,)?], $how:expr) => {
        $crate::fault::Fault {
            id: $id,
            wrong: $wrong,
            rules: &[$($rule),+],
            silent: false,
            how: || $how,
        }
    };
}

pub(crate) use fault;
