//! Fields of a body that are missing, of a wrong type or out of their range.

use serde_json::json;

use crate::scenario::core;
use crate::scenarios::endpoints::Ids;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "errors.wrong-type.changes-nothing" ["ER-05"] changes_nothing,
        "An update with one right and one wrong field changes nothing" },
];

async fn changes_nothing(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?;
    let before = ids.state(&wire).await?;
    let (prompt, vault) = (format!("/prompts/{}", ids.prompt), format!("/vaults/{}", ids.vault));
    for (path, body) in [
        (&prompt, json!({ "title": "changed", "vaultId": ids.target, "prompt": 5 })),
        (&prompt, json!({ "platform": "changed", "referenceMediaUrls": [5] })),
        (&vault, json!({ "name": "changed", "visibility": "public", "description": 5 })),
        (&vault, json!({ "description": "changed", "visibility": 5 })),
    ] {
        wire.patch(path, body).await?;
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}
