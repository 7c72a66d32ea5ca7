//! How the reference server takes and refuses `promptIds` where the
//! specification is silent.

use super::{add, adds_nothing, deleted_prompt};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    reference! { "contents.add.all-or-nothing" ["VC-14"] all_or_nothing,
        "One id that cannot be added keeps the whole list out" },
    reference! { "contents.add.one-text-for-both" ["VC-14"] [OtherAccount] one_text_for_both,
        "Prompts of no one and prompts of another account are refused in the same words" },
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

/// S-27 and S-57. A text may name the ids themselves.
async fn one_text_for_both(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let deleted = deleted_prompt(&case).await?;
    let foreign = make::prompt(&case, &case.other()).await?;
    let mut texts = Vec::new();
    for id in [deleted, foreign] {
        let reply = add(&wire, vault, vec![id]).await?;
        reply.status(400)?;
        let texts_of = [reply.string("/error")?, reply.string("/details/promptIds")?];
        texts.push(texts_of.map(|text| text.replace(&id.to_string(), "<id>")));
    }
    check::equal("the texts for another account's prompt", &texts[1], &texts[0])
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
