//! What a deliberate fault is.

use promptarium_conformance::trace::{self, Step};

use crate::front::{Front, any_matches};
use crate::heads::Reread;

/// One way to break one rule.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    /// Stable name, `chapter.what`, such as `prompts.title-121`.
    pub(crate) id: &'static str,
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
    /// The requests that it looks at, as far as they are known beforehand.
    pub(crate) fn routes(&self) -> &'static str {
        match (self.how)() {
            Intercept::Front(front) => front.routes,
            _ => "",
        }
    }

    /// Whether it may meet the scenario.
    pub(crate) fn meets(&self, scenario: &str) -> bool {
        self.among.is_none_or(|start| scenario.starts_with(start))
    }

    /// Whether the scenario sends a request that it looks at, by the transcript. True also for
    /// scenarios with requests that the transcript does not show as they were sent: raw requests,
    /// uploads, paths outside the API root, and the sign-in that all scenarios share.
    pub(crate) fn is_reached_by(&self, scenario: &str) -> bool {
        let routes = self.routes();
        let is_of = |step: &Step| {
            let (method, address) = step.call.split_once(' ').unwrap_or_default();
            let path = address.split('?').next().unwrap_or_default();
            let start = ["/storage/", "/assets/", "/sign-"].iter().find_map(|at| path.find(at));
            let method = method.parse().unwrap_or_default();
            path.starts_with("/../")
                || any_matches(routes, &method, &path[start.unwrap_or_default()..])
        };
        let steps = trace::recorded(scenario).unwrap_or_default();
        scenario.starts_with("raw.")
            || scenario.starts_with("uploads.")
            || steps.is_empty()
            || steps.iter().any(is_of)
    }
}

/// Where the fault is put.
pub(crate) enum Intercept {
    /// Between the client and a good server.
    Front(Front),
    /// In the bytes of a connection, before a good server reads them.
    Stream(Reread),
    /// Nobody is served while more connections than so many have said nothing. Its
    /// scenarios run one by one, as each would meet the connections of the others.
    Silent(usize),
}

/// A fault: id, rule, how; `silent` in front if no response comes, and `in` and how ids begin if
/// it is to meet some scenarios only.
macro_rules! fault {
    (in $among:literal $($entry:tt)+) => {
        $crate::fault::Fault { among: Some($among), ..$crate::fault::fault!($($entry)+) }
    };
    (silent $($entry:tt)+) => {
        $crate::fault::Fault { silent: true, ..$crate::fault::fault!($($entry)+) }
    };
    ($id:literal [$rule:literal] $how:expr) => {
        $crate::fault::Fault {
            id: $id,
            rule: $rule,
            silent: false,
            among: None,
            how: &|| $how,
        }
    };
}

pub(crate) use fault;
