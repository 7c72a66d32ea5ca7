//! What two accounts have already, each read with the key of the other.

use super::{create_data, present, stable};
use crate::scenario::core;
use crate::scenarios::endpoints::absent;
use crate::wire::Wire;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "existing-data.foreign.prompt" ["ER-08", "ER-10"] [OtherAccount]
        |case| hidden(case, "/prompts", &[""]),
        "A prompt that another account has is 404, as one that nobody has" },
    core! { "existing-data.foreign.vault" ["ER-08", "ER-10"] [OtherAccount]
        |case| hidden(case, "/vaults", &["", "/prompts"]),
        "A vault that another account has is 404 with its contents, as one that nobody has" },
];

/// What one account sees at these addresses, the other does not. One of the two
/// may be empty.
async fn hidden(case: Case, collection: &str, below: &[&str]) -> Result<(), Failure> {
    let (case, main, other) = (&case, case.wire(), case.other());
    let first = hidden_from(case, &main, &other, collection, below).await;
    match (first, hidden_from(case, &other, &main, collection, below).await) {
        (Err(failure), _) | (_, Err(failure)) if failure.verdict != crate::Verdict::Blocked => {
            Err(failure)
        }
        (Err(nothing), Err(_)) => Err(nothing),
        _ => Ok(()),
    }
}

async fn hidden_from(
    case: &Case,
    owner: &Wire,
    stranger: &Wire,
    collection: &str,
    below: &[&str],
) -> Result<(), Failure> {
    create_data(&case.on(owner.clone())).await?;
    stable(case, || async {
        for entry in present(owner, collection).await?.1 {
            for rest in below {
                let path = format!("{collection}/{}{rest}", entry["id"]);
                // What is deleted meanwhile is 404 for both, and as good.
                stranger.get(&path).await?.status(404)?;
            }
            if let Some(id) = entry["id"].as_i64() {
                stranger.get(&format!("{collection}/{}", absent(id))).await?.status(404)?;
            }
        }
        Ok(())
    })
    .await
}
