//! Every scenario, of both profiles, against the reference server in three forms:
//! in memory, on PostgreSQL, and as three replicas on one PostgreSQL.
//!
//! Each is a test named `form::id`, so that `cargo test --test backends --
//! memory::vaults.create` runs a part. In the end a table of three columns shows
//! what came of them; the forms must not differ in a single scenario.

#[path = "../shared/balancer.rs"]
mod balancer;
mod deployment;
#[path = "../shared/embedded.rs"]
mod embedded;
mod form;
#[path = "../shared/keys.rs"]
mod keys;
mod table;

use std::error::Error;
use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use promptarium_conformance::report::{Outcome, text};
use promptarium_conformance::{Run, Scenario, run, scenarios};
use tokio::runtime::{Handle, Runtime};

use self::form::{Form, Forms};
use self::table::Table;

/// Scenarios mostly wait: for answers, for jobs, for a clock to move on.
const AT_ONCE: usize = 8;
/// How many differences are shown; where there are more, a form does not work at all.
const SHOWN: usize = 20;
/// What the program says of failed tests, and so of tables that differ.
const EXIT_FAILED: u8 = 101;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let runtime = Runtime::new()?;
    let (forms, table) = (Arc::new(Forms::default()), Arc::new(Table::default()));
    let mut trials = table::tests();
    for form in Form::ALL {
        for (number, scenario) in scenarios::all().enumerate() {
            let (forms, table) = (Arc::clone(&forms), Arc::clone(&table));
            let handle = runtime.handle().clone();
            let trial = move || {
                let (outcome, result) = test(&handle, &forms, form, scenario, number);
                table.add(form, scenario.id, outcome);
                result
            };
            trials.push(Trial::test(format!("{form}::{}", scenario.id), trial));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let traffic = runtime.block_on(forms.stop());
    if table.is_empty() {
        return Ok(conclusion.exit_code());
    }
    let whole = arguments.filter.is_none() && arguments.skip.is_empty();
    let differences = table.differences(whole);
    show(&format!("{table}{traffic}"), &differences);
    Ok(if differences.is_empty() { conclusion.exit_code() } else { EXIT_FAILED.into() })
}

#[expect(clippy::print_stdout, reason = "it belongs to what the harness prints")]
fn show(table: &str, differences: &[String]) {
    print!("{table}");
    for difference in differences.iter().take(SHOWN) {
        println!("differs: {difference}");
    }
    if let Some(more) = differences.len().checked_sub(SHOWN + 1) {
        println!("differs: {} more", more + 1);
    }
    println!();
}

/// Passes only if nothing was left behind and nothing was skipped: these servers
/// have all that a scenario can need.
fn test(
    handle: &Handle,
    forms: &Forms,
    form: Form,
    scenario: &'static Scenario,
    number: usize,
) -> (Outcome, Result<(), Failed>) {
    let target = match handle.block_on(forms.target(form)) {
        Ok(target) => target,
        Err(reason) => return (Outcome::Error, Err(reason.into())),
    };
    let tag = format!("{}-{number}", form.tag());
    let record = handle.block_on(run::one(&target, scenario, &tag, 5 * Run::DEADLINE, pending()));
    match record.outcome {
        Outcome::Passed if record.left_behind.is_none() => (Outcome::Passed, Ok(())),
        Outcome::Passed => (Outcome::Failed, Err(text::record(&record).into())),
        outcome => (outcome, Err(text::record(&record).into())),
    }
}
