//! The scenarios of the specification, of what our server chose beyond it (`ours`) and of what RFC
//! 9110 and 9112 ask of any HTTP server (`http`), on every backend of `backends`. Each is reached in
//! another way. What a scenario finds must not depend on either, so that each passes in all.
//!
//! Every answer of those that are watched is one that the OpenAPI document describes, whoever
//! asked. In the end it is shown which were other than described, and which the document promises
//! and nobody has seen; `unseen` says why, for each.
//!
//! Each scenario is a test named `backend::id`: `cargo test -p promptarium-server --test suite --
//! memory::vaults.create` runs a part.

mod answer;
mod backends;
#[path = "../../../conformance/tests/shared/balancer.rs"]
mod balancer;
mod deployment;
mod description;
mod gateway;
mod http;
#[path = "../../../conformance/tests/shared/keys.rs"]
mod keys;
mod ours;
mod parts;
mod prelude;
#[path = "../support/receiver.rs"]
#[expect(dead_code, reason = "each test program uses a part")]
mod receiver;
mod session;
mod socket;
mod sweep;
#[path = "../../../conformance/tests/shared/tls.rs"]
mod tls;
mod unseen;
mod violations;

use std::error::Error;
use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use promptarium_conformance::report::{Outcome, text};
use promptarium_conformance::{Run, Scenario, Suite, run};
use promptarium_server::test_support::{ModelNamespace, openapi_document};
use tokio::runtime::Runtime;

use self::backends::{Backend, Backends};
use self::description::Description;
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
    let backends = Arc::new(Backends::new(judge.clone()));
    let mut trials = violations::tests(&description);
    trials.extend(socket::reader::tests());
    let (handle, all) = (runtime.handle().clone(), Arc::clone(&backends));
    trials.push(Trial::test("memory::every_operation_is_swept", move || {
        handle.block_on(async {
            let target = &all.deployment(Backend::Memory).await?.target;
            Ok(sweep::sweep(target.base_url(), &all.judge.description).await?)
        })
    }));
    let suite = Suite::builtin().with(&*ours::ALL).with(http::ALL.iter().copied().flatten());
    for backend in Backend::chosen() {
        for (number, scenario) in suite.scenarios().enumerate() {
            if !backend.takes(scenario) {
                continue;
            }
            let (handle, backends) = (runtime.handle().clone(), Arc::clone(&backends));
            let trial = move || handle.block_on(test(&backends, backend, scenario, number));
            trials.push(Trial::test(format!("{}::{}", backend.name(), scenario.id), trial));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    runtime.block_on(backends.stop());
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
    backends: &Backends,
    backend: Backend,
    scenario: &'static Scenario,
    number: usize,
) -> Result<(), Failed> {
    let target = &backends.deployment(backend).await?.target;
    // Short, as names may have 50 characters.
    let tag = format!("{}-{number}", &backend.name()[..3]);
    let record = run::one(target, scenario, &tag, 5 * Run::DEADLINE, pending()).await;
    match record.outcome {
        Outcome::Passed if record.left_behind.is_none() => Ok(()),
        _ => Err(text::record(&record).into()),
    }
}
