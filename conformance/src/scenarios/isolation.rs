//! Two accounts beside each other: what belongs to one cannot be seen, changed
//! or used by the other, on any path, in any body or query.

mod everywhere;
mod lists;

use crate::Case;
use crate::Scenario;
use crate::wire::Wire;

pub(super) const ALL: &[&[Scenario]] = &[lists::ALL, everywhere::ALL];

/// Each account once as the owner and once as the stranger.
fn both_ways(case: &Case) -> [Pair; 2] {
    [(case.other(), case.wire()), (case.wire(), case.other())]
        .map(|(owner, stranger)| Pair { owner, stranger })
}

struct Pair {
    owner: Wire,
    stranger: Wire,
}
