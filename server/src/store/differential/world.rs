//! One store that steps are taken on, and what it said in comparable form.

pub(crate) mod jobs;
mod picks;
mod steps;

use std::collections::HashMap;
use std::sync::Arc;

use futures::TryStreamExt;
use promptarium::{PromptId, VaultId, VaultPromptId};

use self::jobs::{Claimed, Jobs};
use super::Looking;
use super::naming::Naming;
use super::op::{ACCOUNTS, Op, Who};
use crate::domain::{
    AccountId, Caller, JobRecord, KeyId, KeyRecord, ListedPrompt, NewKey, PromptQuery,
    PromptRecord, Scopes, VaultRecord,
};
use crate::store::{Added, Moved, Store, StoreError};

/// What a step gave, with names in place of identifiers.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Done,
    Key(Option<KeyRecord>),
    Prompt(PromptRecord),
    Page { prompts: Vec<PromptRecord>, more: bool },
    Vault(VaultRecord),
    Contents(Vec<ListedPrompt>),
    Added(Added),
    Moved(Moved),
    Reserved { new: bool, job: JobRecord },
    Job(JobRecord),
    Claim(Option<Claimed>),
    Completed(PromptId),
    Refused(String),
}

/// Everything there is, as it shows.
#[derive(Debug, PartialEq)]
pub(crate) struct Sights {
    accounts: Vec<Sight>,
    /// The jobs taken on last.
    jobs: Vec<JobRecord>,
}

/// Everything an account has, as it shows it.
#[derive(Debug, PartialEq)]
struct Sight {
    vaults: Vec<(VaultRecord, Vec<ListedPrompt>)>,
    prompts: Vec<PromptRecord>,
}

/// A store and what is known of it.
pub(crate) struct World<'s> {
    store: &'s dyn Store,
    callers: Vec<Caller>,
    keys: Naming<KeyId>,
    accounts: Naming<AccountId>,
    prompts: Naming<PromptId>,
    vaults: Naming<VaultId>,
    memberships: Naming<VaultPromptId>,
    /// The vault each membership was last seen in.
    places: HashMap<VaultPromptId, VaultId>,
    jobs: Jobs,
}

impl<'s> World<'s> {
    /// Seeds an empty store with the accounts.
    pub(crate) async fn open(store: &'s dyn Store) -> Self {
        let mut callers = Vec::new();
        for account in 0..ACCOUNTS {
            let public_id = format!("key-of-{account}");
            let scopes = Scopes { prompts_write: true };
            let key = NewKey {
                public_id: public_id.clone().into(),
                digest: [0; 32],
                scopes,
                revoked: false,
            };
            store.seed_key(&account_name(account), key).await.expect("the store is empty");
            let found = store.find_key(&public_id).await.expect("a store answers");
            callers.push(found.expect("the key was seeded").caller());
        }
        let mut world = Self {
            store,
            callers,
            keys: Naming::new(ACCOUNTS, KeyId),
            accounts: Naming::new(ACCOUNTS, AccountId),
            prompts: Naming::new(ACCOUNTS, PromptId::new),
            vaults: Naming::new(ACCOUNTS, VaultId::new),
            memberships: Naming::new(ACCOUNTS, VaultPromptId::new),
            places: HashMap::new(),
            jobs: Jobs::default(),
        };
        world.look(Looking::CLOSE).await;
        world
    }

    /// Takes one step.
    pub(crate) async fn apply(&mut self, op: &Op) -> Outcome {
        match self.step(op).await {
            Ok(outcome) => outcome,
            Err(StoreError::UnknownPrompts(prompts)) => {
                let prompts = prompts.into_iter().map(|id| self.prompts.name(id)).collect();
                Outcome::Refused(format!("{:?}", StoreError::UnknownPrompts(prompts)))
            }
            Err(error) => Outcome::Refused(format!("{error:?}")),
        }
    }

    /// Looks at everything, and checks the order of identifiers, which names
    /// do not show.
    pub(crate) async fn look(&mut self, looking: Looking) -> Sights {
        self.prompts.forget_own();
        self.vaults.forget_own();
        self.memberships.forget_own();
        let mut accounts = Vec::new();
        for who in 0..ACCOUNTS {
            accounts.push(self.look_at(who, looking.page).await.expect("looking is not refused"));
        }
        let jobs = self.look_at_jobs(looking.jobs).await.expect("looking is not refused");
        Sights { accounts, jobs }
    }

    async fn look_at(&mut self, who: Who, limit: usize) -> Result<Sight, StoreError> {
        let caller = &self.callers[who].clone();
        let mut vaults = Vec::new();
        let listed = self.store.vaults(caller).await?;
        assert!(listed.is_sorted_by(|a, b| a.id > b.id), "vaults are not newest first");
        for vault in listed {
            let id = vault.id;
            self.vaults.note_own(who, id);
            let contents: Vec<_> = self.store.contents(caller, id).await?.try_collect().await?;
            for listed in &contents {
                self.memberships.note_own(who, listed.membership);
                self.places.insert(listed.membership, id);
            }
            vaults.push((self.vault_named(vault), self.contents_named(contents)));
        }
        let (mut prompts, mut after) = (Vec::new(), None);
        loop {
            let query = PromptQuery { vault: None, kind: None, after, limit };
            let page = self.store.list_prompts(caller, query).await?;
            prompts.extend(page.prompts);
            assert!(prompts.is_sorted_by(|a, b| a.id > b.id), "prompts are not newest first");
            if !page.more {
                break;
            }
            after = prompts.last().map(|prompt| prompt.id);
        }
        prompts.iter().for_each(|prompt| self.prompts.note_own(who, prompt.id));
        let prompts = prompts.iter().map(|prompt| self.prompt_named(prompt)).collect();
        Ok(Sight { vaults, prompts })
    }
}

/// From identifiers to names.
impl World<'_> {
    fn prompt_named(&mut self, prompt: &PromptRecord) -> PromptRecord {
        let ids = &prompt.vault_ids;
        assert!(ids.is_sorted_by(|a, b| a < b), "vault ids are not ascending");
        let vault_ids = ids.iter().map(|id| self.vaults.name(*id)).collect();
        PromptRecord { id: self.prompts.name(prompt.id), vault_ids, ..prompt.clone() }
    }

    fn vault_named(&mut self, vault: VaultRecord) -> VaultRecord {
        VaultRecord { id: self.vaults.name(vault.id), ..vault }
    }

    fn contents_named(&mut self, contents: Vec<ListedPrompt>) -> Vec<ListedPrompt> {
        let named = contents.into_iter().map(|listed| ListedPrompt {
            prompt: Arc::new(self.prompt_named(&listed.prompt)),
            membership: self.memberships.name(listed.membership),
            pinned: listed.pinned,
        });
        named.collect()
    }
}

fn account_name(account: usize) -> String {
    format!("account-{account}")
}
