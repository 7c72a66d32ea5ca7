//! Finds what runs left behind on a target, by the run ids in names, and deletes it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, stream};
use jiff::Timestamp;
use serde_json::Value;

use crate::failure::Result;
use crate::fixture::List;
use crate::run_id::RunId;
use crate::target::Auth;
use crate::wire::Wire;
use crate::{Case, Target, check};

const PAGE: usize = 100;
const AT_ONCE: usize = 8;

#[derive(Clone, Debug)]
pub struct Leftovers {
    pub run: RunId,
    /// When it last created or changed something; a running one does so all the time.
    pub latest: Timestamp,
    things: Vec<(Auth, String)>,
}

/// Looks through the account, and the other one if its key is given, with `GET` only.
pub async fn find(target: &Arc<Target>) -> Result<Vec<Leftovers>> {
    let case = Case::new(Arc::clone(target), "sweep");
    let mut found = BTreeMap::new();
    let other = target.config.other_api_key.is_some().then_some(Auth::Other);
    for by in std::iter::once(Auth::Main).chain(other) {
        let wire = case.wire_as(by);
        prompts(&wire, |prompt| note(&mut found, by, "/prompts", prompt)).await?;
        // Vaults last: a prompt that is in one is deleted before it.
        for vault in wire.get("/vaults").await?.data(200)?.as_array().into_iter().flatten() {
            if vault["isSystem"] != true {
                note(&mut found, by, "/vaults", vault);
            }
        }
    }
    Ok(found.into_values().collect())
}

impl Leftovers {
    pub fn count(&self) -> usize {
        self.things.len()
    }

    /// How long ago the run began or last created or changed something.
    pub fn age(&self, now: Timestamp) -> Duration {
        now.duration_since(self.latest.max(self.run.begun())).try_into().unwrap_or_default()
    }

    /// Deletes them; what could not be deleted, in words.
    pub async fn remove(self, target: &Arc<Target>) -> Vec<String> {
        let case = Case::new(Arc::clone(target), "sweep");
        let deleted = stream::iter(self.things).map(|(by, path)| {
            let wire = case.wire_as(by);
            async move {
                let gone = crate::case::delete_if_present(&wire, &path).await;
                gone.err().map(|failure| format!("{path}: {}", failure.got))
            }
        });
        let failures = deleted.buffered(AT_ONCE).filter_map(std::future::ready);
        failures.map(|text| target.secrets.redact(text)).collect().await
    }
}

async fn prompts(wire: &Wire, mut each: impl FnMut(&Value)) -> Result {
    let list = List::of(wire.clone()).limit(PAGE);
    let mut page = list.page().await?;
    loop {
        page.reply.array("/data")?.iter().for_each(&mut each);
        if page.next.is_none() {
            return Ok(());
        }
        let next = list.clone().after(&page).page().await?;
        let differs = next.next != page.next;
        next.reply.ensure(differs, "a cursor of its own on each page", "the same one again")?;
        page = next;
    }
}

/// Adds a resource if one of its texts is a name that a run gave.
fn note(found: &mut BTreeMap<RunId, Leftovers>, by: Auth, collection: &str, thing: &Value) {
    let Some((run, id)) = RunId::of_resource(thing).zip(thing["id"].as_i64()) else { return };
    let dates = ["createdAt", "updatedAt"].map(|date| thing[date].as_str());
    let latest = dates.into_iter().flatten().filter_map(check::timestamp).max();
    let latest = latest.unwrap_or(Timestamp::MIN);
    let empty = Leftovers { run: run.clone(), latest, things: Vec::new() };
    let run = found.entry(run).or_insert(empty);
    run.latest = run.latest.max(latest);
    run.things.push((by, format!("{collection}/{id}")));
}
