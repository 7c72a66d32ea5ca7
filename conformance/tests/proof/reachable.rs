//! Which scenarios can meet a fault at all. Up to the first exchange that a fault
//! would change, a scenario cannot tell the fault from a good server; so one whose
//! exchanges with a good server would all stay as they are needs no run under it.

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, PoisonError};

use futures::StreamExt;
use http::Method;
use promptarium_conformance::{Run, Scenario, run, scenarios};
use tokio::sync::OnceCell;

use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept};
use crate::front::{self, Exchanges};
use crate::parts::NotStarted;
use crate::service::Running;
use crate::trial::Ids;

/// How many scenarios are looked at at once.
const AT_ONCE: usize = 8;

type Seen = HashMap<&'static str, Vec<(Request, Response)>>;

/// The exchanges of all scenarios, once somebody asks.
#[derive(Default)]
pub(crate) struct Reachable(OnceCell<Seen>);

impl Reachable {
    /// The scenarios that the fault may meet.
    pub(crate) async fn by(
        &self,
        fault: &Fault,
        is_run: impl Fn(&str) -> bool,
    ) -> Result<Ids, NotStarted> {
        if !matches!((fault.how)(), Intercept::Front(_)) {
            // Only these say nothing on a connection, break off, or send what no client would.
            let is_odd = |id: &str| id.starts_with("raw.") || id.starts_with("uploads.");
            let odd = scenarios::all().map(|scenario| scenario.id).filter(|id| is_odd(id));
            return Ok(odd.map(str::to_owned).collect());
        }
        let seen = self.0.get_or_try_init(|| record(is_run)).await?;
        let meets = |exchanges: &[(Request, Response)]| {
            // A fault may remember things, so each scenario meets a new one.
            let Intercept::Front(front) = (fault.how)() else { return true };
            exchanges.iter().any(|(request, response)| front.may_change(request, response))
        };
        let met = seen.iter().filter(|(_, exchanges)| meets(exchanges));
        Ok(met.map(|(id, _)| (*id).to_owned()).collect())
    }
}

async fn record(is_run: impl Fn(&str) -> bool) -> Result<Seen, NotStarted> {
    let run = scenarios::all().filter(|scenario| is_run(scenario.id));
    let records = futures::stream::iter(run).map(exchanges_of);
    let records: Vec<_> = records.buffer_unordered(AT_ONCE).collect().await;
    records.into_iter().collect()
}

/// On a service of its own, as requests do not say which scenario sends them.
async fn exchanges_of(
    scenario: &'static Scenario,
) -> Result<(&'static str, Vec<(Request, Response)>), NotStarted> {
    let seen = Exchanges::default();
    let running = Running::good(Some(front::nothing(Arc::clone(&seen)))).await?;
    run::one(&running.target, scenario, "reachable", 5 * Run::DEADLINE, pending()).await;
    let mut exchanges = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    exchanges.truncate(exchanges.len() - clean_up(&exchanges));
    Ok((scenario.id, exchanges))
}

/// How many exchanges at the end only take away what the scenario made, which is
/// after its verdict: everything once more.
fn clean_up(exchanges: &[(Request, Response)]) -> usize {
    let makes = |(request, response): &&(Request, Response)| {
        let path = matches!(&*request.path, "/prompts" | "/vaults" | "/api-keys");
        path && request.method == Method::POST && response.is_success()
    };
    let made = exchanges.iter().filter(makes).count();
    let last = &exchanges[exchanges.len().saturating_sub(made)..];
    let all_gone = last.iter().all(|(request, _)| request.method == Method::DELETE);
    if all_gone { made } else { 0 }
}
