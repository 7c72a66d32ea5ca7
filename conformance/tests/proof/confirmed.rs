//! What a fault turns red each time, and what only as it happens: the table demands
//! the first of every later run.

use crate::fault::Fault;
use crate::parts::NotStarted;
use crate::service::Running;
use crate::trial::{self, Ids, Red, rules_of};

/// How often what was red has to be so without the others.
const TOGETHER: usize = 2;
/// How often what only a race shows has to be shown.
const ALONE: usize = 5;

/// Tells the two apart. A run of the red scenarios alone is what later runs are;
/// what is green there needed others beside it.
pub(crate) async fn settled(fault: &Fault, first: Red) -> Result<Red, NotStarted> {
    let mut red = first;
    for _ in 0..TOGETHER {
        let again = red_alone(fault, &red.always).await?;
        let (always, fallen): (Ids, Ids) =
            red.always.into_iter().partition(|id| again.always.contains(id));
        red.always = always;
        red.at_times.extend(fallen);
    }
    let of_main = |id: &&String| rules_of(id).contains(&fault.rule);
    if !red.always.iter().any(|id| of_main(&id)) {
        let confirmed =
            each_time(fault, red.at_times.iter().filter(of_main).cloned().collect()).await?;
        red.at_times.retain(|id| !confirmed.contains(id));
        red.always.extend(confirmed);
    }
    Ok(red)
}

/// Those of these scenarios that are red whenever they run alone.
async fn each_time(fault: &Fault, mut ids: Ids) -> Result<Ids, NotStarted> {
    for _ in 0..ALONE {
        let again = red_alone(fault, &ids).await?;
        ids.retain(|id| again.always.contains(id) || again.at_times.contains(id));
    }
    Ok(ids)
}

async fn red_alone(fault: &Fault, ids: &Ids) -> Result<Red, NotStarted> {
    if ids.is_empty() {
        return Ok(Red::default());
    }
    let running = Running::faulty(fault).await?;
    let outcomes = trial::outcomes(&running, |scenario| ids.contains(scenario.id)).await;
    Ok(outcomes.red(fault))
}
