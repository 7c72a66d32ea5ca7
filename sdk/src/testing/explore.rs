//! Runs a function with every fault at every request.
#![expect(clippy::panic, reason = "a mistake of the test ends the test")]

mod difference;
mod fault;
mod report;

use std::any::Any;
use std::fmt::Display;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use self::difference::{Contents, differences};
pub use self::fault::Fault;
use self::fault::FaultyTransport;
pub use self::report::{Case, Cause, Problem, ProblemKind, Report};
use super::FakeService;
use crate::Client;

/// How often the function is run again after a failure, without faults.
const RESTARTS: u32 = 2;

/// The time before the function is run again: the service has ended all work by then.
const RESTART_DELAY: Duration = Duration::from_secs(300);

/// How long one run may take.
const RUN_TIMEOUT: Duration = Duration::from_secs(3600);

/// Runs a function against a [`FakeService`], again with every [`Fault`] at each of its requests,
/// and reports the problems: see [`ProblemKind`].
///
/// The first run has no fault and must succeed. Each further run, a case, has a fresh service and
/// one fault; afterwards the service must hold the same as after the first run. A function that
/// fails or is dropped by its fault is run again without faults on the same service, as a user
/// starts a program again: at most twice, each time five minutes later.
///
/// Prompts are compared with their vaults and pins, vaults by name, description and visibility,
/// generations by model and prompt, and uploads by type and size. What exists too often is always
/// a problem, what is missing only if the function succeeded.
///
/// ```
/// use promptarium::testing::{Fault, ProblemKind, explore};
/// use promptarium::{Client, Error};
///
/// /// The code under test.
/// async fn import(client: &Client) -> Result<(), Error> {
///     client.prompts().create("Dusk", "A harbour at dusk").await?;
///     Ok(())
/// }
///
/// #[tokio::main(flavor = "current_thread", start_paused = true)]
/// async fn main() {
///     let report = explore(async |client| import(&client).await).await;
///
///     let problem = report.problems().next().expect("a restart creates the prompt again");
///     assert_eq!(problem.kind, ProblemKind::Doubled);
///     assert_eq!(
///         problem.to_string(),
///         "POST /prompts (request 1), response lost: prompt \"Dusk\": found 2, expected 1"
///     );
///     // In a test: report.assert_clean();
/// }
/// ```
///
/// # Limits
///
/// - Tokio's clock must be paused: `#[tokio::test(start_paused = true)]`. The function may use
///   files, also by [`tokio::fs`], but no sockets: while it waits for one, the clock advances to
///   the next timeout.
/// - Requests are numbered in the order in which they are sent. If the function sends several at
///   the same time, the report may change between runs.
/// - The function must do the same in each run. One with a random title is found by a second run
///   without a fault, and not explored. The backoff of the client is the same in each case, for
///   which the thread's generator of `fastrand` is seeded.
/// - The fault that drops the function, as a crash does, does not stop tasks that it spawned; their
///   requests are no longer answered.
/// - A function that blocks the thread, or loops without a request or a delay, is not interrupted.
/// - Each request is ten cases, so that the time grows with the square of the number of requests.
///
/// # Panics
///
/// If the clock is not paused.
pub async fn explore<T, E: Display>(run: impl AsyncFn(Client) -> Result<T, E>) -> Report {
    explore_with(async |_| (), async |client, (): &()| run(client).await).await
}

/// As [`explore`], with something that is made before each case and outlives the restarts in it: a
/// journal, a database, a directory.
///
/// The client of `setup` has no faults, so that it can also prepare the service.
///
/// ```
/// use std::cell::Cell;
/// use promptarium::testing::explore_with;
/// use promptarium::{Client, Error, PromptId};
///
/// struct Journal {
///     prompt: PromptId,
///     done: Cell<bool>,
/// }
///
/// /// The code under test.
/// async fn rename(client: &Client, journal: &Journal) -> Result<(), Error> {
///     if !journal.done.get() {
///         client.prompts().update(journal.prompt).title("Dawn").await?;
///         journal.done.set(true);
///     }
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let setup = async |client: Client| {
///     let prompt = client.prompts().create("Dusk", "A harbour").await.unwrap().id;
///     Journal { prompt, done: Cell::new(false) }
/// };
/// let report = explore_with(setup, async |client, journal| rename(&client, journal).await).await;
/// report.assert_clean();
/// # }
/// ```
///
/// # Panics
///
/// As [`explore`].
pub async fn explore_with<S, T, E: Display>(
    setup: impl AsyncFn(Client) -> S,
    run: impl AsyncFn(Client, &S) -> Result<T, E>,
) -> Report {
    explore_on(FakeService::new, setup, run).await
}

/// As [`explore_with`], on another service than the usual one, which is made before each case.
///
/// ```
/// use promptarium::testing::{FakeService, Rudeness, explore_on};
/// use promptarium::{Client, Error};
///
/// /// The code under test, which does not expect that the service changes the name.
/// async fn import(client: &Client) -> Result<(), Error> {
///     let name = "Harbours ";
///     if client.vaults().list().await?.iter().all(|vault| vault.name != name) {
///         client.vaults().create(name).await?;
///     }
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let service = || FakeService::new().rude([Rudeness::ChangesTexts]);
/// let report = explore_on(service, async |_| (), async |client, ()| import(&client).await).await;
/// assert!(report.to_string().contains("vault \"Harbours\": found 2, expected 1"));
/// # }
/// ```
///
/// # Panics
///
/// As [`explore`].
pub async fn explore_on<S, T, E: Display>(
    service: impl Fn() -> FakeService,
    setup: impl AsyncFn(Client) -> S,
    run: impl AsyncFn(Client, &S) -> Result<T, E>,
) -> Report {
    check_clock().await;
    let mut report = Report::default();
    let run_case = async |fault| run_case(service(), &setup, &run, fault).await;
    let first = run_case(None).await;
    report.requests = first.requests;
    report.problems.extend(first.problem);
    if report.problems.is_empty() {
        let second = run_case(None).await;
        let differences = differences(&first.contents, &second.contents, true);
        report.problems.extend(second.problem.into_iter().chain(differences).map(|problem| {
            let details = format!("a second run differs: {}", problem.details);
            let kind = ProblemKind::NotReproducible;
            Problem { case: None, kind, details, by_client: false }
        }));
    }
    if !report.problems.is_empty() {
        return report;
    }
    for (index, request) in report.requests.iter().enumerate() {
        for fault in Fault::ALL {
            let found = run_case(Some((index + 1, fault))).await;
            let request = found.requests.get(index).unwrap_or(request).clone();
            let case = Case { number: index + 1, request, fault };
            let is_success = found.problem.is_none();
            let differences = differences(&first.contents, &found.contents, is_success);
            let problems = found.problem.into_iter().chain(differences);
            let of_case = |problem: Problem| {
                let by_client = problem.kind == ProblemKind::UploadedTwice
                    && !found.is_restarted
                    && case.request == "PUT {uploadUrl}";
                Problem { case: Some(case.clone()), by_client, ..problem }
            };
            report.problems.extend(problems.map(of_case));
            report.cases += 1;
        }
    }
    report
}

struct Found {
    problem: Option<Problem>,
    /// Whether the function was run again.
    is_restarted: bool,
    /// The requests of the first run.
    requests: Vec<String>,
    contents: Contents,
}

async fn run_case<S, T, E: Display>(
    service: FakeService,
    setup: &impl AsyncFn(Client) -> S,
    run: &impl AsyncFn(Client, &S) -> Result<T, E>,
    fault: Option<(usize, Fault)>,
) -> Found {
    // The same jitter in each case.
    fastrand::seed(0);
    let state = setup(service.client()).await;
    let transport = FaultyTransport::new(&service, fault);
    let mut problem = run_once(&transport, |client| run(client, &state)).await;
    let restarts = if fault.is_some() { RESTARTS } else { 0 };
    let mut is_restarted = false;
    for _ in 0..restarts {
        if problem.as_ref().is_none_or(|problem| problem.kind != ProblemKind::NoRecovery) {
            break;
        }
        is_restarted = true;
        sleep(RESTART_DELAY).await;
        let transport = FaultyTransport::new(&service, None);
        problem = run_once(&transport, |client| run(client, &state)).await;
    }
    // A late request is applied until then.
    sleep(RESTART_DELAY).await;
    let (requests, contents) = (transport.requests(), Contents::of(&service));
    Found { problem, is_restarted, requests, contents }
}

/// Runs the function once. An error is [`ProblemKind::NoRecovery`] unless a restart helps.
async fn run_once<T, E: Display, F: Future<Output = Result<T, E>>>(
    transport: &FaultyTransport,
    run: impl FnOnce(Client) -> F,
) -> Option<Problem> {
    let client = transport.client();
    // In a block, since a function may panic before it returns its future.
    let mut running = Box::pin(timeout(RUN_TIMEOUT, async { run(client).await }));
    let mut stopped = pin!(transport.stopped());
    let end = poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx)));
        if stopped.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some((ProblemKind::NoRecovery, "is dropped".to_owned())));
        }
        Poll::Ready(match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(Ok(Ok(_)))) => None,
            Ok(Poll::Ready(Ok(Err(error)))) => {
                Some((ProblemKind::NoRecovery, format!("fails: {error}")))
            }
            Ok(Poll::Ready(Err(_))) => {
                Some((ProblemKind::Hang, "does not end within an hour".to_owned()))
            }
            Err(payload) => Some((ProblemKind::Panic, format!("panic: {}", panic_text(&*payload)))),
        })
    });
    let end = end.await;
    transport.stop();
    end.map(|(kind, details)| Problem { case: None, kind, details, by_client: false })
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a text").lines().collect::<Vec<_>>().join(" ")
}

async fn check_clock() {
    let start = Instant::now();
    sleep(Duration::from_secs(1)).await;
    if start.elapsed() >= Duration::from_secs(1) {
        panic!("`explore` needs Tokio's paused clock: #[tokio::test(start_paused = true)]");
    }
}
