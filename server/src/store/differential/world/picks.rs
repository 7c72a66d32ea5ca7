//! From what a step picks to what the store is given.

use std::hash::Hash;
use std::sync::Arc;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId, VaultPromptId};
use serde_json::json;

use super::World;
use crate::domain::{
    Caller, GenerationRequest, NewPrompt, OutputKind, PromptImage, PromptInputs, PromptPatch,
    ProviderTicket,
};
use crate::store::differential::naming::Naming;
use crate::store::differential::op::{Change, Draft, Member, Pick, Who};

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
                reference_media_urls: change.media.map(|media| {
                    (0..media % 4).map(|number| Box::from(&*words(number * 16))).collect()
                }),
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

/// Some text, now and then of a kind that is easily broken on its way.
pub(super) fn words(seed: u8) -> Arc<str> {
    let odd =
        ["'; --", "\\ \"{}\" $1 %s", "—ünï 漢字 🌊", "e\u{301} \u{202e}\u{10ffff}", "\n\t\r\u{7f}"];
    let end = odd.get(usize::from(seed % 16)).unwrap_or(&"");
    format!("words {seed}{end}").into()
}

/// What is to be generated, with every field set or not.
pub(super) fn order(seed: u8) -> GenerationRequest {
    let every = |n: u8| seed.is_multiple_of(n);
    let text = |n: u8| every(n).then(|| Box::<str>::from(&*words(seed)));
    let list = |count: u8| (0..count).map(|number| Box::from(&*words(number))).collect();
    let parameters = json!({
        "nested": { "list": [1, 1.0, -0.5, 1e-9, null, true, "\u{1}", {}], "": &*words(seed) },
        "seed": u64::MAX - u64::from(seed),
    });
    GenerationRequest {
        model_id: words(seed / 2).as_ref().into(),
        prompt: words(seed).repeat(1 + 100 * usize::from(seed % 5)).into(),
        kind: if every(3) { OutputKind::Video } else { OutputKind::Image },
        negative_prompt: text(2),
        image_input: text(4),
        image_inputs: list(seed % 4),
        aspect_ratio: if every(7) { "1:1".repeat(9) } else { "16:9".to_owned() }.into(),
        batch_count: u32::from(seed % 4) + 1,
        parameters: parameters.as_object().filter(|_| seed % 5 < 2).cloned(),
        reference_image_urls: list(seed % 3),
        image_edit_endpoint_id: text(6),
    }
}

pub(super) fn ticket(seed: u8) -> ProviderTicket {
    ProviderTicket {
        request_id: words(seed).as_ref().into(),
        memo: words(seed / 2).as_ref().into(),
    }
}

pub(super) fn picture(number: usize) -> PromptImage {
    let size = u32::try_from(number).expect("few pictures");
    let created_at = Timestamp::from_microsecond(1_700_000_000_123_456).expect("a moment");
    let url = format!("http://localhost/assets/{number}.png?\"ü").into();
    PromptImage { url, width: u32::MAX - size, height: 1 + size, created_at }
}
