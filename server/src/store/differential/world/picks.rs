//! From what a step picks to what the store is given.

use std::hash::Hash;
use std::sync::Arc;

use promptarium::{PromptId, VaultId, VaultPromptId};

use super::World;
use crate::store::differential::naming::Naming;
use crate::store::differential::op::{Change, Draft, Member, Pick, Who};
use crate::store::{Caller, NewPrompt, PromptInputs, PromptPatch};

impl World<'_> {
    pub(super) fn caller(&self, who: Who) -> &Caller {
        &self.callers[who]
    }

    pub(super) fn prompt(&self, by: Who, pick: Pick) -> PromptId {
        settle(&self.prompts, by, pick)
    }

    pub(super) fn vault(&self, by: Who, pick: Pick) -> VaultId {
        settle(&self.vaults, by, pick)
    }

    pub(super) fn membership(&self, by: Who, at: Member) -> (VaultId, VaultPromptId) {
        let membership = settle(&self.memberships, by, at.membership);
        let home = self.places.get(&membership).copied();
        let vault = match at.elsewhere {
            Some(pick) => self.vault(by, pick),
            None => home.unwrap_or_else(|| self.vaults.nothing()),
        };
        (vault, membership)
    }

    pub(super) fn new_prompt(&self, by: Who, draft: &Draft) -> NewPrompt {
        let model = draft.model || draft.kind.needs_model();
        NewPrompt {
            title: words(draft.text),
            text: words(draft.text / 2),
            kind: draft.kind,
            platform: draft.platform.map(words),
            inputs: PromptInputs {
                model_id: model.then(|| words(draft.text / 3)),
                ..PromptInputs::default()
            },
            vault: draft.vault.map(|vault| self.vault(by, vault)),
        }
    }

    pub(super) fn prompt_patch(&self, by: Who, change: &Change) -> PromptPatch {
        PromptPatch {
            title: change.title.map(words),
            text: change.text.map(words),
            kind: change.kind,
            platform: change.platform.map(|platform| platform.map(words)),
            inputs: PromptInputs {
                model_id: change.model.map(words),
                aspect_ratio: change.media.map(words),
                image_url: change.media.map(words),
                reference_media_urls: change.media.map(|media| Arc::from([(*words(media)).into()])),
            },
            vault: change.vault.map(|vault| self.vault(by, vault)),
        }
    }
}

fn settle<Id: Copy + Eq + Hash>(naming: &Naming<Id>, by: Who, pick: Pick) -> Id {
    match pick {
        Pick::Own(pick) => naming.own(by, pick),
        Pick::Any(pick) => naming.any(pick),
        Pick::Nothing => naming.nothing(),
    }
}

pub(super) fn words(seed: u8) -> Arc<str> {
    format!("words {seed}").into()
}
