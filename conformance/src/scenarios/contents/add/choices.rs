//! How the reference server takes and refuses `promptIds` where the
//! specification is silent.

use super::{add, adds_nothing, deleted_prompt};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    reference! { "contents.add.all-or-nothing" ["VC-14"] all_or_nothing,
        "One id that cannot be added keeps the whole list out" },
    reference! { "contents.add.impossible-ids" ["VC-14"] impossible_ids,
        "Ids that no prompt can have are refused like those of no prompt" },
];

/// S-27.
async fn all_or_nothing(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let (known, unknown) = (make::prompt(&case, &wire).await?, deleted_prompt(&case).await?);
    for ids in [vec![known, unknown], vec![unknown, known]] {
        let reply = add(&wire, vault, ids).await?;
        reply.refused("a list with a deleted prompt")?.string("/details/promptIds")?;
    }
    adds_nothing(&wire, vault).await
}

/// S-57.
async fn impossible_ids(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    for id in [0, -1, i64::MIN, i64::MAX] {
        let reply = add(&wire, vault, vec![id]).await?;
        reply.refused(format!("promptIds [{id}]"))?.string("/details/promptIds")?;
    }
    Ok(())
}
