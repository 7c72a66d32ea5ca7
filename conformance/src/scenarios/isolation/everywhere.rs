//! A key that may only read, in every place where an id can stand.

use crate::scenario::reference;
use crate::scenarios::endpoints::Ids;
use crate::scenarios::ids::{PLACES, compare};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "isolation.everywhere.read-only" ["ER-10"] [OtherAccount, ReadOnlyKey] read_only,
        "A key that may only read is told no more of foreign ids than of those of nothing (S-57)" },
];

async fn read_only(case: Case) -> Result<(), Failure> {
    let owned = Ids::make(&case, &case.other()).await?;
    let own = Ids::make(&case, &case.wire()).await?;
    for place in PLACES {
        compare(&case.read_only(), place, &owned, &own).await?;
    }
    Ok(())
}
