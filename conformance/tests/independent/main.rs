//! The scenarios of the profile `core` against a server that shares no code
//! with ours and chooses differently wherever the specification is silent.
//! What fails here and passes against the reference server either found a fault
//! of the [`contrarian`] server or takes a choice for a rule.
//!
//! Every scenario is a test of its own, under its own id.

mod contrarian;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use promptarium_conformance::report::{Outcome, Record};
use promptarium_conformance::{Profile, Run, Scenario, Target, TargetConfig, run, scenarios};
use tokio::runtime::{Handle, Runtime};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::from_args();
    let runtime = Runtime::new()?;
    let keys = contrarian::Keys {
        main: "contrary_live_main_8Jq2vXw7".into(),
        read_only: "contrary_live_idle_kP4tYz9c".into(),
        other: "contrary_live_rest_Rb6nLm3d".into(),
        revoked: "contrary_live_gone_Hs5fGq1x".into(),
    };
    let server = runtime.block_on(contrarian::start(keys.clone()))?;
    let target = Arc::new(Target::new(config(&server, keys)?)?);
    let core = scenarios::all().filter(|scenario| scenario.profile == Profile::Core);
    let trials = core.enumerate().map(|(number, scenario)| {
        let (target, handle) = (Arc::clone(&target), runtime.handle().clone());
        let trial = move || test(&handle, &target, scenario, &format!("con-{number}"));
        Trial::test(scenario.id, trial).with_ignored_flag(!is_within_reach(scenario))
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    drop(server);
    Ok(conclusion.exit_code())
}

fn config(
    server: &contrarian::Server,
    keys: contrarian::Keys,
) -> Result<TargetConfig, Box<dyn Error>> {
    let model = |name| format!("{}/{name}", contrarian::MODEL_NAMESPACE);
    let mut config = TargetConfig::new(server.base_url().parse()?, keys.main);
    config.read_only_api_key = Some(keys.read_only);
    config.other_api_key = Some(keys.other);
    config.revoked_api_key = Some(keys.revoked);
    config.image_model = model("still");
    config.video_model = model("moving/picture");
    Ok(config)
}

/// Whether the server has the endpoints that the scenario's rules are about.
fn is_within_reach(scenario: &Scenario) -> bool {
    let is_beyond = |rule: &&str| match rule.split_once('-') {
        Some(("GE" | "UP", _)) => true,
        Some(("AU", number)) => number >= "09",
        Some(("LI", number)) => number >= "09",
        _ => false,
    };
    !scenario.rules.iter().any(is_beyond)
}

fn test(
    handle: &Handle,
    target: &Arc<Target>,
    scenario: &'static Scenario,
    tag: &str,
) -> Result<(), Failed> {
    let never = std::future::pending();
    let record = handle.block_on(run::one(target, scenario, tag, Run::DEADLINE, never));
    match record.outcome {
        Outcome::Passed if record.left_behind.is_none() => Ok(()),
        _ => Err(in_words(&record).into()),
    }
}

/// Whatever the record holds that says what went wrong.
fn in_words(record: &Record) -> String {
    let parts = [
        ("expected", &record.expected),
        ("got", &record.got),
        ("skipped", &record.reason),
        ("left behind", &record.left_behind),
    ];
    let mut text = record.title.to_owned();
    for (name, part) in parts {
        if let Some(part) = part {
            text.push_str(&format!("\n{name}: {part}"));
        }
    }
    if let Some(exchange) = &record.exchange {
        text.push_str(&format!("\n\n{exchange}"));
    }
    text
}
