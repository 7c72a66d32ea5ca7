//! Every scenario, of all profiles, against the reference server in three forms: in memory, on
//! PostgreSQL, and as three replicas on one PostgreSQL. Each is reached in another way: over HTTP/2
//! alone, over TLS, and over HTTP/1.1. What a scenario finds must not depend on either, so that each
//! passes in all.
//!
//! Every answer of the first two is one that the OpenAPI document describes, whoever asked. In the
//! end it is shown which were other than described, and which the document promises and nobody has
//! seen; `unseen` says why, for each.
//!
//! Each scenario is a test named `form::id`, so that `cargo test --test backends --
//! memory::vaults.create` runs a part.

mod answer;
#[path = "../shared/balancer.rs"]
mod balancer;
mod deployment;
mod description;
#[path = "../shared/embedded.rs"]
mod embedded;
mod form;
mod gateway;
#[path = "../shared/keys.rs"]
mod keys;
#[path = "../shared/parts.rs"]
mod parts;
mod sweep;
#[path = "../shared/tls.rs"]
mod tls;
mod unseen;
mod violations;

use std::error::Error;
use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use promptarium_conformance::report::{Outcome, text};
use promptarium_conformance::{Run, Scenario, run, scenarios};
use promptarium_server::test_support::{ModelNamespace, openapi_document};
use tokio::runtime::Runtime;

use self::description::Description;
use self::form::{Form, Forms};
use self::gateway::Judge;

/// Scenarios mostly wait: for answers, for jobs, for a clock to move on.
const AT_ONCE: usize = 8;
/// What the program says of failed tests, and so of answers that are not as described.
const EXIT_FAILED: u8 = 101;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let runtime = Runtime::new()?;
    let namespace = ModelNamespace::new("local")?;
    let description = Arc::new(Description::of(&openapi_document(None, &namespace))?);
    let judge = Judge::new(Arc::clone(&description));
    let forms = Arc::new(Forms::new(judge.clone()));
    let mut trials = violations::tests(&description);
    let (handle, all) = (runtime.handle().clone(), Arc::clone(&forms));
    trials.push(Trial::test("memory::every_operation_is_swept", move || {
        handle.block_on(async {
            let target = &all.deployment(Form::Memory).await?.target;
            Ok(sweep::sweep(target.base_url(), &all.judge.description).await?)
        })
    }));
    for form in Form::ALL {
        for (number, scenario) in scenarios::all().enumerate() {
            if !form.takes(scenario) {
                continue;
            }
            let (handle, forms) = (runtime.handle().clone(), Arc::clone(&forms));
            let trial = move || handle.block_on(test(&forms, form, scenario, number));
            trials.push(Trial::test(format!("{form}::{}", scenario.id), trial));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    runtime.block_on(forms.stop());
    let whole = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.list;
    let wrong = judge.verdict(whole);
    show(&wrong);
    Ok(if wrong.is_empty() { conclusion.exit_code() } else { EXIT_FAILED.into() })
}

#[expect(clippy::print_stdout, reason = "it belongs to what the harness prints")]
fn show(wrong: &[String]) {
    for line in wrong {
        println!("{line}");
    }
}

/// Passes only if nothing was left behind and nothing was skipped: these servers
/// have all that a scenario can need.
async fn test(
    forms: &Forms,
    form: Form,
    scenario: &'static Scenario,
    number: usize,
) -> Result<(), Failed> {
    let target = &forms.deployment(form).await?.target;
    // Short, as names may have 50 characters.
    let tag = format!("{}-{number}", &form.to_string()[..3]);
    let record = run::one(target, scenario, &tag, 5 * Run::DEADLINE, pending()).await;
    match record.outcome {
        Outcome::Passed if record.left_behind.is_none() => Ok(()),
        _ => Err(text::record(&record).into()),
    }
}
