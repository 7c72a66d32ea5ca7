//! The suite proves itself: servers that are good but for one deliberate fault,
//! each of which must turn the right scenarios red and leave the others green.
//!
//! Every fault is a test of its own name. Usually it meets the scenarios of its rule that
//! `conformance/proof.tsv` lists for it and a share of the others.
//! `PROMPTARIUM_PROOF=full` takes every scenario under every fault and compares it with the
//! table; `PROMPTARIUM_PROOF=reachable` writes the table anew, and leaves out scenarios
//! that send no request the fault looks at, and with `new` also faults that the table
//! has already. A filter rewrites the lines of the faults it names. With
//! `PROMPTARIUM_PROOF_ONLY=fields.,ids.` only scenarios whose ids begin so are run,
//! and the lines keep the others.

mod bounds;
mod confirmed;
mod exchange;
mod existing_data;
mod fault;
mod faults;
mod front;
mod heads;
#[path = "../shared/keys.rs"]
mod keys;
mod made;
mod page;
#[path = "../shared/parts.rs"]
mod parts;
mod prelude;
mod proxy;
mod service;
mod table;
mod trial;
mod unseen;

use std::collections::BTreeSet;
use std::error::Error;
use std::process::ExitCode;
use std::sync::{Arc, RwLock};

use libtest_mimic::{Arguments, Failed, Trial};
use promptarium_conformance::{Scenario, coverage};
use tokio::runtime::{Handle, Runtime};

use self::fault::{Fault, Intercept};
use self::service::Running;
use self::table::Rows;

/// How many faults are tried at once; each runs several scenarios.
const AT_ONCE: usize = 4;

/// Which scenarios a fault meets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The listed ones of its rule, and a share of the others.
    Usual,
    /// Those that send a request it looks at; the table is written.
    Reachable,
    /// The same for faults without a line, and none for the others.
    New,
    /// All.
    Full,
}

impl Mode {
    fn writes_table(self) -> bool {
        matches!(self, Self::Reachable | Self::New)
    }
}

struct Proof {
    mode: Mode,
    /// How the ids of the scenarios begin that are run; all if there is none.
    only: Vec<String>,
    rows: Rows,
    /// Held alone by faults that nothing else may run beside.
    quiet: RwLock<()>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let mode = match std::env::var("PROMPTARIUM_PROOF").as_deref() {
        Ok("full") => Mode::Full,
        Ok("reachable") => Mode::Reachable,
        Ok("new") => Mode::New,
        Err(_) | Ok("") => Mode::Usual,
        Ok(other) => return Err(format!("PROMPTARIUM_PROOF is {other:?}").into()),
    };
    let runtime = Runtime::new()?;
    let only = std::env::var("PROMPTARIUM_PROOF_ONLY").unwrap_or_default();
    let proof = Arc::new(Proof {
        mode,
        only: only.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect(),
        rows: Rows::default(),
        quiet: RwLock::default(),
    });
    let mut trials = vec![
        Trial::test("page::it_and_the_table_fit_the_faults", {
            move || if mode.writes_table() { Ok(()) } else { none(&table::drift()?) }
        }),
        Trial::test("rules::each_has_a_fault_or_a_reason", || {
            let mut lines = coverage::matrix();
            lines.retain(|line| line.faults.is_empty() && line.unproved.is_none());
            let bare: Vec<_> = lines.iter().map(|line| line.rule).collect();
            if bare.is_empty() { Ok(()) } else { Err(bare.join(", ").into()) }
        }),
        Trial::test("sentences::core_catches_a_fault_of_each", {
            move || if mode.writes_table() { Ok(()) } else { none(&page::unproved_statements()) }
        }),
        Trial::test("faults::each_has_a_unique_name_and_routes_that_exist", || none(&slips())),
        Trial::test("scenarios::each_turns_red_under_a_fault", {
            move || if mode.writes_table() { Ok(()) } else { none(&unseen::drift()) }
        }),
    ];
    for (name, is_behind) in [("unwrapped", false), ("behind_the_proxy", true)] {
        let (handle, share) = (runtime.handle().clone(), mode == Mode::Usual && !is_behind);
        let trial = move || handle.block_on(good_server(is_behind, share));
        trials.push(Trial::test(format!("good::{name}"), trial));
    }
    let handle = runtime.handle().clone();
    trials.push(Trial::test("existing_data::each_can_fail", move || {
        handle.block_on(existing_data::each_can_fail())
    }));
    // Those that run alone come first: later each would wait for the longest of the others.
    let mut ordered: Vec<_> = faults::all().collect();
    ordered.sort_by_key(|fault| !runs_alone(fault));
    for fault in ordered {
        let (handle, proof) = (runtime.handle().clone(), Arc::clone(&proof));
        let known = mode == Mode::New && table::listed(fault.id).is_some();
        let trial = Trial::test(fault.id, move || proof.test(&handle, fault));
        trials.push(trial.with_ignored_flag(known));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if mode.writes_table() && !arguments.list {
        proof.rows.write()?;
    }
    Ok(conclusion.exit_code())
}

async fn good_server(is_behind: bool, share: bool) -> Result<(), Failed> {
    // Nothing to be waited for where it cannot be had.
    let early = if is_behind { trial::EARLY } else { "" };
    let running = Running::start(is_behind.then(front::nothing)).await?;
    // The tests of the backends run all of them on such a server.
    let wanted = |scenario: &Scenario| {
        scenario.id != early && (!share || trial::in_share("good", scenario.id))
    };
    Ok(trial::outcomes(&running, wanted).await.all_green()?)
}

impl Proof {
    fn test(&self, handle: &Handle, fault: &'static Fault) -> Result<(), Failed> {
        let alone = runs_alone(fault);
        let _alone = alone.then(|| self.quiet.write());
        let _beside = (!alone).then(|| self.quiet.read());
        handle.block_on(async {
            let running = Running::faulty(fault).await?;
            let listed = table::listed(fault.id);
            if !self.mode.writes_table() {
                let listed = listed.ok_or("the table has no line for it; run script/proof")?;
                let own = listed.of_rule(fault.rule);
                let wanted = |scenario: &Scenario| match self.mode {
                    Mode::Full => self.is_run(scenario.id) && fault.meets(scenario.id),
                    _ if fault.among.is_some() => own.contains(scenario.id),
                    _ => own.contains(scenario.id) || trial::in_share(fault.id, scenario.id),
                };
                let outcomes = trial::outcomes(&running, wanted).await;
                outcomes.as_listed(fault, &listed)?;
                return Ok(outcomes.caught(fault)?);
            }
            let wanted = |one: &Scenario| {
                let may_meet = match fault.among {
                    Some(_) => fault.meets(one.id),
                    None => fault.is_reached_by(one.id),
                };
                self.is_run(one.id) && may_meet
            };
            let red = trial::outcomes(&running, wanted).await.red(fault);
            // What comes of a row of a table does not depend on others at the same moment.
            let mut red = match fault.among.is_some() && red.at_times.is_empty() {
                true => red,
                false => confirmed::settled(fault, red).await?,
            };
            if let Some(listed) = listed {
                // Whether a race is lost is chance, so what an earlier run saw of it stays.
                let kept = |id: &str| !self.is_run(id) || trial::timing_dependent(id);
                red.extend_with(listed, kept);
            }
            self.rows.add(fault.id, red.clone());
            // At once, so that a run that is broken off leaves what it found.
            self.rows.write()?;
            Ok(red.shows(fault)?)
        })
    }
}

impl Proof {
    fn is_run(&self, scenario: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|start| scenario.starts_with(start))
    }
}

/// Whether its scenarios depend on what comes at the same moment, which comes late on a busy
/// machine.
fn runs_alone(fault: &Fault) -> bool {
    let own = table::listed(fault.id).unwrap_or_default().of_rule(fault.rule);
    let is_silent = matches!((fault.how)(), Intercept::Silent(_));
    is_silent || fault.among.is_none() && own.iter().any(|id| trial::timing_dependent(id))
}

/// Faults without a unique name or a route that exists.
fn slips() -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut slips = Vec::new();
    for fault in faults::all() {
        if !seen.insert(fault.id) {
            slips.push(format!("{} twice", fault.id));
        }
        if !fault.routes().is_empty() {
            let unknown = front::unknown_routes(fault.routes());
            slips.extend(unknown.iter().map(|route| format!("{}: {route} is no route", fault.id)));
        }
    }
    slips
}

fn none(found: &[String]) -> Result<(), Failed> {
    if found.is_empty() { Ok(()) } else { Err(found.join("\n").into()) }
}
