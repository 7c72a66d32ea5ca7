//! Two accounts beside each other: what belongs to one cannot be seen, changed
//! or used by the other, on any path, in any body or query.

mod answers;
mod bodies;
mod everywhere;
mod lists;
mod paths;
mod sdk;

use crate::Scenario;
use crate::scenarios::endpoints::Ids;
use crate::wire::Wire;
use crate::{Case, Failure};

pub(super) const ALL: &[&[Scenario]] =
    &[paths::ALL, lists::ALL, bodies::ALL, answers::ALL, everywhere::ALL, sdk::ALL];

/// Each account once as the owner and once as the stranger.
fn both_ways(case: &Case) -> [Pair; 2] {
    [(case.other(), case.wire()), (case.wire(), case.other())]
        .map(|(owner, stranger)| Pair { owner, stranger })
}

struct Pair {
    owner: Wire,
    stranger: Wire,
}

impl Pair {
    /// What the owner has, what the stranger has, and the first with bodies
    /// that name the second: then nothing is amiss but the path.
    async fn make(&self, case: &Case) -> Result<(Ids, Ids, Ids), Failure> {
        let owned = Ids::make(case, &self.owner).await?;
        let strange = Ids::make(case, &self.stranger).await?;
        let tried = Ids { loose: strange.loose, target: strange.target, ..owned };
        Ok((owned, strange, tried))
    }
}
