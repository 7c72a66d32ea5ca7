//! The scenarios against servers that share no code with ours and choose differently wherever the
//! specification is silent. What fails here and passes against the reference server either found a
//! fault of the [`alternative`] server or takes a choice for a rule.
//!
//! Every scenario is a test of its own on each of the servers, as `server::id`.

mod alternative;
mod bugs;
mod table;

use std::error::Error;
use std::process::ExitCode;
use std::sync::{Arc, RwLock};

use libtest_mimic::{Arguments, Failed, Trial};
use promptarium_conformance::report::{Outcome, text};
use promptarium_conformance::{Run, Scenario, Target, TargetConfig, run, scenarios};
use tokio::runtime::{Handle, Runtime};

use self::alternative::{Choices, MINIMAL, NESTED, PLAIN, Secrets, TOLERANT, VERBOSE};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = Arguments::from_args();
    // They mostly wait for the clocks of the servers.
    arguments.test_threads.get_or_insert(16);
    let runtime = Runtime::new()?;
    let mut trials = table::trials();
    let mut servers = Vec::new();
    for (choices, keys) in [
        (&VERBOSE, Secrets::verbose()),
        (&MINIMAL, Secrets::minimal()),
        (&TOLERANT, Secrets::tolerant()),
        (&NESTED, Secrets::minimal()),
        (&PLAIN, Secrets::tolerant()),
    ] {
        let server = runtime.block_on(alternative::start(keys.clone(), choices))?;
        let target = Arc::new(Target::new(config(&server, choices, keys)?)?);
        servers.push(server);
        let alone = Arc::new(RwLock::new(()));
        trials.extend(scenarios::all().enumerate().map(|(number, scenario)| {
            let (target, handle) = (Arc::clone(&target), runtime.handle().clone());
            let alone = Arc::clone(&alone);
            let tag = format!("{}-{number}", &choices.name[..3]);
            let trial = move || test(&handle, &target, scenario, &tag, (choices.skips, &alone));
            Trial::test(format!("{}::{}", choices.name, scenario.id), trial)
        }));
    }
    trials.extend(bugs::trials(runtime.handle()));
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(servers);
    // After a failure a blocking call may wait for ever.
    runtime.shutdown_background();
    Ok(conclusion.exit_code())
}

fn config(
    server: &alternative::Server,
    choices: &Choices,
    keys: Secrets,
) -> Result<TargetConfig, Box<dyn Error>> {
    let mut config = TargetConfig::new(server.base_url().parse()?, keys.main);
    config.read_only_api_key = Some(keys.read_only);
    config.other_api_key = Some(keys.other);
    config.revoked_api_key = Some(keys.revoked);
    [config.image_model, config.video_model] = choices.models.map(ToOwned::to_owned);
    Ok(config)
}

fn test(
    handle: &Handle,
    target: &Arc<Target>,
    scenario: &'static Scenario,
    tag: &str,
    (skips, alone): (&[&str], &RwLock<()>),
) -> Result<(), Failed> {
    // What meets a quota would take what others need.
    let is_skipped = skips.contains(&scenario.id);
    let _alone = is_skipped.then(|| alone.write());
    let _together = (!is_skipped).then(|| alone.read());
    let never = std::future::pending();
    let record = handle.block_on(run::one(target, scenario, tag, 5 * Run::DEADLINE, never));
    match record.outcome {
        Outcome::Passed if record.left_behind.is_none() => Ok(()),
        Outcome::Skipped if is_skipped => Ok(()),
        _ => Err(text::record(&record).into()),
    }
}
