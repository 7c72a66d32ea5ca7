//! Every answer of the reference server is one that its OpenAPI document describes:
//! all scenarios run, in memory and on PostgreSQL, and whatever the server answers to
//! them and to the SDK's own calls is held against the document.
//!
//! Each is a test named `form::id`. In the end it is shown which answers the document
//! promises and nobody has seen; `unseen` says why, for each.

mod answer;
mod description;
mod gateway;
#[path = "../shared/keys.rs"]
mod keys;
#[path = "../shared/parts.rs"]
mod parts;
mod session;
mod sweep;
mod unseen;
mod violations;

use std::collections::BTreeSet;
use std::error::Error;
use std::future::pending;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};
use promptarium_conformance::report::{Outcome, text};
use promptarium_conformance::{Run, Scenario, run, scenarios};
use promptarium_server::test_support::ModelNamespace;
use promptarium_server::test_support::openapi_document;
use tokio::runtime::{Handle, Runtime};

use self::description::{Description, Status};
use self::session::{Form, Session, Sessions};

/// Scenarios at once, each on a server of its own.
const AT_ONCE: usize = 8;
/// How many violations of one scenario are told.
const SHOWN: usize = 5;
/// What the program says of failed tests, and so of answers that nobody has seen.
const EXIT_FAILED: u8 = 101;

/// What the tests share.
struct Shared {
    sessions: Sessions,
    seen: Mutex<BTreeSet<Status>>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let runtime = Runtime::new()?;
    let model_namespace = &ModelNamespace::new("local").ok_or("no namespace")?;
    let document = openapi_document(None, model_namespace);
    let description = Arc::new(Description::of(&document)?);
    let sessions = Sessions::new(Arc::clone(&description));
    let shared = Arc::new(Shared { sessions, seen: Mutex::default() });

    let mut trials = violations::tests(&description);
    for form in Form::ALL {
        let (handle, of_all) = (runtime.handle().clone(), Arc::clone(&shared));
        let description = Arc::clone(&description);
        let trial = move || of_all.sweep(&handle, form, &description);
        trials.push(Trial::test(format!("{form}::every_operation_refuses_as_described"), trial));
        for scenario in scenarios::all() {
            let (handle, shared) = (runtime.handle().clone(), Arc::clone(&shared));
            let trial = move || shared.test(&handle, form, scenario);
            trials.push(Trial::test(format!("{form}::{}", scenario.id), trial));
        }
    }
    let whole = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    runtime.block_on(shared.sessions.stop());
    let seen = shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
    let differences = if whole { unseen::differences(&description, &seen) } else { Vec::new() };
    show(&differences);
    Ok(if differences.is_empty() { conclusion.exit_code() } else { EXIT_FAILED.into() })
}

#[expect(clippy::print_stdout, reason = "it belongs to what the harness prints")]
fn show(differences: &[String]) {
    for difference in differences {
        println!("{difference}");
    }
}

impl Shared {
    /// Passes if the scenario does and no answer was other than described.
    fn test(&self, handle: &Handle, form: Form, scenario: &'static Scenario) -> Result<(), Failed> {
        handle.block_on(async {
            let session = self.sessions.take(form).await?;
            let tag = session.next_tag();
            let record =
                run::one(&session.target, scenario, &tag, 5 * Run::DEADLINE, pending()).await;
            self.finish(session).map_err(|told| format!("{}:\n{told}", scenario.id))?;
            match record.outcome {
                Outcome::Passed => Ok(()),
                _ => Err(text::record(&record).into()),
            }
        })
    }

    fn sweep(&self, handle: &Handle, form: Form, description: &Description) -> Result<(), Failed> {
        handle.block_on(async {
            let session = self.sessions.take(form).await?;
            let sent = sweep::sweep(&session, description).await;
            self.finish(session)?;
            Ok(sent?)
        })
    }

    /// Lets the next scenario have the service.
    ///
    /// # Errors
    /// All that was other than described.
    fn finish(&self, session: Session) -> Result<(), String> {
        let (seen, violations) = session.log.take();
        self.sessions.give_back(session);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).extend(seen);
        if violations.is_empty() {
            return Ok(());
        }
        let told = violations.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>();
        let more = violations.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!("\nand {more} more") } else { String::new() };
        Err(format!("{}{more}", told.join("\n")))
    }
}
