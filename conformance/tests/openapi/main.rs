//! Every answer of the reference server is one that its OpenAPI document describes:
//! all scenarios run, in memory and on PostgreSQL, and whatever the server answers to
//! them and to the SDK's own calls is held against the document.
//!
//! Each is a test named `form::id`. In the end it is shown which answers were other than
//! described, and which the document promises and nobody has seen; `unseen` says why, for each.

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
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use promptarium_conformance::report::{Outcome, text};
use promptarium_conformance::{Run, Scenario, run, scenarios};
use promptarium_server::test_support::ModelNamespace;
use promptarium_server::test_support::openapi_document;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use self::description::Description;
use self::gateway::Log;
use self::session::{Form, Session};

/// Scenarios at once.
const AT_ONCE: usize = 8;
/// What the program says of failed tests, and so of answers that are not as described.
const EXIT_FAILED: u8 = 101;

/// The services, each started when the first test asks for it, and what was seen of them.
struct Services {
    started: [OnceCell<Result<Session, String>>; Form::ALL.len()],
    description: Arc<Description>,
    log: Log,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let runtime = Runtime::new()?;
    let model_namespace = &ModelNamespace::new("local").ok_or("no namespace")?;
    let document = openapi_document(None, model_namespace);
    let description = Arc::new(Description::of(&document)?);
    let (log, started) = (Log::default(), Default::default());
    let services = Services { started, description: Arc::clone(&description), log: log.clone() };
    let services = Arc::new(services);

    let mut trials = violations::tests(&description);
    for form in Form::ALL {
        let (handle, services) = (runtime.handle().clone(), Arc::clone(&services));
        let sweeping = Arc::clone(&services);
        let trial = move || {
            handle.block_on(async {
                let session = sweeping.session(form).await?;
                Ok(sweep::sweep(session, &sweeping.description).await?)
            })
        };
        trials.push(Trial::test(format!("{form}::every_operation_is_swept"), trial));
        for (number, scenario) in scenarios::all().enumerate() {
            let (handle, services) = (runtime.handle().clone(), Arc::clone(&services));
            let trial = move || handle.block_on(services.test(form, scenario, number));
            trials.push(Trial::test(format!("{form}::{}", scenario.id), trial));
        }
    }
    let whole = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    runtime.block_on(async {
        for session in Arc::into_inner(services).into_iter().flat_map(|all| all.started) {
            if let Some(Ok(session)) = session.into_inner() {
                session.stop().await;
            }
        }
    });
    let (seen, mut wrong) = log.take();
    let seen: BTreeSet<_> = seen.into_iter().collect();
    wrong.extend(if whole { unseen::differences(&description, &seen) } else { Vec::new() });
    wrong.sort();
    wrong.dedup();
    show(&wrong);
    Ok(if wrong.is_empty() { conclusion.exit_code() } else { EXIT_FAILED.into() })
}

#[expect(clippy::print_stdout, reason = "it belongs to what the harness prints")]
fn show(differences: &[String]) {
    for difference in differences {
        println!("{difference}");
    }
}

impl Services {
    async fn session(&self, form: Form) -> Result<&Session, String> {
        let start = async || {
            let started = Session::start(form, Arc::clone(&self.description), self.log.clone());
            started.await.map_err(|reason| reason.to_string())
        };
        self.started[form as usize].get_or_init(start).await.as_ref().map_err(Clone::clone)
    }

    async fn test(
        &self,
        form: Form,
        scenario: &'static Scenario,
        number: usize,
    ) -> Result<(), Failed> {
        let target = &self.session(form).await?.target;
        let tag = format!("oa-{number}");
        let record = run::one(target, scenario, &tag, 5 * Run::DEADLINE, pending()).await;
        match record.outcome {
            Outcome::Passed => Ok(()),
            _ => Err(text::record(&record).into()),
        }
    }
}
