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
pub(crate) async fn settled(fault: &Fault, mut red: Red) -> Result<Red, NotStarted> {
    for _ in 0..TOGETHER {
        let again = red_alone(fault, &red.always).await?;
        let (always, fallen): (Ids, Ids) =
            red.always.into_iter().partition(|id| again.always.contains(id));
        red.always = always;
        red.at_times.extend(fallen);
    }
    if red.of_rule(fault.rule).is_empty() {
        let mut shown = red.at_times.clone();
        shown.retain(|id| rules_of(id).contains(&fault.rule));
        for _ in 0..ALONE {
            let again = red_alone(fault, &shown).await?;
            shown.retain(|id| again.contains(id));
        }
        red.at_times.retain(|id| !shown.contains(id));
        red.always.extend(shown);
    }
    Ok(red)
}

async fn red_alone(fault: &Fault, ids: &Ids) -> Result<Red, NotStarted> {
    if ids.is_empty() {
        return Ok(Red::default());
    }
    let running = Running::faulty(fault).await?;
    let outcomes = trial::outcomes(&running, |scenario| ids.contains(scenario.id)).await;
    Ok(outcomes.red(fault))
}
