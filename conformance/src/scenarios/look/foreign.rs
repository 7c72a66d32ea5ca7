//! Things of two accounts that are there already, each looked for with the key
//! of the other.

use super::{furnish, look, present};
use crate::scenario::core;
use crate::scenarios::endpoints::absent;
use crate::wire::Wire;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "look.foreign.prompt" ["ER-08", "ER-10"] [OtherAccount] prompt,
        "A prompt that another account has is 404, as one that nobody has" },
    core! { "look.foreign.vault" ["ER-08", "ER-10"] [OtherAccount] vault,
        "A vault that another account has is 404 with its contents, as one that nobody has" },
];

async fn prompt(case: Case) -> Result<(), Failure> {
    hidden(&case, "/prompts", &[""]).await
}

async fn vault(case: Case) -> Result<(), Failure> {
    hidden(&case, "/vaults", &["", "/prompts"]).await
}

/// What one account sees at these addresses, the other does not. One of the two
/// may be empty.
async fn hidden(case: &Case, collection: &str, below: &[&str]) -> Result<(), Failure> {
    let (main, other) = (case.wire(), case.other());
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
    furnish(case, owner).await?;
    look(case, || async {
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
