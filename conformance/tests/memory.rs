//! Every scenario, of both profiles, against the reference server in memory.
//! Each is a test named `profile::id`, so that `cargo test --test memory --
//! vaults.create` runs a part.

use std::error::Error;
use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use promptarium_conformance::report::{Outcome, text};
use promptarium_conformance::{Profile, Run, Scenario, Target, TargetConfig, run, scenarios};
use promptarium_server::EmbeddedServer;
use tokio::runtime::{Handle, Runtime};

const MAIN: &str = "promptarium_live_main_h7Kq2mVx9PzL4wTc";
const READ_ONLY: &str = "promptarium_live_read_b3NsY8dRf6GjQ1uW";
const OTHER: &str = "promptarium_live_other_t5XaC2eZk9HvM7pJ";
const REVOKED: &str = "promptarium_live_gone_r4UgD8iSn3BwF6yL";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::from_args();
    let runtime = Runtime::new()?;
    let server = runtime.block_on(start())?;
    let target = Arc::new(Target::new(config(server.base_url())?)?);
    let trials = scenarios::all().enumerate().map(|(number, scenario)| {
        let (target, handle) = (Arc::clone(&target), runtime.handle().clone());
        let profile = match scenario.profile {
            Profile::Core => "core",
            Profile::Reference => "reference",
        };
        let trial = move || test(&handle, &target, scenario, &format!("mem-{number}"));
        Trial::test(format!("{profile}::{}", scenario.id), trial)
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    runtime.block_on(server.shutdown());
    Ok(conclusion.exit_code())
}

async fn start() -> Result<EmbeddedServer, promptarium_server::EmbedError> {
    EmbeddedServer::builder()
        .seed_key(format!("{MAIN}=alice:prompts:write"))
        .seed_key(format!("{READ_ONLY}=alice:none"))
        .seed_key(format!("{OTHER}=bob:prompts:write"))
        .seed_key(format!("{REVOKED}=alice:revoked"))
        .start()
        .await
}

fn config(base_url: &str) -> Result<TargetConfig, Box<dyn Error>> {
    let mut config = TargetConfig::new(base_url.parse()?, MAIN);
    config.read_only_api_key = Some(READ_ONLY.into());
    config.other_api_key = Some(OTHER.into());
    config.revoked_api_key = Some(REVOKED.into());
    Ok(config)
}

/// Passes only if nothing was left behind and nothing was skipped: this server
/// has all that a scenario can need.
fn test(
    handle: &Handle,
    target: &Arc<Target>,
    scenario: &'static Scenario,
    tag: &str,
) -> Result<(), Failed> {
    let record = handle.block_on(run::one(target, scenario, tag, Run::DEADLINE, pending()));
    match record.outcome {
        Outcome::Passed if record.left_behind.is_none() => Ok(()),
        _ => Err(text::record(&record).into()),
    }
}
