//! What an exploration found.

use std::fmt;

use super::Fault;

/// The result of [`explore`](super::explore). `Display` groups the problems by their cause, and says
/// what helps.
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
    /// Whether the client itself causes it, and not the function: it uploads an image again, to a new
    /// slot, when the response of the storage is lost. Nothing refers to the copy.
    pub by_client: bool,
}

/// Problems of one kind that faults at the same request lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cause<'a> {
    /// The request without its ids; `None` for problems without a fault.
    pub request: Option<&'a str>,
    /// The problems; never empty, and all of one kind.
    pub problems: Vec<&'a Problem>,
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
    /// An image was uploaded too often. Nothing refers to the copy. See [`Problem::by_client`].
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

impl ProblemKind {
    /// What a function can do about it, for people.
    #[must_use]
    pub const fn cure(self) -> &'static str {
        match self {
            Self::Doubled => {
                "look whether it is there before it is created again, or make the call a step of a \
                 `durable::Journal`"
            }
            Self::PaidTwice => {
                "store the job id first and ask for its status before it is created again, or make \
                 the call a step of a `durable::Journal`"
            }
            Self::UploadedTwice => "nothing refers to the copy: accept it with `allow`",
            Self::Lost | Self::Different => {
                "return the error of the call, so that the function is run again"
            }
            Self::Panic => "return the error in place of `unwrap`",
            Self::NoRecovery => "nothing that a run leaves may make the next one fail",
            Self::Hang => "give up after some attempts: not every error passes",
            Self::NotReproducible => "make names and ids from the input, not by chance or by time",
        }
    }
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

    /// The problems by their causes, in the order of the first problem of each.
    #[must_use]
    pub fn causes(&self) -> Vec<Cause<'_>> {
        let mut causes = Vec::<Cause<'_>>::new();
        for problem in &self.problems {
            let request = problem.case.as_ref().map(|case| &*case.request);
            let key = |it: &Problem| (it.kind, it.by_client);
            let is_same =
                |it: &&mut Cause<'_>| it.request == request && key(it.first()) == key(problem);
            match causes.iter_mut().find(is_same) {
                Some(cause) => cause.problems.push(problem),
                None => causes.push(Cause { request, problems: vec![problem] }),
            }
        }
        causes
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

    /// Checks that the function causes no problem.
    ///
    /// # Panics
    ///
    /// With the text of the report, if there is one.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert!(self.problems.iter().all(|problem| problem.by_client), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (requests, cases) = (self.requests.len(), self.cases);
        write!(f, "requests: {requests}, cases: {cases}, problems: {}", self.problems.len())?;
        self.causes().iter().try_for_each(|cause| write!(f, "\n{cause}"))
    }
}

impl<'a> Cause<'a> {
    fn first(&self) -> &'a Problem {
        self.problems[0]
    }
}

impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.first();
        write!(f, "{first}")?;
        let (mut details, mut faults) = (vec![&first.details], Vec::new());
        for problem in &self.problems {
            if !details.contains(&&problem.details) {
                details.push(&problem.details);
            }
            let fault = problem.case.as_ref().map(|case| case.fault.to_string());
            faults.extend(fault.filter(|fault| !faults.contains(fault)));
        }
        for other in &details[1..] {
            write!(f, "\n  {other}")?;
        }
        if self.problems.len() > 1 && !faults.is_empty() {
            write!(f, "\n  {} cases: {}", self.problems.len(), faults.join(", "))?;
        }
        match (first.by_client, &first.case, first.kind) {
            (true, ..) => f.write_str("\n  by the client itself: nothing refers to the copy"),
            (_, None, ProblemKind::NoRecovery) => {
                f.write_str("\n  cure: it must succeed without a fault before it is explored")
            }
            _ => write!(f, "\n  cure: {}", first.kind.cure()),
        }
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
