//! What to do next: anything that what is in doubt leaves possible.

use rand::RngExt;
use rand::seq::IndexedRandom;

use super::{Act, Client};
use crate::account::{Change, Prompt, Touched, Vault};

/// More would make comparing slow.
const PROMPTS_MAX: usize = 80;
const VAULTS_MAX: usize = 7;
/// Small, so that copies do not become most of everything.
const FORKED_MAX: usize = 12;

const VISIBILITIES: [&str; 3] = ["private", "unlisted", "public"];

impl Client {
    pub(super) fn choose(&mut self) -> Act {
        let doubted = self.account.doubted();
        loop {
            // Many choices are impossible now and then; never all of them.
            if let Some(act) = self.propose(&doubted) {
                return act;
            }
        }
    }

    fn propose(&mut self, doubted: &Touched) -> Option<Act> {
        let full = self.account.world.prompts.len() > PROMPTS_MAX;
        let act = match self.rng.random_range(0..100) {
            0..20 if full => Act::Change(self.delete(doubted)?),
            0..18 => Act::Change(self.create(doubted)),
            18..32 => Act::Change(self.update(doubted)?),
            32..46 => Act::Change(self.pin(doubted)?),
            46..54 => Act::Change(self.relocate(doubted)?),
            54..62 => Act::Change(self.add(doubted)?),
            62..68 => Act::Change(self.remove(doubted)?),
            68..72 => Act::Change(self.delete(doubted)?),
            72..78 => Act::Change(self.change_vaults(doubted)?),
            78..80 if !full => Act::Change(self.fork(doubted)?),
            80..83 => Act::Upload,
            83 => self.another_generation()?,
            84..92 => Act::LookAtPrompt(self.some_prompt(doubted)?),
            92..100 => Act::LookAtVault(self.some_vault(doubted)?),
            _ => return None,
        };
        Some(act)
    }

    fn another_generation(&mut self) -> Option<Act> {
        let accepted = self.account.jobs.iter().filter(|(_, job)| job.accepted.is_some());
        let accepted: Vec<_> = accepted.map(|(name, _)| name.clone()).collect();
        match accepted.choose(&mut self.rng) {
            Some(name) if self.rng.random_bool(0.3) => Some(Act::GenerateAgain(name.clone())),
            _ if self.jobs_left == 0 => None,
            _ => {
                self.jobs_left -= 1;
                Some(Act::Generate)
            }
        }
    }

    fn create(&mut self, doubted: &Touched) -> Change {
        let vault = self.some_vault(doubted).filter(|_| self.rng.random_bool(0.7));
        Change::CreatePrompt { prompt: self.new_prompt(), vault }
    }

    fn update(&mut self, doubted: &Touched) -> Option<Change> {
        let id = self.some_prompt(doubted)?;
        let vault = self.some_vault(doubted).filter(|_| self.rng.random_bool(0.3));
        Some(Change::UpdatePrompt { id, prompt: self.new_prompt(), vault })
    }

    fn delete(&mut self, doubted: &Touched) -> Option<Change> {
        let id = self.some_prompt(doubted)?;
        let apart = self.account.world.holders(id).is_disjoint(&doubted.vaults);
        apart.then_some(Change::DeletePrompt { id })
    }

    fn pin(&mut self, doubted: &Touched) -> Option<Change> {
        let (vault, prompt, member) = self.some_member(doubted)?;
        Some(Change::Pin { vault, prompt, member, pinned: self.rng.random_bool(0.6) })
    }

    fn relocate(&mut self, doubted: &Touched) -> Option<Change> {
        let (source, prompt, member) = self.some_member(doubted)?;
        let target = self.some_vault(doubted)?;
        Some(Change::Move { source, prompt, member, target })
    }

    fn remove(&mut self, doubted: &Touched) -> Option<Change> {
        let (vault, prompt, member) = self.some_member(doubted)?;
        Some(Change::Remove { vault, prompt, member })
    }

    /// The last one is not in the vault yet, so that it can be seen to have come.
    fn add(&mut self, doubted: &Touched) -> Option<Change> {
        let vault = self.some_vault(doubted)?;
        let last = self.some_prompt(doubted)?;
        if self.account.world.vaults[&vault].member(last).is_some() {
            return None;
        }
        let mut prompts = Vec::new();
        for _ in 0..self.rng.random_range(0..4) {
            prompts.extend(self.some_prompt(doubted).filter(|one| *one != last));
        }
        prompts.push(last);
        Some(Change::Add { vault, prompts })
    }

    fn change_vaults(&mut self, doubted: &Touched) -> Option<Change> {
        let visibility = (*VISIBILITIES.choose(&mut self.rng)?).to_owned();
        let own = |vault: &Vault| !vault.system;
        match self.rng.random_range(0..3) {
            0 if self.account.world.vaults.len() < VAULTS_MAX => {
                Some(Change::CreateVault { name: self.account.name("vault"), visibility })
            }
            1 => {
                let id = self.vault_that(doubted, own)?;
                Some(Change::UpdateVault { id, name: self.account.name("vault"), visibility })
            }
            _ => {
                let many = self.account.world.vaults.len() > 4;
                let id = self.vault_that(doubted, own).filter(|_| many)?;
                Some(Change::DeleteVault { id })
            }
        }
    }

    fn fork(&mut self, doubted: &Touched) -> Option<Change> {
        let open = |vault: &Vault| {
            vault.visibility != "private" && (1..=FORKED_MAX).contains(&vault.members.len())
        };
        let source = self.vault_that(doubted, open)?;
        let vault = &self.account.world.vaults[&source];
        // What is in doubt may be changed already, or not until it is copied.
        if vault.members.iter().any(|one| doubted.prompts.contains(&one.prompt)) {
            return None;
        }
        let prompts = vault.unpinned();
        let copies = prompts.iter().map(|id| self.account.world.prompts[id].clone()).collect();
        Some(Change::Fork { source, name: vault.name.clone(), copies, made: None })
    }

    fn new_prompt(&mut self) -> Prompt {
        let title = self.account.name("prompt");
        Prompt { text: format!("A harbour at dawn, {title}"), title }
    }

    pub(super) fn some_prompt(&mut self, doubted: &Touched) -> Option<i64> {
        let ids: Vec<_> = self.account.world.prompts.keys().copied().collect();
        ids.choose(&mut self.rng).copied().filter(|id| !doubted.prompts.contains(id))
    }

    pub(super) fn some_vault(&mut self, doubted: &Touched) -> Option<i64> {
        self.vault_that(doubted, |_| true)
    }

    /// Any but the one for outputs.
    fn vault_that(&mut self, doubted: &Touched, fits: impl Fn(&Vault) -> bool) -> Option<i64> {
        let free = |id: &i64| *id != self.account.jobs_vault && !doubted.vaults.contains(id);
        let fitting =
            self.account.world.vaults.iter().filter(|(id, vault)| free(id) && fits(vault));
        let ids: Vec<_> = fitting.map(|(id, _)| *id).collect();
        ids.choose(&mut self.rng).copied()
    }

    /// Vault, prompt and membership; one whose id was seen.
    fn some_member(&mut self, doubted: &Touched) -> Option<(i64, i64, i64)> {
        let vault = self.some_vault(doubted)?;
        let known = self.account.world.vaults[&vault].members.iter().filter_map(|member| {
            let free = !doubted.prompts.contains(&member.prompt);
            Some((vault, member.prompt, member.id?)).filter(|_| free)
        });
        known.collect::<Vec<_>>().choose(&mut self.rng).copied()
    }
}
