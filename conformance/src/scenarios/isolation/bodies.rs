//! Ids of another account in bodies and queries, on paths of one's own.

use serde_json::{Value, json};

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::Ids;
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

use super::both_ways;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "isolation.body.create" ["PR-27"] [OtherAccount] create,
        "A prompt is not created into a vault of another account" },
    core! { "isolation.body.update" ["PR-38"] [OtherAccount] update,
        "An update does not put a prompt into a vault of another account" },
    core! { "isolation.body.save" ["PR-44"] [OtherAccount] save,
        "Save does not put a prompt into a vault of another account" },
    core! { "isolation.body.add" ["VC-14"] [OtherAccount] add,
        "A prompt of another account is not added to a vault, alone or beside one's own" },
    core! { "isolation.body.move" ["VC-24"] [OtherAccount] move_to,
        "A prompt is not moved to a vault of another account, whatever its visibility" },
    reference! { "isolation.body.named" ["ER-03"] [OtherAccount] named,
        "An id of another account in a body or query is 400 naming the field (S-57)" },
    reference! { "isolation.body.nothing-added" ["VC-14"] [OtherAccount] nothing_added,
        "One prompt of another account in promptIds keeps the others from being added (S-27)" },
];

/// The field of a body or query that a call puts a foreign id into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Create,
    Update,
    Save,
    Add,
    Move,
    Filter,
}

impl Place {
    pub(super) const ALL: [Self; 6] =
        [Self::Create, Self::Update, Self::Save, Self::Add, Self::Move, Self::Filter];

    pub(super) fn field(self) -> &'static str {
        match self {
            Self::Add => "promptIds",
            Self::Move => "targetVaultId",
            Self::Create | Self::Update | Self::Save | Self::Filter => "vaultId",
        }
    }

    /// The id in question: a prompt for `Add`, else a vault.
    pub(super) fn id(self, ids: &Ids) -> i64 {
        if self == Self::Add { ids.prompt } else { ids.vault }
    }

    /// The call on a path of the caller's own.
    pub(super) async fn call(self, wire: &Wire, own: &Ids, id: i64) -> Result<Reply, Failure> {
        let prompt = format!("/prompts/{}", own.prompt);
        let contents = format!("/vaults/{}/prompts", own.vault);
        match self {
            Self::Create => {
                let body = json!({ "title": "strange", "prompt": "p", "vaultId": id });
                wire.post("/prompts", body).await
            }
            Self::Update => wire.patch(&prompt, json!({ "title": "strange", "vaultId": id })).await,
            Self::Save => wire.post(&format!("{prompt}/save"), json!({ "vaultId": id })).await,
            Self::Add => wire.post(&contents, json!({ "promptIds": [id] })).await,
            Self::Move => {
                let path = format!("{contents}/{}/move", own.membership);
                wire.post(&path, json!({ "targetVaultId": id })).await
            }
            Self::Filter => wire.get(&format!("/prompts?vaultId={id}")).await,
        }
    }
}

/// The call is refused and leaves both accounts as they were.
async fn refused(case: &Case, place: Place) -> Result<(), Failure> {
    for pair in both_ways(case) {
        let (owned, strange, _) = pair.make(case).await?;
        for visibility in ["private", "public"] {
            let change = json!({ "visibility": visibility });
            let path = format!("/vaults/{}", owned.vault);
            pair.owner.patch(&path, change).await?.status(200)?;
            let before = both(&pair.owner, &owned, &pair.stranger, &strange).await?;
            let reply = place.call(&pair.stranger, &strange, place.id(&owned)).await?;
            reply.status_in(400..=499)?;
            let after = both(&pair.owner, &owned, &pair.stranger, &strange).await?;
            check::equal("what the two accounts have", &after, &before)?;
        }
    }
    Ok(())
}

async fn both(
    owner: &Wire,
    owned: &Ids,
    stranger: &Wire,
    strange: &Ids,
) -> Result<[Value; 2], Failure> {
    Ok([owned.state(owner).await?, strange.state(stranger).await?])
}

async fn create(case: Case) -> Result<(), Failure> {
    refused(&case, Place::Create).await
}

async fn update(case: Case) -> Result<(), Failure> {
    refused(&case, Place::Update).await
}

async fn save(case: Case) -> Result<(), Failure> {
    refused(&case, Place::Save).await
}

async fn move_to(case: Case) -> Result<(), Failure> {
    refused(&case, Place::Move).await
}

async fn add(case: Case) -> Result<(), Failure> {
    refused(&case, Place::Add).await?;
    for pair in both_ways(&case) {
        let (owned, strange, _) = pair.make(&case).await?;
        let path = format!("/vaults/{}/prompts", strange.vault);
        let body = json!({ "promptIds": [strange.prompt, owned.prompt] });
        let reply = pair.stranger.post(&path, body).await?;
        reply.status_in(400..=499)?;
        let listed = make::contents(&pair.stranger, strange.vault).await?;
        let added = listed.iter().any(|member| member.prompt == owned.prompt);
        check::ensure(!added, "the prompt of another account not to be added", "it was")?;
    }
    Ok(())
}

async fn named(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (owned, strange, _) = pair.make(&case).await?;
        for place in Place::ALL {
            let reply = place.call(&pair.stranger, &strange, place.id(&owned)).await?;
            reply.status(400)?.string(&format!("/details/{}", place.field()))?;
        }
    }
    Ok(())
}

async fn nothing_added(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (owned, strange, _) = pair.make(&case).await?;
        let before = strange.state(&pair.stranger).await?;
        let path = format!("/vaults/{}/prompts", strange.vault);
        for ids in [[strange.prompt, owned.prompt], [owned.prompt, strange.prompt]] {
            pair.stranger.post(&path, json!({ "promptIds": ids })).await?.status(400)?;
        }
        check::equal("what the caller has", &strange.state(&pair.stranger).await?, &before)?;
    }
    Ok(())
}
