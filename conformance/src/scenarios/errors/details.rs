//! What `details` holds (S-60).

use std::collections::BTreeSet;

use crate::scenario::reference;
use crate::wire::Reply;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "errors.details.query" ["ER-03"] query,
        "A 400 maps every failing query parameter to one message, all at once (S-60)" },
];

async fn query(case: Case) -> Result<(), Failure> {
    // A cursor belongs to its filters and can be judged only where they are right.
    let reply = case.wire().get("/prompts?limit=0&vaultId=a&type=b").await?;
    names_exactly(&reply, &["limit", "vaultId", "type"])?;
    let reply = case.wire().get("/prompts?limit=0&cursor=c").await?;
    names_exactly(&reply, &["limit", "cursor"])?;
    let reply = case.wire().get("/prompts?limit=5&type=b").await?;
    names_exactly(&reply, &["type"])
}

/// A 400 whose details map these fields and no other, each to a text.
pub(in crate::scenarios) fn names_exactly(reply: &Reply, fields: &[&str]) -> Result<(), Failure> {
    let details = reply.status(400)?.at("/details")?;
    let entries = details.as_object().into_iter().flatten();
    let got: BTreeSet<_> = entries.clone().map(|(field, _)| field.as_str()).collect();
    let expected: BTreeSet<_> = fields.iter().copied().collect();
    reply.ensure(got == expected, format!("details of {expected:?}"), details)?;
    let texts = entries.clone().all(|(_, text)| text.as_str().is_some_and(|text| !text.is_empty()));
    reply.ensure(texts, "one message for each field", details)?;
    Ok(())
}
