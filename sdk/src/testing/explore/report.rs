//! What an exploration found.

use std::fmt;

use super::Fault;

/// The result of [`explore`](super::explore). `Display` has one line for each problem.
#[derive(Debug, Clone, Default)]
#[must_use = "a report says whether there are problems"]
pub struct Report {
    pub(super) requests: Vec<String>,
    pub(super) cases: usize,
    pub(super) problems: Vec<Problem>,
}

/// One thing that goes wrong. `Display` is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The case that shows it; `None` if the function has it without a fault.
    pub case: Option<Case>,
    /// The kind of problem.
    pub kind: ProblemKind,
    /// What was found and what was expected, as a text for people.
    pub details: String,
}

/// A run with one fault.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Case {
    /// The number of the request with the fault, from 1.
    pub number: usize,
    /// That request without its ids, such as `GET /prompts/{promptId}`.
    pub request: String,
    /// The fault.
    pub fault: Fault,
}

/// The kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A prompt or a vault exists too often.
    Doubled,
    /// A job was queued too often.
    PaidTwice,
    /// An image was uploaded too often. Nothing refers to the copy. The client itself causes this
    /// when the response of the storage is lost: it uploads again, to a new slot.
    UploadedTwice,
    /// The function succeeded, and something does not exist.
    Lost,
    /// The function succeeded, and something has other fields, vaults or pins.
    Different,
    /// The function panicked.
    Panic,
    /// The function fails without a fault, or again after two restarts.
    NoRecovery,
    /// The function does not end within an hour of Tokio's time.
    Hang,
    /// Two runs without a fault do not do the same, so that there is nothing to compare with.
    NotReproducible,
}

impl Report {
    /// The requests of the run without faults, without their ids.
    #[must_use]
    pub fn requests(&self) -> &[String] {
        &self.requests
    }

    /// The number of faults that were tried.
    #[must_use]
    pub const fn cases(&self) -> usize {
        self.cases
    }

    /// The problems, in the order of the requests and of [`Fault::ALL`].
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter()
    }

    /// The report without the problems that are accepted.
    ///
    /// ```
    /// # use promptarium::testing::{ProblemKind, Report};
    /// # fn example(report: Report) {
    /// report.allow(|problem| problem.kind == ProblemKind::UploadedTwice).assert_clean();
    /// # }
    /// ```
    pub fn allow(mut self, is_accepted: impl Fn(&Problem) -> bool) -> Self {
        self.problems.retain(|problem| !is_accepted(problem));
        self
    }

    /// Checks that there is no problem.
    ///
    /// # Panics
    ///
    /// With the text of the report, if there is one.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert!(self.problems.is_empty(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (requests, cases) = (self.requests.len(), self.cases);
        write!(f, "requests: {requests}, cases: {cases}, problems: {}", self.problems.len())?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.case {
            Some(case) => write!(f, "{case}: {}", self.details),
            None => write!(f, "without a fault: {}", self.details),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (request {}), {}", self.request, self.number, self.fault)
    }
}
