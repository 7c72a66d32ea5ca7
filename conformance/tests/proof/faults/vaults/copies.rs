//! Faults in what a fork copies, and from whom (VA-29 to VA-34).

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};
use promptarium_server::store::{
    Caller, NewVault, PromptPatch, SharedPrompt, StoreError, VaultPatch, VaultRecord,
    VaultVisibility,
};

use crate::fault::{Fault, Intercept, fault};
use crate::shared::Shared;
use crate::store::{FaultyStore, Good, Result, in_store};

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.fork-own-private" ["VA-30"] forks(Slip::OwnPrivate),
        "One's own private vault can be forked." },
    fault! { "vaults.fork-any-private" ["VA-30"] forks(Slip::AnyPrivate),
        "A private vault of another account can be forked." },
    fault! { "vaults.fork-once-public" ["VA-30"] forks(Slip::OncePublic),
        "A vault that was public once can be forked for good." },
    fault! { "vaults.fork-unlisted" ["VA-29"] forks(Slip::Unlisted),
        "An unlisted vault of another account cannot be forked." },
    fault! { "vaults.fork-follows" ["VA-34"] forks(Slip::Follows),
        "An update of a source's prompt reaches its copies." },
    fault! { "vaults.fork-leads" ["VA-34"] forks(Slip::Leads),
        "An update of a copy reaches the source's prompt." },
    fault! { "vaults.fork-renamed" ["VA-34"] forks(Slip::Renamed),
        "A rename of the source renames its forks." },
    fault! { "vaults.fork-renames" ["VA-34"] forks(Slip::Renames),
        "A rename of a fork renames its source." },
    fault! { "vaults.fork-deletes" ["VA-34"] forks(Slip::Deletes),
        "A deletion of a source's prompt deletes its copies." },
    fault! { "vaults.fork-everywhere" ["VA-33"] forks(Slip::Everywhere),
        "The copies of a fork are in the General vault too." },
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slip {
    OwnPrivate,
    AnyPrivate,
    OncePublic,
    Unlisted,
    Follows,
    Leads,
    Renamed,
    Renames,
    Deletes,
    Everywhere,
}

/// What was copied from what, and whose it is.
struct Forks {
    slip: Slip,
    owners: Shared<HashMap<VaultId, Caller>>,
    once_public: Shared<BTreeSet<VaultId>>,
    copies: Shared<Vec<Pair<PromptId>>>,
    vaults: Shared<Vec<Pair<VaultId>>>,
}

#[derive(Clone)]
struct Pair<Id> {
    source: Id,
    of: Caller,
    copy: Id,
    by: Caller,
}

fn forks(slip: Slip) -> Intercept {
    let (owners, once_public) = (Shared::default(), Shared::default());
    let (copies, vaults) = (Shared::default(), Shared::default());
    in_store("POST /vaults/*/fork", Forks { slip, owners, once_public, copies, vaults })
}

impl Forks {
    fn note(&self, caller: &Caller, vault: &VaultRecord) {
        self.owners.with(|owners| owners.insert(vault.id, caller.clone()));
        if vault.visibility != VaultVisibility::Private {
            self.once_public.with(|once| once.insert(vault.id));
        }
    }

    /// Whether a private vault is forked nevertheless.
    fn lenient(&self, own: bool, id: VaultId) -> bool {
        match self.slip {
            Slip::OwnPrivate => own,
            Slip::AnyPrivate => !own,
            Slip::OncePublic => self.once_public.with(|once| once.contains(&id)),
            _ => false,
        }
    }

    /// A fork of a private vault, which is public for the moment.
    async fn forced(&self, good: Good<'_>, owner: &Caller, id: VaultId) -> Result<VaultRecord> {
        let seen =
            |visibility| VaultPatch { visibility: Some(visibility), ..VaultPatch::default() };
        good.of(owner).update_vault(id, seen(VaultVisibility::Public)).await?;
        let forked = good.fork_vault(id).await;
        good.of(owner).update_vault(id, seen(VaultVisibility::Private)).await?;
        forked
    }
}

/// The prompts of a vault by their titles, which are the same on both sides.
async fn ids(good: Good<'_>, vault: VaultId) -> Vec<PromptId> {
    let mut held = good.held(vault).await;
    held.sort_by(|a, b| a.prompt.title.cmp(&b.prompt.title));
    held.iter().map(|entry| entry.prompt.id).collect()
}

#[async_trait]
impl FaultyStore for Forks {
    async fn create_vault(&self, good: Good<'_>, new: NewVault) -> Result<VaultRecord> {
        let vault = good.create_vault(new).await?;
        self.note(good.caller, &vault);
        Ok(vault)
    }

    async fn update_vault(
        &self,
        good: Good<'_>,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord> {
        let vault = good.update_vault(id, patch.clone()).await?;
        self.note(good.caller, &vault);
        if matches!(self.slip, Slip::Renamed | Slip::Renames) && patch.name.is_some() {
            let name = VaultPatch { name: patch.name, ..VaultPatch::default() };
            for pair in self.vaults.with(|pairs| pairs.clone()) {
                let reached = match self.slip {
                    Slip::Renamed => (pair.source == id).then_some((&pair.by, pair.copy)),
                    _ => (pair.copy == id).then_some((&pair.of, pair.source)),
                };
                if let Some((owner, reached)) = reached {
                    let _ = good.of(owner).update_vault(reached, name.clone()).await;
                }
            }
        }
        Ok(vault)
    }

    async fn fork_vault(&self, good: Good<'_>, id: VaultId) -> Result<VaultRecord> {
        let owner = self.owners.with(|owners| owners.get(&id).cloned());
        let Some(owner) = owner else { return good.fork_vault(id).await };
        let own = owner.account == good.caller.account;
        let visibility = good.of(&owner).vault(id).await?.visibility;
        if self.slip == Slip::Unlisted && visibility == VaultVisibility::Unlisted && !own {
            return Err(StoreError::NotFound);
        }
        let fork = if visibility == VaultVisibility::Private && self.lenient(own, id) {
            self.forced(good, &owner, id).await?
        } else {
            good.fork_vault(id).await?
        };
        let (sources, copies) = (ids(good.of(&owner), id).await, ids(good, fork.id).await);
        let pairs = sources.iter().zip(&copies).map(|(source, copy)| Pair {
            source: *source,
            of: owner.clone(),
            copy: *copy,
            by: good.caller.clone(),
        });
        self.copies.with(|all| all.extend(pairs));
        let (of, by) = (owner, good.caller.clone());
        self.vaults.with(|all| all.push(Pair { source: id, of, copy: fork.id, by }));
        if self.slip == Slip::Everywhere {
            let system = good.vaults().await?.into_iter().find(|vault| vault.system);
            if let Some(system) = system {
                good.add_prompts(system.id, &copies).await?;
            }
        }
        Ok(fork)
    }

    async fn update_prompt(
        &self,
        good: Good<'_>,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt> {
        let pairs = self.copies.with(|pairs| pairs.clone());
        let patched = good.update_prompt(id, patch.clone()).await?;
        for pair in pairs {
            let patch = PromptPatch { vault: None, ..patch.clone() };
            if self.slip == Slip::Follows && pair.source == id {
                let _ = good.of(&pair.by).update_prompt(pair.copy, patch).await;
            } else if self.slip == Slip::Leads && pair.copy == id {
                let _ = good.of(&pair.of).update_prompt(pair.source, patch).await;
            }
        }
        Ok(patched)
    }

    async fn delete_prompt(&self, good: Good<'_>, id: PromptId) -> Result {
        good.delete_prompt(id).await?;
        if self.slip == Slip::Deletes {
            let pairs = self.copies.with(|pairs| pairs.clone());
            for pair in pairs.iter().filter(|pair| pair.source == id) {
                let _ = good.of(&pair.by).delete_prompt(pair.copy).await;
            }
        }
        Ok(())
    }
}
